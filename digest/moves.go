package digest

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"precis/internal/toolcall"
)

// act is a call whose effects are noted.
type act struct {
	*work
	number  int
	call    *toolcall.Call
	end     toolcall.Outcome
	listed  mentions
	effects []toolcall.Effect // with those on the known files of a folder or a pattern
}

// did reports whether a part of the call did what it is for.
func (a *act) did(ran toolcall.Ran) bool {
	end := a.end.End
	done := end == toolcall.OK || end == toolcall.Unknown || end == toolcall.Failed && ran == toolcall.Did
	return done && !a.end.Claimed
}

// effect notes one effect of the call.
func (a *act) effect(e toolcall.Effect) {
	a.effects = append(a.effects, e)
	f, use := a.files.of(e.Path), a.call.Use
	var from *file
	if e.MovedFrom != "" {
		if from = a.files.of(e.MovedFrom); from == f && e.Path != e.MovedFrom {
			f = a.files.add(e.Path) // another one, whose path ends like it
		}
	}
	f.lastTime = use.From
	if !e.Below || f.lastWrite >= 0 || from != nil && from.lastWrite >= 0 {
		f.lastWrite = use.From
	}
	f.change(a, e, from)
	if f.at == use && f.exists() {
		a.files.there(path.Dir(f.path))
	}
	if e.Removed && !e.Below && f.state == FileDeleted && f.at == use {
		a.files.removed = true
		a.remove(e.Path, "", true)
	}
}

// remove notes that the call removed the files in a folder that a pattern names, and those in the folders that it
// names.
func (a *act) remove(folder, pattern string, folders bool) {
	for _, m := range a.members(folder, pattern, folders) {
		switch {
		case m.state == FileRead:
		case m.sure:
			m.removed++
			m.becomes(FileDeleted, a.call.Use, "")
		default:
			m.becomes(FileUnknown, a.call.Use, "rm "+folder)
		}
	}
}

// move notes that the call moved a file or a folder. What is moved to a folder is within it.
func (a *act) move(to toolcall.Effect) {
	from := to.MovedFrom
	if a.did(to.Ran) {
		if !strings.HasSuffix(to.Path, "/"+path.Base(from)) && a.isFolder(to.Path) {
			to.Path = path.Join(to.Path, path.Base(from))
		}
		if f := a.files.named(from); f != nil && !isAbsolute(from) && !isAbsolute(to.Path) {
			if root, ok := strings.CutSuffix(f.path, "/"+from); ok { // the file is known by a longer path
				to.Path = path.Join(root, to.Path)
			}
		}
		a.moveIn(from, "", toolcall.Carry{Into: to.Path, Ran: to.Ran})
	}
	a.effect(toolcall.Effect{Path: from, Removed: true, Ran: to.Ran})
	a.effect(to)
}

// carry notes that the call moved what a pattern names into a folder: known files, and maybe others.
func (a *act) carry(m toolcall.Carry) {
	if folder := path.Dir(m.Pattern); a.did(m.Ran) && !strings.ContainsAny(folder, "*?[") {
		a.moveIn(folder, path.Base(m.Pattern), m)
		a.effects = append(a.effects, toolcall.Effect{Path: m.Into, MovedFrom: m.Pattern})
		into := a.files.of(m.Into)
		into.gather(a.call, m.Pattern)
		a.files.there(into.path)
	}
}

// moveIn notes that the call moved the known files in a folder that a pattern names, with those in folders.
func (a *act) moveIn(folder, pattern string, by toolcall.Carry) {
	for _, m := range a.members(folder, pattern, true) {
		first, _, _ := strings.Cut(m.rest, "/")
		to := path.Join(by.Into, m.rest)
		if !isAbsolute(to) {
			to = m.root + to
		}
		switch {
		case slices.Contains(by.Except, first) || to == m.path:
		case m.sure:
			a.effect(toolcall.Effect{Path: m.path, Removed: true, Below: true, Ran: by.Ran})
			a.effect(toolcall.Effect{Path: to, MovedFrom: m.path, Below: true, Ran: by.Ran})
		default:
			m.becomes(FileUnknown, a.call.Use, "mv "+folder)
		}
	}
}

// isFolder reports whether a path is known to be that of a folder: it was made as one, or a known file is in it.
func (a *act) isFolder(p string) bool {
	return a.folders[p] || slices.Contains(a.call.Folders, p) ||
		slices.ContainsFunc(a.members(p, "", true), func(m member) bool { return m.sure })
}

// member is a known file in a folder.
type member struct {
	*file
	root, rest string // its path before that of the folder, and within it
	sure       bool   // it is in no other folder of that name
}

// members returns the known files in a folder that a pattern names, all for "". Folders says that it names folders with
// all that is in them; a folder that ends in "**" stands for those below it.
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

// within reports whether a file is in a folder. One that is not absolute may be one of several: it is for sure the one
// that all files are in, or beside.
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

// gather notes in a folder that files which a pattern names were moved into it.
func (f *file) gather(c *toolcall.Call, pattern string) {
	f.folder, f.state, f.at, f.by, f.removed = true, FileWritten, c.Use, "", 0
	f.lastTime, f.lastWrite = c.Use.From, c.Use.From
	if !strings.Contains(f.movedFrom, pattern) {
		f.movedFrom = strings.TrimPrefix(f.movedFrom+", "+pattern, ", ")
	}
}

// forget drops what is known of a file.
func (f *file) forget() {
	*f = file{path: f.path, key: f.key, lastWrite: -1, lastTime: f.lastTime, movedTo: f.movedTo, refused: f.refused}
}

// move notes where a file went, or a folder, and what is known of it there: all that was done to it stands.
func (f *file) move(call int, from *file, e toolcall.Effect, wasThere bool) {
	if from == f {
		return
	}
	from.movedTo, from.left = f, from.left+1
	if wasThere {
		return // it takes the place of another one: a change of that
	}
	f.reads, f.writes, f.wholes, f.created = from.reads, from.writes, from.wholes, from.created && f.created
	f.movedFrom, f.along = cmp.Or(from.movedFrom, from.path), e.Below
	if made := from.created && slices.Equal(from.calls(), []int{call}); made || f.movedFrom == f.path {
		f.movedFrom = "" // the same call made it, or it was brought back
	}
}

// isMoved reports whether a file is gone because it was moved: it is told where it went.
func (f *file) isMoved() bool { return f.state == FileDeleted && f.movedTo != nil && f.by == "" }

// whereTo returns where a file is that was moved away; "" for others.
func (f *file) whereTo() string {
	if !f.isMoved() {
		return ""
	}
	to := f
	for n := 0; to.isMoved() && n < mostMoves; n++ {
		to = to.movedTo
	}
	return to.path
}

// Limits of the moves of one file that are followed, and of the edits that it takes along.
const mostMoves, mostCarried = 16, 100

// there notes that a folder is there, and what it is in: that one of them was removed before is no matter any more.
func (t *fileTable) there(folder string) {
	const deepest = 64
	for range deepest {
		if !t.removed || folder == "." || folder == "/" || folder == "" {
			return
		}
		if f := t.named(folder); f != nil && f.state == FileDeleted {
			f.forget()
		}
		folder = path.Dir(folder)
	}
}

// toldFiles returns the files that a digest tells of: what was moved is told where it is. Scratch files stand last of
// those that were written, those that were removed again behind the others.
func (in *input) toldFiles(all []file) []file {
	var written, scratch, gone, read []file
	isScratch := scratchOf(all)
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

// scratchOf returns what tells scratch files from others. Where the work is in a temporary folder, there are none.
func scratchOf(files []file) func(p string) bool {
	isKept := func(f file) bool { return f.lastWrite >= 0 && !isTemporary(f.path) }
	if isTemporary(rootOf(files)+"/") || !slices.ContainsFunc(files, isKept) {
		return func(string) bool { return false }
	}
	return isTemporary
}

func isAbsolute(p string) bool { return strings.HasPrefix(p, "/") || len(p) > 1 && p[1] == ':' }

// isTemporary reports whether a path is, or is in, a folder that a system has for what is not to stay.
func isTemporary(p string) bool {
	p = strings.ToLower(strings.TrimPrefix(p, "/private")) + "/"
	for _, head := range []string{"/tmp/", "/var/tmp/", "/var/folders/", "/dev/shm/", "$tmp", "$env:temp/", "$(mktemp", "`mktemp"} {
		if strings.HasPrefix(p, head) {
			return true
		}
	}
	return strings.Contains(p, "/appdata/local/temp/")
}
