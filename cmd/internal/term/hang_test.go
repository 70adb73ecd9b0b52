package term_test

import (
	"bytes"
	"testing"

	"precis/cmd/internal/term"
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
