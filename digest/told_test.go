package digest

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

func TestCommandsAreToldBriefly(t *testing.T) {
	blank := strings.Repeat(" ", 100)
	for command, want := range map[string]string{
		"make\n" + blank + "test":    "make test", // all of it is told, once
		"make\n" + blank + "\ntest ": "make test",
	} {
		if got := briefly(command); got != want {
			t.Errorf("%q", got)
		}
	}
	cut := "first " + strings.Repeat("word ", 30) + "\nList<feedback>" + strings.Repeat("x", 40)
	if got := briefly(cut); strings.Contains(got, " <feedback>") {
		t.Errorf("a tag: %q", got)
	}
}
