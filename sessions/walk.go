package sessions

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"precis"
	"precis/archive/formats"
	"precis/archive/opencode/database"
	"precis/archive/roo"
)

// found is a file or folder that may be a recording.
type found struct {
	path     string
	agent    string // whose place it is in; "": any
	size     int64
	modified time.Time
}

// walker looks through places.
type walker struct {
	ctx    context.Context
	seen   map[string]bool // paths, since places may lie in one another
	linked map[string]bool // folders that links lead to
	found  []found
	passed Passed
}

// walk returns what may be recordings in the places, in the order of their paths. A
// place that does not exist, or a folder that may not be read, holds nothing.
func walk(ctx context.Context, places []Place) ([]found, Passed, error) {
	w := &walker{ctx: ctx, seen: map[string]bool{}, linked: map[string]bool{}}
	for _, p := range places {
		if path, _, ok := database.Split(p.Root); ok {
			w.database(path)
			w.found = slices.DeleteFunc(w.found, func(f found) bool { return f.path != p.Root })
			continue
		}
		root, err := filepath.EvalSymlinks(p.Root)
		if err != nil {
			continue
		}
		info, err := os.Stat(root)
		if err != nil {
			continue
		}
		if !info.IsDir() {
			w.file(root, p.Agent, info)
			continue
		}
		if err := w.folder(root, p, 0); err != nil {
			return nil, Passed{}, err
		}
	}
	slices.SortFunc(w.found, func(a, b found) int { return strings.Compare(a.path, b.path) })
	return w.found, w.passed, nil
}

// deepest is how many folders lie in one another at most.
const deepest = 32

// folder looks through a folder and what is below it.
func (w *walker) folder(dir string, p Place, depth int) error {
	if w.ctx.Err() != nil {
		return precis.Errorf(precis.CodeCanceled, "find sessions", "%w", context.Cause(w.ctx))
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrPermission) {
		w.passed.Forbidden++
	}
	if err != nil || depth > deepest {
		return nil
	}
	if whole, ok := recordedIn(dir, entries); ok {
		w.add(dir, whole, p.Agent)
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.Type()&fs.ModeSymlink != 0 {
			if path, e = w.follow(path, p); e == nil {
				continue
			}
		}
		switch {
		case e.IsDir():
			if skipped[e.Name()] || !p.leadsTo(e.Name(), depth) {
				continue
			}
			if err := w.folder(path, p, depth+1); err != nil {
				return err
			}
		case e.Type().IsRegular() && database.IsFile(path) && (p.Given || p.Agent == "opencode"):
			w.database(path)
		case !e.Type().IsRegular() || !wanted(path, p):
		default:
			if info, err := e.Info(); err == nil {
				w.file(path, p.Agent, info)
			}
		}
	}
	return nil
}

// follow returns what a link leads to; nil where that is nowhere, out of the place's home, or a folder that was
// looked through.
func (w *walker) follow(link string, p Place) (path string, e fs.DirEntry) {
	path, err := filepath.EvalSymlinks(link)
	if err != nil {
		return "", nil
	}
	if home, err := filepath.EvalSymlinks(p.Home); p.Home != "" && (err != nil || !under(path, home)) {
		w.passed.Links++
		return "", nil
	}
	info, err := os.Stat(path)
	if err != nil || w.linked[path] {
		return "", nil
	}
	w.linked[path] = info.IsDir()
	return path, fs.FileInfoToDirEntry(info)
}

// skipped are folders that hold no recordings, and may hold very much.
var skipped = map[string]bool{".git": true, "node_modules": true, "checkpoints": true, "file-history": true, "shell-snapshots": true, "tool-results": true, "command-output": true}

// folders are where in its place a program keeps recordings, by how deep they lie: what
// else is there may be very much.
var folders = map[string]map[int]string{
	"gemini": {1: "chats"}, "qwen": {1: "chats"}, "copilot": {1: "chatSessions"},
	"roo": {0: "tasks"}, "kilo": {0: "tasks"}, "zoo": {0: "tasks"},
}

// leadsTo reports whether recordings may lie in a folder at some depth of a place.
func (p Place) leadsTo(name string, depth int) bool {
	only := folders[p.Agent][depth]
	return p.Given || only == "" || only == name
}

// recordedIn reports whether a folder as a whole is one recording, and which of its
// entries says when it was changed.
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

// names are what programs call their recordings, as patterns over the end of a path.
var names = map[string][]string{
	"claude-code": {"*.jsonl"}, "codex": {"rollout-*.jsonl", "rollout-*.jsonl.zst", "rollout-*.json"},
	"gemini": {"chats/*.json", "chats/*.jsonl", "chats/*/*.jsonl"}, "qwen": {"chats/*.json", "chats/*.jsonl"},
	"pi": {"*.jsonl"}, "openhands": {},
	"cline":   {"*.messages.json"},
	"copilot": {"chatSessions/*.json", "chatSessions/*.jsonl", "emptyWindowChatSessions/*.json"},
}

// extensionsGiven are the ends of the names of files that may be recordings of any
// program.
var extensionsGiven = []string{".json", ".jsonl", ".traj", ".precis", ".md"}

// wanted reports whether a file may be a recording, by its name.
func wanted(path string, p Place) bool {
	base := filepath.Base(path)
	if strings.HasSuffix(base, ".precis-backup") || slices.Contains([]string{roo.UIName, roo.MetadataName, roo.ItemName, roo.SidecarName}, base) {
		return false
	}
	if p.Given {
		ext := strings.ToLower(filepath.Ext(strings.TrimSuffix(base, ".zst")))
		return slices.Contains(extensionsGiven, ext) && (ext != ".md" || strings.Contains(base, "aider"))
	}
	for _, pattern := range names[p.Agent] {
		end := filepath.ToSlash(path)
		if n := strings.Count(pattern, "/") + 1; n > 0 {
			parts := strings.Split(end, "/")
			end = strings.Join(parts[max(0, len(parts)-n):], "/")
		}
		if ok, err := filepath.Match(pattern, end); err == nil && ok {
			return true
		}
	}
	return false
}

// database adds the sessions of a database of opencode. One that cannot be read holds
// none.
func (w *walker) database(path string) {
	entries, err := database.Sessions(w.ctx, path)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !w.seen[e.Name] {
			w.seen[e.Name] = true
			w.found = append(w.found, found{path: e.Name, agent: "opencode", size: e.Size, modified: e.Modified})
		}
	}
}

func (w *walker) file(path, agent string, info fs.FileInfo) {
	if info.Mode().IsRegular() && info.Size() > 0 {
		w.add(path, info, agent)
	}
}

func (w *walker) add(path string, info fs.FileInfo, agent string) {
	if !w.seen[path] {
		w.seen[path] = true
		w.found = append(w.found, found{path: path, agent: agent, size: info.Size(), modified: info.ModTime()})
	}
}
