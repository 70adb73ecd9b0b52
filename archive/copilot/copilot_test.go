package copilot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/archivetest"
)

const session = `{"version":3,"responderUsername":"GitHub Copilot","sessionId":"s-1","creationDate":1763727100000,"customTitle":"The gate","requests":[
 {"requestId":"r1","timestamp":1763727104000,"modelId":"copilot/gpt-5","message":{"text":"Paint the gate","parts":[]},"response":[{"value":"Painted."}],
  "result":{"metadata":{"promptTokens":500,"outputTokens":40,"toolCallRounds":[
   {"response":"Looking.","thinking":{"text":"hm"},"toolCalls":[{"id":"c1","name":"read_file","arguments":"{\"path\":\"gate.go\"}"},{"id":"c2","name":"list_dir","arguments":"{}"}]},
   {"response":"Painted.","toolCalls":[]}],
   "toolCallResults":{"c1":{"content":[{"value":"package gate"}]},"c2":{"content":[{"value":{"node":{"children":[{"text":"a"},{"children":[{"text":"b","lineBreakBefore":true}]}]}}}]}}}}},
 {"requestId":"r2","timestamp":1763727204000,"isSystemInitiated":true,"message":{"text":"the command ended"},"response":[
  {"kind":"thinking","value":"so"},{"value":"It is in "},{"kind":"inlineReference","inlineReference":{"fsPath":"/w/gate.go"}},{"value":"."},
  {"kind":"toolInvocationSerialized","toolCallId":"c3","toolId":"run_in_terminal","toolSpecificData":{"kind":"terminal","commandLine":{"original":"go test"},"terminalCommandOutput":{"text":"FAIL"},"terminalCommandState":{"exitCode":1}}},
  {"kind":"toolInvocationSerialized","toolCallId":"c4","toolId":"copilot_readFile","pastTenseMessage":{"value":"Read gate.go"}},
  {"kind":"undoStop"},{"kind":"markdownContent","content":{"value":"Done."}}]},
 {"requestId":"r3","timestamp":1763727304000,"message":{"text":"And the door"},"response":[],"result":{"metadata":{"toolCallRounds":[{"response":"A","summary":"The gate is painted.","toolCalls":[]},{"response":"B","toolCalls":[]}]}}}]}`

const changes = `{"kind":0,"v":{"version":3,"creationDate":1763727100000,"sessionId":"s-2","requests":[]}}
{"kind":2,"k":["requests"],"v":[{"requestId":"r1","message":{"text":"hello"},"response":[]}]}
{"kind":2,"k":["requests",0,"response"],"v":[{"value":"Hi "},{"value":"wrong"}]}
{"kind":2,"k":["requests",0,"response"],"v":[{"value":"there."}],"i":1}
{"kind":1,"k":["customTitle"],"v":"A greeting"}
{"kind":1,"k":["requests",0,"modelId"],"v":"copilot/gpt-5"}
{"kind":1,"k":["inputState"],"v":{"x":1}}
{"kind":3,"k":["inputState"]}
{"kind":1,"k":["requests",9,"modelId"],"v":"nowhere"}
{"kind":2,"k":["requests"],"v":[{"requestId":"r2","message":{"text":"bye"},"response":[{"value":"Bye."}]}]}
`

const replay = `{"exportedAt":"2026-01-01T00:00:00Z","totalPrompts":1,"prompts":[{"prompt":"Fix it","promptId":"p-1","logs":[
 {"id":"l1","kind":"request","type":"ChatMLSuccess","time":"2026-01-01T00:00:01Z","metadata":{"model":"gpt-5","usage":{"prompt_tokens":90,"completion_tokens":9}},"thinking":{"text":"hm"},"response":{"type":"success","message":["Reading."]}},
 {"id":"t1","kind":"toolCall","tool":"read_file","args":{"path":"a"},"response":["text of a"]},
 {"id":"e1","kind":"element","name":"x","tokens":3},
 {"id":"l2","kind":"request","response":{"type":"success","message":"Fixed."}}]}]}`

var samples = map[string][]byte{"s.json": []byte(session), "s.jsonl": []byte(changes), "r.chatreplay.json": []byte(replay)}

func TestSuite(t *testing.T) { archivetest.Run(t, Format{}, samples) }

func FuzzRead(f *testing.F) { archivetest.Fuzz(f, Format{}, samples) }

func outline(c *precis.Conversation) string {
	var b strings.Builder
	for _, m := range c.Transcript.Messages() {
		b.WriteString(string(m.Role[:1]) + ":")
		for _, block := range m.Content {
			switch block := block.(type) {
			case precis.Text:
				b.WriteString(" " + block.Text)
			case precis.Thinking:
				b.WriteString(" (" + block.Text + ")")
			case precis.ToolUse:
				b.WriteString(" " + block.ID + "=" + block.Name + string(block.Input))
			case precis.ToolResult:
				b.WriteString(" " + block.ToolUseID + ">")
				if block.IsError {
					b.WriteString("!")
				}
				for _, in := range block.Content {
					b.WriteString(in.(precis.Text).Text)
				}
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestRead(t *testing.T) {
	for name, want := range map[string]string{
		"s.json": `u: Paint the gate
a: (hm) Looking. c1=read_file{"path":"gate.go"} c2=list_dir{}
u: c1>package gate c2>a` + "\nb" + `
a: Painted.
u: <system-reminder>
the command ended
</system-reminder>
a: (so) It is in ` + "`/w/gate.go`" + `. c3=run_in_terminal{"command":"go test"} c4=copilot_readFile
u: c3>!FAIL
exit code 1 c4>Read gate.go
a: Done.
u: And the door
a: A
a: B
`,
		"s.jsonl":           "u: hello\na: Hi there.\nu: bye\na: Bye.\n",
		"r.chatreplay.json": "u: Fix it\na: (hm) Reading. t1=read_file{\"path\":\"a\"}\nu: t1>text of a\na: Fixed.\n",
	} {
		r, err := Format{}.Read(archive.Source{Path: name, Data: samples[name]})
		if err != nil {
			t.Fatal(err)
		}
		if got := outline(r.Conversation); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestFacts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "hash")
	path := filepath.Join(dir, "chatSessions", "s.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "workspace.json"), []byte(`{"folder":"file:///src/my%20harbour"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Format{}.Read(archive.Source{Path: path, Data: []byte(session)})
	if err != nil {
		t.Fatal(err)
	}
	c, o := r.Conversation, r.Origin
	if c.ID != "s-1" || c.Title != "The gate" || c.Model != "gpt-5" || o.Project != "/src/my harbour" || len(o.Spent) != 1 || o.Spent[0].Usage.Input != 500 || o.Begun.IsZero() {
		t.Errorf("%q %q %q, %+v", c.ID, c.Title, c.Model, o)
	}
	if len(c.Edits) != 1 || c.Edits[0].Kind != precis.KindCondensation || len(precis.View(c.Transcript, c.Edits)) != 2 {
		t.Errorf("%d edits, %d messages shown", len(c.Edits), len(precis.View(c.Transcript, c.Edits)))
	}
	if c.Transcript.At(4).IsUserTurn() {
		t.Error("what the system began counts as the user's")
	}
	r, err = Format{}.Read(archive.Source{Data: []byte(changes)})
	if err != nil || r.Skipped != 1 || r.Conversation.Title != "A greeting" || r.Conversation.Model != "gpt-5" {
		t.Errorf("%v, %d skipped, %q %q", err, r.Skipped, r.Conversation.Title, r.Conversation.Model)
	}
}
