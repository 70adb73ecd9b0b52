package term_test

import (
	"bytes"
	"strings"
	"testing"

	"precis/cmd/internal/term"
)

func TestPlainWhenPiped(t *testing.T) {
	var b bytes.Buffer
	w := term.New(&b, term.Options{})
	w.Title("title")
	w.Pairs([2]string{"a", "1"}, [2]string{"long", "2"}, [2]string{"empty", ""})
	w.Table([]string{"name", "n"}, []int{1}, [][]string{{"x", "1"}, {"yyyy", "200"}})
	w.Bar(100, []term.Segment{{Name: "user", Value: 25}, {Name: "other", Value: 50}})
	got := b.String()
	if strings.Contains(got, "\x1b") {
		t.Errorf("escape codes in %q", got)
	}
	for _, want := range []string{"title\n", "  a     1\n  long  2\n", "  name    n\n  x       1\n  yyyy  200\n", "▕" + strings.Repeat("█", 16) + strings.Repeat("▓", 32) + strings.Repeat("·", 16) + "▏"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

func TestBarNeverPassesItsWidth(t *testing.T) {
	for _, values := range [][]int{{0, 0}, {100, 100}, {1, 1, 1}, {99, 1}} {
		var b bytes.Buffer
		var s []term.Segment
		for _, v := range values {
			s = append(s, term.Segment{Name: "user", Value: v})
		}
		term.New(&b, term.Options{}).Bar(100, s)
		if n := len([]rune(strings.TrimSpace(b.String()))); n != 66 {
			t.Errorf("%v: %d columns: %s", values, n, b.String())
		}
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567"} {
		if got := term.Number(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
