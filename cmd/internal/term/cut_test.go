package term_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/precis-dev/precis/cmd/internal/term"
)

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"a\tb\nc":                     "a    b\nc",
		"\x1b[1;31mred\x1b[0m\x07\r":  "red",
		"cut \x1b[3":                  "cut ",
		"bad \xff byte":               "bad ? byte",
		"turned \u202e around":        "turned  around",
		"\x1b]0;title\x07":            "]0;title",
		"wide 界 and combined e\u0301": "wide 界 and combined e\u0301",
	} {
		if got := term.Plain(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestCutAndPad(t *testing.T) {
	for _, tt := range []struct {
		in      string
		columns int
		cut     string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"界界界", 6, "界界界"}, {"界界界", 5, "界界…"}, {"", 5, ""}, {"ééé", 3, "ééé"}} {
		if got := term.Cut(tt.in, tt.columns); got != tt.cut {
			t.Errorf("%q in %d: %q", tt.in, tt.columns, got)
		}
	}
	if got := term.Pad("界", 4); got != "界  " {
		t.Errorf("%q", got)
	}
}

func TestAround(t *testing.T) {
	line := strings.Repeat("before ", 20) + "HERE" + strings.Repeat(" after", 20)
	at := strings.Index(line, "HERE")
	for _, tt := range []struct {
		line string
		at   int
		want string
	}{
		{line, at, "…re before HERE after after af…"},
		{line[:at+4], at, "…efore before before before HERE"},
		{line, 0, "before before before before be…"},
		{"short HERE", 6, "short HERE"},
	} {
		got := term.Around(tt.line, tt.at, 31)
		if strings.ReplaceAll(got, "e", "") == "" || utf8.RuneCountInString(got) > 31 || !strings.Contains(tt.line, strings.Trim(got, "…")) {
			t.Errorf("%q", got)
		}
		if tt.at > 0 && !strings.Contains(got, "HERE") {
			t.Errorf("%q does not show it", got)
		}
	}
}
