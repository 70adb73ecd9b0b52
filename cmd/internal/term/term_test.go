package term_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/cmd/internal/term"
)

func TestPlainWhenPiped(t *testing.T) {
	var b bytes.Buffer
	w := term.New(&b, term.Options{})
	w.Title("title")
	w.Pairs([2]string{"a", "1"}, [2]string{"long", "2"}, [2]string{"empty", ""})
	w.Table([]string{"name", "n"}, []int{1}, [][]string{{"x", "1"}, {"yyyy", "200"}})
	w.Bar(term.Bar{Total: 72, Segments: []term.Segment{{Name: "user", Value: 16}, {Name: "digest", Value: 8}, {Name: "other", Value: 8}}, Reserve: 10, Mark: 54, Label: "75 %"})
	got := b.String()
	if strings.Contains(got, "\x1b") {
		t.Errorf("escape codes in %q", got)
	}
	for _, want := range []string{"title\n", "  a     1\n  long  2\n", "  name    n\n  x       1\n  yyyy  200\n",
		"  ▕" + strings.Repeat("█", 16) + strings.Repeat("▞", 8) + strings.Repeat("▒", 8) + strings.Repeat("·", 30) + strings.Repeat("╱", 10) + "▏\n" + strings.Repeat(" ", 57) + "▴ 75 %\n",
	} {
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
		term.New(&b, term.Options{Terminal: true, Columns: 50}).Bar(term.Bar{Total: 100, Segments: s, Reserve: 10, Mark: 100, Label: "75 %"})
		bar, mark, _ := strings.Cut(strings.TrimRight(b.String(), "\n"), "\n")
		if n := len([]rune(bar)); n != 50 {
			t.Errorf("%v: %d columns: %s", values, n, bar)
		}
		if n := len([]rune(mark)); n > 50 || !strings.HasSuffix(mark, "75 % ▴") {
			t.Errorf("%v: %d columns: %s", values, n, mark)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"", []string{""}},
		{"short", []string{"short"}},
		{"words that go to the next line", []string{"words that go to the", "next line"}},
		{"see /a/path/that/is/wider/than/a/line now", []string{"see", "/a/path/that/is/wide", "r/than/a/line now"}},
		{"日本語のとても長い文章", []string{"日本語のとても長い", "文章"}},
		{"記録のファイルに書きます。", []string{"記録のファイルに", "書きます。"}},
		{"「記録」（ファイル）を読む", []string{"「記録」", "（ファイル）を読む"}},
		{"ひらがなだけのながいぶん", []string{"ひらがなだけのながい", "ぶん"}},
		{"显示窗口的使用量，以及剩余", []string{"显示窗口的使用量，以", "及剩余"}},
		{"显示窗口的全部使用量，", []string{"显示窗口的全部使用", "量，"}},
		{"3\u00a0見つからない・4\u00a0衝突", []string{"3\u00a0見つからない・", "4\u00a0衝突"}},
		{"用 precis 显示消息（全部）", []string{"用 precis 显示消息", "（全部）"}},
	} {
		if got := term.Wrap(tt.text, 20); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q", tt.text, got)
		}
	}
}

func TestNarrowTerminals(t *testing.T) {
	var b bytes.Buffer
	w := term.New(&b, term.Options{Terminal: true, Columns: 40})
	w.Pairs([2]string{"name", "a value that does not fit into forty columns"})
	w.Table([]string{"edit", "tokens", "what"}, []int{1}, [][]string{{"a long name of an edit", "1,000,000", "what it did, at some length"}, {"e2", "5", "little"}})
	want := `  name  a value that does not fit into
        forty columns
  edit                  tokens  what
  a long name of a…  1,000,000  what it…
  e2                         5  little
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestPercentAndDollars(t *testing.T) {
	for p, want := range map[float64]string{0: "0 %", 0.04: "<0.1 %", -17.8: "-18 %", 4.62: "4.6 %", 9.97: "10 %", 62.4: "62 %", 117.8: "118 %"} {
		if got := term.Percent(p); got != want {
			t.Errorf("%g: %s", p, got)
		}
	}
	for usd, want := range map[float64]string{0: "$0.00", 0.00001: "<$0.0001", 0.0432: "$0.043", 0.137: "$0.14", 0.00234: "$0.0023", 12.4: "$12.40"} {
		if got := term.Dollars(usd); got != want {
			t.Errorf("%g: %s", usd, got)
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
