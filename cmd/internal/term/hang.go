package term

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Hanging writes a line. On a terminal that is too narrow, the line continues under its last
// column, or at its indentation.
func (w *Writer) Hanging(line string) {
	begins := len(line) - len(strings.TrimLeft(line, " "))
	hang := begins
	if gap := strings.LastIndex(line, "  "); gap >= begins && gap+2 <= w.width/2 {
		begins = gap + 2
		hang = lipgloss.Width(line[:begins])
	}
	lines := []string{line[begins:]}
	if w.filters {
		lines = Wrap(w.asWritten(line[begins:]), w.width-hang)
	}
	head := line[:begins]
	for _, part := range lines {
		w.Printf("%s\n", strings.TrimRight(head+part, " "))
		head = strings.Repeat(" ", hang)
	}
}

// written is the width that help texts are written for.
const written = 80

// Reflow joins the lines of each paragraph if the terminal is narrower than the text;
// [Writer.Hanging] breaks them again.
func (w *Writer) Reflow(text string) string {
	if !w.filters || w.width >= written {
		return text
	}
	var out strings.Builder
	joined := false
	for line := range strings.Lines(text) {
		plain := strings.TrimRight(line, "\n")
		prose := plain != "" && plain[0] != ' '
		switch {
		case joined && prose:
			out.WriteString(" ")
		case out.Len() > 0:
			out.WriteString("\n")
		}
		out.WriteString(plain)
		joined = prose
	}
	return out.String()
}

// Fill wraps a text with one line per paragraph at the width of help texts, or at the width of a
// narrower terminal. Indented lines are kept.
func (w *Writer) Fill(text string) string {
	columns := written
	if w.filters {
		columns = min(columns, w.width)
	}
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
			out = append(out, line)
			continue
		}
		out = append(out, Wrap(line, columns)...)
	}
	return strings.Join(out, "\n")
}
