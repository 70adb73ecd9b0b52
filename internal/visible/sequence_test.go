package visible

import (
	"strings"
	"testing"
)

func TestSequencesOfTerminalsAreNoWords(t *testing.T) {
	for in, want := range map[string]string{
		"plain text":         "plain text",
		"\x1b[31mred\x1b[0m": "red",
		"\x1b[38;5;196mdeep\x1b[39m \x1b[1;4mbold":          "deep bold",
		"\x1b[2K\x1b[1Gdist/app.js":                         "dist/app.js",
		"\x1b[?25lhidden cursor\x1b[?25h":                   "hidden cursor",
		"\x1b]0;the title\abuilt":                           "built",
		"\x1b]8;;https://a.example\x1b\\link\x1b]8;;\x1b\\": "link",
		"\x1b(Bset":                 "set",
		"\x1b7saved\x1b8":           "saved",
		"\u009b31mred":              "red",
		"\x1b]0;never closed\nnext": "\nnext",
		"end\x1b":                   "end",
		"end\x1b[":                  "end",
		"a[31m] rate(x[5m])":        "a[31m] rate(x[5m])",
		"é ü \xc2\xa9":              "é ü \xc2\xa9",
	} {
		if got := WithoutSequences(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestManyOpenSequencesAreReadInLinearTime(t *testing.T) {
	s := strings.Repeat("\x1b]", 1<<20)
	if got := WithoutSequences(s); len(got) > len(s) {
		t.Error("grown")
	}
}
