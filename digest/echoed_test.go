package digest_test

import (
	"strings"
	"testing"
)

// TestACommandThatIsPrintedIsNoResult: the last line of a run that says nothing else is the command itself.
func TestACommandThatIsPrintedIsNoResult(t *testing.T) {
	s := newSession(1)
	s.user("check the types")
	s.call("Bash", map[string]any{"command": "npm run check"}, "\n> shop@1.0.0 check\n> tsc --noEmit\n")
	got := digested(t, 3500, s.msgs...)
	lacks(t, "the run", section(got, "Last results of commands"), "`npm run check` → ended")
	if strings.Contains(section(got, "Last results of commands"), "noEmit") {
		t.Errorf("what ran is told as what came of it:\n%s", got)
	}
}
