package digest

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/precis-dev/precis/internal/toolcall"
)

// callEffects is a call and the state needed to record its effects.
type callEffects struct {
	*work
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
	var from *file
	if e.MovedFrom != "" {
		if from = a.files.fileAt(e.MovedFrom); from == f && e.Path != e.MovedFrom {
			f = a.files.add(e.Path) // another file with the same path suffix
		}
	}
	f.lastTime = use.From
	if !e.Below || f.lastWrite >= 0 || from != nil && from.lastWrite >= 0 {
		f.lastWrite = use.From
	}
	f.change(a, e, from)
	if f.at == use && f.exists() {
		a.files.recordFolder(path.Dir(f.path))
	}
	if e.Removed && !e.Below && f.state == FileDeleted && f.at == use {
		a.files.removed = true
		a.remove(e.Path, "", true)
	}
}

// remove records that the call removed the files in folder that match pattern; with folders, also
// all files in matching folders.
func (a *callEffects) remove(folder, pattern string, folders bool) {
	for _, m := range a.members(folder, pattern, folders) {
		switch {
		case m.state == FileRead:
		case m.sure:
			m.removed++
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
		if f := a.files.fileNamed(from); f != nil && !isAbsolute(from) && !isAbsolute(to.Path) {
			if root, ok := strings.CutSuffix(f.path, "/"+from); ok { // the known path is longer
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
		a.files.recordFolder(into.path)
		a.files.forgetRemoved(into.path, path.Base(m.Pattern))
	}
}

// moveIn records that the call moved the known files in folder that match pattern; with by.folders,
// also matching folders.
func (a *callEffects) moveIn(folder, pattern string, by toolcall.PatternMove) {
	for _, m := range a.members(folder, pattern, true) {
		first, _, _ := strings.Cut(m.rest, "/")
		to := path.Join(by.Into, m.rest)
		if !isAbsolute(to) {
			to = m.root + to
		}
		switch {
		case slices.Contains(by.Except, first) || to == m.path:
		case m.sure:
			a.recordEffect(toolcall.Effect{Path: m.path, Removed: true, Below: true, Ran: by.Ran})
			a.recordEffect(toolcall.Effect{Path: to, MovedFrom: m.path, Below: true, Ran: by.Ran})
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
	*file
	root, rest string // the part of its path before the folder, and the part inside
	sure       bool   // it cannot be in another folder of that name
}

// members returns the known files in folder that match pattern; "" matches all. With folders, a
// match may be a folder and includes all its files. A folder that ends in "**" includes subfolders.
func (w *work) members(folder, pattern string, folders bool) (out []member) {
	folder, deep := strings.CutSuffix(folder, "**")
	folder = path.Clean(folder)
	if w.git.looked += len(w.files.all); w.git.looked > mostLooked {
		return nil
	}
	for _, f := range w.files.all {
		m, in := w.files.within(f, folder)
		if !in || f.folder || !f.exists() && f.state != FileReverted && f.state != FileRead {
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
func (t *fileTable) within(f *file, folder string) (m member, in bool) {
	m.file, m.sure = f, true
	switch relative := isAbsolute(f.path) && !isAbsolute(folder); {
	case relative && folder == ".":
		m.root, m.sure = t.root+"/", t.rooted > 1
		m.rest, in = strings.CutPrefix(f.path, m.root)
	case relative:
		m.root, m.rest, in = strings.Cut(f.path, "/"+folder+"/")
		m.root += "/"
		m.sure = strings.HasPrefix(t.root+"/", m.root)
	case folder == ".":
		m.rest, in = f.path, !isAbsolute(f.path)
	default:
		m.rest, in = strings.CutPrefix(f.path, folder+"/")
	}
	return m, in
}

// recordPattern records in a folder that files matching a pattern were moved into it.
func (f *file) recordPattern(c *toolcall.Call, pattern string) {
	f.folder, f.state, f.at, f.gitCommand, f.removed = true, FileWritten, c.Use, "", 0
	f.lastTime, f.lastWrite = c.Use.From, c.Use.From
	if !strings.Contains(f.movedFrom, pattern) {
		f.movedFrom = strings.TrimPrefix(f.movedFrom+", "+pattern, ", ")
	}
}

// resetState resets the known state of a file.
func (f *file) resetState() {
	*f = file{path: f.path, key: f.key, lastWrite: -1, lastTime: f.lastTime, movedTo: f.movedTo,
		refused: f.refused}
}

// move transfers the state of a file or folder to its new path f. Its edits remain in effect.
func (f *file) move(call int, from *file, e toolcall.Effect, wasThere bool) {
	if from == f {
		return
	}
	from.movedTo, from.timesMoved = f, from.timesMoved+1
	if wasThere {
		return // it replaces an existing file: a change of that file
	}
	f.reads, f.writes, f.wholes, f.created = from.reads, from.writes, from.wholes, from.created && f.created
	f.movedFrom, f.along = cmp.Or(from.movedFrom, from.path), e.Below
	if made := from.created && slices.Equal(from.writingCalls(), []int{call}); made || f.movedFrom == f.path {
		f.movedFrom = "" // created by the same call, or moved back
	}
}

// isMoved reports whether a file was moved away. The digest shows its new path instead.
func (f *file) isMoved() bool {
	return f.state == FileDeleted && f.movedTo != nil && f.gitCommand == ""
}

// currentPath returns the current path of a file that was moved; "" for others.
func (f *file) currentPath() string {
	if !f.isMoved() {
		return ""
	}
	to := f
	for n := 0; to.isMoved() && n < mostMoves; n++ {
		to = to.movedTo
	}
	return to.path
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
		if f := t.fileNamed(folder); f != nil && f.state == FileDeleted {
			f.resetState()
		}
		folder = path.Dir(folder)
	}
}

// forgetRemoved records that files of a pattern came into a folder: one that was removed there may be back.
func (t *fileTable) forgetRemoved(folder, pattern string) {
	for _, f := range t.all {
		m, in := t.within(f, folder)
		if is, _ := path.Match(pattern, m.rest); t.removed && in && is && f.state == FileDeleted && !f.isMoved() {
			f.resetState()
		}
	}
}

// listedFiles returns the files that a digest lists; a moved file appears at its new path. Written
// files come first; of these, scratch files come last, and removed scratch files after them.
func (in *input) listedFiles(all []file) []file {
	var written, scratch, gone, read []file
	isScratch := scratchTest(all)
	for _, f := range all {
		switch {
		case f.isMoved():
		case f.lastWrite < 0:
			read = append(read, f)
		case !isScratch(f.path):
			written = append(written, f)
		case f.exists():
			scratch = append(scratch, f)
		default:
			gone = append(gone, f)
		}
	}
	return slices.Concat(written, scratch, gone, read)
}

// scratchTest returns a test for scratch files: those in temporary folders. It is always false if the
// work itself is in one, or if no file outside of them was written.
func scratchTest(files []file) func(p string) bool {
	isKept := func(f file) bool { return f.lastWrite >= 0 && !isTemporary(f.path) }
	if isTemporary(rootOf(files)+"/") || !slices.ContainsFunc(files, isKept) {
		return func(string) bool { return false }
	}
	return isTemporary
}

func isAbsolute(p string) bool { return strings.HasPrefix(p, "/") || len(p) > 1 && p[1] == ':' }

// isTemporary reports whether a path is a temporary folder of the system, or in one.
func isTemporary(p string) bool {
	p = strings.ToLower(strings.TrimPrefix(p, "/private")) + "/"
	for _, head := range []string{"/tmp/", "/var/tmp/", "/var/folders/", "/dev/shm/", "$tmp", "$env:temp/",
		"$(mktemp", "`mktemp"} {
		if strings.HasPrefix(p, head) {
			return true
		}
	}
	return strings.Contains(p, "/appdata/local/temp/")
}
