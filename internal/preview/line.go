package preview

import (
	"strings"

	"github.com/precis-dev/precis/internal/visible"
)

// document is a text being split.
type document struct {
	text     string
	hint     Hint
	lines    []line
	numbered bool // the lines have a line-number column
}

// line is one line of the text. A carriage return within a line, as progress
// bars write it, ends one too.
type line struct {
	start, end int    // with the line end
	body       string // without line end, number column and color codes
	class      Class
	frame      bool // a tool's line around the content; its class is final
	omitted    bool // a frame that represents all lines in the middle of a very long text
}

// mostLines is how many lines of a text are read: the first and the last ones. The lines between
// them are noise.
const mostLines = 100_000

// read splits text into lines, finds the frame that tools put around it and removes line numbers.
func read(text string, h Hint) *document {
	d := &document{text: text, hint: h, lines: splitLines(text)}
	d.findFrame()
	if d.hint.Path == "" {
		d.hint.Path = pathOfCommand(d.hint.Command)
	}
	d.stripColumn()
	return d
}

func splitLines(text string) []line {
	if text == "" {
		return nil
	}
	n := strings.Count(text, "\n") + strings.Count(text, "\r") + 1
	if n <= mostLines {
		return appendLinesOf(make([]line, 0, n), text, 0, len(text))
	}
	head, tail := endOfLines(text, mostLines/2), startOfLines(text, mostLines/2)
	lines := appendLinesOf(make([]line, 0, mostLines+1), text, 0, head)
	if head < tail {
		lines = append(lines, line{start: head, end: tail, class: Noise, frame: true, omitted: true})
	}
	return appendLinesOf(lines, text, max(head, tail), len(text))
}

// endOfLines returns where the first n lines end, and startOfLines where the last n
// begin. A carriage return ends a line, too.
func endOfLines(text string, n int) int {
	at := 0
	for ; n > 0; n-- {
		next := strings.IndexAny(text[at:], "\n\r")
		if next < 0 {
			return len(text)
		}
		at += next + 1
	}
	if at < len(text) && text[at-1] == '\r' && text[at] == '\n' {
		at++
	}
	return at
}

func startOfLines(text string, n int) int {
	at := len(text) - 1 // the last byte may end the last line
	for ; n > 0 && at >= 0; n-- {
		at = strings.LastIndexAny(text[:at], "\n\r")
	}
	return at + 1
}

// appendLinesOf appends the lines of text[from:to].
func appendLinesOf(lines []line, text string, from, to int) []line {
	returns := strings.IndexByte(text[from:to], '\r') >= 0
	colors := strings.IndexByte(text[from:to], '\x1b') >= 0
	for at := from; at < to; {
		end := to
		if n := strings.IndexByte(text[at:to], '\n'); n >= 0 {
			end = at + n + 1
		}
		for at < end {
			stop := end
			if returns {
				stop = firstReturnEnd(text, at, end)
			}
			lines = append(lines, line{start: at, end: stop, body: bodyOf(text[at:stop], colors)})
			at = stop
		}
	}
	return lines
}

// firstReturnEnd returns the end of the first part of a line that a carriage return
// ends, or end.
func firstReturnEnd(text string, at, end int) int {
	n := strings.IndexByte(text[at:end], '\r')
	if n < 0 {
		return end
	}
	stop := at + n + 1
	for stop < end && text[stop] == '\r' {
		stop++
	}
	if stop == end-1 && text[stop] == '\n' {
		return end
	}
	return stop
}

func bodyOf(s string, colors bool) string {
	for len(s) > 0 && (s[len(s)-1] == '\n' || s[len(s)-1] == '\r') {
		s = s[:len(s)-1]
	}
	if colors && strings.IndexByte(s, '\x1b') >= 0 {
		return visible.WithoutSequences(s)
	}
	return s
}

// stripColumn removes the line-number column from the bodies, if there is one.
func (d *document) stripColumn() {
	c, ok := d.findColumn()
	if hint, _ := d.hint.hinted(); !ok || c.sep == ':' && hint == Search {
		return
	}
	d.numbered = true
	for i := range d.lines {
		l := &d.lines[i]
		if l.frame {
			continue
		}
		if _, sep, width := column(l.body); sep == c.sep {
			l.body = l.body[width:]
			if c.padded && len(l.body) > 0 && l.body[0] == ' ' {
				l.body = l.body[1:]
			}
		}
	}
}

// columnForm is the form of a text's line numbers: the separator after the number, and whether a
// space follows.
type columnForm struct {
	sep    byte
	padded bool
}

const arrow = 'a' // represents "→" as a separator

// findColumn looks for a column of growing line numbers in the first lines.
func (d *document) findColumn() (columnForm, bool) {
	var seen, with, steps, padded, filled, last int
	var sep byte
	for i := 0; i < len(d.lines) && seen < 60; i++ {
		l := d.lines[i]
		if l.frame || blank(l.body) {
			continue
		}
		seen++
		n, s, width := column(l.body)
		if s == 0 || with > 0 && s != sep {
			continue
		}
		if with > 0 && n == last+1 {
			steps++
		}
		if rest := l.body[width:]; rest != "" {
			filled++
			if rest[0] == ' ' {
				padded++
			}
		}
		with, sep, last = with+1, s, n
	}
	form := columnForm{sep: sep, padded: sep != arrow && sep != '\t' && padded == filled}
	if with == 0 || with*5 < seen*4 {
		return form, false
	}
	return form, sep == arrow || with > 1 && steps*5 >= (with-1)*3
}

// column reads a line number and its separator: sep is 0 without one. width is the length of both.
func column(s string) (n int, sep byte, width int) {
	i := 0
	for i < len(s) && i < 10 && s[i] == ' ' {
		i++
	}
	from := i
	for i < len(s) && i-from < 8 && isDigit(s[i]) {
		n = n*10 + int(s[i]-'0')
		i++
	}
	if i == from {
		return 0, 0, 0
	}
	if i+1 < len(s) && s[i] == ' ' && s[i+1] == '|' {
		i++
	}
	if i >= len(s) {
		return 0, 0, 0
	}
	switch s[i] {
	case '\t', '|', ':':
		return n, s[i], i + 1
	}
	if strings.HasPrefix(s[i:], "→") {
		return n, arrow, i + len("→")
	}
	return 0, 0, 0
}
