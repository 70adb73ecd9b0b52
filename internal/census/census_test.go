package census_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/census"
	"github.com/precis-dev/precis/measure"
)

type counter struct{}

func (counter) Name() string { return "one" }
func (counter) Count(m precis.Message) int {
	return 10 * len(m.Content)
}

func unitsOf(msgs []precis.Message) []precis.Unit {
	return precis.Units(precis.NewTranscript(msgs...), nil)
}

// What stands in the place of messages is no word of the user.
func TestSummariesAreAKind(t *testing.T) {
	tr := precis.NewTranscript(precis.NewText("user", "go"), precis.NewText("assistant", "done"), precis.NewText("user", "thanks"))
	edit := precis.Edit{ID: "1", Kind: precis.KindCondensation, Replace: []precis.Replacement{{From: 0, To: 2, With: []precis.Message{precis.NewText("user", "It went.")}}}}
	c := census.Take(&precis.Conversation{Transcript: tr}, precis.Units(tr, []precis.Edit{edit}), measure.New(counter{}))
	if len(c.Kinds) != 2 || c.Kinds[0].Name != "digest" || c.Kinds[0].Tokens != 10 || c.Kinds[1].Name != "user" || c.Kinds[1].Tokens != 10 {
		t.Errorf("%+v", c.Kinds)
	}
}

func TestEveryTokenHasAKind(t *testing.T) {
	long := strings.Repeat("the same again ", 30)
	msgs := []precis.Message{
		precis.NewText("user", "go"),
		{Role: "assistant", Content: []precis.Block{precis.Thinking{Text: "hm"}, precis.Text{Text: "ok"}, precis.ToolUse{ID: "1", Name: "Read", Input: []byte(`{"file_path":"a"}`)}}},
		{Role: "user", Content: []precis.Block{precis.ToolResult{ToolUseID: "1", Content: []precis.Block{precis.Text{Text: long}}}}},
		precis.NewText("assistant", "<read_file>\n<path>b</path>\n</read_file>"),
		{Role: "user", Content: []precis.Block{precis.Text{Text: "[read_file for 'b'] Result:"}, precis.Text{Text: long}, precis.Image{}, precis.Opaque{Type: "x"}}},
	}
	c := census.Take(&precis.Conversation{System: precis.NewText("system", "be brief"), Tools: []byte("[]"), Transcript: precis.NewTranscript(msgs...)}, unitsOf(msgs), measure.New(counter{}))
	want := map[string]int{"system": 10, "tools": 10, "user": 10, "assistant": 20, "thinking": 10, "tool use": 10, "tool result": 30, "media": 10, "other": 10}
	sum := 0
	for _, k := range c.Kinds {
		if k.Tokens != want[k.Name] {
			t.Errorf("%s: %d tokens, want %d", k.Name, k.Tokens, want[k.Name])
		}
		sum += k.Tokens
	}
	if sum != c.Total || len(c.Kinds) != len(want) {
		t.Errorf("kinds add up to %d of %d: %+v", sum, c.Total, c.Kinds)
	}
	if len(c.Results) != 2 || c.Results[0].Name != "read_file" || c.Results[0].Tokens != 20 || c.Results[1].Name != "Read" {
		t.Errorf("results by tool: %+v", c.Results)
	}
	if c.Duplicates.Blocks != 1 || c.Duplicates.Tokens != 10 {
		t.Errorf("duplicates: %+v", c.Duplicates)
	}
}

// TestWhoseTokens: what a program, a tool or a summary says in the user's place is not the user's.
func TestWhoseTokens(t *testing.T) {
	reminder := "<system-reminder>\n" + strings.Repeat("x", 33) + "\n</system-reminder>"
	msgs := []precis.Message{
		{Role: "user", Content: []precis.Block{precis.Text{Text: reminder}, precis.Text{Text: "go"}, precis.Text{Text: "ran", Attribution: precis.Attribution{Author: precis.AuthorTool}},
			precis.Text{Text: "help", Attribution: precis.Attribution{Author: precis.AuthorDelegate}}, precis.Text{Text: "It went.", Attribution: precis.Attribution{Author: precis.AuthorRecap}}}},
		precis.NewText("user", "<task>"+strings.Repeat("y", 13)+"</task>"),
		precis.NewText("system", "be brief"),
	}
	c := census.Take(&precis.Conversation{Transcript: precis.NewTranscript(msgs...)}, unitsOf(msgs), measure.New(counter{}))
	got := map[string]int{}
	for _, k := range c.Kinds {
		got[k.Name] = k.Tokens
	}
	want := map[string]int{"user": 15, "program": 25, "tool result": 10, "digest": 10, "system": 10}
	for name, n := range want {
		if got[name] != n {
			t.Errorf("%s: %d tokens, want %d", name, got[name], n)
		}
	}
	if c.Total != 70 || len(got) != len(want) {
		t.Errorf("%d tokens: %v", c.Total, got)
	}
}
