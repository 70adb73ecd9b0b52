package digest

import (
	"path"
	"slices"
	"strings"

	"precis/internal/toolcall"
)

// mostCarried is how many files one call is taken to move with a folder or by a pattern.
const mostCarried = 500

// resolve returns the effects of a call with those of the moves that only who knows the files can tell: a file that is moved to
// what is a folder is within it, and what is below a folder that is moved, or what a pattern names, is moved along.
func (w *work) resolve(c *toolcall.Call, o toolcall.Outcome) []toolcall.Effect {
	if o.Claimed || o.End == toolcall.Rejected || o.End == toolcall.Interrupted {
		return c.Effects
	}
	failed := o.End == toolcall.Failed
	if len(c.Carried) == 0 && !slices.ContainsFunc(c.Effects, func(e toolcall.Effect) bool { return e.MovedFrom != "" }) {
		return c.Effects
	}
	var out []toolcall.Effect
	carried := c.Carried
	for i := 0; i <= len(c.Effects); i++ {
		for len(carried) > 0 && carried[0].After <= i {
			if !failed || carried[0].Ran == toolcall.Did {
				out = w.carry(out, carried[0])
			}
			carried = carried[1:]
		}
		if i == len(c.Effects) {
			break
		}
		e := c.Effects[i]
		moved := i+1 < len(c.Effects) && c.Effects[i+1].MovedFrom == e.Path && e.Removed
		if !moved || failed && e.Ran != toolcall.Did {
			out = append(out, e)
			continue
		}
		to := c.Effects[i+1]
		i++
		if !strings.HasSuffix(to.Path, "/"+path.Base(e.Path)) && w.isFolder(to.Path, c.Folders) {
			to.Path = path.Join(to.Path, path.Base(e.Path))
		}
		if root, ok := w.rootOf(e.Path); ok && !isAbsolute(to.Path) {
			to.Path = path.Join(root, to.Path)
		}
		out = w.below(out, e.Path, to.Path, to.Ran, anyFile)
		out = append(out, e, to)
	}
	return out
}

// anyFile is the pattern that each file matches.
func anyFile(string) bool { return true }

// carry adds what a pattern moves: the known files that it names, and, as a move of the folder, that there may be others.
func (w *work) carry(out []toolcall.Effect, m toolcall.Carry) []toolcall.Effect {
	folder, name := path.Dir(m.Pattern), path.Base(m.Pattern)
	if strings.ContainsAny(folder, "*?[") {
		return out
	}
	out = w.below(out, folder, m.Into, m.Ran, func(rest string) bool {
		first, _, _ := strings.Cut(rest, "/")
		ok, _ := path.Match(name, first)
		return ok && !slices.Contains(m.Except, first)
	})
	return append(out, toolcall.Effect{Path: m.Into, MovedFrom: m.Pattern, Many: true, Ran: m.Ran})
}

// below adds the moves of the known files in a folder.
func (w *work) below(out []toolcall.Effect, folder, into string, ran toolcall.Ran, is func(rest string) bool) []toolcall.Effect {
	folder = strings.TrimSuffix(folder, "/")
	if w.swept += len(w.files.all); w.swept > mostLooked {
		return out
	}
	n := 0
	for _, f := range w.files.all {
		rest, sure, in := w.inFolder(f.path, folder)
		if !in || !sure || !f.exists() && f.state != FileRead || f.folder || !is(rest) {
			continue
		}
		if n++; n > mostCarried {
			break
		}
		to := path.Join(into, rest)
		if isAbsolute(f.path) && !isAbsolute(into) { // relative to where the folder is
			to = path.Join(strings.TrimSuffix(strings.TrimSuffix(f.path, rest), folder+"/"), to)
		}
		if to != f.path {
			out = append(out, toolcall.Effect{Path: f.path, Removed: true, Below: true, Ran: ran}, toolcall.Effect{Path: to, MovedFrom: f.path, Below: true, Ran: ran})
		}
	}
	return out
}

// rootOf returns the folder that a relative path begins at, when the file that it names is known by a longer one.
func (w *work) rootOf(p string) (root string, ok bool) {
	f := w.files.named(p)
	if f == nil || isAbsolute(p) {
		return "", false
	}
	return strings.CutSuffix(f.path, "/"+p)
}

// gather notes in a folder that files which a pattern names were moved into it.
func (f *file) gather(c *toolcall.Call, e toolcall.Effect) {
	f.folder, f.state, f.at, f.by, f.removed = true, FileWritten, c.Use, "", 0
	f.lastTime, f.lastWrite = c.Use.From, c.Use.From
	if !strings.Contains(f.movedFrom, e.MovedFrom) {
		f.movedFrom = strings.TrimPrefix(f.movedFrom+", "+e.MovedFrom, ", ")
	}
}

// forget drops what is known of a file.
func (f *file) forget() {
	*f = file{path: f.path, lastWrite: -1, lastTime: f.lastTime, movedTo: f.movedTo, refused: f.refused}
}

// isFolder reports whether a path is known to be that of a folder: it was made as one, or a known file is in it.
func (w *work) isFolder(p string, made []string) bool {
	if slices.Contains(made, p) || w.folders[p] {
		return true
	}
	if w.swept += len(w.files.all); w.swept > mostLooked {
		return false
	}
	return slices.ContainsFunc(w.files.all, func(f *file) bool {
		if !f.exists() && f.state != FileRead {
			return false
		}
		_, sure, in := w.inFolder(f.path, p)
		return in && sure
	})
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
	f.movedFrom, f.along = from.origin(e.MovedFrom), e.Below
	if f.movedFrom == f.path || from.created && len(from.edits) == 1 && from.edits[0] == call { // it was brought back, or made by the same call
		f.movedFrom = ""
	}
}

// origin returns where a file was before it was moved, given its path before the newest move.
func (f *file) origin(p string) string {
	if f.movedFrom != "" {
		return f.movedFrom
	}
	if f.path != "" {
		return f.path
	}
	return p
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

// mostMoves is how many moves of one file are followed.
const mostMoves = 16

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

// toldFiles returns the files that a digest tells of: what was moved is told where it is. Scratch files stand last of those that
// were written, those that were removed again behind the others.
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
