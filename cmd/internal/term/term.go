// Package term writes for people: color and tables on a terminal, plain aligned
// text when piped. Start with [New].
package term

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
)

// The colors, chosen to be read on light and dark grounds alike.
var palette = map[string]string{
	"title": "12", "good": "2", "warn": "3", "bad": "1", "dim": "8", "hit": "3",
	"system": "4", "tools": "6", "user": "2", "assistant": "5", "thinking": "8",
	"tool use": "3", "tool result": "1", "media": "13", "other": "7", "free": "8", "reserve": "8",
}

// Printf writes formatted text.
func (w *Writer) Printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// Title writes a heading.
func (w *Writer) Title(format string, args ...any) {
	w.Printf("%s\n", w.Style("title", fmt.Sprintf(format, args...)))
}

// Pairs writes names and values in two aligned columns. Pairs without a value
// are left out.
func (w *Writer) Pairs(rows ...[2]string) {
	widest := 0
	rows = slices.DeleteFunc(slices.Clone(rows), func(r [2]string) bool { return r[1] == "" })
	for _, r := range rows {
		widest = max(widest, lipgloss.Width(r[0]))
	}
	for _, r := range rows {
		pad := strings.Repeat(" ", widest-lipgloss.Width(r[0]))
		w.Printf("  %s%s  %s\n", w.Style("dim", r[0]), pad, r[1])
	}
}

// Table writes rows under headings. Columns named in right are aligned there.
func (w *Writer) Table(headers []string, right []int, rows [][]string) {
	style := func(_, col int) lipgloss.Style {
		s := lipgloss.NewStyle().PaddingRight(2)
		if slices.Contains(right, col) {
			s = s.Align(lipgloss.Right)
		}
		return s
	}
	var heads []string
	for _, h := range headers {
		heads = append(heads, w.Style("dim", h))
	}
	t := table.New().Headers(heads...).StyleFunc(style).
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).
		BorderColumn(false).BorderHeader(false).Border(lipgloss.HiddenBorder())
	for _, r := range rows {
		t.Row(w.cells(r)...)
	}
	for _, line := range strings.Split(t.String(), "\n") {
		w.Printf("  %s\n", strings.TrimRight(line, " "))
	}
}

// cells are the cells of a row as they will be written, so that they are measured
// as they will be seen.
func (w *Writer) cells(row []string) []string {
	if !w.filters {
		return row
	}
	out := make([]string, len(row))
	for i, s := range row {
		out[i] = strings.ReplaceAll(w.filtered(s), csi, w.mark)
	}
	return out
}

// Segment is one part of a bar.
type Segment struct {
	Name  string // a color of the palette, and what the part is
	Value int
}

// Bar draws segments side by side in proportion to total. What is not covered
// is drawn as free.
func (w *Writer) Bar(total int, segments []Segment) {
	const columns = 64
	if total <= 0 {
		return
	}
	var line strings.Builder
	used, sum := 0, 0
	for i, s := range segments {
		sum += s.Value
		end := min(columns, (sum*columns+total/2)/total)
		cells := strings.Repeat(w.cell(i), max(end-used, 0))
		line.WriteString(w.Style(s.Name, cells))
		used = max(used, end)
	}
	line.WriteString(w.Style("free", strings.Repeat("·", columns-used)))
	w.Printf("  ▕%s▏\n", line.String())
}

// cell is what a segment is drawn with: full blocks in color, letters that distinguish
// neighbors apart without.
func (w *Writer) cell(i int) string {
	if w.color {
		return "█"
	}
	return []string{"█", "▓", "▒", "░"}[i%4]
}

// Mark returns the sign that a bar draws segment i with, for a legend.
func (w *Writer) Mark(i int, name string) string { return w.Style(name, w.cell(i)) }

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

// Count writes a number with its noun: "1 edit", "2,000 edits".
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Number(n) + " " + noun
}
