package digest_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis"
)

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
