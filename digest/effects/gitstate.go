package effects

import (
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/preview"
)

// GitState is the state of the git repository where the agent worked last, as commands of git and
// their output show it.
type GitState struct {
	Handle   precis.Handle `json:"handle"`           // of the newest call that shows it
	Folder   string        `json:"folder,omitempty"` // set if the agent worked in several repositories
	Branch   string        `json:"branch,omitempty"` // "" if unknown
	Detached bool          `json:"detached,omitempty"`
	Unknown  *GitCommand   `json:"unknown,omitempty"` // the first later command that may have changed it
	Commit   *GitCommit    `json:"commit,omitempty"`  // the newest commit of a call that was not undone
	// files that calls changed and, as far as known, did not commit
	Changed int `json:"changed,omitempty"`
	// of these, the files with a change in the index, maybe not the newest
	Staged int `json:"staged,omitempty"`
	// whether a call made a commit, even one that was undone
	Commits bool `json:"commits,omitempty"`
	// git reported a clean work tree, and no call changed a file since
	Clean     bool          `json:"clean,omitempty"`
	Operation *GitOperation `json:"operation,omitempty"` // a merge, a rebase or the like that has not ended
}

// GitCommit is a commit that a call made.
type GitCommit struct {
	Handle precis.Handle `json:"handle"`
	// "" if the output does not state it, or a rebase has replaced it
	Hash    string `json:"hash,omitempty"`
	Subject string `json:"subject,omitempty"`
}

// GitCommand is a command of git.
type GitCommand struct {
	Handle  precis.Handle `json:"handle"`
	Command string        `json:"command"` // without its arguments
}

// GitOperation is an operation that git has begun and not ended.
type GitOperation struct {
	Handle precis.Handle `json:"handle"`
	Kind   string        `json:"kind"`  // "merge", "rebase", "cherry-pick", "revert", "am" or "stash pop"
	Files  []string      `json:"files"` // files with unresolved conflicts
}

// lastWorkedIn returns the repository of the agent's last work, nil for none. A repository in a temporary
// folder counts only if there is no other.
func (g *repositories) lastWorkedIn() *repository {
	var out *repository
	for _, r := range *g {
		was, is := out != nil && !isTemporary(out.folder), !isTemporary(r.folder)
		if out == nil || is && !was || is == was && r.worked >= out.worked {
			out = r
		}
	}
	return out
}

// GitState returns the state of the repository of the agent's last work; nil for none.
func (w *Reading) GitState() *GitState {
	r := w.repos.lastWorkedIn()
	if r == nil {
		return nil
	}
	s := r.state
	if slices.ContainsFunc(w.repos, func(o *repository) bool { return o != r && !isTemporary(o.folder) }) {
		s.Folder = r.folder
	}
	for _, c := range slices.Concat(w.git.others, w.git.commits) {
		if s.Commits = s.Commits || c.repo == r; c.repo == r && w.git.undone[c.calls[0]] == "" {
			s.Commit = &c.GitCommit
		}
	}
	root := w.root()
	s.Clean = r.clean >= 0
	for _, f := range w.files.all {
		if !w.isTrackedBy(r, root, f.Path) {
			continue
		}
		s.Clean = s.Clean && f.LastWrite <= r.clean
		isChange := func(e *edit) bool { return e.isOpen() && e.State != FileUnknown }
		if there := f.Exists() || f.State == FileDeleted; there && f.has(isChange) {
			s.Changed++
			if f.has(func(e *edit) bool { return isChange(e) && e.staged }) {
				s.Staged++
			}
		}
	}
	s.Clean = s.Clean && s.Changed == 0
	if s.Branch == "" && !s.Detached && s.Commit == nil && s.Changed == 0 && s.Operation == nil && !s.Clean {
		return nil
	}
	return &s
}

// isTrackedBy reports whether a file belongs to a repository and is not ignored by git. Root is the
// folder that contains most files.
func (w *Reading) isTrackedBy(r *repository, root, p string) bool {
	switch {
	case strings.Contains("/"+p, "/.git/"), strings.HasPrefix(p, "~"), strings.HasPrefix(p, "../"):
		return false
	case !IsAbsolute(p):
		return true
	}
	if IsAbsolute(r.folder) {
		return w.repos.innermostAround(p) == r
	}
	return !isTemporary(p) && !ofHome.MatchString(p) && mayBelongTo(p, root)
}

// mayBelongTo reports whether a file may belong to the repository of most files, below a folder: it lies
// in the folder, or in a parent folder that is neither a home nor a system folder.
func mayBelongTo(p, folder string) bool {
	common := folder
	for strings.Contains(common, "/") && !strings.HasPrefix(p, common+"/") {
		common = common[:strings.LastIndexByte(common, '/')]
	}
	return common == folder || strings.Count(common, "/") > 2
}

// root returns the folder that contains most files; "" for none.
func (w *Reading) root() string {
	files := make([]File, len(w.files.all))
	for i, f := range w.files.all {
		files[i] = *f
	}
	return RootOf(files)
}

// ofHome matches hidden folders in a home directory, where programs keep their data.
var ofHome = lazyregexp.New(`^(?:/home/[^/]+|/Users/[^/]+|/root|[A-Za-z]:/Users/[^/]+)/\.[^/]+/`)

// Lines describes the state as a digest does: operations in progress first. Handle says how the text
// names a message; nil: m12 for the twelfth.
func (s *GitState) Lines(handle func(message int) string) []string {
	const mostSubject, mostFiles = 72, 200 // bytes
	if s == nil {
		return nil
	}
	if handle == nil {
		handle = func(message int) string { return precis.MessageHandle(message).String() }
	}
	var out, parts []string
	where := ""
	if s.Folder != "" {
		where = " in " + preview.Quote(s.Folder, mostFiles)
	}
	if op := s.Operation; op != nil {
		line := "- " + handle(op.Handle.From) + ": a " + op.Kind + " is under way" + where
		if len(op.Files) > 0 {
			line += ", stopped by conflicts in " + preview.Quote(preview.List(op.Files, ", ", mostFiles),
				mostFiles+20)
		}
		out = append(out, line)
	}
	switch {
	case s.Branch != "":
		parts = append(parts, "branch "+preview.Quote(s.Branch, 120))
	case s.Detached:
		parts = append(parts, "no branch (detached HEAD)")
	}
	if u := s.Unknown; u != nil && len(parts) > 0 {
		parts[0] += " (unknown since " + handle(u.Handle.From) + ", " + preview.Quote(u.Command, 40) + ")"
	}
	if c := s.Commit; c != nil {
		line := "last commit"
		if c.Hash != "" {
			line += " " + c.Hash
		}
		if c.Subject != "" {
			line += ` "` + preview.Quote(c.Subject, mostSubject) + `"`
		}
		parts = append(parts, line+" ("+handle(c.Handle.From)+")")
	}
	switch {
	case s.Clean:
		parts = append(parts, "working tree clean")
	case s.Changed > 0 && !s.Commits:
		parts = append(parts, "no commit was made here")
	}
	if len(parts) > 0 {
		if s.Operation != nil {
			where = ""
		}
		out = append(out, "- "+handle(s.Handle.From)+where+": "+strings.Join(parts, "; "))
	}
	return out
}
