package precis

import "testing"

// Words that a user adds beside a tool result go on with the turn: the reasoning
// before them is still asked back.
func TestOpenLoopBeginsAtTheLastTurnOfTheUser(t *testing.T) {
	use := func(id string) Message {
		return Message{Role: RoleAssistant, Content: []Block{Thinking{Text: "hm", Signature: "s" + id}, ToolUse{ID: id, Name: "n"}}}
	}
	result := func(id, more string) Message {
		m := Message{Role: RoleUser, Content: []Block{ToolResult{ToolUseID: id, Content: []Block{Text{Text: "r"}}}}}
		if more != "" {
			m.Content = append(m.Content, Text{Text: more})
		}
		return m
	}
	tr := NewTranscript(NewText(RoleUser, "old"), use("0"), result("0", ""), NewText(RoleAssistant, "done"),
		NewText(RoleUser, "do it"), use("1"), result("1", ""), use("2"), result("2", "and hurry"))
	edits := []Edit{{ID: "e", Replace: []Replacement{{From: 0, To: 1, With: []Message{NewText(RoleUser, "short")}}}}}
	units := Units(tr, edits)
	for rule, want := range map[ReasoningRule][]int{ReasoningLeaves: {1, 5, 7}, ReasoningLoop: {1}, ReasoningStays: nil} {
		var got []int
		for _, r := range Unbind(tr, units, rule).Replace {
			got = append(got, r.From)
		}
		if len(got) != len(want) {
			t.Errorf("%q: reasoning of %v leaves, want %v", rule, got, want)
			continue
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%q: reasoning of %v leaves, want %v", rule, got, want)
			}
		}
	}
}

// TestWhatAnEditSaysItself: what came from the wire is not the edit's own, in whatever way that is marked.
func TestWhatAnEditSaysItself(t *testing.T) {
	own := NewText(RoleUser, "m2 to m4 are hidden.")
	raw, format := own, own
	raw.Raw, format.Format = []byte(`{}`), "anthropic"
	system := NewText(RoleSystem, "Be brief.")
	if at := (Replacement{With: []Message{raw, format, system, own}}).OwnIndex(); at != 3 {
		t.Errorf("its own text is message %d, want 3", at)
	}
	if at := (Replacement{With: []Message{raw, format, system}}).OwnIndex(); at != -1 {
		t.Errorf("its own text is message %d, want none", at)
	}
}

func TestAWindowThatNobodyHasStated(t *testing.T) {
	for source, want := range map[Source]bool{SourceAssumed: true, SourceFamily: true, SourceConfigured: false, SourceCatalog: false} {
		if got := (Window{Source: source}).Guessed(); got != want {
			t.Errorf("%s: %v, want %v", source, got, want)
		}
	}
}
