package digest

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"precis"
	"precis/internal/lazyregexp"
	"precis/internal/toolcall"
)

// version is what is known of a file at a time.
type version struct {
	state           FileFate
	at              precis.Handle // of the call that decided the state
	writes, removed int
	wholes          int // of the writes, those of all that is in the file where it was there before
	created         bool
	by              string // the command of git that brought the file here; "" for a write
}

// edit is a change of a file, or what else decided what stands in it.
type edit struct {
	version         // what is known of the file from then on
	calls   []int   // whose text it puts in
	whole   bool    // nothing of what was in the file stands any more
	in      *commit // that holds it, or what was put away; nil: none
	staged  bool
	out     string // the command of git that took it back; "": it stands
}

// commit is one that a call made, or what was put away.
type commit struct {
	GitCommit
	repo    *repository
	calls   []int // with those that amended it
	reverts *commit
}

// history follows what git is told to do: it puts edits in the index and in commits, takes them back and gives them
// back. Where it is not known which edits these are, it is not known what stands in the file.
type history struct {
	files   *fileTable
	commits []*commit // of the conversation that are on the branch for sure, oldest first
	others  []*commit // those that were taken back, and those that may be on another branch
	moved   bool      // there may be commits of others above the oldest
	stashes []*commit
	undone  map[int]string // calls that made commits → the command of git that took them back
	amended map[int]string // calls that made commits → the hash of the commit in their place
	looked  int            // how many times a file was compared with what git is told
}

// mostLooked is how many times files are compared in one conversation. Of what git does after that nothing is known.
const mostLooked = 4 << 20

func (e *edit) stands() bool      { return e.out == "" }
func (e *edit) isOpen() bool      { return e.out == "" && e.in == nil }
func (e *edit) isStaged() bool    { return e.isOpen() && e.staged }
func (e *edit) isCommitted() bool { return e.out == "" && e.in != nil }

// has reports whether one of the edits of a file is as asked.
func (f *file) has(is func(e *edit) bool) bool { return slices.ContainsFunc(f.edits, is) }

// tracked reports whether a file is in git's index, and in the newest commit.
func (f *file) tracked() (index, head bool) {
	index, head = !f.isNew, !f.isNew
	for _, e := range f.edits {
		there := e.state != FileDeleted
		if e.isCommitted() {
			index, head = there, there
		} else if e.isStaged() {
			index = there
		}
	}
	return index, head
}

// calls returns the calls whose text stands in a file.
func (f *file) calls() (out []int) {
	for _, e := range f.edits {
		if e.whole && e.stands() {
			out = nil
		}
		if e.stands() {
			out = append(out, e.calls...)
		}
	}
	return out
}

// becomes notes what decided what stands in a file, other than a text.
func (f *file) becomes(state FileFate, at precis.Handle, by string) *edit {
	f.state, f.at, f.by = state, at, by
	e := &edit{version: f.version}
	f.edits = append(f.edits, e)
	return e
}

// settle notes what stands in a file after git took edits back or gave them back.
func (f *file) settle(at precis.Handle) {
	f.version = version{state: FileReverted, at: at}
	if f.isNew {
		f.state = FileDeleted
	}
	for _, e := range f.edits {
		if f.by = e.out; e.stands() {
			f.version = e.version
		}
	}
}

// gitStep is a command of git being applied.
type gitStep struct {
	*history
	repo *repository // nil: the output says nothing of one
	call int
	at   precis.Handle
	says *gitSays
	toolcall.Git
	ago   int     // how many commits were made after the one that it names
	known bool    // whether that is known
	maybe bool    // it is not known whether it ran
	into  *commit // that has what it does; nil: none
}

// step applies a command of git to files and commits.
func (s *gitStep) step(ran toolcall.Ran) {
	acts := s.Changes("tree", "stash", "revert")
	switch {
	case acts && s.looked > 2*mostLooked, ran == toolcall.Not, ran == toolcall.Maybe && !acts:
		return
	case acts && s.looked > mostLooked:
		s.doubt(s.among(func(string) bool { return true })...)
		return
	}
	s.maybe = ran == toolcall.Maybe
	s.resolve()
	for _, to := range s.To {
		if !s.maybe || to == "tree" || to == "stash" || to == "revert" {
			s.change(to)
		}
	}
}

// resolve finds out what the command names: whether the first word is a file or a commit, where the line does not
// say, which commit, and the files that the output says are removed.
func (s *gitStep) resolve() {
	if s.Either && len(s.Paths) > 0 {
		if first := s.Paths[0]; first == "." || first == s.Folder || len(s.named(s.Paths[:1])) > 0 {
			s.Commits = nil
		} else {
			s.Paths = s.Paths[1:]
		}
	}
	if s.known = true; len(s.Commits) > 0 {
		s.ago, s.known = s.find(s.Commits[0])
	}
	if removed := said("removed", s.says.text); s.From == "untracked" && removed != nil {
		s.Paths = nil
		for _, p := range removed {
			s.Paths = append(s.Paths, path.Join(s.Folder, p))
		}
	}
}

// commitName is a name of a commit by its hash, or by its place before the newest or before that one.
var commitName = lazyregexp.New(`^(HEAD|@|[0-9a-f]{4,64})(?:(\^+|~+)|~(\d{1,3}))?$`)

// find returns how many commits of the conversation were made after the one that a name stands for. That is not known
// for branches, and where the branch may have other commits.
func (h *history) find(name string) (ago int, known bool) {
	m := commitName.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	if ago = len(m[2]); m[3] != "" {
		ago, _ = strconv.Atoi(m[3])
	}
	known = ago <= len(h.commits) || !h.moved
	if hash := m[1]; hash != "HEAD" && hash != "@" {
		is := func(c *commit) bool { // or it may be, where it has no hash
			return strings.HasPrefix(c.Hash, hash) || strings.HasPrefix(hash, c.Hash)
		}
		i := slices.IndexFunc(h.commits, func(c *commit) bool { return c.Hash != "" && is(c) })
		if ago += len(h.commits) - 1 - i; i < 0 { // it is older than all of them
			known = !h.moved && !slices.ContainsFunc(slices.Concat(h.commits, h.others), is)
		}
	}
	return ago, known
}

// named returns the written files that paths name, as files, folders or patterns; those of the repository when there
// are none.
func (s *gitStep) named(paths []string) (out []*file) {
	if len(paths) == 0 {
		return s.among(func(p string) bool {
			below := !isAbsolute(s.Folder) || !isAbsolute(p) || strings.HasPrefix(p, s.Folder+"/")
			return below || strings.HasPrefix(s.Folder+"/", path.Dir(p)+"/")
		})
	}
	for _, spec := range paths {
		if f := s.files.named(spec); f != nil {
			out = append(out, f)
		}
		relative := strings.Trim(strings.TrimPrefix(spec+"/", s.Folder), "/")
		out = append(out, s.among(func(p string) bool {
			return covers(spec, p) || !isAbsolute(p) && covers(relative, p)
		})...)
	}
	return out
}

// among returns the written files whose paths are as asked.
func (s *gitStep) among(is func(p string) bool) (out []*file) {
	s.looked += len(s.files.all)
	for _, f := range s.files.all {
		if f.lastWrite >= 0 && is(f.path) {
			out = append(out, f)
		}
	}
	return out
}

// covers reports whether a path of git's is that of a folder around a file, or a pattern for either. One that is not
// absolute may begin in any folder.
func covers(spec, p string) bool {
	for rest, more := p, strings.ContainsAny(spec, "*?["); more; _, rest, more = strings.Cut(rest, "/") {
		if ok, _ := path.Match(spec, rest); ok {
			return true
		}
	}
	switch spec = strings.TrimSuffix(spec, "/"); {
	case spec == "" || spec == ".":
		return true
	case isAbsolute(spec):
		return strings.HasPrefix(p, spec) && strings.HasPrefix(p[len(spec):], "/")
	}
	return strings.Contains(p, spec) && strings.Contains("/"+p, "/"+spec+"/")
}

// concerned returns the files that the command may change.
func (s *gitStep) concerned() []*file {
	return slices.DeleteFunc(s.named(s.Paths), func(f *file) bool {
		index, head := f.tracked()
		switch {
		case s.From == "untracked":
			return index || f.state == FileDeleted
		case s.From == "head", len(s.Commits) > 0:
			return !index && !head
		}
		return !index && (s.From == "index" || s.From == "tracked")
	})
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
	case "moved":
		s.leave()
	case "clear":
		s.stashes = nil
	case "drop":
		if i := s.stash(); i >= 0 {
			s.stashes = slices.Delete(s.stashes, i, i+1)
		}
	case "stash":
		k := &commit{}
		s.takeBack(k)
		s.stashes = append(s.stashes, k)
	case "tree":
		switch {
		case s.From == "stash":
			if i := s.stash(); i >= 0 {
				s.turn(s.stashes[i], "")
			}
		case s.From == "index" && len(s.Paths) == 0: // a checkout of another branch
			s.leave()
		default:
			s.takeBack(nil)
		}
	case "index":
		for _, f := range s.concerned() {
			for _, e := range f.edits {
				e.staged = s.From == "tree" || s.From == "tracked"
			}
		}
	}
}

// doubt notes that it is not known what stands in files.
func (s *gitStep) doubt(files ...*file) {
	for _, f := range files {
		f.becomes(FileUnknown, s.at, s.By).in = s.into
	}
}

// takeBack takes edits back that are in no commit, or puts them away: those in the index only where the command says
// so, and those in later commits than the one that it names.
func (s *gitStep) takeBack(away *commit) {
	later := s.commits[max(len(s.commits)-s.ago, 0):]
	for _, f := range s.concerned() {
		if s.maybe || s.From == "unknown" || !s.known && f.has((*edit).isCommitted) {
			s.doubt(f)
			continue
		}
		took := false
		for _, e := range f.edits {
			stays := e.staged && s.From == "index" && len(s.Commits) == 0
			if e.isOpen() && !stays || e.stands() && slices.Contains(later, e.in) {
				e.out, e.in, took = s.By, cmp.Or(away, e.in), true
			}
		}
		if took {
			f.settle(s.at)
		}
	}
}

// turn takes back what a commit holds, by a command, or gives back what was taken or put away. Where other edits came
// later, it is not known what stands in the file.
func (s *gitStep) turn(c *commit, by string) {
	s.looked += len(s.files.all)
	for _, f := range s.files.all {
		some, newest := false, false
		for _, e := range f.edits {
			switch {
			case e.in == c && e.stands() == (by != ""):
				some, newest, e.out = true, true, by
				if s.From == "stash" {
					e.in, e.staged = nil, false
				}
			case e.stands():
				newest = false
			}
		}
		if some && (s.maybe || !newest) {
			s.doubt(f)
		} else if some {
			f.settle(s.at)
		}
	}
}

// commit puts what is in the index into a commit; all that is changed, when nothing is known of the index.
func (s *gitStep) commit() {
	c, files, tracked := s.newCommit(), s.named(s.Paths), s.From == "tracked"
	noted := tracked || s.Has("--amend") || s.Verb != "commit" ||
		slices.ContainsFunc(files, func(f *file) bool { return f.has((*edit).isStaged) })
	for _, f := range files {
		index, _ := f.tracked()
		all := len(s.Paths) > 0 || !noted || tracked && index
		for _, e := range f.edits {
			if e.isOpen() && (all || e.staged) {
				e.in = c
			}
		}
	}
}

// newCommit returns a new commit; the newest one, where that is amended.
func (s *gitStep) newCommit() *commit {
	n := len(s.commits) - 1
	if !s.Has("--amend") || n < 0 {
		s.commits, n = append(s.commits, &commit{repo: s.repo}), n+1
	}
	c := s.commits[n]
	c.GitCommit = GitCommit{s.at, "", cmp.Or(subjectOf(&s.Git), c.Subject)}
	if found := s.says.commits; len(found) > 0 {
		c.Hash, c.Subject, s.says.commits = found[0][2], found[0][3], found[1:]
	} else if s.Verb != "commit" {
		c.repo = nil // nothing can be said of it
	}
	for _, call := range c.calls {
		s.amended[call] = c.Hash
	}
	c.calls = append(c.calls, s.call)
	return c
}

// leave notes that the branch is another one, or has other commits: a rebase makes them anew.
func (s *gitStep) leave() {
	s.moved = s.moved || len(s.commits) > 0
	s.others, s.commits = append(s.others, s.commits...), nil
	says := func(words string) bool { return strings.Contains(s.says.text, words) }
	if s.Verb == "rebase" && !says("up to date") || says("Successfully rebased") {
		for _, c := range s.others {
			c.Hash = ""
		}
	}
}

// goBack has the branch go back to the commit that is named: what later ones held is in the index.
func (s *gitStep) goBack() {
	if len(s.Paths) > 0 {
		return
	}
	if !s.known {
		s.into = &commit{}
		s.leave()
	}
	for ; s.ago > 0 && len(s.commits) > 0; s.ago-- {
		n := len(s.commits) - 1
		c := s.commits[n]
		s.undo(c)
		s.commits, s.others = s.commits[:n], append(s.others, c)
		for _, f := range s.files.all {
			for _, e := range f.edits {
				if e.in == c {
					e.in, e.staged = nil, true
				}
			}
		}
	}
	s.ago = 0
}

// undo notes that a commit was taken back. What it took back stands again.
func (s *gitStep) undo(c *commit) {
	for _, call := range c.calls {
		s.undone[call] = s.By
	}
	if c.reverts != nil {
		for _, call := range c.reverts.calls {
			delete(s.undone, call)
		}
		s.turn(c.reverts, "")
	}
}

// revert takes back what the named commit holds, by a commit. Of several, and of one that is not known, it may be all
// that was committed.
func (s *gitStep) revert() {
	held := len(s.commits) - 1 - s.ago
	s.into = s.newCommit()
	switch {
	case !s.known || len(s.Commits) > 1:
		for _, f := range s.files.all {
			if f.has((*edit).isCommitted) {
				s.doubt(f)
			}
		}
	case len(s.Commits) == 1 && held >= 0:
		s.into.reverts = s.commits[held]
		s.undo(s.commits[held])
		s.turn(s.commits[held], s.By)
	}
}

// stash returns which of the changes that were put away the command names, by their number; -1 for none.
func (s *gitStep) stash() int {
	n := 0
	if len(s.Commits) > 0 {
		var err error
		n, err = strconv.Atoi(strings.Trim(s.Commits[0], "stah@{}"))
		s.maybe = s.maybe || err != nil
	}
	if n < 0 || n >= len(s.stashes) {
		return -1
	}
	return len(s.stashes) - 1 - n
}
