package digest

import (
	"strings"

	"precis/internal/lazyregexp"
)

// span is a part of a text; the zero value is none.
type span struct{ start, end int }

// of returns the part, without white space around it.
func (s span) of(text string) string { return strings.TrimSpace(text[s.start:s.end]) }

// titles finds, line by line, the title over each entry of a list. An entry alone may say the opposite of what it says below its
// title: "works, but is conceptually wrong" is said of the second option.
type titles struct {
	heading span // a heading, or a line in bold
	lead    span // a line that ends in a colon, for the list behind it
	parent  span // an entry that is a title itself, for the entries that are indented more
	indent  int  // of it
}

// longestTitle is how many bytes a title has at most.
const longestTitle = 120

var (
	isEntry   = lazyregexp.New(`^(?:[-*+•·]|\d{1,2}[.)]|[✅❌✓✗⚠]\x{fe0f}?)\s`)
	isHeading = lazyregexp.New(`^(?:#{1,6}\s|(?:\d{1,2}[.)]\s+)?\*\*[^*]+\*\*(?:\s*(?:\([^()]*\)|[:：✅❌]))*\s*$)`)
)

// over returns the title over a line of a text; the zero value for none, and for lines that are no entries.
func (t *titles) over(text string, start, end int) span {
	line := strings.TrimRight(text[start:end], " \t\r\n")
	bare := strings.TrimLeft(line, " \t")
	indent, at := len(line)-len(bare), span{start, end}
	switch {
	case bare == "":
		return span{}
	case isHeading.MatchString(bare) && len(bare) <= longestTitle && (indent == 0 || !isEntry.MatchString(bare)):
		*t = titles{heading: at}
		return span{}
	case !isEntry.MatchString(bare):
		t.lead, t.parent = span{}, span{}
		if announces(bare) && len(bare) <= longestTitle {
			t.lead = at
		}
		return span{}
	}
	if indent <= t.indent {
		t.parent = span{}
	}
	title := t.parent
	for _, other := range []span{t.lead, t.heading} {
		if title.end == 0 {
			title = other
		}
	}
	if isTitle := announces(bare) || isHeading.MatchString(strings.TrimLeft(bare, "-*+•· ")); isTitle && len(bare) <= longestTitle && t.parent.end == 0 {
		t.parent, t.indent = at, indent
	}
	return title
}
