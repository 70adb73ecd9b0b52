package toolcall_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/toolcall"
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
		{"make -k | tail", "dig.c:4:2: error: no spade\nBuild succeeded.", toolcall.Unknown, "dig.c:4:2: error: no spade", ""},
		{"tar xzf a.tgz 2>&1 | tail -1", "tar: Error is not recoverable: exiting now", toolcall.Failed, "tar: Error is not recoverable: exiting now", ""},
		{"./dig.sh | tail -1", "tar: Error is not recoverable: exiting now", toolcall.Unknown, "tar: Error is not recoverable: exiting now", ""},
		{"curl -fsS http://well/ | head", "curl: (7) Failed to connect to well", toolcall.Failed, "curl: (7) Failed to connect to well", ""},
		{"python dig.py 2>&1 | tail -1", "DryError: no water", toolcall.Failed, "DryError: no water", ""},
		{"python dig.py 2>&1 | tail -2", "DryError: no water\ndug elsewhere", toolcall.Unknown, "DryError: no water", ""},
		{"go test -v ./... | tail", "    dig_test.go:9: error: wanted\nok  \twell/dig\t0.1s", toolcall.Unknown, "dig_test.go:9: error: wanted", ""},
		{"npx webpack | tail", "ERROR in ./dig.js 3:1\nModule not found: Error: Can't resolve './spade'\n\nwebpack 5.1.0 compiled with 1 error in 8 ms", toolcall.Failed, "ERROR in ./dig.js 3:1", "Module not found: Error: Can't resolve './spade'"},
		{"cat build.log | tail -1", "BUILD FAILED in 1s", toolcall.Unknown, "", ""},
		{"python -m pylint dig.py | head", "dig.py:3:1: C0114: no words", toolcall.Failed, "dig.py:3:1: C0114: no words", ""},
		{"python -m pylint dig.py | head", "/lib/util.py:6: UserWarning: spades are old", toolcall.Unknown, "/lib/util.py:6: UserWarning: spades are old", ""},
		{"cd /w/pylint && python dig.py | head", "dig.py:3:1: C0114: no words", toolcall.Unknown, "dig.py:3:1: C0114: no words", ""}, // a folder is no program
	} {
		o := called(t, "bash", fmt.Sprintf(`{"command":%q}`, tt.line), tt.result, false).Outcome()
		if end := o.End; end != tt.end || o.Line != tt.says || o.Why != tt.why {
			t.Errorf("%s, %.30q: %s %q %q, want %s %q %q", tt.line, strings.TrimSpace(tt.result), end, o.Line, o.Why, tt.end, tt.says, tt.why)
		}
	}
}
