package toolcall

import "strings"

// isPatch reports whether a text is a patch, in the format of Codex or of diff.
func isPatch(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, patchBegin) || strings.HasPrefix(text, "diff --git ") ||
		strings.HasPrefix(text, "--- ") && strings.Contains(text, "\n+++ ")
}

// The head of a patch in the format of Codex, and its file headers.
const (
	patchBegin = "*** Begin Patch"
	updateHead = "*** Update File: "
	addHead    = "*** Add File: "
	deleteHead = "*** Delete File: "
	moveHead   = "*** Move to: " // of the file updated before
)

// IsPatch reports whether a text holds a patch in the format of Codex.
func IsPatch(text string) bool { return strings.Contains(text, patchBegin) }

// PatchProgram is the program that applies such a patch.
const PatchProgram = "apply_patch"

// IsPatchFrame reports whether a line, without surrounding space, frames such a patch or names its
// file, and so has no changed text. The shell words around a patch are such lines, too.
func IsPatchFrame(line string) bool {
	switch line {
	case patchBegin, "*** End Patch", "*** End of File", "PATCH", "EOF":
		return true
	}
	_, heads := patchHead(line)
	return heads || strings.HasPrefix(line, PatchProgram+" <<")
}

func patchHead(line string) (Effect, bool) {
	for _, head := range []string{updateHead, addHead, deleteHead, moveHead} {
		if name, ok := strings.CutPrefix(line, head); ok && strings.TrimSpace(name) != "" {
			return Effect{Path: normalPath(name), Removed: head == deleteHead,
				Added: head == addHead || head == moveHead}, true
		}
	}
	return Effect{}, false
}

// filePatch is the part of a patch on a file.
type filePatch struct {
	Effect
	lines []string // after its head
}

// filesOf returns the parts of a patch in either format, first the text before any head.
func filesOf(patch string) []filePatch {
	out := make([]filePatch, 1)
	old, isDiff := "", !IsPatch(patch)
	for line := range strings.Lines(patch) {
		head := strings.TrimRight(line, "\r\n")
		last := &out[len(out)-1]
		e, heads := patchHead(head)
		removed, begins := strings.CutPrefix(head, "--- ")
		added, ends := strings.CutPrefix(head, "+++ ")
		switch {
		case heads && strings.HasPrefix(head, moveHead):
			last.Removed, e.MovedFrom = true, last.Path
			out = append(out, filePatch{Effect: e})
		case heads:
			out = append(out, filePatch{Effect: e})
		case isDiff && begins:
			old = diffPath(removed, "a/")
		case isDiff && ends && old != "":
			e.Path, e.Added = diffPath(added, "b/"), old == "/dev/null"
			if e.Removed = e.Path == "/dev/null"; e.Removed {
				e.Path = old
			}
			out, old = append(out, filePatch{Effect: e}), ""
		default:
			last.lines = append(last.lines, line)
		}
	}
	return out
}

// patched returns the files of a patch.
func patched(patch string) (out []Effect) {
	for _, f := range filesOf(patch)[1:] {
		out = append(out, f.Effect)
	}
	return out
}

// diffPath returns the path in the head of a diff, without git's prefix and the time after it.
func diffPath(p, side string) string {
	p, _, _ = strings.Cut(p, "\t")
	return normalPath(strings.TrimPrefix(p, side))
}

// changes writes the lines that a patch adds to a file and removes from it.
func changes(patch, path string, added, removed *strings.Builder) {
	for i, f := range filesOf(patch) {
		if i > 0 && path != "" && !sameFile(path, f.Path) {
			continue
		}
		for _, line := range f.lines {
			switch {
			case strings.HasPrefix(line, "+"):
				added.WriteString(line[1:])
			case strings.HasPrefix(line, "-"):
				removed.WriteString(line[1:])
			}
		}
	}
}
