package precis_test

import (
	"reflect"
	"testing"

	"precis"
)

func TestUserBlocks(t *testing.T) {
	text := func(s ...string) (out []precis.Block) {
		for _, s := range s {
			out = append(out, precis.Text{Text: s})
		}
		return out
	}
	native := precis.ToolResult{ToolUseID: "1", Content: text("out")}
	env := "\n<environment_details>\n# Files\n</environment_details>"
	for _, tt := range []struct {
		name    string
		content []precis.Block
		want    []int
	}{
		{"words", text("do it"), []int{0}},
		{"task and environment", text("<task>do it</task>", env), []int{0}},
		{"native result and environment", append([]precis.Block{native}, text(env)...), nil},
		{"native result and words", append([]precis.Block{native}, text("also that", env)...), []int{1}},
		{"written result", text("[read_file for 'a'] Result:", "package a", "more", env), nil},
		{"written result and feedback", text("[execute_command for 'ls'] Result:", "a b", "<feedback>no</feedback>", env), []int{2}},
		{"two written results", text("[a] Result:\nx", "[b for 'c'] Result:", "y"), nil},
		{"reminder alone", text("<system-reminder>be kind</system-reminder>"), nil},
		{"interrupted", text("[Request interrupted by user]"), nil},
		{"brackets that are no result", text("[important] read this"), []int{0}},
		{"picture", []precis.Block{precis.Image{}}, []int{0}},
		{"blank", text(" \n"), nil},
	} {
		m := precis.Message{Role: precis.RoleUser, Content: tt.content}
		if got := m.UserBlocks(); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		m.Role = precis.RoleAssistant
		if m.IsUserTurn() {
			t.Errorf("%s: an assistant's message is a user turn", tt.name)
		}
	}
}
