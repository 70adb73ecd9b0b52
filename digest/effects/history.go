package effects

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/toolcall"
)

// Version is the known state of a file at one time.
type Version struct {
	State           FileFate
	At              precis.Handle // of the call that decided the state
	Writes, Removed int           // how many calls changed it, and removed it
	Wholes          int           // how many of the writes replaced all that the file contained
	Created         bool
	GitCommand      string // the command of git that caused this state; "" for a write
}

// edit is one event in the life of a file: a change, or another event that determines its content.
type edit struct {
	Version          // the state of the file after the edit
	calls    []int   // the calls that wrote the new text
	whole    bool    // it replaced the whole content
	in       *commit // the commit or stash that contains it; nil: none
	staged   bool
	undoneBy string // the command of git that undid it; "": still in effect
}

// commit is a commit that a call made, or a stash.
type commit struct {
	GitCommit
	repo    *repository
	calls   []int // including calls that amended it
	reverts *commit
}

// history applies commands of git: it puts edits in the index and in commits, undoes them and
// restores them. If the affected edits are unknown, the content of the file is unknown.
type history struct {
	files       *fileTable
	commits     []*commit // commits of the conversation that are certainly on the branch, oldest first
	others      []*commit // commits that were undone, and commits that may be on another branch
	othersAbove bool      // there may be commits of others above the oldest
	stashes     []*commit
	undone      map[int]string // calls that made commits → the command of git that undid them
	amended     map[int]string // calls that made commits → the hash of the commit that replaced theirs
	looked      int            // comparisons of a file with an argument of git so far
}

// mostLooked limits the comparisons in a conversation. Later commands leave the state unknown.
const mostLooked = 4 << 20

func (e *edit) inEffect() bool    { return e.undoneBy == "" }
func (e *edit) isOpen() bool      { return e.undoneBy == "" && e.in == nil }
func (e *edit) isStaged() bool    { return e.isOpen() && e.staged }
func (e *edit) isCommitted() bool { return e.undoneBy == "" && e.in != nil }

// has reports whether is returns true for any edit of a file.
func (f *File) has(is func(e *edit) bool) bool { return slices.ContainsFunc(f.edits, is) }

// IsRestored reports whether git undid an edit of the file.
func (f *File) IsRestored() bool { return f.has(func(e *edit) bool { return !e.inEffect() }) }

// tracked reports whether a file is in git's index, and in the newest commit.
func (f *File) tracked() (index, head bool) {
	index, head = !f.isNew, !f.isNew
	for _, e := range f.edits {
		there := e.State != FileDeleted
		if e.isCommitted() {
			index, head = there, there
		} else if e.isStaged() {
			index = there
		}
	}
	return index, head
}

// WritingCalls returns the calls that wrote the current content of a file.
func (f *File) WritingCalls() (out []int) {
	for _, e := range f.edits {
		if e.whole && e.inEffect() {
			out = nil
		}
		if e.inEffect() {
			out = append(out, e.calls...)
		}
	}
	return out
}

// recordEvent records an event other than a write that determines a file's content.
func (f *File) recordEvent(state FileFate, at precis.Handle, by string) *edit {
	f.State, f.At, f.GitCommand = state, at, by
	e := &edit{Version: f.Version}
	f.edits = append(f.edits, e)
	return e
}

// markClean updates the state of a file after git undid or restored edits.
func (f *File) markClean(at precis.Handle) {
	f.Version = Version{State: FileReverted, At: at}
	if f.isNew {
		f.State = FileDeleted
	}
	for _, e := range f.edits {
		if f.GitCommand = e.undoneBy; e.inEffect() {
			f.Version = e.Version
		}
	}
}

// gitStep is the application of one command of git.
type gitStep struct {
	*history
	repo *repository // nil: the output names no repository
	call int
	at   precis.Handle
	says *gitOutput
	toolcall.Git
	commitsAfter      int     // the number of commits after the one that it names
	commitsAfterKnown bool    // whether ago is known
	maybe             bool    // unknown whether it ran
	receiver          *commit // the commit or stash that receives its changes; nil: none
}

// applyCommand applies a command of git to files and commits.
func (s *gitStep) applyCommand(ran toolcall.Ran) {
	acts := s.Changes("tree", "stash", "revert")
	switch {
	case acts && s.looked > 2*mostLooked, ran == toolcall.Not, ran == toolcall.Maybe && !acts:
		return
	case acts && s.looked > mostLooked:
		s.doubt(s.filesWhere(func(string) bool { return true })...)
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

// resolve determines the operands of the command: whether an ambiguous first word is a file or a
// commit, which commit, and which files the output reports as removed.
func (s *gitStep) resolve() {
	if s.Either && len(s.Paths) > 0 {
		if first := s.Paths[0]; first == "." || first == s.Folder || len(s.matchingFiles(s.Paths[:1])) > 0 {
			s.Commits = nil
		} else {
			s.Paths = s.Paths[1:]
		}
	}
	if s.commitsAfterKnown = true; len(s.Commits) > 0 {
		s.commitsAfter, s.commitsAfterKnown = s.find(s.Commits[0])
	}
	if removed := namesIn("removed", s.says.text); s.From == "untracked" && removed != nil {
		s.Paths = nil
		for _, p := range removed {
			s.Paths = append(s.Paths, path.Join(s.Folder, p))
		}
	}
}

// commitName matches a commit given by hash, or by its distance before HEAD or before a hash.
var commitName = lazyregexp.New(`^(HEAD|@|[0-9a-f]{4,64})(?:(\^+|~+)|~(\d{1,3}))?$`)

// find returns how many commits of the conversation were made after the named one. The number is
// unknown for branches, and if the branch may contain other commits.
func (h *history) find(name string) (ago int, known bool) {
	m := commitName.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	if ago = len(m[2]); m[3] != "" {
		ago, _ = strconv.Atoi(m[3])
	}
	known = ago <= len(h.commits) || !h.othersAbove
	if hash := m[1]; hash != "HEAD" && hash != "@" {
		is := func(c *commit) bool { // a commit without a hash may match
			return strings.HasPrefix(c.Hash, hash) || strings.HasPrefix(hash, c.Hash)
		}
		i := slices.IndexFunc(h.commits, func(c *commit) bool { return c.Hash != "" && is(c) })
		if ago += len(h.commits) - 1 - i; i < 0 { // older than all of them
			known = !h.othersAbove && !slices.ContainsFunc(slices.Concat(h.commits, h.others), is)
		}
	}
	return ago, known
}

// matchingFiles returns the written files that paths match as files, folders or patterns; all files of the
// repository if paths is empty.
func (s *gitStep) matchingFiles(paths []string) (out []*File) {
	if len(paths) == 0 {
		return s.filesWhere(func(p string) bool {
			below := !IsAbsolute(s.Folder) || !IsAbsolute(p) || strings.HasPrefix(p, s.Folder+"/")
			return below || strings.HasPrefix(s.Folder+"/", path.Dir(p)+"/")
		})
	}
	for _, spec := range paths {
		if f := s.files.fileNamed(spec); f != nil {
			out = append(out, f)
		}
		relative := strings.Trim(strings.TrimPrefix(spec+"/", s.Folder), "/")
		out = append(out, s.filesWhere(func(p string) bool {
			return covers(spec, p) || !IsAbsolute(p) && covers(relative, p)
		})...)
	}
	return out
}

// filesWhere returns the written files for which is returns true.
func (s *gitStep) filesWhere(is func(p string) bool) (out []*File) {
	s.looked += len(s.files.all)
	for _, f := range s.files.all {
		if f.LastWrite >= 0 && is(f.Path) {
			out = append(out, f)
		}
	}
	return out
}

// covers reports whether spec, a path in a command of git, matches p: the same path, a folder
// around it, or a pattern for either. A relative spec may start in any folder.
func covers(spec, p string) bool {
	for rest, more := p, strings.ContainsAny(spec, "*?["); more; _, rest, more = strings.Cut(rest, "/") {
		if ok, _ := path.Match(spec, rest); ok {
			return true
		}
	}
	switch spec = strings.TrimSuffix(spec, "/"); {
	case spec == "" || spec == ".":
		return true
	case IsAbsolute(spec):
		return strings.HasPrefix(p, spec) && strings.HasPrefix(p[len(spec):], "/")
	}
	return strings.Contains(p, spec) && strings.Contains("/"+p, "/"+spec+"/")
}

// affectedFiles returns the files that the command may change.
func (s *gitStep) affectedFiles() []*File {
	return slices.DeleteFunc(s.matchingFiles(s.Paths), func(f *File) bool {
		index, head := f.tracked()
		switch {
		case s.From == "untracked":
			return index || f.State == FileDeleted
		case s.From == "head", len(s.Commits) > 0:
			return !index && !head
		}
		return !index && (s.From == "index" || s.From == "tracked")
	})
}

// change applies one change of the command.
func (s *gitStep) change(to string) {
	switch to {
	case "commit":
		s.commit()
	case "revert":
		s.revert()
	case "back":
		s.resetBranch()
	case "moved":
		s.recordBranchChange()
	case "clear":
		s.stashes = nil
	case "drop":
		if i := s.stash(); i >= 0 {
			s.stashes = slices.Delete(s.stashes, i, i+1)
		}
	case "stash":
		k := &commit{}
		s.undoUncommitted(k)
		s.stashes = append(s.stashes, k)
	case "tree":
		switch {
		case s.From == "stash":
			if i := s.stash(); i >= 0 {
				s.flipEdits(s.stashes[i], "")
			}
		case s.From == "index" && len(s.Paths) == 0: // a checkout of another branch
			s.recordBranchChange()
		default:
			s.undoUncommitted(nil)
		}
	case "index":
		for _, f := range s.affectedFiles() {
			for _, e := range f.edits {
				e.staged = s.From == "tree" || s.From == "tracked"
			}
		}
	}
}

// doubt records that the content of files is unknown.
func (s *gitStep) doubt(files ...*File) {
	for _, f := range files {
		f.recordEvent(FileUnknown, s.at, s.By).in = s.receiver
	}
}

// undoUncommitted undoes or stashes uncommitted edits. It affects edits in the index only if the command
// does, and it includes commits after the one that the command names.
func (s *gitStep) undoUncommitted(away *commit) {
	later := s.commits[max(len(s.commits)-s.commitsAfter, 0):]
	for _, f := range s.affectedFiles() {
		if s.maybe || s.From == "unknown" || !s.commitsAfterKnown && f.has((*edit).isCommitted) {
			s.doubt(f)
			continue
		}
		took := false
		for _, e := range f.edits {
			stays := e.staged && s.From == "index" && len(s.Commits) == 0
			if e.isOpen() && !stays || e.inEffect() && slices.Contains(later, e.in) {
				e.undoneBy, e.in, took = s.By, cmp.Or(away, e.in), true
			}
		}
		if took {
			f.markClean(s.at)
		}
	}
}

// flipEdits undoes the edits of a commit (by is the command), or restores undone or stashed edits (by is
// ""). If later edits exist, the content of the file is unknown.
func (s *gitStep) flipEdits(c *commit, by string) {
	s.looked += len(s.files.all)
	for _, f := range s.files.all {
		some, newest := false, false
		for _, e := range f.edits {
			switch {
			case e.in == c && e.inEffect() == (by != ""):
				some, newest, e.undoneBy = true, true, by
				if s.From == "stash" {
					e.in, e.staged = nil, false
				}
			case e.inEffect():
				newest = false
			}
		}
		if some && (s.maybe || !newest) {
			s.doubt(f)
		} else if some {
			f.markClean(s.at)
		}
	}
}

// commit puts the index into a commit; all changes if the content of the index is unknown.
func (s *gitStep) commit() {
	c, files, tracked := s.newCommit(), s.matchingFiles(s.Paths), s.From == "tracked"
	noted := tracked || s.Has("--amend") || s.Verb != "commit" ||
		slices.ContainsFunc(files, func(f *File) bool { return f.has((*edit).isStaged) })
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

// newCommit returns a new commit; with --amend, the newest one.
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
		c.repo = nil // it no longer counts for the repository's state
	}
	for _, call := range c.calls {
		s.amended[call] = c.Hash
	}
	c.calls = append(c.calls, s.call)
	return c
}

// recordBranchChange records that the branch has changed, or that its commits have, as after a rebase or
// filter-repo.
func (s *gitStep) recordBranchChange() {
	s.othersAbove = s.othersAbove || len(s.commits) > 0
	s.others, s.commits = append(s.others, s.commits...), nil
	says := func(words string) bool { return strings.Contains(s.says.text, words) }
	if s.Verb == "rebase" && !says("up to date") || says("Successfully rebased") || strings.HasPrefix(s.Verb, "filter-") {
		for _, c := range s.others {
			c.Hash = ""
		}
	}
}

// resetBranch resets the branch to the named commit: the edits of later commits are in the index again.
func (s *gitStep) resetBranch() {
	if len(s.Paths) > 0 {
		return
	}
	if !s.commitsAfterKnown {
		s.receiver = &commit{}
		s.recordBranchChange()
	}
	for ; s.commitsAfter > 0 && len(s.commits) > 0; s.commitsAfter-- {
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
	s.commitsAfter = 0
}

// undo records that a commit was undone. The commit that it reverted is in effect again.
func (s *gitStep) undo(c *commit) {
	for _, call := range c.calls {
		s.undone[call] = s.By
	}
	if c.reverts != nil {
		for _, call := range c.reverts.calls {
			delete(s.undone, call)
		}
		s.flipEdits(c.reverts, "")
	}
}

// revert undoes the edits of the named commit by a new commit. If the command names several
// commits, or one that is unknown, it may have undone any commit.
func (s *gitStep) revert() {
	held := len(s.commits) - 1 - s.commitsAfter
	s.receiver = s.newCommit()
	switch {
	case !s.commitsAfterKnown || len(s.Commits) > 1:
		for _, f := range s.files.all {
			if f.has((*edit).isCommitted) {
				s.doubt(f)
			}
		}
	case len(s.Commits) == 1 && held >= 0:
		s.receiver.reverts = s.commits[held]
		s.undo(s.commits[held])
		s.flipEdits(s.commits[held], s.By)
	}
}

// stash returns the index of the stash that the command names; -1 for none.
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
