package term

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
)

// leastColumn is the minimal width of a text column in a narrow terminal.
const leastColumn = 8

// Table writes rows under headings. Columns with an index in right are right-aligned. On a
// terminal that is too narrow, text columns are cut, the last one first.
func (w *Writer) Table(headers []string, right []int, rows [][]string) {
	all := [][]string{w.cells(headers)}
	for _, r := range rows {
		all = append(all, w.cells(r))
	}
	widths := make([]int, len(headers))
	for _, r := range all {
		for i, cell := range r {
			widths[i] = max(widths[i], lipgloss.Width(cell))
		}
	}
	if w.filters {
		narrow(widths, right, w.width-2)
	}
	for i, r := range all {
		style := ""
		if i == 0 {
			style = "dim"
		}
		w.Printf("  %s\n", w.row(style, r, widths, right))
	}
}

// row formats one row.
func (w *Writer) row(style string, row []string, widths, right []int) string {
	var out strings.Builder
	for i, cell := range row {
		if !strings.Contains(cell, w.mark) {
			cell = Cut(cell, widths[i])
		}
		gap := strings.Repeat(" ", max(widths[i]-lipgloss.Width(cell), 0))
		switch {
		case slices.Contains(right, i):
			out.WriteString(gap + w.Style(style, cell))
		case i < len(row)-1:
			out.WriteString(w.Style(style, cell) + gap)
		default:
			out.WriteString(w.Style(style, cell))
		}
		if i < len(row)-1 {
			out.WriteString("  ")
		}
	}
	return strings.TrimRight(out.String(), " ")
}

// narrow reduces the widths of text columns until a row fits: first the last one, then the
// widest.
func narrow(widths, right []int, room int) {
	over := 2*(len(widths)-1) - room
	for _, n := range widths {
		over += n
	}
	cut := func(i int) {
		n := min(over, max(widths[i]-leastColumn, 0))
		widths[i] -= n
		over -= n
	}
	if last := len(widths) - 1; !slices.Contains(right, last) && over > 0 {
		cut(last)
	}
	for over > 0 {
		widest := -1
		for i, n := range widths {
			if !slices.Contains(right, i) && n > leastColumn && (widest < 0 || n > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
		over--
	}
}

// cells returns the cells of a row as they will be written.
func (w *Writer) cells(row []string) []string {
	out := make([]string, len(row))
	for i, s := range row {
		out[i] = w.asWritten(s)
	}
	return out
}
