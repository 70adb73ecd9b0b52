package condense

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
)

func use(id, input string) precis.ToolUse {
	return precis.ToolUse{ID: id, Name: "t", Input: json.RawMessage(input)}
}

func TestOpenToolsAreAnsweredOnce(t *testing.T) {
	msgs := []precis.Message{
		precis.NewText(precis.RoleUser, "go"),
		{Role: precis.RoleAssistant, Content: []precis.Block{use("b", ""), use("a", ""), precis.ToolResult{ToolUseID: "a"}}},
		{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "c"}}},
		{Role: precis.RoleAssistant, Content: []precis.Block{use("b", ""), use("c", ""), use("d", "")}},
		{Role: precis.RoleUser, Content: []precis.Block{use("user", "")}},
	}
	now := time.UnixMilli(42)
	got := AnswerOpenTools(msgs, now)
	if len(got) != len(msgs)+1 || &got[0] == &msgs[0] {
		t.Fatalf("%d messages", len(got))
	}
	answer := got[len(msgs)]
	var ids []string
	for _, b := range answer.Content {
		r := b.(precis.ToolResult)
		ids = append(ids, r.ToolUseID)
		if r.Text() != Deferred || r.IsError {
			t.Errorf("%+v", r)
		}
	}
	if !slices.Equal(ids, []string{"b", "a", "d"}) || answer.Role != precis.RoleUser || !answer.Time.Equal(now) {
		t.Errorf("%q %s %v", ids, answer.Role, answer.Time)
	}
	if again := AnswerOpenTools(got, now); len(again) != len(got) || &again[0] != &got[0] {
		t.Error("an answered conversation is answered again")
	}
	if AnswerOpenTools(nil, now) != nil {
		t.Error("something of nothing")
	}
}

func TestCallsAreWrittenAsJavaScriptDoes(t *testing.T) {
	for _, tt := range []struct{ input, want string }{
		{`{"path":"a"}`, "path: a"},
		{`{}`, ""},
		{``, "undefined"},
		{`null`, "null"},
		{`"raw\n\"x\""`, "raw\n\"x\""},
		{`true`, "true"},
		{`[1,"x",[],{}]`, "0: 1\n1: x\n2: []\n3: {}"},
		{`{"b":1,"10":2,"9":3,"a":4,"01":5,"4294967294":6,"4294967295":7}`, "9: 3\n10: 2\n4294967294: 6\nb: 1\na: 4\n01: 5\n4294967295: 7"},
		{`{"a":1,"b":2,"a":3}`, "a: 3\nb: 2"},
		{`{"n":{"2":1,"1":[1e21,1e-7,-0,0.10,1E2,1e999]}}`, "n: {\n  \"1\": [\n    1e+21,\n    1e-7,\n    0,\n    0.1,\n    100,\n    null\n  ],\n  \"2\": 1\n}"},
		{`{"big":1e999,"small":-1e999,"zero":-0.0,"long":123456789012345678901234}`, "big: Infinity\nsmall: -Infinity\nzero: 0\nlong: 1.2345678901234569e+23"},
		{`{"s":{"k":"é \u0007\"\\/\u2028<>&"}}`, "s: {\n  \"k\": \"é \\u0007\\\"\\\\/\u2028<>&\"\n}"},
		{`{"broken":`, `{"broken":`},
	} {
		got := useText(use("1", tt.input))
		if want := "[Tool Use: t]\n" + tt.want; got != want {
			t.Errorf("%s:\n%q, want\n%q", tt.input, got, want)
		}
	}
	deep := strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)
	if n := len(useText(use("1", deep))); n > 2_000_000 {
		t.Errorf("%d bytes", n)
	}
}

func TestResultsAreWrittenAsText(t *testing.T) {
	text := func(s string) []precis.Block { return []precis.Block{precis.Text{Text: s}} }
	for _, tt := range []struct {
		result precis.ToolResult
		want   string
	}{
		{precis.ToolResult{Content: text("out")}, "[Tool Result]\nout"},
		{precis.ToolResult{Content: text("bad"), IsError: true}, "[Tool Result (Error)]\nbad"},
		{precis.ToolResult{}, "[Tool Result]"},
		{precis.ToolResult{Raw: json.RawMessage(`{"content":""}`)}, "[Tool Result]\n"},
		{precis.ToolResult{Raw: json.RawMessage(`{"content":null}`)}, "[Tool Result]"},
		{precis.ToolResult{Raw: json.RawMessage(`{`)}, "[Tool Result]"},
		{precis.ToolResult{Content: []precis.Block{precis.Text{Text: "a"}, precis.Image{}, precis.Document{}, precis.Opaque{Type: "search"}}}, "[Tool Result]\na\n[Image]\n[document]\n[search]"},
	} {
		if got := resultText(tt.result); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.result, got, tt.want)
		}
	}
}

func TestOnlyMessagesWithToolsChange(t *testing.T) {
	raw := json.RawMessage(`{}`)
	msgs := []precis.Message{
		{Role: precis.RoleUser, Content: []precis.Block{precis.Text{Text: "x"}}, Raw: raw, Format: "f"},
		{Role: precis.RoleAssistant, Content: []precis.Block{precis.Thinking{Text: "t", Signature: "s"}, use("1", `{"a":1}`)}, Raw: raw, Format: "f", ID: "m"},
	}
	got := ToolsAsText(msgs)
	if got[0].Raw == nil || got[1].Raw != nil || got[1].ID != "m" || got[1].Format != "f" {
		t.Errorf("%+v", got)
	}
	if _, ok := got[1].Content[0].(precis.Thinking); !ok {
		t.Errorf("%+v", got[1].Content)
	}
	if _, ok := msgs[1].Content[1].(precis.ToolUse); !ok || msgs[1].Raw == nil {
		t.Error("the messages given were changed")
	}
}

func FuzzToolsAsText(f *testing.F) {
	f.Add(`{"a":{"b":[1,2]},"1":null}`)
	f.Add(`[1e400,"\ud800"]`)
	f.Fuzz(func(t *testing.T, input string) {
		m := precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{use("1", input)}}
		got := ToolsAsText([]precis.Message{m})
		if s, ok := got[0].Content[0].(precis.Text); !ok || !strings.HasPrefix(s.Text, "[Tool Use: t]\n") {
			t.Fatalf("%+v", got)
		}
	})
}
