package opencode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/archivetest"
)

// session writes an export; each message is {info members}, {parts}.
func session(messages ...[2]string) string {
	var list []string
	for i, m := range messages {
		list = append(list, fmt.Sprintf(`{"info":{"id":"msg_%d","sessionID":"ses_1","time":{"created":%d},%s},"parts":[%s]}`, i, 1000*(i+1), m[0], m[1]))
	}
	return `{"info":{"id":"ses_1","title":"A title","version":"1.0","time":{"created":1,"updated":2}},"messages":[` + strings.Join(list, ",\n") + `]}`
}

const (
	user      = `"role":"user","summary":{"title":"t"}`
	assistant = `"role":"assistant","modelID":"m-1","providerID":"p"`
	summary   = assistant + `,"summary":true,"finish":"stop"`
)

func tool(id, state string) string {
	return fmt.Sprintf(`{"type":"tool","tool":"read","callID":%q,"state":{"input":{"path":"a"},%s}}`, id, state)
}

func words(s string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }

var plain = session(
	[2]string{user, words("Look") + `,{"type":"text","text":"file content","synthetic":true},{"type":"text","text":"not sent","ignored":true},
		{"type":"file","mime":"image/png","filename":"a.png","url":"data:image/png;base64,AA=="},{"type":"file","mime":"application/pdf","filename":"b.pdf","url":"data:application/pdf;base64,BB=="},
		{"type":"file","mime":"text/plain","url":"file:///a.txt"},{"type":"agent","name":"x"}`},
	[2]string{assistant + `,"system":["Be brief.",""]`, `{"type":"step-start"},{"type":"reasoning","text":"hm"},` + words("I read.") + `,` +
		tool("c1", `"status":"completed","output":"one","time":{"start":1,"end":2},"attachments":[{"type":"file","mime":"image/png","url":"data:image/png;base64,CC=="}]`) + `,` +
		tool("c2", `"status":"error","error":"denied","time":{"start":1,"end":2,"compacted":5000}`) + `,{"type":"step-finish"},{"type":"step-start"},` + tool("c3", `"status":"running"`) + `,{"type":"patch","files":[]}`},
	[2]string{assistant + `,"error":{"name":"APIError"}`, ``},
	[2]string{assistant, words("Done.")},
)

var compacted = session(
	[2]string{user, words("one")}, [2]string{assistant, words("first")},
	[2]string{user, words("two")}, [2]string{assistant, words("second")},
	[2]string{user, `{"type":"compaction","auto":true,"tail_start_id":"msg_2"}`},
	[2]string{summary, words("We did one.")},
	[2]string{user, words("three")}, [2]string{assistant, words("third")},
	[2]string{user, `{"type":"compaction","auto":false}`},
	[2]string{summary, words("We did all.")},
	[2]string{user, words("four")},
	[2]string{user, `{"type":"compaction","auto":false}`},
)

var samples = map[string][]byte{"plain.json": []byte(plain), "compacted.json": []byte(compacted)}

func TestSuite(t *testing.T) { archivetest.Run(t, Format{}, samples) }

func FuzzRead(f *testing.F) { archivetest.Fuzz(f, Format{}, samples) }

func read(t *testing.T, data string) *archive.Recording {
	t.Helper()
	r, err := Format{}.Read(archive.Source{Data: []byte(data)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// show writes messages as one word each block.
func show(msgs []precis.Message) string {
	var out []string
	for _, m := range msgs {
		s := string(m.Role[0])
		for _, b := range m.Content {
			switch b := b.(type) {
			case precis.Text:
				s += ":" + b.Text
			case precis.ToolUse:
				s += ":use-" + b.ID
			case precis.ToolResult:
				s += fmt.Sprintf(":%s=%s/%d", b.ToolUseID, b.Text(), len(b.Content))
			default:
				s += strings.TrimPrefix(fmt.Sprintf(":%T", b), "precis.")
			}
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

func TestMessages(t *testing.T) {
	r := read(t, plain)
	c := r.Conversation
	want := `u:Look:file content:precis.Image:precis.Document
a:precis.Thinking:I read.:use-c1:use-c2
u:c1=one/2:c2=denied/1
a:use-c3
u:c3=[Tool execution was interrupted]/1
a:Done.`
	if got := show(c.Transcript.Messages()); got != want {
		t.Errorf("messages:\n%s\nwant:\n%s", got, want)
	}
	if b := precis.Check(c.Transcript.Messages()); len(b) > 0 {
		t.Error(b)
	}
	if said := c.Transcript.At(0).Content[1].(precis.Text); said.Attribution.Author != precis.AuthorProgram {
		t.Errorf("what opencode added is called %q", said.Attribution.Author)
	}
	if c.ID != "ses_1" || c.Title != "A title" || c.Model != "m-1" || c.System.PlainText() != "Be brief." || r.Ignored != 7 {
		t.Errorf("id %q, title %q, model %q, system %q, %d ignored", c.ID, c.Title, c.Model, c.System.PlainText(), r.Ignored)
	}
	if at := c.Transcript.At(1).Time; at.UnixMilli() != 2000 {
		t.Errorf("time %v", at)
	}
}

func TestCleared(t *testing.T) {
	c := read(t, plain).Conversation
	if len(c.Edits) != 1 || c.Edits[0].Kind != precis.KindPruning {
		t.Fatalf("edits %+v", c.Edits)
	}
	view := show(precis.View(c.Transcript, c.Edits))
	if !strings.Contains(view, "u:c1=one/2:c2=[Old tool result content cleared]/1") {
		t.Errorf("view:\n%s", view)
	}
}

func TestCompacted(t *testing.T) {
	c := read(t, compacted).Conversation
	if len(c.Edits) != 2 || c.Edits[0].Report.Messages != 2 || c.Edits[1].Report.Messages != 6 {
		t.Fatalf("edits %+v", c.Edits)
	}
	want := "u:What did we do so far?\na:We did one.\nu:two\na:second"
	if got := show(precis.View(c.Transcript.Prefix(4), c.Edits[:1])); got != want {
		t.Errorf("after the first compaction:\n%s\nwant:\n%s", got, want)
	}
	want = "u:What did we do so far?\na:We did all.\nu:four\nu:What did we do so far?"
	if got := show(precis.View(c.Transcript, c.Edits)); got != want {
		t.Errorf("view:\n%s\nwant:\n%s", got, want)
	}
}

func TestOldSummary(t *testing.T) {
	c := read(t, session([2]string{user, words("one")}, [2]string{assistant + `,"summary":true`, words("Summary.")}, [2]string{user, words("two")})).Conversation
	if got := show(precis.View(c.Transcript, c.Edits)); got != "a:Summary.\nu:two" || c.Transcript.Len() != 2 {
		t.Errorf("view:\n%s", got)
	}
}

func TestFailedCompaction(t *testing.T) {
	r := read(t, session([2]string{user, words("one")}, [2]string{user, `{"type":"compaction"}`}, [2]string{summary + `,"error":{"name":"x"}`, words("Half")}, [2]string{user, words("two")}))
	if got := show(r.Conversation.Transcript.Messages()); len(r.Conversation.Edits) != 0 || len(r.Warnings) != 1 || got != "u:one\nu:What did we do so far?\nu:two" {
		t.Errorf("%d edits, warnings %v, messages:\n%s", len(r.Conversation.Edits), r.Warnings, got)
	}
}

func TestDetect(t *testing.T) {
	if !(Format{}).Detect("", []byte(plain[:200])) {
		t.Error("the first bytes are not enough")
	}
	for _, data := range []string{
		`{"system":"s","messages":[{"role":"user","content":"hi"}]}`, `[{"role":"user","content":"hi"}]`,
		`{"info":{"mini_version":"2"},"messages":[{"role":"user","content":"hi"}]}`, `{"messages":[{"role":"user","parts":[]}]}`,
	} {
		if (Format{}).Detect("x.json", []byte(data)) {
			t.Errorf("Detect(%s)", data)
		}
	}
}

func TestMalformed(t *testing.T) {
	for parts, place := range map[string]string{`1`: "message 1 at byte", `{"text":"x"}`: "part 0 has no type"} {
		_, err := Format{}.Read(archive.Source{Data: []byte(session([2]string{user, words("a")}, [2]string{user, parts}))})
		if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), place) {
			t.Errorf("%s: error %v", parts, err)
		}
	}
}
