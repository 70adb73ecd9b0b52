package digest_test

import (
	"strings"
	"testing"
)

// TestWhatATaskRunnerRanEndsAFailure: a narrow run that failed is no open failure once a task runner prints that it ran all tests,
// and they passed; one of another folder stays.
func TestWhatATaskRunnerRanEndsAFailure(t *testing.T) {
	work := func(line, output string) string {
		s := newSession(1)
		s.user("mend the tests")
		s.call("Bash", map[string]any{"command": "go test -run TestTotal ./cart"}, "Exit code 1\n--- FAIL: TestTotal (0.00s)\n    cart_test.go:12: got 1, want 2\nFAIL")
		s.call("Edit", map[string]any{"file_path": root + "cart/total.go", "old_string": "a", "new_string": "b"}, "The file has been updated.")
		s.call("Bash", map[string]any{"command": line}, output)
		return digested(t, 3500, s.msgs...)
	}
	if got := work("mise run test", "[test] $ go test ./...\nok  \tshop/cart\t0.2s"); strings.Contains(got, "FAILED") || !strings.Contains(got, "mise run test") {
		t.Errorf("all tests passed since:\n%s", got)
	}
	for _, still := range []string{
		work("mise run test", "[test] $ go test ./ship/...\nok  \tshop/ship\t0.2s"),
		work("mise run lint", "[lint] $ golangci-lint run\n0 issues."),
		work("mise run test", "Exit code 1\n[test] $ go test ./...\nFAIL"),
	} {
		lacks(t, "a failure that stands", section(still, "Last results of commands"), "`go test -run TestTotal ./cart` → FAILED")
	}
}

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
