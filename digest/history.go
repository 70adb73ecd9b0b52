package digest

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"precis"
	"precis/internal/lazyregexp"
	"precis/internal/toolcall"
)

// version is what stands in a file: in the work tree, in git's index, or in a commit. The zero value is the file as
// the conversation found it.
type version struct {
	state           FileFate
	at              precis.Handle // of the call that decided the state
	writes, removed int
	wholes          int // of the writes, those of all that is in the file where it was there before
	created         bool
	absent          bool   // there is no such file: git does not know it, or not yet
	edits           []int  // the calls whose text stands
	by              string // the command of git that brought the file here; "" for a write
}

// same reports whether two versions hold the same text.
func (v version) same(o version) bool {
	gone := func(v version) bool { return v.absent || v.state == FileDeleted }
	return gone(v) == gone(o) && slices.Equal(v.edits, o.edits)
}

// history follows what git is told to do: which edits are in its index and in commits, and which it took back.
type history struct {
	files   *fileTable
	changed map[*file]bool // since the newest commit, or so it may be
	commits []*commit      // of the conversation, oldest first
	unsure  int            // how many of them may stand on another branch
	popped  []*commit      // those that were taken back
	stashes []map[*file]version
	undone  map[int]string // calls that made commits → the command of git that took them back
	amended map[int]string // calls that made commits → the hash of the commit in their place
	looked  int            // how many times a file was compared with what git is told
}

// mostLooked is how many times files are compared in one conversation. Of what git does after that nothing is known.
const mostLooked = 4 << 20

// commit is one that a call made.
type commit struct {
	GitCommit
	repo          *repository
	calls         []int             // with those that amended it
	before, after map[*file]version // of the files that it changed
	reverts       *commit
}

func newHistory(t *fileTable) *history {
	return &history{files: t, changed: map[*file]bool{}, undone: map[int]string{}, amended: map[int]string{}}
}

// step applies a command of git to files and commits.
func (h *history) step(s gitStep, ran toolcall.Ran) {
	if !s.Changes("tree", "index", "stash", "drop", "clear", "commit", "back", "revert", "moved") {
		return
	}
	if h.looked > mostLooked {
		h.doubt(s.at, s.By, slices.Collect(maps.Keys(h.changed)))
		clear(h.changed) // nothing is looked for among them any more
		return
	}
	s.history = h
	s.named()
	switch {
	case ran == toolcall.Did:
		for _, to := range s.To {
			s.change(to)
		}
	case ran == toolcall.Maybe && s.Changes("tree", "stash"):
		h.doubt(s.at, s.By, s.concerned())
	}
}

// didGit reports whether a command of git did what it was told, as far as the outcome of its call and its own
// output say.
func didGit(g *toolcall.Git, c *toolcall.Call, o toolcall.Outcome, says *gitSays) toolcall.Ran {
	pops := g.From == "stash"
	proof := (g.Changes("commit") || g.From == "tree") && len(says.commits) > 0 ||
		g.Changes("stash") && said("stashed", says.text) != nil ||
		pops && said("popped", says.text) != nil
	switch {
	case o.End == toolcall.Rejected, o.End == toolcall.Interrupted, g.Else:
		return toolcall.Not
	case proof: // whatever failed beside it
		return toolcall.Did
	case pops && (strings.Contains(says.text, "CONFLICT") || o.End == toolcall.Failed && !says.refused):
		return toolcall.Maybe // it is not known what failed
	case says.refused, o.End == toolcall.Failed && g.Ran == toolcall.Not:
		return toolcall.Not
	case g.Changes("commit") && !showsCommit(g, c, o, says):
		return toolcall.Not
	case o.End == toolcall.Failed:
		return g.Ran
	}
	return toolcall.Did
}

// doubt notes that it is not known what stands in files.
func (h *history) doubt(at precis.Handle, by string, files []*file) {
	for _, f := range files {
		f.state, f.at, f.by = FileUnknown, at, by
	}
}

// back puts a version of a file in the place of what stands in it.
func (h *history) back(f *file, to version, at precis.Handle, by string) {
	if f.version.same(to) && (f.state != FileUnknown || to.state == f.state && to.at == f.at) {
		return
	}
	for _, call := range f.edits {
		if !slices.Contains(to.edits, call) {
			f.lose(call, by)
		}
	}
	for _, call := range to.edits {
		delete(f.lost, call)
	}
	f.version, f.by = to, by
	switch {
	case to.absent:
		f.state, f.at, f.created = FileDeleted, at, false
	case to.state == "" || to.state == FileRead || to.state == FileFailed || to.state == FileUnknown:
		f.state, f.at = FileReverted, at
	}
}

// lose notes that git took back what a call wrote.
func (f *file) lose(call int, by string) {
	if f.lost == nil {
		f.lost = map[int]string{}
	}
	f.lost[call] = by
}

// matching returns the files changed since the newest commit that paths name, as files, folders or
// patterns; all below the folder that git runs in when there are none.
func (h *history) matching(paths []string, folder string) []*file {
	if len(paths) == 0 {
		return h.among(1, func(p string) bool { return inRepository(p, folder) })
	}
	var out []*file
	for _, p := range paths {
		if f := h.files.named(p); f != nil {
			out = append(out, f)
		} else if strings.ContainsAny(p, "*?[") {
			out = append(out, h.among(8, func(of string) bool { return below(of, p) || matches(of, p) })...)
		} else {
			out = append(out, h.among(1, func(of string) bool { return below(of, p) })...)
		}
	}
	return out
}

// among returns the changed files whose path is as asked. Costs are what a comparison takes.
func (h *history) among(costs int, is func(p string) bool) (out []*file) {
	h.looked += costs * len(h.changed)
	for f := range h.changed {
		if is(f.path) {
			out = append(out, f)
		}
	}
	return out
}

// below reports whether a path is within a folder. A relative path may be within any absolute one; a folder that is
// relative is looked for among those of the path.
func below(p, folder string) bool {
	folder = strings.TrimSuffix(folder, "/")
	switch {
	case folder == "." || folder == "", strings.HasPrefix(p, folder+"/"):
		return true
	case isAbsolute(folder):
		return !isAbsolute(p)
	}
	return strings.Contains(p, "/"+folder+"/")
}

// inRepository reports whether a file may be of the repository that a folder belongs to.
func inRepository(p, folder string) bool {
	return !isAbsolute(folder) || below(p, folder) || strings.HasPrefix(folder+"/", path.Dir(p)+"/")
}

// matches reports whether a pattern of git's matches a path, or the end of it.
func matches(p, pattern string) bool {
	for found := true; found; _, p, found = strings.Cut(p, "/") {
		if ok, _ := path.Match(pattern, p); ok {
			return true
		}
	}
	return false
}

// gitStep is a command of git being applied.
type gitStep struct {
	*history
	repo *repository // nil: the output says nothing of one
	call int
	at   precis.Handle
	says *gitSays
	lost bool // the branch goes back to a commit that is not known
	toolcall.Git
}

// named finds out what the command names: whether the first word is a file or a commit, where the line does not
// say, and the files that the output says are removed.
func (s *gitStep) named() {
	if s.Either && len(s.Paths) > 0 {
		first := s.Paths[0]
		if first == "." || first == s.Folder || len(s.matching(s.Paths[:1], s.Folder)) > 0 {
			s.Commits = nil
		} else {
			s.Paths = s.Paths[1:]
		}
	}
	if removed := said("removed", s.says.text); s.From == "untracked" && removed != nil {
		s.Paths = nil
		for _, p := range removed {
			s.Paths = append(s.Paths, path.Join(s.Folder, p))
		}
	}
}

// change applies one of the changes that the command makes.
func (s *gitStep) change(to string) {
	switch to {
	case "commit":
		s.commit()
	case "revert":
		s.revert()
	case "back":
		s.goBack()
	case "stash":
		s.stash()
	case "clear":
		s.stashes = nil
	case "drop":
		if i := s.stashIndex(); i >= 0 {
			s.stashes = slices.Delete(s.stashes, i, i+1)
		}
	case "moved":
		s.unsure = len(s.commits)
		says := func(words string) bool { return strings.Contains(s.says.text, words) }
		if s.Verb == "rebase" && !says("up to date") || says("Successfully rebased") {
			for _, c := range s.commits {
				c.Hash = "" // it has another one now
			}
		}
	case "tree":
		if s.From == "index" && len(s.Paths) == 0 { // a checkout of another branch
			s.unsure = len(s.commits)
			return
		}
		s.restore()
	case "index":
		for _, f := range s.concerned() {
			f.index, _ = s.source(f)
		}
	}
}

// concerned returns the files that the command may change.
func (s *gitStep) concerned() []*file {
	if s.From == "stash" {
		if i := s.stashIndex(); i >= 0 {
			return slices.Collect(maps.Keys(s.stashes[i]))
		}
		return nil
	}
	return slices.DeleteFunc(s.matching(s.Paths, s.Folder), func(f *file) bool {
		switch s.From {
		case "untracked":
			return !f.index.absent || f.state == FileDeleted
		case "index", "tracked":
			return f.index.absent
		case "head":
			return f.index.absent && f.head.absent
		}
		return false
	})
}

// source returns what the command puts in a file. ok is false when that is not known.
func (s *gitStep) source(f *file) (v version, ok bool) {
	switch {
	case s.From == "unknown", s.lost && len(f.head.edits) > 0:
		return f.index, false
	case s.From == "none", s.From == "untracked":
		return version{absent: true}, true
	case s.From == "stash":
		v, ok = s.stashes[s.stashIndex()][f]
		return v, ok && f.version.same(f.head)
	case s.From == "tree", s.From == "tracked":
		v = f.version
		v.absent = f.state == FileDeleted
		return v, true
	case len(s.Commits) > 0:
		if ago, ok := s.ago(s.Commits[0]); ok {
			return s.then(f, ago), true
		}
		if len(f.head.edits) > 0 { // they may be there, too
			return f.index, false
		}
		return version{absent: f.head.absent}, true
	case s.From == "head":
		return f.head, true
	}
	return f.index, true
}

// restore puts other versions of files in the work tree.
func (s *gitStep) restore() {
	for _, f := range s.concerned() {
		to, ok := s.source(f)
		if s.changed[f] = true; !ok {
			s.doubt(s.at, s.By, []*file{f})
			continue
		}
		s.back(f, to, s.at, s.By)
		if s.From == "stash" {
			f.state, f.at, f.by, f.created = to.state, to.at, to.by, to.created
		}
		if s.From == "index" {
			f.index = to // that of a commit, when one is named
		}
	}
}

// commit puts what is in the index into a commit; all that is changed, when nothing is known of the index.
func (s *gitStep) commit() {
	files := s.matching(s.Paths, s.Folder)
	named, all, amends := len(s.Paths) > 0, s.From == "tracked", s.Has("--amend")
	noted := all || amends || s.Verb != "commit" ||
		slices.ContainsFunc(files, func(f *file) bool { return !f.index.same(f.head) })
	c := s.newCommit(amends)
	for _, f := range files {
		if named || !noted || all && !f.index.absent {
			f.index = f.version
			f.index.absent = f.state == FileDeleted
		}
		if f.index.same(f.head) && f.index.absent == f.head.absent {
			continue
		}
		if _, ok := c.before[f]; !ok {
			c.before[f] = f.head
		}
		f.head = f.index
		c.after[f] = f.head
		if f.version.same(f.head) {
			delete(s.changed, f)
		}
	}
	s.commits = append(s.commits, c)
}

// newCommit returns a commit to be made; the newest one, when that is amended.
func (s *gitStep) newCommit(amends bool) *commit {
	c := &commit{repo: s.repo, before: map[*file]version{}, after: map[*file]version{}}
	subject := subjectOf(&s.Git)
	if n := len(s.commits); amends && n > 0 {
		subject = cmp.Or(subject, s.commits[n-1].Subject)
		if n > s.unsure {
			c, s.commits = s.commits[n-1], s.commits[:n-1]
		}
	}
	c.GitCommit = GitCommit{s.at, "", subject}
	if s.says.names(c); c.Hash == "" && s.Verb != "commit" {
		c.repo = nil // nothing can be said of it
	}
	for _, call := range c.calls {
		s.amended[call] = c.Hash
	}
	c.calls = append(c.calls, s.call)
	return c
}

var (
	// commitName is a name of a commit by its place before the newest, or before one with a hash.
	commitName = lazyregexp.New(`^(?:HEAD|@|([0-9a-f]{4,64}))((?:~\d{0,3}|\^1?)*)$`)
	ancestor   = lazyregexp.New(`[~^](\d*)`)
)

// ago returns how many commits of the conversation were made after the one that a name stands for. ok is false
// when that is not known.
func (h *history) ago(name string) (n int, ok bool) {
	m := commitName.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	for _, step := range ancestor.FindAllStringSubmatch(m[2], -1) {
		k, err := strconv.Atoi(step[1])
		if err != nil {
			k = 1
		}
		n += k
	}
	if m[1] == "" {
		return n, n <= len(h.commits)-h.unsure || h.unsure == 0
	}
	for i := len(h.commits) - 1; i >= h.unsure; i-- {
		if h.commits[i].is(m[1]) {
			return len(h.commits) - 1 - i + n, true
		}
	}
	return 0, false
}

// is reports whether a hash is that of a commit, as far as it is known.
func (c *commit) is(hash string) bool {
	return c.Hash != "" && (strings.HasPrefix(c.Hash, hash) || strings.HasPrefix(hash, c.Hash))
}

// isOlder reports whether a commit that is named by its hash was there before those that the conversation made:
// the hashes of all these are known, it is none that was taken back, and the branch has not been left.
func (h *history) isOlder(name string) bool {
	m := commitName.FindStringSubmatch(name)
	may := func(c *commit) bool { return c.Hash == "" || c.is(name) }
	return m != nil && m[1] == name && h.unsure == 0 && !slices.ContainsFunc(slices.Concat(h.commits, h.popped), may)
}

// then returns what stood in a file a number of commits ago.
func (h *history) then(f *file, ago int) version {
	v := f.head
	for i := len(h.commits) - 1; i >= 0 && ago > 0; i, ago = i-1, ago-1 {
		if before, ok := h.commits[i].before[f]; ok {
			v = before
		}
	}
	return v
}

// goBack has the branch go back to the commit that is named.
func (s *gitStep) goBack() {
	if len(s.Paths) > 0 || len(s.Commits) == 0 {
		return
	}
	n, known := s.ago(s.Commits[0])
	if !known && s.isOlder(s.Commits[0]) {
		n, known = len(s.commits), true
	}
	s.Commits = nil
	if s.lost = !known; known {
		s.pop(min(n, len(s.commits)))
		return
	}
	s.unsure = len(s.commits)
	for _, c := range s.commits {
		for f := range c.before {
			s.changed[f] = true
		}
	}
}

// pop takes back the newest n commits: what they held is not committed any more.
func (s *gitStep) pop(n int) {
	for range n {
		c := s.commits[len(s.commits)-1]
		s.commits, s.popped = s.commits[:len(s.commits)-1], append(s.popped, c)
		s.unsure = min(s.unsure, len(s.commits))
		for f, before := range c.before {
			f.head = before
			s.changed[f] = true
		}
		s.undo(c)
	}
}

// undo notes that a commit was taken back.
func (s *gitStep) undo(c *commit) {
	for _, call := range c.calls {
		s.undone[call] = s.By
	}
	if c.reverts != nil {
		for _, call := range c.reverts.calls {
			delete(s.undone, call)
		}
	}
}

// revert takes back commits that are named one by one.
func (s *gitStep) revert() {
	var all []*commit
	for _, name := range s.Commits {
		if n, ok := s.ago(name); ok && n < len(s.commits)-s.unsure {
			all = append(all, s.commits[len(s.commits)-1-n])
		}
	}
	for _, c := range all {
		r := s.newCommit(false)
		r.reverts = c
		for f, before := range c.before {
			if !f.head.same(c.after[f]) || !f.version.same(f.head) {
				continue // it has been changed since
			}
			r.before[f] = f.head
			s.back(f, before, s.at, s.By)
			f.index = f.version
			f.index.absent = before.absent
			f.head, r.after[f] = f.index, f.index
		}
		s.undo(c)
		s.commits = append(s.commits, r)
	}
}

// stash puts away what is not committed.
func (s *gitStep) stash() {
	saved := map[*file]version{}
	for _, f := range s.concerned() {
		if f.version.same(f.head) {
			continue
		}
		saved[f] = f.version
		s.back(f, f.head, s.at, s.By)
		f.index = f.head
		s.changed[f] = true
	}
	s.stashes = append(s.stashes, saved)
}

// stashIndex returns which of the stashes the command names, -1 for none.
func (s *gitStep) stashIndex() int {
	n := 0
	if len(s.Commits) > 0 {
		var err error
		if n, err = strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(s.Commits[0], "stash@{"), "}")); err != nil {
			return -1
		}
	}
	if n < 0 || n >= len(s.stashes) {
		return -1
	}
	return len(s.stashes) - 1 - n
}
