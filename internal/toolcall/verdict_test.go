package toolcall_test

import (
	"fmt"
	"strings"
	"testing"

	"precis/internal/toolcall"
)

// TestVerdictsBehindPipes checks how tools say that they failed where a pipe hides their exit code, and which line says why.
func TestVerdictsBehindPipes(t *testing.T) {
	for _, tt := range []struct {
		line, result string
		end          toolcall.End
		says, why    string
	}{
		{"npx eslint . | tail", "/w/well.ts\n  3:1  error  No bucket  no-bucket\n\n✖ 1 problem (1 error, 0 warnings)", toolcall.Failed, "/w/well.ts:3:1  error  No bucket  no-bucket", ""},
		{"npx eslint . | tail", "/w/well.ts\n  3:1  warning  No bucket  no-bucket\n\n✖ 1 problem (0 errors, 1 warning)", toolcall.Unknown, "", ""},
		{"make lint | tail -1", "✖ 2 problems (2 errors, 0 warnings)", toolcall.Failed, "✖ 2 problems (2 errors, 0 warnings)", ""},
		{"./count-words | tail -1", "Found 2 errors", toolcall.Unknown, "", ""},
		{"./gradlew jar | tail", "FAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':jar'.\n> well.txt is dry\n\nBUILD FAILED in 1s", toolcall.Failed, "FAILURE: Build failed with an exception.", "Execution failed for task ':jar'. > well.txt is dry"},
		{"ansible-playbook dig.yml | tail -1", "well1 : ok=3 changed=0 unreachable=0 failed=1", toolcall.Failed, "well1 : ok=3 changed=0 unreachable=0 failed=1", ""},
		{"ansible-playbook dig.yml | tail -1", "well1 : ok=3 changed=0 unreachable=0 failed=0", toolcall.Unknown, "", ""},
		{"npx jest | tail -2", "Test Suites: 1 failed, 1 total\nTests: 2 failed, 9 passed", toolcall.Failed, "Tests: 2 failed, 9 passed", ""},
		{"make -k | tail", "dig.c:4:2: error: no spade\nBuild succeeded.", toolcall.Unknown, "", ""},
		{"cat build.log | tail -1", "BUILD FAILED in 1s", toolcall.Unknown, "", ""},
	} {
		o := called(t, "bash", fmt.Sprintf(`{"command":%q}`, tt.line), tt.result, false).Outcome()
		if end := o.End; end != tt.end || o.Line != tt.says || o.Why != tt.why {
			t.Errorf("%s, %.30q: %s %q %q, want %s %q %q", tt.line, strings.TrimSpace(tt.result), end, o.Line, o.Why, tt.end, tt.says, tt.why)
		}
	}
}
