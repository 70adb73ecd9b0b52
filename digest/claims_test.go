package digest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"precis"
)

// TestClaimsThatFailedSince: what an agent or a summary calls fine is marked when a check has failed since and was not
// mended.
func TestClaimsThatFailedSince(t *testing.T) {
	talk := func(claim string, runs ...string) string {
		msgs := []precis.Message{precis.NewText(precis.RoleUser, "Ship it."), precis.NewText(precis.RoleAssistant, claim)}
		for i, result := range runs {
			id := string(rune('a' + i))
			msgs = append(msgs, precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "Bash", Input: []byte(`{"command":"go test ./..."}`)}}},
				precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, IsError: strings.Contains(result, "FAIL"), Content: []precis.Block{precis.Text{Text: result}}}}})
		}
		msgs = append(msgs, precis.NewText(precis.RoleAssistant, "I look into it."))
		return digested(t, 1500, msgs...)
	}
	const fails, holds = "Exit code 1\n--- FAIL: TestQuote (0.00s)\nFAIL\tx/export", "ok  \tx/export\t0.1s"
	for _, claim := range []string{"Done: all tests pass and the file is committed.", "The build is green.", "Alle Tests sind grün.", "Tous les tests passent.", "すべてのテストが成功しました。", "所有测试都通过了。", "Все тесты прошли."} {
		if got := talk(claim, fails); !strings.Contains(got, "[failed since, at m2]") {
			t.Errorf("%s: not marked:\n%s", claim, got)
		}
		if got := talk(claim, fails, holds); strings.Contains(got, "[failed since") {
			t.Errorf("%s: marked although it was mended:\n%s", claim, got)
		}
		if got := talk(claim); strings.Contains(got, "[failed since") {
			t.Errorf("%s: marked although nothing failed:\n%s", claim, got)
		}
	}
	for _, other := range []string{"The tests do not pass yet.", "Make sure that all tests pass before you commit.", "I go on until the build is green.", "The passport check comes next."} {
		if got := talk(other, fails); strings.Contains(got, "[failed since") {
			t.Errorf("%s: marked:\n%s", other, got)
		}
	}
}

// TestRemindersAreNotTold: what a program adds behind a result with each call is of its moment.
func TestRemindersAreNotTold(t *testing.T) {
	msgs := []precis.Message{precis.NewText(precis.RoleUser, "Look at parser.go.")}
	for i := range 6 {
		id := string(rune('a' + i))
		msgs = append(msgs, precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "Bash", Input: []byte(`{"command":"./probe ` + id + `"}`)}}},
			precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: "parser_" + id + ".go:12: token_count_" + id + " = 7\n\n<system-reminder>\n<total_tokens>14999" + id + " tokens left</total_tokens>\n</system-reminder>"}}}}})
	}
	got := digested(t, 1500, append(msgs, precis.NewText(precis.RoleAssistant, "I go on."))...)
	if strings.Contains(got, "tokens left") || strings.Contains(got, "reminder") || !strings.Contains(got, "token_count_c") {
		t.Error(got)
	}
}

// TestAClaimIsAboutItsKindOfCheck: a test that failed since says nothing of a build that went well.
func TestAClaimIsAboutItsKindOfCheck(t *testing.T) {
	run := func(id, command, result string, failed bool) []precis.Message {
		return []precis.Message{
			{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "Bash", Input: json.RawMessage(`{"command":"` + command + `"}`)}}},
			{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, IsError: failed, Content: []precis.Block{precis.Text{Text: result}}}}},
		}
	}
	for claim, marked := range map[string]bool{"The build succeeded, the loader is wired.": false, "All tests pass, the loader is wired.": true, "The linter is clean: lint passes.": false, "CI is green: all checks pass.": true} {
		msgs := []precis.Message{precis.NewText(precis.RoleUser, "Write the loader."), precis.NewText(precis.RoleAssistant, claim), precis.NewText(precis.RoleUser, "Run them.")}
		msgs = append(msgs, run("1", "go test ./...", "--- FAIL: TestLoad (0.00s)\n    load_test.go:9: got 2, want 3\nFAIL", true)...)
		msgs = append(msgs, precis.NewText(precis.RoleAssistant, "The loader counts twice."))
		if got := strings.Contains(digested(t, 2000, msgs...), "[failed since"); got != marked {
			t.Errorf("%q is marked: %v", claim, got)
		}
	}
}
