package plain_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/archivetest"
	"github.com/precis-dev/precis/archive/plain"
	"github.com/precis-dev/precis/internal/jsonspan"
)

const (
	anthropic = `[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"text","text":" "},{"type":"tool_use","id":"t1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}]`
	chat      = `[{"role":"system","content":"sys"},{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},{"role":"tool","content":"x"}]`
	items     = `[{"role":"developer","content":"sys"},{"type":"message","role":"user","content":"hi"},{"type":"function_call","call_id":"t1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"t1","output":"x"}]`
)

// lines writes the elements of an array on a line each.
func lines(array string) string {
	var out strings.Builder
	for span, err := range jsonspan.Array([]byte(array)) {
		if err != nil {
			panic(err)
		}
		out.Write(append(span.Raw[:len(span.Raw):len(span.Raw)], '\n'))
	}
	return out.String()
}

var documents = []struct {
	name, data   string
	format, want string
	system       string // its raw bytes
}{
	{"anthropic body", `{"model":"m","system":[{"type":"text","text":"sys"}], "max_tokens":5,"tools":[{"name":"f"}],"messages":` + anthropic + `}`, "anthropic", "u:[hi] a:<t1 u:>t1 x", `[{"type":"text","text":"sys"}]`},
	{"anthropic array", "\n " + anthropic, "anthropic", "u:[hi] a:<t1 u:>t1 x", ""},
	{"chat body", `{"model":"m","messages":` + chat + `,"tools":[{"type":"function","function":{"name":"f"}}]}`, "chat", "u:[hi] a:<precis_call_1 u:>precis_call_1 x", `{"role":"system","content":"sys"}`},
	{"chat array", chat, "chat", "u:[hi] a:<precis_call_1 u:>precis_call_1 x", `{"role":"system","content":"sys"}`},
	{"chat told by its tools", `{"tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"user","content":"hi"}]}`, "chat", "u:[hi]", ""},
	{"trajectory", `{"task_id":1,"reward":1.0,"traj":` + chat + `}`, "chat", "u:[hi] a:<precis_call_1 u:>precis_call_1 x", `{"role":"system","content":"sys"}`},
	{"text alone", `{"system":"sys","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"}],"title":"T"}`, "anthropic", "u:[hi] a:[ho]", `"sys"`},
	{"responses body", `{"model":"m","instructions":"sys","input":` + items + `}`, "responses", "s:[sys] u:[hi] a:<t1 u:>t1 x", `"sys"`},
	{"responses array", items, "responses", "u:[hi] a:<t1 u:>t1 x", `{"role":"developer","content":"sys"}`},
	{"chat lines", lines(chat), "chat", "u:[hi] a:<precis_call_1 u:>precis_call_1 x", `{"role":"system","content":"sys"}`},
	{"anthropic lines", lines(anthropic) + "{\"type\":\"meta\"}\n\n", "anthropic", "u:[hi] a:<t1 u:>t1 x", ""},
	{"one line", `{"role":"user","content":"hi"}`, "anthropic", "u:[hi]", ""},
	{"responses text", `{"instructions":"sys","input":"hi"}`, "responses", "u:[hi]", `"sys"`},
}

func samples() map[string][]byte {
	out := map[string][]byte{}
	for _, d := range documents {
		out[d.name] = []byte(d.data)
	}
	return out
}

func TestSuite(t *testing.T) { archivetest.Run(t, plain.Format{}, samples()) }

func FuzzRead(f *testing.F) { archivetest.Fuzz(f, plain.Format{}, samples()) }

// show writes messages as one word each block.
func show(msgs []precis.Message) string {
	var out []string
	for _, m := range msgs {
		line := string(m.Role[:1]) + ":"
		for _, b := range m.Content {
			switch b := b.(type) {
			case precis.Text:
				line += "[" + b.Text + "]"
			case precis.ToolUse:
				line += "<" + b.ID
			case precis.ToolResult:
				line += ">" + b.ToolUseID + " " + b.Text()
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, " ")
}

func TestRead(t *testing.T) {
	for _, d := range documents {
		t.Run(d.name, func(t *testing.T) {
			r, err := plain.Format{}.Read(archive.Source{Data: []byte(d.data)})
			if err != nil {
				t.Fatal(err)
			}
			c := r.Conversation
			if got := show(c.Transcript.Messages()); got != d.want {
				t.Errorf("got %s, want %s", got, d.want)
			}
			if f := c.Transcript.At(0).Format; f != d.format {
				t.Errorf("format is %s, want %s", f, d.format)
			}
			if string(c.System.Raw) != d.system || d.system != "" && (c.System.Format != d.format || c.System.PlainText() != "sys") {
				t.Errorf("system is %s of %s, want %s", c.System.Raw, c.System.Format, d.system)
			}
			if strings.Contains(d.name, "body") && c.Model != "m" || strings.Contains(d.data, `"tools"`) != (c.Tools != nil) {
				t.Errorf("model %q, tools %s", c.Model, c.Tools)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for data, place := range map[string]string{
		`{"messages":[{"role":"user","content":"a"},{"role":"user","content":5}]}`: `"messages", which begins at byte 12: read: message 1 at byte 31`,
		`{"messages":[{"role":"user","content":"a"}]} x`:                           "byte 43",
		`[{"role":"user","content":"a"},]`:                                         "byte 30",
		`{"instructions":5,"input":"a"}`:                                           "instructions",
		`{}`:                                                                       "no list of messages",
		`{"messages":[]}`:                                                          "the list of messages is empty",
		`{"messages":{}}`:                                                          "the messages are no list",
		`{"messages":["a"]}`:                                                       "message 0 is no object",
		`{"messages":[{"content":"a"}]}`:                                           "message 0 has no role",
		`{"messages":[{"role":"robot","content":"a"}]}`:                            `message 0: "robot" is no role`,
		`{"messages":[{"role":"user"}]}`:                                           "message 0 has no content",
		``:                                                                         "byte 0",
	} {
		_, err := plain.Format{}.Read(archive.Source{Data: []byte(data)})
		if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(fmt.Sprint(err), place) {
			t.Errorf("%s: %v, want code invalid at %s", data, err, place)
		}
	}
}

// TestDetectBeginning recognizes a document by its first part.
func TestDetectBeginning(t *testing.T) {
	for _, data := range []string{anthropic[:60], `{"model":"m","messages":[{"role":"user","con`} {
		if !(plain.Format{}).Detect("", []byte(data)) {
			t.Errorf("Detect(%s) is false", data)
		}
	}
}

// TestRecordings reads the recordings in the directory PRECIS_TRANSCRIPTS.
func TestRecordings(t *testing.T) {
	dir := os.Getenv("PRECIS_TRANSCRIPTS")
	if dir == "" {
		t.Skip("PRECIS_TRANSCRIPTS names no directory of recordings")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "openai-chat", "*.json"))
	for _, file := range files {
		r, err := archive.Open(file, []archive.Format{plain.Format{}})
		if err == nil {
			err = archivetest.Check(r)
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for _, b := range precis.Check(r.Conversation.Transcript.Messages()) {
			if b.Rule == "pairing" || b.Rule == "order" {
				t.Errorf("%s: %v", file, b)
			}
		}
	}
	if len(files) == 0 {
		t.Errorf("no recordings in %s", dir)
	}
}
