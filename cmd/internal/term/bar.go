package term

import (
	"fmt"
	"math"
	"strings"
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
func Number(n int) string {
	s := fmt.Sprint(n)
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if neg {
		s = "-" + s
	}
	return s
}

// Percent writes a share: 62 %, and 4.6 % where one place is a difference.
func Percent(p float64) string {
	switch {
	case p > 0 && p < 0.05:
		return "<0.1 %"
	case p == 0, math.Abs(p) >= 9.95:
		return fmt.Sprintf("%.0f %%", p)
	}
	return fmt.Sprintf("%.1f %%", p)
}

// Dollars writes an amount of money: $12.40, $0.043.
func Dollars(usd float64) string {
	switch {
	case usd == 0 || usd >= 0.995:
		return fmt.Sprintf("$%.2f", usd)
	case usd < 0.0001:
		return "<$0.0001"
	}
	digits := 2
	for x := usd; x < 0.0995; x *= 10 {
		digits++
	}
	return fmt.Sprintf("$%.*f", digits, usd)
}

// Count writes a number with its noun: "1 edit", "2,000 edits", "3 entries".
func Count(n int, noun string) string {
	if n != 1 {
		if stem, ok := strings.CutSuffix(noun, "ry"); ok {
			noun = stem + "rie"
		}
		noun += "s"
	}
	return Number(n) + " " + noun
}
