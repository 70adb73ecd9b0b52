package digest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"precis"
)

func announcedCall(id, tool, input, result string, failed bool) []precis.Message {
	return []precis.Message{
		{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: tool, Input: json.RawMessage(input)}}},
		{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, IsError: failed, Content: []precis.Block{precis.Text{Text: result}}}}},
	}
}

// TestWhatOnlyAnnouncesIsLeftOut: of a sentence that ends in a colon nothing is told without what it announces.
func TestWhatOnlyAnnouncesIsLeftOut(t *testing.T) {
	msgs := []precis.Message{precis.NewText(precis.RoleUser, "Mend the imports."), precis.NewText(precis.RoleAssistant, "The imports of the theme point to the old folder because the move renamed it.")}
	for n := range 6 {
		msgs = append(msgs, precis.NewText(precis.RoleAssistant, "More fixes needed:"))
		msgs = append(msgs, announcedCall(fmt.Sprint("t", n), "Edit", `{"file_path":"a.ts","old_string":"x","new_string":"y"}`, "ok", false)...)
	}
	msgs = append(msgs, precis.NewText(precis.RoleUser, "Go on."))
	got := digested(t, 1500, msgs...)
	if strings.Contains(got, "More fixes needed") || !strings.Contains(got, "point to the old folder") {
		t.Errorf("%s", got)
	}
	msgs = append(msgs, precis.NewText(precis.RoleAssistant, "Two causes remain:\n- the barrel file exports it twice\n- the alias of the theme is stale"))
	if got := digested(t, 1500, msgs...); !strings.Contains(got, "Two causes remain:\n") {
		t.Errorf("with what it announces: %s", got)
	}
}

// TestARefusedChangeThatWasMadeOtherwise: a file that the user kept from being changed in one way and that was changed in another
// since.
func TestARefusedChangeThatWasMadeOtherwise(t *testing.T) {
	msgs := []precis.Message{precis.NewText(precis.RoleUser, "Write the hook.")}
	refused := announcedCall("1", "Write", `{"file_path":"/w/hook.ts","content":"export const useAllTeams = 1\n"}`, "The tool use was rejected.", true)
	refused[1].Content[0] = precis.ToolResult{ToolUseID: "1", IsError: true, Refused: true, Content: []precis.Block{precis.Text{Text: "The tool use was rejected."}}}
	msgs = append(msgs, refused...)
	msgs = append(msgs, precis.NewText(precis.RoleUser, "One team only."))
	if got := digested(t, 1500, msgs...); !strings.Contains(got, "refused by the user, not done") || strings.Contains(got, "changed otherwise") {
		t.Errorf("%s", got)
	}
	msgs = append(msgs, announcedCall("2", "Write", `{"file_path":"/w/hook.ts","content":"export const useOneTeam = 1\n"}`, "File created successfully at: /w/hook.ts", false)...)
	if got := digested(t, 1500, msgs...); !strings.Contains(got, "useAllTeams") || !strings.Contains(got, "the file was changed otherwise since (m4)") {
		t.Errorf("%s", got)
	}
}
