package term

import (
	"strings"

	"github.com/precis-dev/precis/internal/texts"
)

// Segment is one part of a bar.
type Segment struct {
	Name  string // names the part, and its color in the palette
	Value int
}

// Bar is a context window: its segments from the left, the reserve at the right end, and a mark
// under the bar at a threshold.
type Bar struct {
	Total    int // size of the whole bar
	Segments []Segment
	Reserve  int
	Mark     int    // 0: no mark
	Label    string // of the mark
}

// mostBar is the maximal width of a bar in columns, without its ends.
const mostBar = 72

// signs distinguish neighboring segments when there is no color.
var signs = []string{"█", "▓", "▒", "░"}

// Signs used with and without color.
const (
	digestSign  = "▞" // a digest
	freeSign    = "·"
	reserveSign = "╱"
)

// Bar draws a bar that fits the width.
func (w *Writer) Bar(b Bar) {
	if b.Total <= 0 {
		return
	}
	columns := min(mostBar, w.width-4)
	at := func(n int) int { return min(columns, (n*columns+b.Total/2)/b.Total) }
	var line strings.Builder
	used, sum := 0, 0
	for i, s := range b.Segments {
		sum += s.Value
		end := max(at(sum), used)
		line.WriteString(w.Style(s.Name, strings.Repeat(w.sign(i, s.Name), end-used)))
		used = end
	}
	reserve := min(at(b.Reserve), columns-used)
	line.WriteString(w.Style("free", strings.Repeat(freeSign, columns-used-reserve)))
	line.WriteString(w.Style("reserve", strings.Repeat(reserveSign, reserve)))
	w.Printf("  ▕%s▏\n", line.String())
	if b.Mark > 0 {
		w.writeTick(min(at(b.Mark), columns-1), columns, b.Label)
	}
}

// writeTick writes the mark under a bar, with its label on the side that has room.
func (w *Writer) writeTick(at, columns int, label string) {
	text := "▴ " + label
	if at+len([]rune(text)) > columns+1 {
		text = label + " ▴"
		at = max(at-len([]rune(label))-1, 0)
	}
	w.Printf("%s%s\n", strings.Repeat(" ", at+3), w.Style("dim", text))
}

// sign returns the sign of a segment.
func (w *Writer) sign(i int, name string) string {
	switch {
	case name == "digest":
		return digestSign
	case name == "free":
		return freeSign
	case name == "reserve":
		return reserveSign
	case w.color:
		return signs[0]
	}
	return signs[i%len(signs)]
}

// Mark returns the sign that a bar draws segment i with, for a legend.
func (w *Writer) Mark(i int, name string) string { return w.Style(name, w.sign(i, name)) }

// Number formats n with thousands separators: 12,345,678.
func Number(n int) string { return texts.Number(english, n) }

// Percent formats a share: 62 %, or 4.6 % if the decimal matters.
func Percent(p float64) string { return texts.Percent(english, p) }

// Dollars formats an amount of money: $12.40, $0.043.
func Dollars(usd float64) string { return texts.Dollars(english, usd) }

// english is the language of texts that are not translated.
const english = "en"

// Count formats a number with its noun: "1 edit", "2,000 edits", "3 entries".
func Count(n int, noun string) string { return Number(n) + " " + Noun(n, noun) }

// Noun returns the English noun in the form for n.
func Noun(n int, noun string) string {
	if n == 1 {
		return noun
	}
	if stem, ok := strings.CutSuffix(noun, "ry"); ok {
		noun = stem + "rie"
	}
	return noun + "s"
}
