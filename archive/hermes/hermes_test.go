package hermes_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/archivetest"
	"github.com/precis-dev/precis/archive/hermes"
)

const (
	call     = `{"role":"assistant","content":"","reasoning":null,"tool_calls":[{"id":"c1","call_id":"c1","type":"function","function":{"name":"terminal","arguments":"{\"command\":\"ls\"}"}}],"timestamp":"2026-04-01T00:00:02"}`
	result   = `{"role":"tool","content":"file-one","tool_call_id":"c1","timestamp":"2026-04-01T00:00:03"}`
	document = `{"session_id":"20260401_1","model":"m","platform":"telegram","system_prompt":"You keep the shed.","tools":[{"type":"function","function":{"name":"terminal"}}],` +
		`"messages":[{"role":"user","content":"list the folder"},` + call + `,` + result + `,{"role":"assistant","content":"one file"}]}`
	lines = `{"role":"session_meta","tools":[],"model":"m","platform":"telegram","timestamp":"2026-04-01T00:00:00"}` + "\n" +
		`{"role":"user","content":"list the folder","timestamp":"2026-04-01T00:00:01"}` + "\n" + call + "\n" + result + "\nnot JSON\n" + `{"role":"assistant","content":"one file"}` + "\n"
)

var samples = map[string][]byte{"session.json": []byte(document), "session.jsonl": []byte(lines)}

func TestSuite(t *testing.T) { archivetest.Run(t, hermes.Format{}, samples) }

func FuzzRead(f *testing.F) { archivetest.Fuzz(f, hermes.Format{}, samples) }

func TestRead(t *testing.T) {
	for name, data := range samples {
		r, err := hermes.Format{}.Read(archive.Source{Path: name, Data: data})
		if err != nil {
			t.Fatal(err)
		}
		c := r.Conversation
		msgs := c.Transcript.Messages()
		if len(msgs) != 4 || msgs[0].PlainText() != "list the folder" || msgs[3].PlainText() != "one file" || c.Model != "m" {
			t.Fatalf("%s: model %q, %v", name, c.Model, msgs)
		}
		if got, ok := msgs[2].Content[0].(precis.ToolResult); !ok || got.Text() != "file-one" || got.ToolUseID != "c1" {
			t.Errorf("%s: the result is %+v", name, msgs[2].Content)
		}
		if b := precis.Check(msgs); len(b) > 0 {
			t.Errorf("%s: %v", name, b)
		}
		if whole := name == "session.json"; whole != (c.System.PlainText() == "You keep the shed." && c.ID == "20260401_1" && len(c.Tools) > 2) {
			t.Errorf("%s: ID %q, system prompt %q, tools %s", name, c.ID, c.System.PlainText(), c.Tools)
		} else if !whole && (r.Skipped != 1 || msgs[1].Time.Second() != 2) {
			t.Errorf("%s: %d lines skipped, the call at %v", name, r.Skipped, msgs[1].Time)
		}
	}
}

func TestWhatIsNone(t *testing.T) {
	for _, data := range []string{`{"messages":[{"role":"user","content":"a"}]}`, `{"session_id":"x","messages":[]}`, `{"role":"user","content":"a"}`, `[]`, ``, `{"session_id"`} {
		if (hermes.Format{}).Detect("x.json", []byte(data)) {
			t.Errorf("%q is taken for a session", data)
		}
	}
	_, err := hermes.Format{}.Read(archive.Source{Data: []byte(strings.Replace(document, `"role":"tool"`, `"role":7`, 1))})
	if err == nil || !strings.Contains(err.Error(), "message 2 at byte") {
		t.Errorf("a broken message: %v", err)
	}
}
