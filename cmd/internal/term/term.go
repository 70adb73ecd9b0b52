// Package term formats output for people: color, bars and tables that fit a terminal, plain
// aligned text when piped. Start with [New].
package term

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
)

// Printf writes formatted text.
func (w *Writer) Printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// Title writes a heading.
func (w *Writer) Title(format string, args ...any) { w.Headline("title", fmt.Sprintf(format, args...)) }

// Headline writes a heading in a color.
func (w *Writer) Headline(style, text string) {
	for i, line := range w.wrapped(text, w.width-2) {
		if i > 0 {
			w.Printf("  ")
		}
		w.Printf("%s\n", w.Style(style, line))
	}
}

// Pair is a name and its value.
type Pair struct {
	Name, Value string
	Style       string // color of the value; "": none
}

// Pairs writes names and values in two aligned columns. Pairs without a value
// are left out.
func (w *Writer) Pairs(rows ...[2]string) {
	pairs := make([]Pair, len(rows))
	for i, r := range rows {
		pairs[i] = Pair{Name: r[0], Value: r[1]}
	}
	w.Styled(pairs...)
}

// Styled is [Writer.Pairs] with colors. On a terminal, a value that does not fit continues on the
// next line in its column.
func (w *Writer) Styled(pairs ...Pair) {
	widest := 0
	pairs = slices.DeleteFunc(slices.Clone(pairs), func(p Pair) bool { return p.Value == "" })
	for _, p := range pairs {
		widest = max(widest, lipgloss.Width(p.Name))
	}
	for _, p := range pairs {
		name := p.Name + strings.Repeat(" ", widest-lipgloss.Width(p.Name))
		for i, line := range w.wrapped(p.Value, w.width-widest-4) {
			if i > 0 {
				name = strings.Repeat(" ", widest)
			}
			w.Printf("  %s  %s\n", w.Style("dim", name), w.Style(p.Style, line))
		}
	}
}

// Labeled writes text after a colored label; on a terminal, further lines are indented by two
// columns.
func (w *Writer) Labeled(style, label, text string) {
	for i, line := range strings.Split(text, "\n") {
		lines := []string{line}
		switch {
		case w.filters && i == 0:
			lines = Wrap(label+" "+w.asWritten(line), w.width-2)
			if rest, ok := strings.CutPrefix(lines[0], label); ok {
				lines[0] = w.Style(style, label) + rest
			}
		case i == 0:
			lines[0] = w.Style(style, label) + " " + line
		case w.filters:
			lines = Wrap(w.asWritten(line), w.width-2)
		}
		w.Printf("%s\n", strings.Join(lines, "\n  "))
	}
}

// Paragraph writes indented text, wrapped on a terminal.
func (w *Writer) Paragraph(style, text string) {
	words := strings.TrimLeft(text, " ")
	indent := text[:len(text)-len(words)]
	for _, line := range w.wrapped(words, w.width-2-len(indent)) {
		w.Printf("  %s%s\n", indent, w.Style(style, line))
	}
}

// wrapped returns the lines of text on a terminal; elsewhere text is a single line.
func (w *Writer) wrapped(text string, columns int) []string {
	if !w.filters {
		return []string{text}
	}
	return Wrap(w.asWritten(text), columns)
}

// asWritten returns text as it will be written, so that its displayed width can be measured.
func (w *Writer) asWritten(s string) string {
	if !w.filters {
		return s
	}
	return strings.ReplaceAll(w.filtered(s), csi, w.mark)
}
