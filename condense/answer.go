package condense

import (
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
)

// wrapping matches the tags around the parts of an answer: reasoning and the
// summary.
var wrapping = lazyregexp.New(`(?i)<(/?)(analysis|think|thinking|thoughts?|scratchpad|reasoning|summary)(?:\s[^<>]*)?>`)

// wrap is a tag that structures an answer. A tag that is mentioned within a line, or quoted, does
// not count.
type wrap struct {
	from, to int
	summary  bool // else it encloses reasoning
	closes   bool
}

// wrappingTags returns the tags of a text. An opening tag must be at the start of a line or after another
// tag; the closing tag of a summary must end a line or precede a tag; the closing tag of reasoning
// must be alone on a line. Inside reasoning, the tags of reasoning may be anywhere.
func wrappingTags(text string) []wrap {
	var out []wrap
	thoughts, end := 0, 0 // end is where the last tag ends
	for _, m := range wrapping.FindAllStringSubmatchIndex(text, -1) {
		w := wrap{from: m[0], to: m[1], closes: m[3] > m[2],
			summary: strings.EqualFold(text[m[4]:m[5]], "summary")}
		before, after := strings.TrimRight(text[end:w.from], " \t"), strings.TrimLeft(text[w.to:], " \t\r")
		starts := before == "" || strings.HasSuffix(before, "\n")
		ends := after == "" || after[0] == '\n' || after[0] == '<'
		inside := thoughts > 0 && !w.summary && !strings.HasSuffix(before, "`")
		switch {
		case inside && w.closes:
			thoughts--
		case inside:
			thoughts++
		case w.closes && !ends, !starts && !(w.closes && w.summary):
			continue
		case !w.closes && !w.summary:
			thoughts++
		}
		out, end = append(out, w), w.to
	}
	return out
}

// summaryIn extracts the summary from an answer, and reports whether its tag
// was closed.
func summaryIn(text string) (summary string, closed bool) {
	text = unfenced(strings.TrimSpace(text))
	bare := withoutThoughts(text)
	in, closed, ok := inSummary(bare)
	if !ok { // it may be inside the reasoning
		in = bare
		if among, c, ok := inSummary(text); ok && len(among) > len(strings.TrimSpace(bare)) {
			in, closed = withoutThoughts(among), c
		}
	}
	return strings.TrimSpace(unfenced(strings.TrimSpace(in))), closed
}

// withoutThoughts removes reasoning, also when nested or marked by a closing
// tag alone. Reasoning that is not closed ends where the summary begins.
func withoutThoughts(text string) string {
	var out strings.Builder
	at, begun := 0, false
	tags := wrappingTags(text)
	ends := thoughtsEnds(tags, len(text))
	for i, w := range tags {
		switch {
		case w.from < at:
		case w.summary:
			begun = begun || !w.closes
		case !w.closes:
			out.WriteString(text[at:w.from])
			at = ends[i]
		case !begun:
			out.Reset()
			at = w.to
		}
	}
	out.WriteString(text[at:])
	return out.String()
}

// thoughtsEnds returns for each tag that opens reasoning where that reasoning
// ends.
func thoughtsEnds(tags []wrap, size int) []int {
	ends := make([]int, len(tags))
	for i := len(tags) - 1; i >= 0; i-- { // if no tag closes them
		if w := tags[i]; w.summary && !w.closes {
			size = w.from
		}
		ends[i] = size
	}
	var open []int
	for i, w := range tags {
		switch n := len(open); {
		case w.summary:
		case !w.closes:
			open = append(open, i)
		case n > 0:
			ends[open[n-1]] = w.to
			open = open[:n-1]
		}
	}
	return ends
}

// inSummary returns the content of the longest <summary>; if it is not closed,
// up to the end of the text.
func inSummary(text string) (in string, closed, ok bool) {
	depth, from := 0, 0
	keep := func(to int, c bool) {
		if !ok || to-from > len(in) {
			in, closed, ok = text[from:to], c, true
		}
	}
	for _, w := range wrappingTags(text) {
		switch {
		case !w.summary:
		case !w.closes:
			if depth++; depth == 1 {
				from = w.to
			}
		case depth > 0:
			if depth--; depth == 0 {
				keep(w.from, true)
			}
		case from > 0 || w.to == len(text): // the tag was only mentioned before, or opened before the text
			keep(w.from, true)
		}
	}
	if depth > 0 {
		keep(len(text), false)
	}
	return in, closed, ok
}

// unfenced removes the code fence around a whole text.
func unfenced(text string) string {
	lines := strings.Split(text, "\n")
	mark, _ := fenceOf(lines[0])
	if mark == 0 || len(lines) < 2 {
		return text
	}
	depth := 0
	for i, line := range lines {
		m, info := fenceOf(line)
		switch {
		case m != mark:
			continue
		case info != "" || depth == 0:
			depth++
		default:
			depth--
		}
		if depth == 0 {
			if i < len(lines)-1 {
				return text
			}
			return strings.Join(lines[1:i], "\n")
		}
	}
	return strings.Join(lines[1:], "\n") // it was never closed
}
