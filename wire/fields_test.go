package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

// TestUnknownFieldsAreWrittenAgain shortens what a message says and reads every field of it
// that precis does not know in what is written, before and after the message was stored.
func TestUnknownFieldsAreWrittenAgain(t *testing.T) {
	cases := []struct {
		name    string
		dialect wire.Dialect
		message string
		block   int
		with    precis.Block
		want    string // what is written
	}{
		{"anthropic system", anthropic.Dialect{},
			`{"role":"system","content":[{"type":"text","text":"long"}],"output_config":{"effort":"low"},"clear_at":null,"new":[1, 2]}`, 0, precis.Text{Text: "s"},
			`{"role":"system","content":[{"type":"text","text":"s"}],"output_config":{"effort":"low"},"new":[1,2]}`},
		{"anthropic call", anthropic.Dialect{},
			`{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"run","input":{"a":"long"},"caller":{"type":"direct"},"cache_control":{"type":"ephemeral"}}]}`, 0,
			precis.ToolUse{ID: "t", Name: "run", Input: json.RawMessage(`{}`)},
			`{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"run","input":{},"caller":{"type":"direct"}}]}`},
		{"anthropic result", anthropic.Dialect{},
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"long","new":7}]}`, 0,
			precis.ToolResult{ToolUseID: "t", Content: []precis.Block{precis.Text{Text: "s"}}},
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"s","new":7}]}`},
		{"chat user", chat.Dialect{},
			`{"role":"user","content":"long","name":"ann"}`, 0, precis.Text{Text: "s"},
			`{"role":"user","content":"s","name":"ann"}`},
		{"chat call", chat.Dialect{},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"run","arguments":"{\"a\":1}"},"extra_content":{"google":{"thought_signature":"s1"}}}],"annotations":[]}`, 0,
			precis.ToolUse{ID: "c", Name: "run", Input: json.RawMessage(`{}`)},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"run","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s1"}}}],"annotations":[]}`},
		{"chat result", chat.Dialect{},
			`{"role":"tool","tool_call_id":"c","name":"run","content":"long"}`, 0,
			precis.ToolResult{ToolUseID: "c", Content: []precis.Block{precis.Text{Text: "s"}}},
			`{"role":"tool","tool_call_id":"c","name":"run","content":"s"}`},
		{"chat function's result", chat.Dialect{},
			`{"role":"function","name":"run","content":"long","new":{}}`, 0,
			precis.ToolResult{ToolUseID: "function_call_0_run", Content: []precis.Block{precis.Text{Text: "s"}}},
			`{"role":"function","name":"run","content":"s","new":{}}`},
		{"responses message", responses.Dialect{},
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"long"}],"id":"msg_1","status":"completed","phase":"commentary"}`, 0, precis.Text{Text: "s"},
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"s"}],"phase":"commentary"}`},
		{"responses call", responses.Dialect{},
			`{"type":"function_call","call_id":"c","name":"run","arguments":"{\"a\":1}","namespace":"mcp__x","id":"fc_1"}`, 0,
			precis.ToolUse{ID: "c", Name: "run", Input: json.RawMessage(`{}`)},
			`{"type":"function_call","call_id":"c","name":"run","arguments":"{}","namespace":"mcp__x"}`},
		{"responses result", responses.Dialect{},
			`{"type":"function_call_output","call_id":"c","output":"long","namespace":"agent","name":"goal"}`, 0,
			precis.ToolResult{ToolUseID: "c", Content: []precis.Block{precis.Text{Text: "s"}}},
			`{"type":"function_call_output","call_id":"c","output":"s","name":"goal","namespace":"agent"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m, err := c.dialect.Decode([]byte(c.message))
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			var stored precis.Message
			if err := json.Unmarshal(data, &stored); err != nil {
				t.Fatal(err)
			}
			for _, m := range []precis.Message{m, stored} {
				said := precis.NewTranscript(m)
				edit := precis.Edit{ID: "e", Kind: precis.KindPruning, Replace: []precis.Replacement{precis.ReplaceBlock(said, 0, c.block, c.with)}}
				got := c.dialect.AppendMessages(nil, precis.View(said, []precis.Edit{edit}))
				if want := "[" + c.want + "]"; !sameJSON(t, got, []byte(want)) {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
		})
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var out [2]string
	for i, data := range [][]byte{a, b} {
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		again, _ := json.Marshal(v)
		out[i] = string(again)
	}
	return out[0] == out[1]
}

// TestNothingIsWrittenToAnotherDialect: a field is only of the API that it came from.
func TestNothingIsWrittenToAnotherDialect(t *testing.T) {
	m, err := chat.Dialect{}.Decode([]byte(`{"role":"user","content":"long","name":"ann"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []wire.Dialect{anthropic.Dialect{}, responses.Dialect{}} {
		var got []map[string]any
		if err := json.Unmarshal(d.AppendMessages(nil, []precis.Message{m}), &got); err != nil || got[0]["name"] != nil {
			t.Errorf("%T: %v %v", d, got, err)
		}
	}
}
