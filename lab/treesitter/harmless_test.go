//go:build cgo && treesitter

package treesitter

import (
	"strings"
	"testing"
)

func TestHeredocsAreTakenOutOfRuby(t *testing.T) {
	for source, want := range map[string]string{
		"a(<<~SQL, 1)\n  def x\n  SQL\nb\n":        "a(:hhhhh, 1)\n       \n     \nb\n",
		"a <<\"A B\", <<-'C'\n1\nA B\n2\n C\nend":  "a < \"A B\", :hhhhh\n \n   \n \n  \nend",
		"class << self\n  x <<y\nend":              "class << self\n  x < y\nend",
		"1<<2 << 3":                                "1< 2 << 3",
		"a <<~NEVER\nb":                            "a <  NEVER\nb",
		"a <<" + strings.Repeat("A", 70) + "\n":    "a < " + strings.Repeat("A", 70) + "\n",
		"a <<A, <<A\n1\nA\n2\nb":                   "a :hh, :hh\n \n \n2\nb",
		"<<\"\n\"\"\n":                             "< \"\n\"\"\n",
		"no here-document, but text with a << b\n": "no here-document, but text with a << b\n",
	} {
		got := withoutHeredocs(source)
		if got != want {
			t.Errorf("%q:\n%q, want\n%q", source, got, want)
		}
		if len(got) != len(source) || strings.Count(got, "\n") != strings.Count(source, "\n") {
			t.Errorf("%q: another size", source)
		}
	}
}

func TestIndentationsAreCounted(t *testing.T) {
	if n := indentations("a\n  b\n  c\n\td\n\n \\\n  e"); n != 4 { // 0, 2, 8 and 1+2
		t.Errorf("%d", n)
	}
	var b strings.Builder
	for range 600 { // joined lines make widths that no line has
		b.WriteString(" \\\n")
	}
	b.WriteString("x\n")
	if n := indentations(b.String() + strings.Repeat(" x\n", 10)); n != 2 {
		t.Errorf("%d", n)
	}
	b.Reset()
	for i := range 700 {
		b.WriteString(strings.Repeat(" ", i) + "if x:\n")
	}
	if _, safe := harmless("python", b.String()); safe {
		t.Error("seven hundred indentations are let through")
	}
}
