package preview

import (
	"fmt"
	"strings"
)

// diff classifies a patch: headers are headlines, changed lines are content, and the lines around
// them noise.
func (d *document) diff() string {
	w := diffWalk{}
	for i := range d.lines {
		if l := &d.lines[i]; !l.frame {
			l.class = w.line(l.body)
		}
	}
	if w.files == 0 && w.added+w.removed == 0 {
		return "diff, " + count(len(d.lines), "line")
	}
	return fmt.Sprintf("diff: %s, +%d −%d", count(max(w.files, 1), "file"), w.added, w.removed)
}

// diffWalk is the state of walking a patch.
type diffWalk struct {
	files, added, removed int
	old, new              int  // lines of the hunk still to come
	inHunk                bool // of a form without such counts
	replacing             byte // in a SEARCH/REPLACE block: '-' or '+'
	generated             bool // the file is made by a tool
	git                   bool // the file has been counted at "diff --git"
	untitled              bool // a commit's subject is still to come
}

func (w *diffWalk) line(s string) Class {
	if w.replacing != 0 {
		return w.replaced(s)
	}
	if w.old > 0 || w.new > 0 || w.inHunk {
		if c, ok := w.content(s); ok {
			return c
		}
	}
	if c, ok := w.fileHeader(s); ok {
		return c
	}
	w.untitled = w.untitled || strings.HasPrefix(s, "commit ")
	switch {
	case w.untitled && strings.HasPrefix(s, "    ") && !blank(s):
		w.untitled = false
		return Headline
	case blank(s), hasPrefix(s, "index ", "===", "---", `\ No newline`):
		return Noise
	case strings.HasPrefix(s, "@@"):
		w.hunk(s)
		return Headline
	case strings.HasPrefix(s, "<<<<<<< "):
		w.replacing = '-'
		return Headline
	case hasPrefix(s, "new file", "deleted file", "rename ", "Binary files", "similarity", "commit ",
		"Subject:", "From ", "old mode", "new mode"):
		return Headline
	case strings.HasPrefix(s, " ") && (strings.Contains(s, " | ") || strings.Contains(s, " changed, ")):
		// --stat
		return Headline
	}
	return Detail
}

// fileHeader reads the lines that open a file.
func (w *diffWalk) fileHeader(s string) (Class, bool) {
	switch {
	case strings.HasPrefix(s, "diff --git "):
		w.open(s)
		w.git = true
		return Headline, true
	case strings.HasPrefix(s, "--- ") && !separator(s):
		if !w.git {
			w.open(s)
		}
		return Headline, true
	case strings.HasPrefix(s, "+++ "):
		w.generated = w.generated || lockFile(s)
		w.git = false
		return Headline, true
	case strings.HasPrefix(s, "*** "):
		w.inHunk = hasPrefix(s, "*** Update File:", "*** Add File:")
		if strings.Contains(s, " File: ") {
			w.open(s)
		}
		return Headline, true
	}
	return 0, false
}

func (w *diffWalk) open(s string) {
	w.files++
	w.generated, w.git = lockFile(s), false
}

// content reads a line of a hunk; ok is false where the hunk has ended.
func (w *diffWalk) content(s string) (c Class, ok bool) {
	mark := byte(' ')
	if s != "" {
		mark = s[0]
	}
	switch mark {
	case '+':
		w.added++
		w.new--
	case '-':
		w.removed++
		w.old--
	case ' ':
		w.old--
		w.new--
		return Noise, true
	case '\\':
		return Noise, true
	default:
		w.old, w.new = 0, 0
		return 0, false
	}
	if w.generated || blank(s[1:]) {
		return Noise, true
	}
	return Detail, true
}

// replaced reads a line of a SEARCH/REPLACE block.
func (w *diffWalk) replaced(s string) Class {
	switch {
	case strings.HasPrefix(s, "======="):
		w.replacing = '+'
		return Noise
	case strings.HasPrefix(s, ">>>>>>>"):
		w.replacing = 0
		return Noise
	case separator(s) || blank(s):
		return Noise
	case w.replacing == '-':
		w.removed++
	default:
		w.added++
	}
	return Detail
}

// hunk reads "@@ -1,5 +1,6 @@". Without counts all lines up to the next header belong to it.
func (w *diffWalk) hunk(s string) {
	w.old, w.new, w.inHunk = 0, 0, true
	_, a, ok := strings.Cut(s, "-")
	if !ok {
		return
	}
	_, b, ok := strings.Cut(a, "+")
	if !ok {
		return
	}
	w.old, w.new, w.inHunk = lengthOf(a), lengthOf(b), false
}

// lengthOf reads the length in "start,length"; it is 1 when it is not written.
func lengthOf(s string) int {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	if i >= len(s) || s[i] != ',' {
		return 1
	}
	n := 0
	for i++; i < len(s) && isDigit(s[i]) && n < 1<<30; i++ {
		n = n*10 + int(s[i]-'0')
	}
	return n
}

// lockFile reports a header of a file that a package manager writes.
func lockFile(s string) bool {
	for _, name := range []string{"package-lock.json", "yarn.lock", "pnpm-lock.yaml", "go.sum", "Cargo.lock",
		"poetry.lock", "uv.lock", "Gemfile.lock", "composer.lock", ".min.js", ".snap"} {
		if strings.Contains(s, name) {
			return true
		}
	}
	return false
}
