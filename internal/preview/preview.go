// Package preview answers: which lines show a reader what a long text was? It splits the text of an
// old tool result, a code block or a tool argument into pieces, and determines how much each
// matters. [Of] splits; a caller who also knows which words will be needed again chooses pieces;
// [Split.Render] joins the chosen ones.
//
// The text's kind is read from the text itself and from a [Hint] of its origin; if the two
// contradict, the text wins. All functions are pure and deterministic, take time linear in the
// text, and accept any bytes.
package preview

import "strings"

// Kind is the kind of a text.
type Kind string

// The kinds of text.
const (
	Code    Kind = "code"    // source code, configuration, markup
	JSON    Kind = "json"    // one JSON value, or JSON lines
	Log     Kind = "log"     // the output of commands and tests
	Search  Kind = "search"  // matches by file and line
	Diff    Kind = "diff"    // patches
	Listing Kind = "listing" // names of files
	Prose   Kind = "prose"   // text for people
	Table   Kind = "table"   // rows of columns
)

// Hint is the known origin of a text. Every field may be zero.
type Hint struct {
	Path    string // of the file the text is from
	Tool    string // the name of the tool that returned it
	Command string // the shell command that printed it
	IsError bool   // the tool reported a failure

	// Signatures returns the 0-based numbers of the lines of source code that are signatures. It is
	// called with a text without line numbers and without a tool's frame. With nil, or if it
	// returns none, signatures are guessed line by line.
	Signatures func(path, text string) []int
}

// Class is how much a piece matters by its place in the text. A greater class
// matters more.
type Class uint8

// The classes.
const (
	Noise    Class = iota // blank lines, progress, passing tests, separators, repetitions
	Detail                // plain content
	Headline              // identifies the text for a reader
)

// Piece is a part of the text: a line with its line end, or, where a line is
// long, a part of it. Start and End are bytes; End is exclusive.
type Piece struct {
	Start, End int
	Class      Class
}

// Split is a text in pieces. They cover the whole text, in order, without gap
// or overlap, and none begins or ends inside a UTF-8 sequence.
type Split struct {
	Kind   Kind
	Head   string // one line, at most 160 bytes, that describes the text
	Pieces []Piece
}

// Of splits text. An empty text has no pieces.
func Of(text string, h Hint) Split {
	d := read(text, h)
	if s, ok := d.json(); ok {
		return s
	}
	kind := d.detect()
	head := d.classify(kind)
	return Split{Kind: kind, Head: Line(head, maxHead), Pieces: d.pieces(0, len(d.lines), nil)}
}

// classify gives each line of d its class and returns the head.
func (d *document) classify(kind Kind) string {
	switch kind {
	case Code:
		return d.code()
	case JSON:
		return d.brokenJSON()
	case Log:
		return d.log()
	case Search:
		return d.search()
	case Diff:
		return d.diff()
	case Listing:
		return d.listing()
	case Table:
		return d.table()
	}
	return d.prose()
}

// Render joins the pieces of text, which must be the text that was split, for which keep returns
// true, and puts gap(lines, bytes) in the place of each maximal run of others: lines counts the
// lines that begin in the run, so it is 0 within a line. If a run ended a line, so does the result
// of gap. With a nil gap the runs are dropped.
func (s Split) Render(text string, keep func(i int) bool, gap func(lines, bytes int) string) string {
	var out strings.Builder
	endsLine := true
	write := func(part string) {
		if part != "" {
			out.WriteString(part)
			endsLine = part[len(part)-1] == '\n'
		}
	}
	for i := 0; i < len(s.Pieces); i++ {
		p := s.Pieces[i]
		if keep(i) {
			write(text[p.Start:p.End])
			continue
		}
		for i+1 < len(s.Pieces) && !keep(i+1) {
			i++
		}
		end := s.Pieces[i].End
		if gap != nil {
			write(gap(linesBegun(text, p.Start, end), end-p.Start))
		}
		if text[end-1] == '\n' && !endsLine {
			write("\n")
		}
	}
	return out.String()
}

// linesBegun counts the lines of text that begin between from and to.
func linesBegun(text string, from, to int) int {
	if from == 0 {
		return 1 + strings.Count(text[:to-1], "\n")
	}
	return strings.Count(text[from-1:to-1], "\n")
}
