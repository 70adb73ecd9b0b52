package digest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
)

// TestOfALongPlanInAFileTheNextStepsAreTold: and how many come after them, where.
func TestOfALongPlanInAFileTheNextStepsAreTold(t *testing.T) {
	text := ""
	for i := range 60 {
		text += fmt.Sprintf(`- [%s] port handler %d\n`, map[bool]string{true: "x", false: " "}[i < 20], i)
	}
	msgs := []precis.Message{precis.NewText(precis.RoleUser, "Port the handlers.")}
	msgs = append(msgs, announcedCall("1", "Write", `{"file_path":"/w/PLAN.md","content":"`+text+`"}`, "File created successfully", false)...)
	msgs = append(msgs, precis.NewText(precis.RoleAssistant, "Handler 20 is next."), precis.NewText(precis.RoleUser, "Go on."))
	_, got, _ := strings.Cut(digested(t, 3500, msgs...), "## Plan\n")
	got, _, _ = strings.Cut(got, "\n\n")
	if n := strings.Count(got, "- [ ] port handler"); n != 12 || !strings.Contains(got, "- [ ] port handler 20\n") || !strings.Contains(got, "- and 28 more to do in /w/PLAN.md\n") {
		t.Errorf("%d: %s", n, got)
	}
}

func announcedCall(id, tool, input, result string, failed bool) []precis.Message {
	return []precis.Message{
		{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: tool, Input: json.RawMessage(input)}}},
		{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, IsError: failed, Content: []precis.Block{precis.Text{Text: result}}}}},
	}
}
