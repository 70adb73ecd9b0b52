package effects

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/precis-dev/precis/internal/toolcall"
)

// callEffects is a call and the state needed to record its effects.
type callEffects struct {
	*Reading
	number  int
	call    *toolcall.Call
	end     toolcall.Outcome
	listed  mentionIndex
	effects []toolcall.Effect // with the effects on known files that a folder or a pattern matches
}

// tookEffect reports whether a part of the call took effect.
func (a *callEffects) tookEffect(ran toolcall.Ran) bool {
	end := a.end.End
	done := end == toolcall.OK || end == toolcall.Unknown || end == toolcall.Failed && ran == toolcall.Did
	return done && !a.end.Claimed
}

// recordEffect records one effect of the call.
func (a *callEffects) recordEffect(e toolcall.Effect) {
	a.effects = append(a.effects, e)
	f, use := a.files.fileAt(e.Path), a.call.Use
	var from *File
	if e.MovedFrom != "" {
		if from = a.files.fileAt(e.MovedFrom); from == f && e.Path != e.MovedFrom {
			f = a.files.add(e.Path) // another file with the same path suffix
		}
	}
	f.lastTime = use.From
	if !e.Below || f.LastWrite >= 0 || from != nil && from.LastWrite >= 0 {
		f.LastWrite = use.From
	}
	f.change(a, e, from)
	if f.At == use && f.Exists() {
		a.files.recordFolder(path.Dir(f.Path))
	}
	if e.Removed && !e.Below && f.State == FileDeleted && f.At == use {
		a.files.removed = true
		a.remove(e.Path, "", true)
	}
}

// remove records that the call removed the files in folder that match pattern; with folders, also
// all files in matching folders.
func (a *callEffects) remove(folder, pattern string, folders bool) {
	for _, m := range a.members(folder, pattern, folders) {
		switch {
		case m.State == FileRead:
		case m.sure:
			m.Removed++
			m.recordEvent(FileDeleted, a.call.Use, "")
		default:
			m.recordEvent(FileUnknown, a.call.Use, "rm "+folder)
		}
	}
}

// recordMove records that the call moved a file or a folder. If the destination is an existing folder,
// the file moves into it.
func (a *callEffects) recordMove(to toolcall.Effect) {
	from := to.MovedFrom
	if a.tookEffect(to.Ran) {
		if !strings.HasSuffix(to.Path, "/"+path.Base(from)) && a.isFolder(to.Path) {
			to.Path = path.Join(to.Path, path.Base(from))
		}
		if f := a.files.fileNamed(from); f != nil && !IsAbsolute(from) && !IsAbsolute(to.Path) {
			if root, ok := strings.CutSuffix(f.Path, "/"+from); ok { // the known path is longer
				to.Path = path.Join(root, to.Path)
			}
		}
		a.moveIn(from, "", toolcall.PatternMove{Into: to.Path, Ran: to.Ran})
	}
	a.recordEffect(toolcall.Effect{Path: from, Removed: true, Ran: to.Ran})
	a.recordEffect(to)
}

// recordPatternMove records that the call moved all files of a pattern into a folder, unknown ones, too.
func (a *callEffects) recordPatternMove(m toolcall.PatternMove) {
	if folder := path.Dir(m.Pattern); a.tookEffect(m.Ran) && !strings.ContainsAny(folder, "*?[") {
		a.moveIn(folder, path.Base(m.Pattern), m)
		a.effects = append(a.effects, toolcall.Effect{Path: m.Into, MovedFrom: m.Pattern})
		into := a.files.fileAt(m.Into)
		into.recordPattern(a.call, m.Pattern)
		a.files.recordFolder(into.Path)
		a.files.forgetRemoved(into.Path, path.Base(m.Pattern))
	}
}

// moveIn records that the call moved the known files in folder that match pattern; with by.folders,
// also matching folders.
func (a *callEffects) moveIn(folder, pattern string, by toolcall.PatternMove) {
	for _, m := range a.members(folder, pattern, true) {
		first, _, _ := strings.Cut(m.rest, "/")
		to := path.Join(by.Into, m.rest)
		if !IsAbsolute(to) {
			to = m.root + to
		}
		switch {
		case slices.Contains(by.Except, first) || to == m.Path:
		case m.sure:
			a.recordEffect(toolcall.Effect{Path: m.Path, Removed: true, Below: true, Ran: by.Ran})
			a.recordEffect(toolcall.Effect{Path: to, MovedFrom: m.Path, Below: true, Ran: by.Ran})
		default:
			m.recordEvent(FileUnknown, a.call.Use, "mv "+folder)
		}
	}
}

// isFolder reports whether a path is a folder: a call created it, or a known file is in it.
func (a *callEffects) isFolder(p string) bool {
	return a.folders[p] || slices.Contains(a.call.Folders, p) ||
		slices.ContainsFunc(a.members(p, "", true), func(m member) bool { return m.sure })
}

// member is a known file in a folder.
type member struct {
	*File
	root, rest string // the part of its path before the folder, and the part inside
	sure       bool   // it cannot be in another folder of that name
}

// members returns the known files in folder that match pattern; "" matches all. With folders, a
// match may be a folder and includes all its files. A folder that ends in "**" includes subfolders.
func (w *Reading) members(folder, pattern string, folders bool) (out []member) {
	folder, deep := strings.CutSuffix(folder, "**")
	folder = path.Clean(folder)
	if w.git.looked += len(w.files.all); w.git.looked > mostLooked {
		return nil
	}
	for _, f := range w.files.all {
		m, in := w.files.within(f, folder)
		if !in || f.folder || !f.Exists() && f.State != FileReverted && f.State != FileRead {
			continue
		}
		name, _, below := strings.Cut(m.rest, "/")
		if deep {
			name, below = path.Base(m.rest), false
		}
		if is, _ := path.Match(pattern, name); pattern == "" || is && (folders || !below) {
			out = append(out, m)
		}
	}
	return out
}

// within reports whether a file is in a folder. A relative folder may denote several folders; sure
// is set if it is the common folder of all files, or next to it.
func (t *fileTable) within(f *File, folder string) (m member, in bool) {
	m.File, m.sure = f, true
	switch relative := IsAbsolute(f.Path) && !IsAbsolute(folder); {
	case relative && folder == ".":
		m.root, m.sure = t.root+"/", t.rooted > 1
		m.rest, in = strings.CutPrefix(f.Path, m.root)
	case relative:
		m.root, m.rest, in = strings.Cut(f.Path, "/"+folder+"/")
		m.root += "/"
		m.sure = strings.HasPrefix(t.root+"/", m.root)
	case folder == ".":
		m.rest, in = f.Path, !IsAbsolute(f.Path)
	default:
		m.rest, in = strings.CutPrefix(f.Path, folder+"/")
	}
	return m, in
}

// recordPattern records in a folder that files matching a pattern were moved into it.
func (f *File) recordPattern(c *toolcall.Call, pattern string) {
	f.folder, f.State, f.At, f.GitCommand, f.Removed = true, FileWritten, c.Use, "", 0
	f.lastTime, f.LastWrite = c.Use.From, c.Use.From
	if !strings.Contains(f.MovedFrom, pattern) {
		f.MovedFrom = strings.TrimPrefix(f.MovedFrom+", "+pattern, ", ")
	}
}

// resetState resets the known state of a file.
func (f *File) resetState() {
	*f = File{Path: f.Path, key: f.key, LastWrite: -1, lastTime: f.lastTime, movedTo: f.movedTo,
		Refused: f.Refused}
}

// move transfers the state of a file or folder to its new path f. Its edits remain in effect.
func (f *File) move(call int, from *File, e toolcall.Effect, wasThere bool) {
	if from == f {
		return
	}
	from.movedTo, from.TimesMoved = f, from.TimesMoved+1
	if wasThere {
		return // it replaces an existing file: a change of that file
	}
	f.Reads, f.Writes, f.Wholes, f.Created = from.Reads, from.Writes, from.Wholes, from.Created && f.Created
	f.MovedFrom, f.Along = cmp.Or(from.MovedFrom, from.Path), e.Below
	if made := from.Created && slices.Equal(from.WritingCalls(), []int{call}); made || f.MovedFrom == f.Path {
		f.MovedFrom = "" // created by the same call, or moved back
	}
}

// IsMoved reports whether a file was moved away. The digest shows its new path instead.
func (f *File) IsMoved() bool {
	return f.State == FileDeleted && f.movedTo != nil && f.GitCommand == ""
}

// CurrentPath returns the current path of a file that was moved; "" for others.
func (f *File) CurrentPath() string {
	if !f.IsMoved() {
		return ""
	}
	to := f
	for n := 0; to.IsMoved() && n < mostMoves; n++ {
		to = to.movedTo
	}
	return to.Path
}

// Limits of the moves that are followed for one file, and of the edits that move with it.
const mostMoves, mostCarried = 16, 100

// recordFolder records that a folder and its parents exist; an earlier removal no longer counts.
func (t *fileTable) recordFolder(folder string) {
	const deepest = 64
	for range deepest {
		if !t.removed || folder == "." || folder == "/" || folder == "" {
			return
		}
		if f := t.fileNamed(folder); f != nil && f.State == FileDeleted {
			f.resetState()
		}
		folder = path.Dir(folder)
	}
}

// forgetRemoved records that files of a pattern came into a folder: one that was removed there may be back.
func (t *fileTable) forgetRemoved(folder, pattern string) {
	for _, f := range t.all {
		m, in := t.within(f, folder)
		is, _ := path.Match(pattern, m.rest)
		if t.removed && in && is && f.State == FileDeleted && !f.IsMoved() {
			f.resetState()
		}
	}
}
