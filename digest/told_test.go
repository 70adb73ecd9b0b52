package digest

import (
	"strings"
	"testing"
)

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
