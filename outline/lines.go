package outline

import (
	"slices"
	"strings"
)

// openDef is a definition without an end so far.
type openDef struct {
	index         int // in scanner.defs
	indent        int
	kind          string
	argumentsOpen bool // see head.open
}

// scanner reads a file line by line. It takes time linear in the content.
type scanner struct {
	w       words
	lang    string
	t       *text
	defs    []Definition
	margin  string // the last line of code without indentation
	open    []openDef
	last    int            // line number, from 1, of the last line of code
	before  int            // the same, without the current line
	comment string         // the end of the current comment
	heredoc string         // the end of the current here-document
	quoted  quote          // the current quotation
	texts   map[string]int // ends of quotations: where one comes next, -1: nowhere
	ends    map[string]int // names of here-documents: where the line that ends one begins, -1: nowhere
	macros  bool           // the last definition is a macro that continues
}

// scanLines finds definitions by their first words and their indentation. It does not parse the
// syntax, and finds no definitions inside functions.
func scanLines(language string, t *text) []Definition {
	w, ok := wordsOf[language]
	if !ok {
		return nil
	}
	s := &scanner{w: w, lang: language, t: t}
	for i := range t.lines() {
		width, line := indent(t.line(i))
		if s.quoted.close != "" {
			s.last = i + 1
			s.enter(s.leave(line))
			continue
		}
		if line == "" || s.skipNonCode(i, line) {
			continue
		}
		closed := s.close(i, width, line)
		s.before, s.last = s.last, i+1
		if width == 0 {
			s.margin = line
		}
		if !closed && len(s.defs) <= MaxDefinitions {
			s.begin(i, width, line)
		}
		s.enter(line)
	}
	for _, o := range s.open {
		s.defs[o.index].End = s.last
	}
	return s.defs
}

// skipNonCode reports whether a line is not code: part of a comment or quotation, or the
// preprocessor's.
func (s *scanner) skipNonCode(i int, line string) bool {
	switch {
	case s.macros:
		s.macros = strings.HasSuffix(line, `\`)
		s.defs[len(s.defs)-1].End = i + 1
		return true
	case s.comment != "":
		if s.comment == `"""` || s.comment == "'''" { // a quotation, part of the code
			s.last = i + 1
		}
		if strings.Contains(line, s.comment) {
			s.comment = ""
		}
		return true
	case s.heredoc != "":
		s.last = i + 1
		if strings.TrimRight(line, ";,)") == s.heredoc {
			s.heredoc = ""
		}
		return true
	case s.w.block[0] != "" && strings.HasPrefix(line, s.w.block[0]):
		rest := line[len(s.w.block[0]):]
		n := strings.Index(rest, s.w.block[1])
		if n < 0 {
			s.comment = s.w.block[1]
		}
		return n < 0 || strings.TrimSpace(rest[n+len(s.w.block[1]):]) == ""
	}
	for _, c := range s.w.comment {
		if strings.HasPrefix(line, c) && !(c == "#" && strings.HasPrefix(line, "#[")) {
			return true
		}
	}
	if s.lang == "csharp" && line[0] == '#' {
		return true
	}
	if s.w.preproc && line[0] == '#' {
		s.macro(i, line)
		return true
	}
	return false
}

// enterByParts detects some of the constructs that a line of code leaves open: a comment or a
// quotation.
func (s *scanner) enterByParts(line string) {
	if n := strings.Index(line, "/*"); n >= 0 && s.w.block == stars &&
		!strings.ContainsAny(line[:n], "\"'`/") && !strings.Contains(line[n:], "*/") {
		s.comment = "*/"
	}
	if s.lang == "python" {
		for _, quotes := range []string{`"""`, `'''`} {
			if strings.Count(line, quotes)%2 == 1 {
				s.comment = quotes
				return
			}
		}
	}
	if !s.w.heredoc {
		return
	}
	_, after, ok := strings.Cut(line, "<<")
	if !ok {
		return
	}
	name := leadingWord(strings.TrimLeft(after, "<-~ '\""))
	if name != "" && len(name) <= mostName && s.endsLater(name) {
		s.heredoc = name
	}
}

// Searching for the ends of here-documents is the only part that could take more than linear time:
// at most this many names are searched, and none that is longer.
const (
	mostNames = 100
	mostName  = 60
)

// endsLater reports whether a later line ends the heredoc with that name.
func (s *scanner) endsLater(name string) bool {
	here := s.t.from + s.t.length()
	end, known := s.ends[name]
	if !known && len(s.ends) == mostNames {
		return false
	}
	if !known || end >= 0 && end < here {
		if s.ends == nil {
			s.ends = map[string]int{}
		}
		end = s.t.after(here, name)
		s.ends[name] = end
	}
	return end >= 0
}

// close ends the definitions that do not include a line. It reports whether the line itself ends
// one.
func (s *scanner) close(i, width int, line string) bool {
	for len(s.open) > 0 {
		o := s.open[len(s.open)-1]
		if width > o.indent {
			return false
		}
		if width == o.indent {
			switch {
			case o.argumentsOpen && (line[0] == ')' || line[0] == '}' || line[0] == ']' || line[0] == '>'):
				if s.closeArguments(line) {
					return true
				}
				return false
			case s.continues(line):
				return true
			case o.kind == Module && s.w.preproc && !endsModule(line): // its content is not indented
				return false
			case closes(line):
				s.end(o, i, line)
				return true
			}
		}
		s.defs[o.index].End = s.last
		s.open = s.open[:len(s.open)-1]
	}
	return false
}

// closeArguments uses the line that closes its arguments to decide whether the innermost definition is a
// function, and drops it if not. Destructured arguments are closed once more, after their type.
func (s *scanner) closeArguments(line string) bool {
	o := &s.open[len(s.open)-1]
	if strings.Contains(line, "=>") {
		o.argumentsOpen = false
		return true
	}
	if end := line[len(line)-1]; end == '{' || end == '(' || end == '<' || end == '[' {
		return true
	}
	s.defs = slices.Delete(s.defs, o.index, len(s.defs))
	s.open = s.open[:len(s.open)-1]
	return false
}

// end ends the innermost definition with the line that closes its block. That line may contain
// the name: "} name;".
func (s *scanner) end(o openDef, i int, line string) {
	d := &s.defs[o.index]
	if d.End = i + 1; d.Name == "" && s.w.preproc && len(line) < 200 {
		d.Name = lastWord(line)
	}
	s.open = s.open[:len(s.open)-1]
}

// endsModule distinguishes the end of a C++ namespace from the end of a type or a list.
func endsModule(line string) bool { return line[0] == '}' && !strings.HasPrefix(line, "};") }

// continues reports whether a line at the indentation of a definition is still part of its head
// or body.
func (s *scanner) continues(line string) bool {
	switch line {
	case "{", "where", "public:", "private:", "protected:", "do", "begin":
		return true
	}
	if line[0] == ')' || line[0] == '>' || line[0] == ':' || strings.HasPrefix(line, "where ") ||
		label(line) {
		return true
	}
	if !closes(line) {
		return false
	}
	end := line[len(line)-1]
	return end == '{' || end == '(' || end == '[' || end == '=' || strings.HasSuffix(line, "=>")
}

// label reports whether a line has only a name and a colon.
func label(line string) bool {
	name := leadingWord(line)
	return name != "" && name != "default" && line[len(name):] == ":"
}

// closes reports whether a line begins with the end of a block.
func closes(line string) bool {
	switch line[0] {
	case '}', ')', ']':
		return true
	}
	word := leadingWord(line)
	return word == "end" || word == "End"
}

// begin records the definition that begins on a line, if any.
func (s *scanner) begin(i, width int, line string) {
	outer := ""
	if n := len(s.open); n > 0 {
		outer = s.open[n-1].kind
	}
	if outer == Function || outer == Method || s.lang == "c" && outer != "" && outer != Module {
		return
	}
	h, ok := s.head(i, outer, line)
	if !ok {
		return
	}
	if h.kind == Function && holdsMembers(outer) {
		h.kind = Method
	}
	start := i + 1
	if h.split {
		start = i
	}
	s.defs = append(s.defs, Definition{Name: h.name, Kind: h.kind, Start: start, End: i + 1,
		Depth: len(s.open)})
	s.open = append(s.open, openDef{index: len(s.defs) - 1, indent: width, kind: h.kind,
		argumentsOpen: h.argumentsOpen})
}

func holdsMembers(kind string) bool {
	return kind != "" && kind != Module && kind != Function && kind != Method
}

// macro records "#define NAME(".
func (s *scanner) macro(i int, line string) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(line[1:], " \t"), "define")
	if !ok || len(s.defs) > MaxDefinitions {
		return
	}
	name := leadingWord(strings.TrimLeft(rest, " \t"))
	if rest = strings.TrimLeft(rest, " \t"); name == "" || !strings.HasPrefix(rest[len(name):], "(") {
		return
	}
	s.defs = append(s.defs, Definition{Name: name, Kind: Macro, Start: i + 1, End: i + 1, Depth: len(s.open)})
	s.macros = strings.HasSuffix(line, `\`)
}
