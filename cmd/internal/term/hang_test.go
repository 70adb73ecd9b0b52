package term_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"

	"github.com/precis-dev/precis/cmd/internal/term"
)

func TestHangingLines(t *testing.T) {
	var b bytes.Buffer
	w := term.New(&b, term.Options{Terminal: true, Columns: 40})
	w.Hanging("  -o, --out FILE   write the file there and not here")
	w.Hanging("  find …   as many words as there is room for")
	w.Hanging("prose that goes on for more than forty columns")
	w.Hanging("")
	want := `  -o, --out FILE   write the file there
                   and not here
  find …   as many words as there is
           room for
prose that goes on for more than forty
columns

`
	if got := b.String(); got != want {
		t.Errorf("got\n%s", got)
	}
	if got, want := w.Reflow("a paragraph\nof two lines\n\n  indented\n  lines\nend\n"), "a paragraph of two lines\n\n  indented\n  lines\nend"; got != want {
		t.Errorf("got %q", got)
	}
}

// Paragraphs that are lines are broken at 80 columns, or where a narrower terminal ends.
func TestFill(t *testing.T) {
	text := strings.Repeat("word ", 30) + "end\n\n  " + strings.Repeat("indented ", 12) + "\n\tcommand\n" + strings.Repeat("日本語を書きます。", 9)
	for columns, want := range map[int]int{0: 80, 40: 40, 80: 80, 200: 80} {
		w := term.New(io.Discard, term.Options{Terminal: columns > 0, Columns: columns})
		got := w.Fill(text)
		widest := 0
		for line := range strings.SplitSeq(got, "\n") {
			if !strings.HasPrefix(line, " ") {
				widest = max(widest, lipgloss.Width(line))
			}
		}
		if widest > want || widest < want-8 {
			t.Errorf("%d columns: the widest line has %d", columns, widest)
		}
		if !strings.Contains(got, "\n\n  "+strings.Repeat("indented ", 12)+"\n\tcommand\n") {
			t.Errorf("%d columns: indented lines have changed: %s", columns, got)
		}
	}
}
