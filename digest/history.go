package digest

import (
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
	popped  []string       // hashes of those that were taken back
	stashes []map[*file]version
	undone  map[int]string // calls that made commits → the command of git that took them back
	amended map[int]string // calls that made commits → the hash of the commit in their place
	looked  int            // how many times a file was compared with what git is told
}

// mostLooked is how many times files are compared in one conversation. Of what git does after that nothing is known.
const mostLooked = 4 << 20

// commit is one that a call made.
type commit struct {
	calls         []int // with those that amended it
	hash          string
	before, after map[*file]version // of the files that it changed
	reverts       *commit
}

func newHistory(t *fileTable) *history {
	return &history{files: t, changed: map[*file]bool{}, undone: map[int]string{}, amended: map[int]string{}}
}

// step applies what a call had git do, as far as its outcome says that it did.
func (h *history) step(call int, c *toolcall.Call, o toolcall.Outcome, s toolcall.GitStep) {
	if h.looked > mostLooked {
		h.doubt(c.Use, s.By, slices.Collect(maps.Keys(h.changed)))
		clear(h.changed) // nothing is looked for among them any more
		return
	}
	output := c.Output()
	back := s.Act == toolcall.GitUnstash && stashBack.MatchString(output)
	conflict := s.Act == toolcall.GitUnstash && !back && (strings.Contains(output, "CONFLICT") || o.End == toolcall.Failed && !gitFailed(output)) // or it is not known what failed
	made := (s.Act == toolcall.GitCommit || s.Act == toolcall.GitAdd) && hashOf(output) != "" ||                                                  // whatever failed beside it
		s.Act == toolcall.GitStash && stashPut.MatchString(output) || back
	switch {
	case made && (o.End == toolcall.OK || o.End == toolcall.Unknown || o.End == toolcall.Failed):
	case conflict:
		h.doubt(c.Use, s.By, h.stashed(s.From))
		return
	case o.End == toolcall.Rejected, o.End == toolcall.Interrupted, gitFailed(output), o.End == toolcall.Failed && s.Ran == toolcall.Not:
		return
	case o.End == toolcall.Failed && s.Ran == toolcall.Maybe:
		if s.Act == toolcall.GitRestore || s.Act == toolcall.GitStash || s.Hard {
			h.doubt(c.Use, s.By, h.matching(s.Paths, s.Folder))
		}
		return
	}
	act := gitStep{history: h, call: call, at: c.Use, output: output, GitStep: s}
	switch s.Act {
	case toolcall.GitAdd:
		act.add()
	case toolcall.GitUnstage:
		for _, f := range h.matching(s.Paths, s.Folder) {
			f.index = f.head
		}
	case toolcall.GitCommit:
		act.commit()
	case toolcall.GitRestore:
		act.restore()
	case toolcall.GitReset:
		act.reset()
	case toolcall.GitRevert:
		act.revert()
	case toolcall.GitStash:
		act.stash()
	case toolcall.GitUnstash:
		act.unstash()
	case toolcall.GitDrop:
		if s.From == "all" {
			h.stashes = nil
		} else if i := h.stashIndex(s.From); i >= 0 {
			h.stashes = slices.Delete(h.stashes, i, i+1)
		}
	case toolcall.GitClean:
		act.clean()
	case toolcall.GitMove:
		h.unsure = len(h.commits)
	}
}

// stashPut and stashBack are what git prints when it has put changes into a stash, and brought them back.
var (
	stashPut  = lazyregexp.New(`(?m)^Saved working directory and index state `)
	stashBack = lazyregexp.New(`(?m)^Dropped (?:refs/)?stash@\{\d+\} \([0-9a-f]{7,}\)`)
)

// gitFailed reports whether output says that git did not do what it was told.
func gitFailed(output string) bool {
	for line := range strings.Lines(output[:min(len(output), 4000)]) {
		for _, head := range []string{"fatal: ", "error: pathspec", "error: Your local", "error: The following", "error: unable", "error: could not", "error: cannot", "error: you need", "No local changes to save", "No stash entries"} {
			if strings.HasPrefix(line, head) {
				return true
			}
		}
	}
	return false
}

// doubt notes that it is not known what stands in files.
func (h *history) doubt(at precis.Handle, by string, files []*file) {
	for _, f := range files {
		f.state, f.at, f.by = FileUnknown, at, by
	}
}

// back puts a version of a file in the place of what stands in it.
func (h *history) back(f *file, to version, at precis.Handle, by string) {
	if f.version.same(to) && f.state != FileUnknown {
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
	const pattern = 8 // comparisons that one with a pattern takes the time of
	var out []*file
	if len(paths) == 0 {
		h.looked += len(h.changed)
		for f := range h.changed {
			if inRepository(f.path, folder) {
				out = append(out, f)
			}
		}
		return out
	}
	for _, p := range paths {
		if f := h.files.named(p); f != nil {
			out = append(out, f)
			continue
		}
		isPattern := strings.ContainsAny(p, "*?[")
		if h.looked += len(h.changed); isPattern {
			h.looked += (pattern - 1) * len(h.changed)
		}
		for f := range h.changed {
			if below(f.path, p) || isPattern && matches(f.path, p) {
				out = append(out, f)
			}
		}
	}
	return out
}

// below reports whether a path is within a folder. A relative path may be within any absolute one; a folder that is
// relative is looked for among those of the path.
func below(p, folder string) bool {
	folder = strings.TrimSuffix(folder, "/")
	switch {
	case folder == "." || folder == "":
		return true
	case strings.HasPrefix(p, folder+"/"):
		return true
	}
	absolute := func(p string) bool { return strings.HasPrefix(p, "/") || len(p) > 1 && p[1] == ':' }
	if absolute(folder) {
		return !absolute(p)
	}
	return strings.Contains(p, "/"+folder+"/")
}

// inRepository reports whether a file may be of the repository that a folder belongs to.
func inRepository(p, folder string) bool {
	if !strings.HasPrefix(folder, "/") && (len(folder) < 2 || folder[1] != ':') {
		return true
	}
	return below(p, folder) || strings.HasPrefix(folder+"/", path.Dir(p)+"/")
}

// matches reports whether a pattern of git's matches a path, or the end of it.
func matches(p, pattern string) bool {
	for range 20 {
		if ok, _ := path.Match(pattern, p); ok {
			return true
		}
		_, rest, found := strings.Cut(p, "/")
		if !found {
			return false
		}
		if ok, _ := path.Match(pattern, path.Base(p)); ok {
			return true
		}
		p = rest
	}
	return false
}

// gitStep is one step being applied.
type gitStep struct {
	*history
	call   int
	at     precis.Handle
	output string
	toolcall.GitStep
}

func (s *gitStep) add() {
	for _, f := range s.matching(s.Paths, s.Folder) {
		if s.All || !f.index.absent {
			f.index = f.version
			f.index.absent = f.state == FileDeleted
		}
	}
}

// commit puts what is in the index into a commit; all that is changed, when nothing is known of the index.
func (s *gitStep) commit() {
	if toolcall.NothingToCommit(s.output) {
		return
	}
	files := s.matching(nil, s.Folder)
	if len(s.Paths) > 0 {
		files = s.matching(s.Paths, s.Folder)
	}
	noted := slices.ContainsFunc(files, func(f *file) bool { return !f.index.same(f.head) })
	c := &commit{hash: hashOf(s.output), before: map[*file]version{}, after: map[*file]version{}}
	if n := len(s.commits); s.Amend && n > s.unsure {
		c, s.commits = s.commits[n-1], s.commits[:n-1]
		c.hash = hashOf(s.output)
		for _, call := range c.calls {
			s.amended[call] = c.hash
		}
	}
	c.calls = append(c.calls, s.call)
	for _, f := range files {
		if len(s.Paths) > 0 || s.All && !f.index.absent || !noted && !s.All && !s.Amend {
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

// hashOf returns the hash that git states of a commit: "[main 1a2b3c4] subject"; "" when it states none.
func hashOf(output string) string {
	for line := range strings.Lines(output) {
		head, _, ok := strings.Cut(line, "] ")
		if !ok || !strings.HasPrefix(head, "[") {
			continue
		}
		if hash := head[strings.LastIndexByte(head, ' ')+1:]; isHash(hash) {
			return hash
		}
	}
	return ""
}

func isHash(s string) bool {
	return len(s) >= 4 && len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// ago returns how many commits of the conversation were made after the one that a name stands for. ok is false
// when that is not known.
func (h *history) ago(name string) (n int, ok bool) {
	if n, ok = toolcall.Back(name); ok {
		return n, n <= len(h.commits)-h.unsure || h.unsure == 0
	}
	hash, ok := name, isHash(name)
	if !ok {
		hash, _, _ = strings.Cut(strings.ReplaceAll(name, "^", "~"), "~")
		if !isHash(hash) || !strings.HasSuffix(name, "~1") && !strings.HasSuffix(name, "^") && !strings.HasSuffix(name, "~") {
			return 0, false
		}
		n = 1 // the parent of the commit
	}
	for i := len(h.commits) - 1; i >= h.unsure; i-- {
		if own := h.commits[i].hash; own != "" && (strings.HasPrefix(own, hash) || strings.HasPrefix(hash, own)) {
			return len(h.commits) - 1 - i + n, true
		}
	}
	return 0, false
}

// isOlder reports whether a commit that is named by its hash was there before those that the conversation made: the hashes of all
// these are known, it is none that was taken back, and the branch has not been left.
func (h *history) isOlder(name string) bool {
	return isHash(name) && h.unsure == 0 && !slices.ContainsFunc(h.commits, func(c *commit) bool { return c.hash == "" }) &&
		!slices.ContainsFunc(h.popped, func(hash string) bool {
			return hash == "" || strings.HasPrefix(hash, name) || strings.HasPrefix(name, hash)
		})
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

func (s *gitStep) restore() {
	paths := s.Paths
	if s.Names {
		if !s.areFiles(paths[:1]) {
			s.From, s.All, paths = paths[0], true, paths[1:]
		}
		if len(paths) == 0 {
			s.unsure = len(s.commits) // another branch
			return
		}
		for i, p := range paths {
			paths[i] = path.Join(s.Folder, p)
		}
	}
	for _, f := range s.matching(paths, s.Folder) {
		to := f.index
		if s.From != "" {
			ago, ok := s.ago(s.From)
			switch {
			case ok:
				to = s.then(f, ago)
			case len(f.head.edits) > 0: // they may be there, too
				s.doubt(s.at, s.By, []*file{f})
				continue
			default:
				to = version{absent: f.head.absent}
			}
		}
		if to.absent && (s.From == "" || f.index.absent) {
			continue // git does not know the file
		}
		s.back(f, to, s.at, s.By)
		if s.All {
			f.index = to
		}
		s.changed[f] = true
	}
}

// areFiles reports whether words name files or folders that the conversation knows to be changed, or all.
func (s *gitStep) areFiles(words []string) bool {
	for _, p := range words {
		if p != "." && p != ":/" && s.files.named(path.Join(s.Folder, p)) == nil && len(s.matching([]string{path.Join(s.Folder, p)}, s.Folder)) == 0 {
			return false
		}
	}
	return true
}

func (s *gitStep) reset() {
	if s.Names && s.areFiles(s.Paths) {
		for _, f := range s.matching(s.Paths, s.Folder) {
			f.index = f.head
		}
		return
	}
	n, known := 0, true
	if len(s.Commits) > 0 {
		if n, known = s.ago(s.Commits[0]); !known && s.isOlder(s.Commits[0]) {
			n, known = len(s.commits), true
		}
	}
	if known {
		s.pop(min(n, len(s.commits)))
	} else {
		s.unsure = len(s.commits)
		for _, c := range s.commits {
			for f := range c.before {
				s.changed[f] = true
			}
		}
	}
	if s.Soft {
		return
	}
	for _, f := range s.matching(nil, s.Folder) {
		untracked := f.index.absent
		f.index = f.head
		switch {
		case !s.Hard || untracked && f.state != FileDeleted:
		case !known && len(f.head.edits) > 0:
			s.doubt(s.at, s.By, []*file{f})
		default:
			s.back(f, f.head, s.at, s.By)
		}
	}
}

// pop takes back the newest n commits: what they held is not committed any more.
func (s *gitStep) pop(n int) {
	for range n {
		c := s.commits[len(s.commits)-1]
		s.commits = s.commits[:len(s.commits)-1]
		s.popped = append(s.popped, c.hash)
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

func (s *gitStep) revert() {
	var all []*commit
	for _, name := range s.Commits {
		from, to, isRange := strings.Cut(name, "..")
		if !isRange {
			from, to = "", name
		}
		if to == "" {
			to = "HEAD"
		}
		n, ok := s.ago(to)
		last := n + 1
		if isRange && ok {
			last, ok = s.ago(from)
		}
		if !ok || last > len(s.commits)-s.unsure {
			continue
		}
		for i := n; i < last; i++ {
			all = append(all, s.commits[len(s.commits)-1-i])
		}
	}
	for _, c := range all {
		r := &commit{calls: []int{s.call}, hash: hashOf(s.output), before: map[*file]version{}, after: map[*file]version{}, reverts: c}
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

func (s *gitStep) stash() {
	saved := map[*file]version{}
	for _, f := range s.matching(s.Paths, s.Folder) {
		if f.index.absent && !s.All || f.version.same(f.head) {
			continue
		}
		saved[f] = f.version
		to := f.head
		s.back(f, to, s.at, s.By)
		f.index = f.head
		s.changed[f] = true
	}
	s.stashes = append(s.stashes, saved)
}

// stashIndex returns which of the stashes a name stands for, -1 for none.
func (h *history) stashIndex(name string) int {
	n := 0
	if name != "" {
		var err error
		if n, err = strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(name, "stash@{"), "}")); err != nil {
			return -1
		}
	}
	if n < 0 || n >= len(h.stashes) {
		return -1
	}
	return len(h.stashes) - 1 - n
}

func (h *history) stashed(name string) []*file {
	if i := h.stashIndex(name); i >= 0 {
		return slices.Collect(maps.Keys(h.stashes[i]))
	}
	return nil
}

func (s *gitStep) unstash() {
	i := s.stashIndex(s.From)
	if i < 0 {
		return
	}
	for f, saved := range s.stashes[i] {
		if !f.version.same(f.head) {
			s.doubt(s.at, s.By, []*file{f}) // both stand in it
			continue
		}
		by := saved.by
		s.back(f, saved, s.at, s.By)
		f.state, f.at, f.by, f.created = saved.state, saved.at, by, saved.created
		s.changed[f] = true
	}
	if !s.Keep {
		s.stashes = slices.Delete(s.stashes, i, i+1)
	}
}

// clean removes the files that git does not know: those that the output names, or when it names none,
// those that the conversation made.
func (s *gitStep) clean() {
	var named []string
	for line := range strings.Lines(s.output) {
		if p, ok := strings.CutPrefix(strings.TrimSpace(line), "Removing "); ok {
			named = append(named, strings.TrimSuffix(path.Join(s.Folder, strings.Trim(p, `"`)), "/"))
		}
	}
	files := s.matching(s.Paths, s.Folder)
	if len(named) > 0 {
		files = s.matching(named, "")
	}
	for _, f := range files {
		if f.index.absent && f.state != FileDeleted && (len(f.edits) > 0 || len(named) > 0) {
			s.back(f, version{absent: true, edits: nil}, s.at, s.By)
			f.state, f.at, f.by = FileDeleted, s.at, s.By
		}
	}
}
