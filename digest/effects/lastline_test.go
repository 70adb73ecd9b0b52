package effects

import (
	"strings"
	"testing"
)

// TestLastLinesAreBounded: the whole of a line would be searched for tags and exit codes.
func TestLastLinesAreBounded(t *testing.T) {
	for _, text := range []string{strings.Repeat("word ", 1<<18), "first\n" + strings.Repeat("é", 1<<18) + "\n\n"} {
		if got := lastLine(text); got == "" || len(got) > 2000 || !strings.HasPrefix(strings.TrimPrefix(text, "first\n"), got[:1000]) {
			t.Errorf("%d bytes, %.20q", len(got), got)
		}
	}
	if got := lastLine("12%\r 40%\r  {\"a\":1}"); got != "" {
		t.Errorf("%q is data", got)
	}
}

func TestTheResultOfACommandIsToldRatherThanWhatStandsAroundIt(t *testing.T) {
	for text, want := range map[string]string{
		"added 3 packages in 2s\nnpm notice\nnpm notice New minor version of npm available! 10.2.4 -> 10.5.0\n":       "added 3 packages in 2s",
		"Tests: 3 passed\n(node:71) DeprecationWarning: punycode\n(Use `node --trace-deprecation ...` to show where)": "Tests: 3 passed",
		"built in 3 s\n [=====>    ] 50% 1.2 MB/s\r [==========] 100% 2 MB/s\n":                                       "built in 3 s",
		"npm notice New version": "npm notice New version", // nothing else is said
	} {
		if got := lastLine(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
