package sessions

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/archive/opencode/database"
	"github.com/precis-dev/precis/archive/roo"
)

// found is a file or folder that may be a recording.
type found struct {
	path     string
	agent    string // the program of its place; "": any
	size     int64
	modified time.Time
}

// walker searches places.
type walker struct {
	ctx    context.Context
	seen   map[string]bool // paths, since places may overlap
	linked map[string]bool // targets of links to folders
	found  []found
	unread []Unread
}

// recordUnread records a path that is not read.
func (w *walker) recordUnread(path string, p Place, why Reason, text string) {
	if !w.seen[path] {
		w.seen[path] = true
		w.unread = append(w.unread, Unread{Path: path, Agent: p.Agent, Why: why, Text: text})
	}
}

// failed records a path that cannot be read, unless it is gone.
func (w *walker) failed(path string, p Place, err error) {
	if u, ok := unreadOf(path, p.Agent, err); ok {
		w.recordUnread(path, p, u.Why, u.Text)
	}
}

// walk returns the possible recordings in the places, sorted by path, and the paths that cannot be
// read. A missing place is empty.
func walk(ctx context.Context, places []Place) ([]found, []Unread, error) {
	w := &walker{ctx: ctx, seen: map[string]bool{}, linked: map[string]bool{}}
	for _, p := range places {
		if path, _, ok := database.Split(p.Root); ok {
			w.database(path, p)
			w.found = slices.DeleteFunc(w.found, func(f found) bool { return f.path != p.Root })
			continue
		}
		root, err := filepath.EvalSymlinks(p.Root)
		if err != nil {
			w.failed(p.Root, p, err)
			continue
		}
		info, err := os.Stat(root)
		if err != nil {
			w.failed(root, p, err)
			continue
		}
		if !info.IsDir() {
			w.file(root, p, fs.FileInfoToDirEntry(info))
			continue
		}
		if err := w.folder(root, p, 0); err != nil {
			return nil, nil, err
		}
	}
	slices.SortFunc(w.found, func(a, b found) int { return strings.Compare(a.path, b.path) })
	return w.found, w.unread, nil
}

// deepest is the most levels of nested folders.
const deepest = 32

// folder searches a folder recursively.
func (w *walker) folder(dir string, p Place, depth int) error {
	if w.ctx.Err() != nil {
		return precis.Errorf(precis.CodeCanceled, "find sessions", "%w", context.Cause(w.ctx))
	}
	if depth > deepest {
		w.recordUnread(dir, p, TooDeep, "the folder lies too deep")
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		w.failed(dir, p, err)
	}
	if whole, ok := recordedIn(dir, entries); ok {
		w.add(dir, whole, p.Agent)
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.Type()&fs.ModeSymlink != 0 {
			if path, e = w.resolveLink(path, p); e == nil {
				continue
			}
		}
		if e.IsDir() {
			if skipped[e.Name()] || !p.leadsTo(e.Name(), depth) {
				continue
			}
			if err := w.folder(path, p, depth+1); err != nil {
				return err
			}
		}
		if wanted(path, p) {
			w.file(path, p, e)
		}
	}
	return nil
}

// resolveLink returns the target of a link; nil if it is missing, out of the place's home, or a folder
// already searched.
func (w *walker) resolveLink(link string, p Place) (path string, e fs.DirEntry) {
	path, err := filepath.EvalSymlinks(link)
	if err != nil {
		w.recordUnread(link, p, BrokenLink, "the link leads to no file")
		return "", nil
	}
	if home, err := filepath.EvalSymlinks(p.Home); p.Home != "" && (err != nil || !under(path, home)) {
		w.recordUnread(link, p, LinkOut, "the link leads out of your home folder; --in FOLDER reads it")
		return "", nil
	}
	info, err := os.Stat(path)
	if err != nil || w.linked[path] {
		return "", nil
	}
	w.linked[path] = info.IsDir()
	return path, fs.FileInfoToDirEntry(info)
}

// skipped are folders without recordings that may be very large.
var skipped = map[string]bool{".git": true, "node_modules": true, "checkpoints": true, "file-history": true,
	"shell-snapshots": true, "tool-results": true, "command-output": true}

// recordedIn reports whether a folder as a whole is one recording, and returns the entry with its
// time of change.
func recordedIn(dir string, entries []fs.DirEntry) (fs.FileInfo, bool) {
	for _, e := range entries {
		name := e.Name()
		history := slices.Contains(roo.HistoryNames, name) && e.Type().IsRegular()
		events := name == formats.EventFolder && e.IsDir() && formats.IsEventFolder(filepath.Join(dir, name))
		if history || events {
			info, err := e.Info()
			return info, err == nil
		}
	}
	return nil, false
}

// extensionsGiven are file name extensions of recordings of any program.
var extensionsGiven = []string{".json", ".jsonl", ".traj", ".precis", ".md"}

// wanted reports whether a file may be a recording, judged by its name.
func wanted(path string, p Place) bool {
	base := filepath.Base(path)
	if strings.HasSuffix(base, ".precis-backup") ||
		slices.Contains([]string{roo.UIName, roo.MetadataName, roo.ItemName, roo.SidecarName}, base) {
		return false
	}
	if p.Given {
		ext := strings.ToLower(filepath.Ext(strings.TrimSuffix(strings.TrimSuffix(base, ".zst"), ".gz")))
		return slices.Contains(extensionsGiven, ext) && (ext != ".md" || strings.Contains(base, "aider")) ||
			database.ProgramOf(path) != ""
	}
	for _, pattern := range p.files {
		parts := strings.Split(filepath.ToSlash(path), "/")
		end := strings.Join(parts[max(0, len(parts)-strings.Count(pattern, "/")-1):], "/")
		if ok, err := filepath.Match(pattern, end); err == nil && ok {
			return true
		}
	}
	return false
}

// database adds the sessions of a database.
func (w *walker) database(path string, p Place) {
	entries, err := database.Sessions(w.ctx, path)
	if err != nil {
		w.failed(path, p, err)
	}
	for _, e := range entries {
		if !w.seen[e.Name] {
			w.seen[e.Name] = true
			w.found = append(w.found, found{path: e.Name, agent: database.ProgramOf(path), size: e.Size,
				modified: e.Modified})
		}
	}
}

// file adds a file with the name of a recording.
func (w *walker) file(path string, p Place, e fs.DirEntry) {
	info, err := e.Info()
	if err != nil {
		w.failed(path, p, err)
		return
	}
	switch what := special(info.Mode()); {
	case what != "":
		w.recordUnread(path, p, NoFile, what)
	case info.Size() == 0:
		w.recordUnread(path, p, Empty, "the file is empty")
	case database.ProgramOf(path) != "":
		w.database(path, p)
	default:
		w.add(path, info, p.Agent)
	}
}

func (w *walker) add(path string, info fs.FileInfo, agent string) {
	if !w.seen[path] {
		w.seen[path] = true
		w.found = append(w.found, found{path: path, agent: agent, size: info.Size(),
			modified: info.ModTime()})
	}
}
