package effects

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/toolcall"
)

// File is the known state and history of one file.
type File struct {
	Path       string
	Version           // the current state
	MovedFrom  string // its first path, if it was moved
	TimesMoved int    // how many times it was moved
	Along      bool   // it was moved with its folder
	Reads      int
	Failed     int      // failed changes since the newest successful one …
	FailedAt   int      // … and the message of the newest
	Refused    *Refusal // the newest change that the user refused
	LastWrite  int      // message of the newest attempt; -1: none

	key          string // see [toolcall.FileKey]
	edits        []*edit
	isNew        bool  // it did not exist before the conversation
	movedTo      *File // the file at its new path, if it was moved
	folder       bool  // a folder to which files were moved by a pattern
	linesFound   bool  // lines of it were found
	newestWriter int   // the newest call that wrote it, counted from 1
	opened       int   // the newest call that read it, counted from 1
	lastTime     int   // message of the newest call
}

// Refusal is a change of a file that the user refused.
type Refusal struct {
	Call        int
	At          precis.Handle
	personWords string
}

// fileTable finds files by path. An absolute and a relative path denote the same file if one ends
// with the other.
type fileTable struct {
	all     []*File
	byPath  map[string]*File
	byName  map[string][]*File // by the last element of their paths
	removed bool               // some were removed
	// the common folder of all absolute paths, without temporary files if there are others …
	root   string
	rooted int // … and the number of these paths
}

func newFileTable() fileTable {
	return fileTable{byPath: map[string]*File{}, byName: map[string][]*File{}}
}

// filesLike returns the files with paths that p is a suffix of, or the reverse; at most 50.
func (t *fileTable) filesLike(p string) (out []*File) {
	const most = 50
	key := toolcall.FileKey(p)
	all := t.byName[nameIn(key)]
	for _, f := range all[:min(len(all), most)] {
		if sameFile(f.key, key) {
			out = append(out, f)
		}
	}
	return out
}

// fileAt returns the file at a path, creating it if missing. A file that was moved away is skipped.
func (t *fileTable) fileAt(p string) *File {
	if f := t.byPath[p]; f != nil {
		return f
	}
	all := t.filesLike(p)
	i := slices.IndexFunc(all, func(f *File) bool { return !f.IsMoved() })
	switch {
	case i >= 0:
		if key := toolcall.FileKey(p); len(key) > len(all[i].key) {
			all[i].Path, all[i].key = p, key // the longer path
			t.rootAt(p)
		}
		t.byPath[p] = all[i]
		return all[i]
	case len(all) > 0:
		return all[len(all)-1]
	}
	return t.add(p)
}

// fileNamed is [Reading.FileNamed].
func (t *fileTable) fileNamed(p string) *File {
	if f := t.byPath[p]; f != nil {
		return f
	}
	if all := t.filesLike(p); len(all) == 1 {
		return all[0]
	}
	return nil
}

// add adds a file.
func (t *fileTable) add(p string) *File {
	key := toolcall.FileKey(p)
	base := nameIn(key)
	f := &File{Path: p, key: key, LastWrite: -1}
	t.all = append(t.all, f)
	t.rootAt(p)
	t.byPath[p], t.byName[base] = f, append(t.byName[base], f)
	return f
}

// nameIn returns the last element of a path, the key of byName.
func nameIn(key string) string { return strings.ToLower(path.Base(key)) }

// sameFile reports whether two keys may be one file: equal, or one a suffix of the other.
func sameFile(a, b string) bool {
	onDrive := func(p string) bool { return len(p) > 1 && p[1] == ':' }
	if onDrive(a) != onDrive(b) { // a relative path on a drive of Windows
		a, b = strings.ToLower(a), strings.ToLower(b)
	}
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

// rootAt extends the root to contain a path.
func (t *fileTable) rootAt(p string) {
	lasting := !isTemporary(p)
	switch {
	case !IsAbsolute(p) || !lasting && t.root != "" && !isTemporary(t.root):
		return
	case t.root == "" || lasting && isTemporary(t.root):
		t.root, t.rooted = path.Dir(p), 0
	}
	t.rooted++
	for len(t.root) > 1 && !strings.HasPrefix(p, t.root+"/") {
		t.root = path.Dir(t.root)
	}
}

// takenBack maps the calls with no text left in a file to the command of git that undid them.
func (t *fileTable) takenBack() map[int]string {
	out, stands := map[int]string{}, map[int]bool{}
	for _, f := range t.all {
		for _, e := range f.edits {
			for _, call := range e.calls {
				if out[call] = e.undoneBy; e.inEffect() {
					stands[call] = true
				}
			}
		}
	}
	maps.DeleteFunc(out, func(call int, _ string) bool { return stands[call] })
	return out
}

// recordReads records which files a call read.
func (t *fileTable) recordReads(call int, c *toolcall.Call, o toolcall.Outcome) {
	for _, p := range c.Reads {
		f := t.fileAt(p)
		f.lastTime = c.Use.From
		if o.End == toolcall.OK || o.End == toolcall.Unknown && c.Text != "" && !saysMissing(c.Text) {
			f.read(call, c)
			t.recordFolder(path.Dir(f.Path))
		}
	}
	for _, p := range c.Searched {
		if f := t.fileNamed(p); f != nil && o.End == toolcall.OK && strings.TrimSpace(c.Text) != "" {
			f.linesFound = true
		}
	}
	if c.Kind == toolcall.Read && c.Path != "" {
		f := t.fileAt(c.Path)
		f.lastTime = c.Use.From
		switch {
		case o.End == toolcall.Failed && (f.Exists() || f.State == FileReverted) && saysMissing(c.Text):
			f.recordEvent(FileDeleted, c.Use, "") // by another program or person
		case o.End == toolcall.OK:
			f.read(call, c)
			t.recordFolder(path.Dir(f.Path))
		}
	}
}

// read records that a call read the file; a call counts once.
func (f *File) read(call int, c *toolcall.Call) {
	if f.opened != call+1 {
		f.Reads++
	}
	f.opened = call + 1
	if f.State == "" {
		f.State, f.At = FileRead, c.Use
	}
}

// Exists reports whether the file is known to exist.
func (f *File) Exists() bool { return f.State == FileCreated || f.State == FileWritten }

// change records one effect of a call on the file. from is the former file if the call moved it.
func (f *File) change(a *callEffects, e toolcall.Effect, from *File) {
	call, c, o, listed := a.number, a.call, a.end, a.listed.mentionedBefore(a.call, e, a.number)
	untouched := f.Reads == 0 && f.Writes == 0 &&
		(f.State == "" || f.State == FileFailed || f.State == FileUnknown && c.Kind != toolcall.Command)
	if o.Claimed {
		o.End = toolcall.Failed
	}
	switch {
	case o.End == toolcall.Rejected:
		f.Refused = &Refusal{call, c.Use, o.Said}
		return
	case o.End == toolcall.Interrupted:
		f.recordEvent(FileUnknown, c.Use, "")
		return
	case o.End == toolcall.Failed && c.Kind == toolcall.Command && e.Ran != toolcall.Did:
		// A failed list of commands may have run up to here.
		if !f.Exists() || e.Removed {
			f.recordEvent(FileUnknown, c.Use, "")
		}
		return
	case o.End == toolcall.Failed && c.Kind != toolcall.Command:
		f.Failed, f.FailedAt = f.Failed+1, c.Use.From
		if f.State == "" || f.State == FileRead {
			f.State, f.At = FileFailed, c.Use
		}
		return
	case e.Removed:
		f.Removed++
		f.recordEvent(FileDeleted, c.Use, "")
		return
	case e.Touched && (!untouched || listed) && f.State != FileDeleted:
		return // it exists and stays unchanged
	}
	isNew := untouched && !listed && !f.linesFound &&
		(e.Added || createsFile(c) || e.Whole || e.Touched || from != nil)
	wasThere := !isNew && f.State != FileDeleted && (f.State != "" || listed || f.linesFound)
	if f.newestWriter != call+1 || f.State == FileDeleted {
		f.Writes++
		if !isNew && from == nil && wasThere && writesWhole(c, e) {
			f.Wholes++
		}
	}
	f.newestWriter, f.Failed = call+1, 0
	f.Created, f.isNew = f.Created || isNew, f.isNew || isNew
	whole, calls := f.State == FileDeleted || e.Whole || from != nil, []int{call}
	if from != nil { // with its content
		calls = from.WritingCalls()
		calls = append(calls[max(len(calls)-mostCarried, 0):], call)
		f.move(call, from, e, wasThere)
	}
	f.State, f.At, f.GitCommand = FileWritten, c.Use, ""
	switch {
	case f.Created:
		f.State = FileCreated
	case e.Below && f.LastWrite < 0:
		f.State = FileRead // as before, in another place
		return
	}
	f.edits = append(f.edits, &edit{Version: f.Version, calls: calls, whole: whole})
}

// writesWhole reports whether a change replaces the whole content of a file.
func writesWhole(c *toolcall.Call, e toolcall.Effect) bool {
	return e.Whole || e.Added || c.Kind == toolcall.Write && e.MovedFrom == "" && createsFile(c)
}

// createsFile guesses from the tool's name and its result whether a write created a new file.
func createsFile(c *toolcall.Call) bool {
	if c.Kind == toolcall.Command {
		return false // its effect states it, see [toolcall.Effect]
	}
	name := strings.ToLower(c.Name)
	head := strings.ToLower(c.Text[:min(len(c.Text), 300)])
	if strings.Contains(head, "overwr") || strings.Contains(head, "has been updated") {
		return false
	}
	return strings.Contains(name, "write") || strings.Contains(name, "create") ||
		strings.Contains(head, "created")
}
