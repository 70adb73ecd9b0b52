package toolcall

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
)

// opaque returns a block without a form of its own.
func opaque(raw string) precis.Opaque {
	var of struct{ Type string }
	_ = json.Unmarshal([]byte(raw), &of)
	return precis.Opaque{Type: of.Type, Raw: json.RawMessage(raw)}
}

// Calls that the provider's server runs are read by their shape: the name, what was given, how it ended, and what came of it.
func TestServedCalls(t *testing.T) {
	for _, c := range []struct {
		about  string
		blocks []string // of the assistant
		name   string
		kind   Kind
		given  string // in the arguments, the path or the line
		end    End
		says   string // in the line of the failure, else in the text
	}{
		{"a command in one message with its result", []string{`{"type":"server_tool_use","id":"s1","name":"bash_code_execution","input":{"command":"make seeds"}}`,
			`{"type":"bash_code_execution_tool_result","tool_use_id":"s1","content":{"type":"bash_code_execution_result","stdout":"","stderr":"make: *** No rule to make target 'seeds'.  Stop.","return_code":2,"content":[]}}`},
			"bash_code_execution", Command, "make seeds", Failed, "No rule to make target"},
		{"a command that leaves a file", []string{`{"type":"server_tool_use","id":"s1","name":"bash_code_execution","input":{"command":"plot otters"}}`,
			`{"type":"bash_code_execution_tool_result","tool_use_id":"s1","content":{"type":"bash_code_execution_result","stdout":"","stderr":"","return_code":0,"content":[{"type":"bash_code_execution_output","file_id":"file_77"}]}}`},
			"bash_code_execution", Command, "plot otters", OK, "file_id file_77"},
		{"a file that is made", []string{`{"type":"server_tool_use","id":"s1","name":"text_editor_code_execution","input":{"command":"create","path":"doc/otter.md","file_text":"# Otter"}}`,
			`{"type":"text_editor_code_execution_tool_result","tool_use_id":"s1","content":{"type":"text_editor_code_execution_create_result","is_file_update":false}}`},
			"text_editor_code_execution", Write, "doc/otter.md", OK, ""},
		{"an error of the server", []string{`{"type":"server_tool_use","id":"s1","name":"web_fetch","input":{"url":"https://example.org/otter"}}`,
			`{"type":"web_fetch_tool_result","tool_use_id":"s1","content":{"type":"web_fetch_tool_result_error","error_code":"url_not_accessible"}}`},
			"web_fetch", Other, "https://example.org/otter", Failed, "url_not_accessible"},
		{"a result that is marked as an error", []string{`{"type":"mcp_tool_use","id":"t1","name":"close_sluice","server_name":"dam","input":{"gate":4}}`,
			`{"type":"mcp_tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"gate 4 is jammed"}]}`}, "close_sluice", Other, "4", Failed, "gate 4 is jammed"},
		{"advice", []string{`{"type":"server_tool_use","id":"a1","name":"advisor","input":{}}`,
			`{"type":"advisor_tool_result","tool_use_id":"a1","content":{"type":"advisor_result","text":"Sort the otters first."}}`}, "advisor", Other, "", OK, "Sort the otters first."},
		{"call and result in one item", []string{`{"type":"mcp_call","id":"m1","server_label":"dam","name":"open_sluice","arguments":"{\"gate\":4}","output":"gate 4 is open"}`}, "open_sluice", Other, "4", OK, "gate 4 is open"},
		{"an item with an error", []string{`{"type":"mcp_call","id":"m1","server_label":"dam","name":"open_sluice","arguments":"{\"gate\":4}","error":{"type":"http","code":503,"message":"dam is offline"}}`},
			"open_sluice", Other, "4", Failed, "dam is offline"},
		{"an item that failed", []string{`{"type":"image_generation_call","id":"i1","prompt":"an otter","status":"failed"}`}, "image_generation", Other, "an otter", Failed, "failed"},
		{"a search with its results", []string{`{"type":"file_search_call","id":"f1","queries":["otter diet"],"status":"completed","results":[{"file_id":"file_3","filename":"diet.md","text":"Otters eat crabs.","score":0.9}]}`},
			"file_search", Other, "otter diet", OK, "Otters eat crabs."},
		{"an item of a kind that nobody knows yet", []string{`{"type":"sonar_call","id":"z1","depth":40,"status":"completed","outputs":[{"type":"logs","logs":"two otters at 12 m"}]}`}, "sonar", Other, "40", OK, "two otters at 12 m"},
		{"an item whose result comes later", []string{`{"type":"sonar_call","id":"z1","call_id":"c1","action":{"ping":"short"}}`, `{"type":"text","text":"I wait."}`,
			`{"type":"sonar_call_output","call_id":"c1","output":{"error":"no echo"}}`}, "sonar", Other, "short", Failed, "no echo"},
		{"a result that refers to the item's own ID", []string{`{"type":"sonar_call","id":"z1","action":{"ping":"short"}}`, `{"type":"sonar_report","for_id":"z1","output":"one echo"}`}, "sonar", Other, "short", OK, "one echo"},
		{"arguments beside an empty body", []string{`{"type":"sonar_call","id":"z1","action":{ },"depth":7,"arguments":"{\"ping\":1}","status":"completed"}`}, "sonar", Other, "7", OK, ""},
		{"pages, their titles first", []string{`{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"otter"}}`,
			`{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","url":"https://a.example/o","title":"Otters eat crabs","encrypted_content":"aGVsbG8"}]}`},
			"web_search", Other, "otter", OK, "Otters eat crabs\nhttps://a.example/o"},
		{"words of another agent", []string{`{"type":"agent_message","id":"n1","author":"heron","recipient":"root","content":[{"type":"input_text","text":"The raft leaks."}]}`},
			"agent_message", Other, "heron", OK, "The raft leaks."},
		{"a call that is under way", []string{`{"type":"mcp_tool_use","id":"t1","name":"close_sluice","server_name":"dam","input":{"gate":4}}`}, "close_sluice", Other, "4", Interrupted, ""},
	} {
		var m precis.Message
		m.Role = precis.RoleAssistant
		for _, b := range c.blocks {
			m.Content = append(m.Content, opaque(b))
		}
		calls := Find([]precis.Message{m})
		if len(calls) != 1 {
			t.Errorf("%s: %d calls", c.about, len(calls))
			continue
		}
		got := calls[0]
		given := got.Line + got.Path
		for a := range got.Arguments() {
			given += string(a.Raw)
		}
		o := got.Outcome()
		says := o.Line
		if o.End != Failed {
			says = got.Text
		}
		if got.Name != c.name || got.Kind != c.kind || o.End != c.end || !strings.Contains(given, c.given) || !strings.Contains(says, c.says) {
			t.Errorf("%s: %s, %s, given %s, %+v, text %q", c.about, got.Name, got.Kind, given, o, got.Text)
		}
	}
}

// A result answers its call by the ID in whatever message it stands, and the calls of the client keep their own marks.
func TestAServedResultInALaterMessage(t *testing.T) {
	calls := Find([]precis.Message{
		{Role: precis.RoleAssistant, Content: []precis.Block{opaque(`{"type":"mcp_tool_use","id":"t1","name":"weigh","input":{"otter":"Ada"}}`), opaque(`{"type":"mcp_tool_use","id":"t2","name":"weigh","input":{"otter":"Bo"}}`)}},
		{Role: precis.RoleUser, Content: []precis.Block{opaque(`{"type":"mcp_tool_result","tool_use_id":"t2","is_error":true,"content":"Bo is away"}`), opaque(`{"type":"mcp_tool_result","tool_use_id":"t1","content":"9 kg"}`)}},
		{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "a", Name: "Bash", Input: []byte(`{"command":"./scale"}`)}}},
		{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "a", Content: []precis.Block{precis.Text{Text: "tare 3"}}}}},
	})
	if len(calls) != 3 || calls[0].Text != "9 kg" || calls[1].Outcome().End != Failed || calls[2].Outcome().End != Unknown {
		t.Errorf("%+v", calls)
	}
}

// An item of the Responses API that the client answers is a tool use without input and the item behind it; the answer holds the item, too.
func TestAnItemBehindItsCall(t *testing.T) {
	answer := opaque(`{"type":"dive_call_output","call_id":"d1","output":[{"type":"output_text","text":"down at 30 m"}]}`)
	failed := json.RawMessage(`{"type":"apply_patch_call_output","call_id":"p1","status":"failed","output":"no such line"}`)
	calls := Find([]precis.Message{
		{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "d1", Name: "dive"}, opaque(`{"type":"dive_call","call_id":"d1","action":"descend","arguments":"{\"metres\":30}"}`)}},
		{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "d1", Content: []precis.Block{answer}}}},
		{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "p1", Name: "apply_patch", Input: []byte(`{"type":"create_file","path":"a.go","diff":"+package a"}`)}}},
		{Role: precis.RoleUser, Raw: failed, Content: []precis.Block{precis.ToolResult{ToolUseID: "p1", Content: []precis.Block{precis.Text{Text: "no such line"}}}}},
		{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "s1", Name: "shell", Input: []byte(`{"commands":["make seeds","make otters"]}`)}}},
		{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "s1", Content: []precis.Block{precis.Text{
			Text: `[{"stdout":"","stderr":"no rule","outcome":{"type":"exit","exit_code":2}},{"stdout":"swum","stderr":"","outcome":{"type":"exit","exit_code":0}}]`}}}}},
	})
	found := precis.ToolResult{ToolUseID: "q1", Content: []precis.Block{
		opaque(`{"type":"search_result","title":"Otter law","source":"law.md","content":[{"type":"text","text":"Since 1982."}]}`),
		opaque(`{"type":"search_result","title":"Heron law","source":"law.md","content":[{"type":"text","text":"Since 1991."}]}`)}}
	calls = append(calls, Find([]precis.Message{
		{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "q1", Name: "law", Input: []byte(`{"of":"zoo"}`)}}},
		{Role: precis.RoleUser, Content: []precis.Block{found}},
	})...)
	if len(calls) != 4 {
		t.Fatalf("%+v", calls)
	}
	if c := calls[3]; c.Text != "Otter law\nlaw.md\nSince 1982.\nHeron law\nlaw.md\nSince 1991." {
		t.Errorf("%q", c.Text)
	}
	if c := calls[0]; c.Name != "descend" || c.Text != "down at 30 m" || string(c.input) != `{"metres":30}` {
		t.Errorf("%+v", c)
	}
	if c := calls[1]; c.Outcome().End != Failed || !c.Effects[0].Added || c.Path != "a.go" {
		t.Errorf("%+v", c)
	}
	if c, o := calls[2], calls[2].Outcome(); c.Line != "make seeds\nmake otters" || o.End != Failed || *o.Code != 2 || c.Text != "no rule\nswum" {
		t.Errorf("%+v %+v", c, o)
	}
}

// What a server of Chat Completions ran stands in a field of the message.
func TestCallsInAField(t *testing.T) {
	ran := precis.Field{Name: "executed_tools", Raw: json.RawMessage(`[{"index":0,"type":"python","arguments":"{\"code\":\"1/0\"}","output":"9 otters"},{"index":1,"type":"search","arguments":"{\"query\":\"otter\"}","error":"no network"}]`)}
	other := precis.Field{Name: "annotations", Raw: json.RawMessage(`[{"type":"url_citation","url":"https://example.org"}]`)}
	calls := Find([]precis.Message{{Role: precis.RoleAssistant, Fields: []precis.Field{other, ran}, Content: []precis.Block{precis.Text{Text: "Nine."}}}})
	if len(calls) != 2 || calls[0].Name != "python" || calls[0].Text != "9 otters" || calls[1].Outcome().End != Failed || calls[1].Outcome().Line != "no network" {
		t.Errorf("%+v", calls)
	}
}
