package toolcall_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/toolcall"
)

func ranOf(t *testing.T, line, output string) []toolcall.Purpose {
	t.Helper()
	calls := toolcall.Find([]precis.Message{
		{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "a", Name: "Bash", Input: []byte(`{"command":"` + line + `"}`)}}},
		{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "a", Content: []precis.Block{precis.Text{Text: output}}}}},
	})
	if len(calls) != 1 {
		t.Fatalf("%d calls", len(calls))
	}
	return calls[0].Ran()
}

// TestWhatTaskRunnersSayTheyRun reads the lines in which they print a command before they run it.
func TestWhatTaskRunnersSayTheyRun(t *testing.T) {
	for _, tt := range []struct{ name, line, output, want string }{
		{"mise", "mise run test:ci 2>&1 | tail -50", "[test:ci] $ go test -race ./...\nok  \tx/a\t1.2s\n", "mise run test:ci,go test"},
		{"npm", "npm test", "\n> shop@1.4.0 test\n> jest --ci\n\nPASS src/a.test.ts\n", "npm test,shop@1.4.0 test,jest"},
		{"yarn", "yarn lint", "yarn run v1.22.19\n$ eslint src\nDone in 1.2s.\n", "yarn lint,eslint"},
		{"go-task", "task check", "task: [check] golangci-lint run ./...\n0 issues.\n", "task check,golangci-lint run"},
		{"make", "make test", "ok  \tx\t0.1s\n", "make test"},
		{"tox", "tox -e py312", "py312: commands[0]> pytest -q tests\n3 passed in 0.1s\n", "tox,pytest"},
		{"nox", "nox", "nox > Running session tests\nnox > pytest tests\n", "nox,Running session tests,pytest"},
		{"output of no runner", "cat notes.txt", "$ go test ./...\n> jest\ngo test ./...\n", "cat"},
		{"lines of output", "npm test", "> jest\n> quoted words of a test\n", "npm test,jest,quoted words of"},
	} {
		var kinds []string
		for _, p := range ranOf(t, tt.line, tt.output) {
			kinds = append(kinds, p.Kind)
		}
		if got := strings.Join(kinds, ","); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	narrow := toolcall.PurposeOf("cd api && go test -run TestA ./a")
	covers := func(ran []toolcall.Purpose) (yes bool) {
		for _, p := range ran {
			yes = yes || p.Covers(narrow)
		}
		return yes
	}
	if !covers(ranOf(t, "cd api && mise test", "$ go test ./...\nok  \tx/a\t0.1s\n")) || covers(ranOf(t, "cd web && mise test", "$ go test ./...\nok  \tx/a\t0.1s\n")) {
		t.Error("a runner runs in the folder that its line changes into")
	}
}
