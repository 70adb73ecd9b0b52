package term

import (
	"strings"

	"precis/internal/texts"
)

// Segment is one part of a bar.
type Segment struct {
	Name  string // a color of the palette, and what the part is
	Value int
}

// Bar is a context window: its parts side by side from the left, what is reserved at
// the right end, and the size at which something happens as a mark under it.
type Bar struct {
	Total    int // what the bar stands for
	Segments []Segment
	Reserve  int
	Mark     int    // 0: none
	Label    string // of the mark
}

// mostBar is how wide a bar is at most, in columns, its ends not counted.
const mostBar = 72

// signs are what parts are drawn with where there is no color: neighbors differ.
var signs = []string{"█", "▓", "▒", "░"}

// Signs that mean the same with color and without.
const (
	digestSign  = "▞" // it stands for something else
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
		w.tick(min(at(b.Mark), columns-1), columns, b.Label)
	}
}

// tick writes the mark under a bar with its label, on the side where there is room.
func (w *Writer) tick(at, columns int, label string) {
	text := "▴ " + label
	if at+len([]rune(text)) > columns+1 {
		text = label + " ▴"
		at = max(at-len([]rune(label))-1, 0)
	}
	w.Printf("%s%s\n", strings.Repeat(" ", at+3), w.Style("dim", text))
}

// sign is what a segment is drawn with.
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

// Number writes n with thousands apart: 12,345,678.
func Number(n int) string { return texts.Number(english, n) }

// Percent writes a share: 62 %, and 4.6 % where one place is a difference.
func Percent(p float64) string { return texts.Percent(english, p) }

// Dollars writes an amount of money: $12.40, $0.043.
func Dollars(usd float64) string { return texts.Dollars(english, usd) }

// english is the language of what is only said in English.
const english = "en"

// Count writes a number with its noun: "1 edit", "2,000 edits", "3 entries".
func Count(n int, noun string) string { return Number(n) + " " + Noun(n, noun) }

// Noun returns the English noun for n of it.
func Noun(n int, noun string) string {
	if n == 1 {
		return noun
	}
	if stem, ok := strings.CutSuffix(noun, "ry"); ok {
		noun = stem + "rie"
	}
	return noun + "s"
}
