package digest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"precis"
)

// TestReasoningTellsWhereAgentsStandThatSayNothing: an agent that acts without words is told by the end of its newest
// reasoning; one that speaks by its words.
func TestReasoningTellsWhereAgentsStandThatSayNothing(t *testing.T) {
	acts := func(said string) []precis.Message {
		msgs := []precis.Message{precis.NewText(precis.RoleUser, "Make the scanner strict."), precis.NewText(precis.RoleAssistant, "The scanner has two modes today.")}
		for n := range 8 {
			id := fmt.Sprint("t", n)
			content := []precis.Block{
				precis.Thinking{Text: fmt.Sprintf("**Looking at rule %d**\n\nThe scanner reads the rules twice. Rule number %d is superfluous, so the allow list shrinks to one entry.", n, n)},
				precis.ToolUse{ID: id, Name: "Edit", Input: json.RawMessage(fmt.Sprintf(`{"file_path":"rules%d.toml","old_string":"a","new_string":"b"}`, n))},
			}
			if said != "" {
				content = append([]precis.Block{precis.Text{Text: said}}, content...)
			}
			msgs = append(msgs, precis.Message{Role: precis.RoleAssistant, Content: content},
				precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: "ok"}}}}})
		}
		return msgs
	}
	got := digested(t, 2000, acts("")...)
	if !strings.Contains(got, "- m16, in its reasoning: ") || !strings.Contains(got, "Rule number 7 is superfluous") || strings.Count(got, "in its reasoning") != 1 {
		t.Errorf("%s", got)
	}
	if got := digested(t, 2000, acts("I shorten the allow list of the scanner.")...); strings.Contains(got, "in its reasoning") {
		t.Errorf("it speaks: %s", got)
	}
}
