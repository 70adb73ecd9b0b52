package sweagent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/archivetest"
)

const text1 = `{"environment": "e", "trajectory": [{"action": "ls", "observation": "a.go"}], "history": [
 {"role": "system", "content": "SETTING", "agent": "primary"},
 {"role": "user", "content": "A demonstration", "agent": "primary", "is_demo": true},
 {"role": "assistant", "content": "", "thought": "Look.", "action": "ls", "agent": "primary", "is_demo": true},
 {"role": "user", "content": "a.go", "agent": "primary"},
 {"role": "assistant", "content": "Done.\n<command>submit</command>", "thought": "Done.", "action": "submit"}],
 "info": {"exit_status": "submitted"}}`

const calls = `{"trajectory": [], "history": [
 {"role": "system", "content": "SETTING", "message_type": "system_prompt"},
 {"role": "user", "content": [{"type": "text", "text": "Fix it"}]},
 {"role": "assistant", "content": "Look.", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}}],
  "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "sig"}]},
 {"role": "tool", "content": "a.go", "tool_call_ids": ["c"]},
 {"role": "assistant", "content": "Again.", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{}"}}]},
 {"role": "tool", "content": "b.go", "tool_call_ids": ["c"]}],
 "info": {}, "replay_config": "{\"agent\": {\"model\": {\"name\": \"m-1\"}}, \"problem_statement\": {\"id\": \"p-1\"}}"}`

const mini = `{"info": {"mini_version": "2.0", "model_stats": {}, "exit_status": "Submitted", "config": {"model": {"model_name": "m-2"}}}, "messages": [
 {"role": "system", "content": "You are"},
 {"role": "user", "content": "Fix it"},
 {"role": "assistant", "content": "THOUGHT\n` + "```bash\\nls\\n```" + `", "extra": {"timestamp": 1700000000.5}},
 {"role": "user", "content": "<returncode>0</returncode>"},
 {"type": "function_call", "call_id": "f", "name": "bash", "arguments": "{}"},
 {"type": "function_call_output", "call_id": "f", "output": "ok"},
 {"object": "response", "model": "m-3", "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Bye"}]}]},
 {"role": "exit", "content": "diff", "extra": {}}], "trajectory_format": "mini-swe-agent-1.1", "instance_id": "i-1"}`

var (
	samples     = map[string][]byte{"text.traj": []byte(text1), "calls.traj": []byte(calls)}
	miniSamples = map[string][]byte{"mini.traj.json": []byte(mini)}
)

func TestSuite(t *testing.T)     { archivetest.Run(t, Format{}, samples) }
func TestSuiteMini(t *testing.T) { archivetest.Run(t, Mini{}, miniSamples) }
func FuzzRead(f *testing.F)      { archivetest.Fuzz(f, Format{}, samples) }
func FuzzReadMini(f *testing.F)  { archivetest.Fuzz(f, Mini{}, miniSamples) }

func open(t *testing.T, f archive.Format, data string) *archive.Recording {
	t.Helper()
	r, err := f.Read(archive.Source{Data: []byte(data)})
	if err != nil {
		t.Fatal(err)
	}
	if b := precis.Check(r.Conversation.Transcript.Messages()); len(b) > 0 {
		t.Errorf("breaches: %v", b)
	}
	return r
}

func TestText(t *testing.T) {
	c := open(t, Format{}, text1).Conversation
	if c.System.PlainText() != "SETTING" || c.Transcript.Len() != 4 {
		t.Errorf("system %q, %d messages", c.System.PlainText(), c.Transcript.Len())
	}
	if got := c.Transcript.At(1).PlainText(); got != "Look.\n\n```\nls\n```" {
		t.Errorf("a message without content is %q", got)
	}
}

func TestCalls(t *testing.T) {
	c := open(t, Format{}, calls).Conversation
	if c.ID != "p-1" || c.Model != "m-1" {
		t.Errorf("id %q, model %q", c.ID, c.Model)
	}
	m := c.Transcript.At(1)
	if th, ok := m.Content[0].(precis.Thinking); !ok || th.Signature != "sig" || m.Raw != nil || m.Format != "" {
		t.Errorf("message %+v", m)
	}
	if r := c.Transcript.At(4).Content[0].(precis.ToolResult); r.ToolUseID != "c_2" || r.Text() != "b.go" {
		t.Errorf("answer to the second call named c: %+v", r)
	}
}

func TestMini(t *testing.T) {
	r := open(t, Mini{}, mini)
	c := r.Conversation
	if c.ID != "i-1" || c.Model != "m-2" || r.Ignored != 1 || c.Transcript.Len() != 6 {
		t.Errorf("id %q, model %q, %d ignored, %d messages", c.ID, c.Model, r.Ignored, c.Transcript.Len())
	}
	if at := c.Transcript.At(1).Time; at.UnixMilli() != 1700000000500 {
		t.Errorf("time %v", at)
	}
	if m := c.Transcript.At(5); m.PlainText() != "Bye" || m.Role != precis.RoleAssistant {
		t.Errorf("a response's message: %+v", m)
	}
}

func TestNot(t *testing.T) {
	for _, data := range []string{
		`{"system": "s", "messages": [{"role": "user", "content": "hi"}]}`, `[{"role": "user", "content": "hi"}]`,
		`{"info": {"id": "ses_1", "time": {}}, "messages": [{"info": {"role": "user"}, "parts": []}]}`, `{"history": [{"role": "user", "parts": []}]}`,
	} {
		if (Format{}).Detect("x.json", []byte(data)) || (Mini{}).Detect("x.json", []byte(data)) {
			t.Errorf("Detect(%s)", data)
		}
	}
	if (Mini{}).Detect("", []byte(text1)) || (Format{}).Detect("", []byte(mini)) {
		t.Error("the two formats are taken for each other")
	}
	if !(Mini{}).Detect("", []byte(mini[:300])) {
		t.Error("the first bytes of mini-SWE-agent's file are not enough")
	}
}

func TestMalformed(t *testing.T) {
	for _, data := range []string{`{"trajectory": [], "history": [{"role": "user", "content": "a"}, {"content": "b"}]}`, `{"trajectory": [], "history": [{"role": "user", "content": "a"}, 1]}`} {
		_, err := Format{}.Read(archive.Source{Data: []byte(data)})
		if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), "message 1 at byte 65") {
			t.Errorf("%s: error %v", data, err)
		}
	}
}

func TestRecordings(t *testing.T) {
	dir := os.Getenv("PRECIS_TRANSCRIPTS")
	if dir == "" {
		t.Skip("PRECIS_TRANSCRIPTS names no directory of recordings")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*swe-agent", "*"))
	for _, path := range files {
		r, err := archive.Open(path, []archive.Format{Format{}, Mini{}})
		if err != nil {
			t.Error(err)
			continue
		}
		if err := archivetest.Check(r); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if b := precis.Check(r.Conversation.Transcript.Messages()); len(b) > 1 || !r.Conversation.HasSystem() {
			t.Errorf("%s: breaches %v, system prompt %v", path, b, r.Conversation.HasSystem())
		}
	}
}
