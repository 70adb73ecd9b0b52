package policy_test

import (
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
)

func TestExclude(t *testing.T) {
	m := manager(t, policy.Options{})
	conv := &precis.Conversation{Transcript: precis.NewTranscript(
		precis.NewText(precis.RoleUser, "begin"),
		precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "t", Name: "read"}}},
		precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "t", Content: []precis.Block{precis.Text{Text: "much"}}}}},
		precis.NewText(precis.RoleAssistant, "done"),
		precis.NewText(precis.RoleUser, "go on"),
	)}
	whole := precis.View(conv.Transcript, conv.Edits)
	e, err := m.Exclude(t.Context(), conv, precis.MessageHandle(2))
	if err != nil {
		t.Fatal(err)
	}
	view := precis.View(conv.Transcript, conv.Edits)
	if len(view) != 3 || e.Kind != precis.KindExclude || len(precis.Check(view)) > 0 {
		t.Errorf("the use and its result are not hidden together: %d messages, %v", len(view), precis.Check(view))
	}
	for _, tt := range []struct {
		h    precis.Handle
		want precis.Code
	}{
		{precis.MessageHandle(1), precis.CodeNotFound}, {precis.MessageHandle(4), precis.CodeConflict}, {precis.MessageHandle(9), precis.CodeNotFound},
		{precis.BlockHandle(0, 0), precis.CodeInvalid},
	} {
		if _, err := m.Exclude(t.Context(), conv, tt.h); precis.CodeOf(err) != tt.want {
			t.Errorf("%s: %v, want %s", tt.h, err, tt.want)
		}
	}
	if _, err := m.Pin(t.Context(), conv, precis.MessageHandle(0)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Exclude(t.Context(), conv, precis.MessageHandle(0)); precis.CodeOf(err) != precis.CodeConflict {
		t.Errorf("a pinned message: %v", err)
	}
	if _, err := m.Undo(t.Context(), conv, e.ID); err != nil {
		t.Fatal(err)
	}
	if got := precis.View(conv.Transcript, conv.Edits); len(got) != len(whole) {
		t.Errorf("after undo: %d messages", len(got))
	}
}
