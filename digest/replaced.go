package digest

import (
	"slices"
	"strings"

	"github.com/precis-dev/precis/digest/effects"
	"github.com/precis-dev/precis/internal/prose"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/retain"
)

// leastLine is the shortest line, in bytes, that identifies a place, unlike a bracket.
const leastLine = 6

// replacedLines records which lines of a file are no longer in it.
type replacedLines struct {
	gone  map[string]int  // lines that an edit removed → its call
	parts []replacedPart  // texts that sed replaced, at any place
	whole map[string]bool // the lines of a file that was written as a whole; nil: it was not
	since int             // the call that wrote it
}

type replacedPart struct {
	text string
	call int
}

// replacedIn collects the lines that the edits in effect removed from a file.
func replacedIn(f *effects.File, calls []toolcall.Call) *replacedLines {
	r := &replacedLines{gone: map[string]int{}, since: -1}
	for _, call := range f.WritingCalls() {
		c := &calls[call]
		for _, e := range c.Effects {
			for part := range strings.Lines(e.Replaced) {
				r.parts = append(r.parts, replacedPart{strings.TrimSuffix(part, "\n"), call})
			}
		}
		added, removed := c.Edited(f.Path)
		if added == "" && removed == "" && c.Kind == toolcall.Write {
			added = c.Written()
			r.whole, r.since = linesOf(added), call
		}
		in := linesOf(added)
		for line := range linesOf(removed) {
			if !in[line] {
				r.gone[line] = call
				delete(r.whole, line)
			}
		}
		for line := range in {
			delete(r.gone, line)
			if r.whole != nil {
				r.whole[line] = true
			}
		}
	}
	return r
}

// linesOf returns the trimmed lines of a text that are long enough to identify a place.
func linesOf(text string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); len(line) >= leastLine {
			out[line] = true
		}
	}
	return out
}

// hasRemoved reports whether an edit has removed a line since a call showed or wrote it.
func (r *replacedLines) hasRemoved(line string, shown int) bool {
	if call, ok := r.gone[line]; ok && shown < call || shown < r.since && !r.whole[line] {
		return true
	}
	return slices.ContainsFunc(r.parts, func(p replacedPart) bool { return shown < p.call && p.isIn(line) })
}

// isIn reports whether a line contains the text. A match ending within a number is another value.
func (p replacedPart) isIn(line string) bool {
	at := strings.Index(line, p.text)
	if at < 0 || p.text == "" {
		return false
	}
	end := at + len(p.text)
	return end == len(line) || !prose.IsDigit(p.text[len(p.text)-1]) || !prose.IsDigit(line[end])
}

// removedLineFinder recognizes lines, of one text after another, that are no longer in their file.
type removedLineFinder struct {
	in   *input
	text int
	// reports whether a line of the text was removed; nil: no line was, as far as known
	line  func(line string) bool
	files map[*effects.File]*replacedLines
}

// removedIn returns a function that reports whether a line of a text was removed; nil when no line was.
func (s *removedLineFinder) removedIn(text int) func(line string) bool {
	if s.files == nil {
		s.files, s.text = map[*effects.File]*replacedLines{}, -1
	}
	if s.text != text {
		s.text, s.line = text, s.read(&s.in.x.Texts[text])
	}
	return s.line
}

func (s *removedLineFinder) read(t *retain.Text) func(line string) bool {
	if t.Call < 0 || t.Source == retain.SourceUser || t.Source == retain.SourceArguments {
		return nil
	}
	w, call := s.in.work(), int(t.Call)
	c := &w.Calls[call]
	paths := append(slices.Clone(c.Reads), c.Path)
	var added, removed map[string]bool // by the call itself
	if t.Source == retain.SourceWritten {
		in, out := c.Edited("")
		added, removed, paths = linesOf(in), linesOf(out), []string{c.Path}
	}
	var files []*replacedLines
	for _, p := range paths {
		f := w.FileNamed(p)
		if f == nil {
			continue
		}
		if s.files[f] == nil {
			s.files[f] = replacedIn(f, w.Calls)
		}
		files = append(files, s.files[f])
	}
	return func(line string) bool {
		if removed[line] && !added[line] {
			return true
		}
		took := func(r *replacedLines) bool { return r.hasRemoved(line, call) }
		// A line that occurs several times may have been removed at another place only.
		return len(line) >= leastLine && slices.ContainsFunc(files, took) && strings.Count(t.Body, line) == 1
	}
}
