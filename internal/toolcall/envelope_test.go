package toolcall

import (
	"testing"

	"github.com/precis-dev/precis"
)

// What a program puts around the output of a tool is no part of it; other JSON stays as it is.
func TestUnwrapped(t *testing.T) {
	for text, want := range map[string]string{
		`{"output":"a\nb\n","metadata":{"exit_code":0}}`:                                    "a\nb",
		`{"chunk_id":"d1","wall_time_seconds":0.1,"exit_code":1,"output":"a\nb"}`:           "a\nb",
		`{"stdout":"a","stderr":"b"}`:                                                       "a\nb",
		`[{"query":"close.go","result":"1 | a","success":true},{"query":"x","result":"b"}]`: "1 | a\nb",
		`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`:               "a\nb",
		`{"output":"a","ticket":"P-1"}`:                                                     `{"output":"a","ticket":"P-1"}`,
		`{"exit_code":0}`:                                                                   `{"exit_code":0}`,
		`[{"name":"a"}]`:                                                                    `[{"name":"a"}]`,
		`["a"]`:                                                                             `["a"]`,
		`{"output":"a`:                                                                      `{"output":"a`,
		"Chunk ID: d1\nProcess exited with code 0\nOutput:\na\nOutput:\nb":                  "a\nOutput:\nb",
		"Script completed\nWall time 0.7 seconds\nOutput:\n":                                "",
		"<system-reminder>\na\n</system-reminder>":                                          "<system-reminder>\na\n</system-reminder>",
		"plain": "plain",
	} {
		if got := Unwrapped(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A result that registers tools says nothing of what was found; the same text of a file does.
func TestRegisteredTools(t *testing.T) {
	const list = `[{"name": "weigh", "description": "Weighs a parcel.", "input_schema": {}}]`
	for name, want := range map[string]bool{"find_tools": true, "read_file": false} {
		msgs := []precis.Message{
			{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "a", Name: name, Input: []byte(`{"path": "tools.json"}`)}}},
			{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "a", Content: []precis.Block{precis.Text{Text: list}}}}},
		}
		if name == "find_tools" {
			msgs[0].Content[0] = precis.ToolUse{ID: "a", Name: name, Input: []byte(`{"words": "parcel"}`)}
		}
		c := Find(msgs)[0]
		if c.Registers != want || (c.Text == "") != want {
			t.Errorf("%s: %v, %q", name, c.Registers, c.Text)
		}
	}
}
