package digest

import (
	"slices"
	"strings"

	"precis/internal/prose"
	"precis/internal/toolcall"
	"precis/retain"
)

// leastLine is the shortest line, in bytes, that is known again: a bracket stands in many places.
const leastLine = 6

// replacedLines says which lines of a file do not stand in it any more.
type replacedLines struct {
	gone  map[string]int  // lines that an edit took out → its call
	parts []replacedPart  // texts that sed replaced, wherever they stood
	whole map[string]bool // of a file that was written as a whole, its lines; nil: it was not
	keys  map[string]bool // of these lines, see keyOf
	since int             // the call that wrote it
}

type replacedPart struct {
	text string
	call int
}

// replacedIn reads what the edits of a file that stand took out of it.
func replacedIn(f *file, calls []toolcall.Call) *replacedLines {
	r := &replacedLines{gone: map[string]int{}, since: -1}
	for _, call := range f.edits {
		c := &calls[call]
		for _, e := range c.Effects {
			for part := range strings.Lines(e.Replaced) {
				r.parts = append(r.parts, replacedPart{strings.TrimSuffix(part, "\n"), call})
			}
		}
		added, removed := c.Edited(f.path)
		if added == "" && removed == "" && c.Kind == toolcall.Write {
			added = c.Written()
			r.whole, r.keys, r.since = linesOf(added), map[string]bool{}, call
			for line := range r.whole {
				if key := keyOf(line); key != "" {
					r.keys[key] = true
				}
			}
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

// linesOf returns the lines of a text that are long enough to be known again, without the space around them.
func linesOf(text string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); len(line) >= leastLine {
			out[line] = true
		}
	}
	return out
}

// took reports whether a line that a call showed or wrote has been taken out of the file since.
func (r *replacedLines) took(line string, shown int) bool {
	if call, ok := r.gone[line]; ok && shown < call {
		return true
	}
	if shown < r.since && !r.whole[line] && r.keys[keyOf(line)] {
		return true
	}
	return slices.ContainsFunc(r.parts, func(p replacedPart) bool { return shown < p.call && p.in(line) })
}

// in reports whether a line holds the text. What ends within a number is another value.
func (p replacedPart) in(line string) bool {
	at := strings.Index(line, p.text)
	if at < 0 || p.text == "" {
		return false
	}
	end := at + len(p.text)
	return end == len(line) || !prose.IsDigit(p.text[len(p.text)-1]) || !prose.IsDigit(line[end])
}

// striker says of the lines of one text after another which do not stand in their file any more.
type striker struct {
	in    *input
	text  int
	line  func(line string) int // of the text; nil: all its lines stand, as far as is known
	files map[*file]*replacedLines
}

// of returns what says where the text of a line begins that is gone, behind the name and the number that a search puts
// before it; -1 for a line that stands. It is nil when all do.
func (s *striker) of(text int) func(line string) int {
	if s.files == nil {
		s.files, s.text = map[*file]*replacedLines{}, -1
	}
	if s.text != text {
		s.text, s.line = text, s.read(&s.in.x.Texts[text])
	}
	return s.line
}

func (s *striker) read(t *retain.Text) func(line string) int {
	if t.Call < 0 || t.Source == retain.User || t.Source == retain.Called {
		return nil
	}
	w, call := s.in.work(), int(t.Call)
	c := &w.calls[call]
	if t.Source == retain.Written {
		return s.written(t, c, call)
	}
	shown := slices.Concat(c.Reads, c.Searched)
	if c.Kind == toolcall.Read && c.Path != "" {
		shown = append(shown, c.Path)
	}
	var files []*replacedLines
	for _, p := range shown {
		if f := w.files.named(p); f != nil && len(f.edits) > 0 {
			files = append(files, s.replaced(f))
		}
	}
	gone := func(line string) int {
		from := len(line) - len(behindNumber(line))
		for _, at := range []int{from, 0} {
			if slices.ContainsFunc(files, func(r *replacedLines) bool { return r.took(line[at:], call) }) {
				return at
			}
		}
		name, rest, ok := strings.Cut(line, ":") // of a search
		if !ok || name == "" || strings.ContainsAny(name, " \t") {
			return -1
		}
		rest = behindNumber(rest)
		if f := w.files.named(name); f != nil && len(f.edits) > 0 && s.replaced(f).took(rest, call) {
			return len(line) - len(rest)
		}
		return -1
	}
	return func(line string) int {
		if len(line) < leastLine {
			return -1
		}
		at := gone(line)
		if at >= 0 && strings.Count(t.Body, line) > 1 { // another place of it may stand
			return -1
		}
		return at
	}
}

// written tells of what an edit wrote: what it took out, and what later ones did.
func (s *striker) written(t *retain.Text, c *toolcall.Call, call int) func(line string) int {
	added, removed := c.Edited("")
	in, out := linesOf(added), linesOf(removed)
	var later *replacedLines
	if f := s.in.work().files.byPath[c.Path]; f != nil && len(f.edits) > 0 {
		later = s.replaced(f)
	}
	return func(line string) int {
		if out[line] && !in[line] || later != nil && len(line) >= leastLine && later.took(line, call) && strings.Count(t.Body, line) == 1 {
			return 0
		}
		return -1
	}
}

func (s *striker) replaced(f *file) *replacedLines {
	r := s.files[f]
	if r == nil {
		r = replacedIn(f, s.in.work().calls)
		s.files[f] = r
	}
	return r
}

// behindNumber returns a line without the number and the sign that searches put before it.
func behindNumber(line string) string {
	rest := strings.TrimLeft(line, "0123456789")
	if rest == "" || len(rest) == len(line) || rest[0] != ':' && rest[0] != '-' {
		return line
	}
	return strings.TrimSpace(rest[1:])
}

// keyOf returns what a line says before its value: up to "=", ":" or the first digit; "" when that is too little to be known
// by.
func keyOf(line string) string {
	const shortest = 4
	end := strings.IndexAny(line, "=:0123456789")
	if end < 0 {
		return ""
	}
	if key := strings.TrimSpace(line[:end]); len(key) >= shortest {
		return key
	}
	return ""
}
