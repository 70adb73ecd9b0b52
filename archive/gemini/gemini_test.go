package gemini

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/archivetest"
)

const contents = `[{"role":"user","parts":[{"text":"Look"},{"inlineData":{"mimeType":"image/png","data":"AA=="}},{"fileData":{"mimeType":"application/pdf","fileUri":"gs://x"}}]},
 {"role":"model","parts":[{"text":"hm","thought":true},{"text":"Reading."},{"functionCall":{"name":"read","args":{"p":1}},"thoughtSignature":"s"},{"functionCall":{"name":"list","args":{}}},{"functionCall":{"name":"read","args":{"p":2}}}]},
 {"role":"function","parts":[{"functionResponse":{"name":"list","response":{"output":"l"}}},{"functionResponse":{"name":"read","response":{"output":"one"}}},{"functionResponse":{"name":"read","response":{"error":"gone"}}}]},
 {"role":"model","parts":[{"functionCall":{"id":"x","name":"read","args":{}}}]},
 {"role":"user","parts":[{"functionResponse":{"id":"x","name":"read","response":{"a":1,"b":2}}}]},
 {"role":"model","parts":[{"functionCall":{"id":"x","name":"read","args":{}}}]},
 {"role":"user","parts":[{"functionResponse":{"id":"x","name":"read","response":{"output":"again"}}}]},
 {"role":"model","parts":[{"text":" "}]},
 {"role":"model","parts":[{"executableCode":{"code":"1"}},{"text":"Done."}]}]`

const record = `{"sessionId":"s-1","projectHash":"h","startTime":"2026-01-01T00:00:00Z","summary":"A title","messages":[
 {"id":"1","timestamp":"2026-01-01T00:00:01Z","type":"user","content":[{"text":"Look"}]},
 {"id":"2","timestamp":"2026-01-01T00:00:02Z","type":"info","content":"Update available"},
 {"id":"3","timestamp":"2026-01-01T00:00:03Z","type":"gemini","model":"gemini-3","content":"Reading.","thoughts":[{"subject":"Plan","description":"read it"}],
  "toolCalls":[{"id":"t1","name":"read","args":{"p":1},"status":"success","result":[{"functionResponse":{"id":"t1","name":"read","response":{"output":"one"}}}]},
   {"id":"t2","name":"read","args":{"p":2},"status":"error","result":[{"functionResponse":{"id":"t2","name":"read","response":{"error":"gone"}}}]}]},
 {"id":"4","timestamp":"2026-01-01T00:00:04Z","type":"gemini","content":[{"text":"More."},{"functionCall":{"id":"t3","name":"ls","args":{}}}],"toolCalls":[{"id":"t3","name":"ls","args":{},"status":"success","result":"files"}]},
 {"id":"5","timestamp":"2026-01-01T00:00:05Z","type":"user","content":[{"functionResponse":{"id":"t3","name":"ls","response":{"output":"files"}}}]},
 {"id":"6","timestamp":"2026-01-01T00:00:06Z","type":"gemini","content":"Done."}]}`

const log1 = `{"sessionId":"s-2","projectHash":"h","startTime":"2026-01-01T00:00:00Z","kind":"main"}
{"id":"1","type":"user","content":"one"}
{"id":"2","type":"gemini","content":"left"}
{"id":"3","type":"gemini","content":"never fin
{"$rewindTo":"2"}
{"id":"4","type":"gemini","content":"tak"}
{"id":"4","type":"gemini","content":"taken"}
{"$set":{"summary":"A title"}}
{"id":"4b","type":"gemini","content":"old"}
{"$set":{"messages":[{"id":"5","type":"user","content":"Summary."},{"id":"4","type":"gemini","content":"taken"}]}}
{"id":"6","type":"user","content":"two"}
`

var samples = map[string][]byte{
	"contents.json": []byte(contents), "session.json": []byte(record), "session.jsonl": []byte(log1),
	"checkpoint.json": []byte(`{"history":` + contents + `,"authType":"x"}`),
	"body.json":       []byte(`{"model":"gemini-3","systemInstruction":{"parts":[{"text":"Be brief."}]},"tools":[{"functionDeclarations":[]}],"contents":` + contents + `}`),
}

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
func show(c *precis.Conversation) string {
	var out []string
	for _, m := range c.Transcript.Messages() {
		s := string(m.Role[0])
		for _, b := range m.Content {
			switch b := b.(type) {
			case precis.Text:
				s += ":" + b.Text
			case precis.ToolUse:
				s += fmt.Sprintf(":%s(%s)", b.ID, b.Input)
			case precis.ToolResult:
				s += fmt.Sprintf(":%s=%s", b.ToolUseID, b.Text())
				if b.IsError {
					s += "!"
				}
			default:
				s += fmt.Sprintf(":%T", b)
			}
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

func TestContents(t *testing.T) {
	r := read(t, contents)
	want := `u:Look:precis.Image:precis.Document
a:precis.Thinking:Reading.:gemini_call_1({"p":1}):gemini_call_2({}):gemini_call_3({"p":2})
u:gemini_call_2=l:gemini_call_1=one:gemini_call_3=gone!
a:x({})
u:x={"a":1,"b":2}
a:gemini_call_4({})
u:gemini_call_4=again
a:precis.Opaque:Done.`
	if got := show(r.Conversation); got != want {
		t.Errorf("messages:\n%s\nwant:\n%s", got, want)
	}
	if b := precis.Check(r.Conversation.Transcript.Messages()); len(b) > 0 || r.Ignored != 1 {
		t.Errorf("breaches %v, %d ignored", b, r.Ignored)
	}
}

func TestBody(t *testing.T) {
	c := read(t, string(samples["body.json"])).Conversation
	if c.Model != "gemini-3" || c.System.PlainText() != "Be brief." || len(c.Tools) == 0 || c.Transcript.Len() != 8 {
		t.Errorf("model %q, system %q, tools %s, %d messages", c.Model, c.System.PlainText(), c.Tools, c.Transcript.Len())
	}
}

func TestSession(t *testing.T) {
	r := read(t, record)
	want := `u:Look
a:precis.Thinking:Reading.:t1({"p":1}):t2({"p":2})
u:t1=one:t2=gone!
a:More.:t3({})
u:t3=files
a:Done.`
	if got := show(r.Conversation); got != want {
		t.Errorf("messages:\n%s\nwant:\n%s", got, want)
	}
	c := r.Conversation
	if c.ID != "s-1" || c.Title != "A title" || c.Model != "gemini-3" || c.Transcript.At(1).Time.Second() != 3 || r.Ignored != 2 {
		t.Errorf("id %q, title %q, model %q, time %v, %d ignored", c.ID, c.Title, c.Model, c.Transcript.At(1).Time, r.Ignored)
	}
}

func TestLog(t *testing.T) {
	r := read(t, log1)
	c := r.Conversation
	if got := show(c); got != "u:Summary.\na:taken\nu:two" || c.ID != "s-2" || c.Title != "A title" {
		t.Errorf("id %q, title %q, messages:\n%s", c.ID, c.Title, got)
	}
	if r.Skipped != 1 || r.Warnings[0].Place != "line 4" {
		t.Errorf("%d skipped, warnings %v", r.Skipped, r.Warnings)
	}
	if len(c.Branches) != 2 || show(c.Branches[0]) != "u:one\na:left" || show(c.Branches[1]) != "u:one\na:taken\na:old" {
		t.Errorf("branches %v", c.Branches)
	}
}

// A compression hides what was said, and keeps it; a second one covers the first.
func TestCompressed(t *testing.T) {
	const head = `{"sessionId":"s","projectHash":"h","startTime":"2026-01-01T00:00:00Z","kind":"main"}` + "\n"
	said := func(id, kind, text string) string {
		return fmt.Sprintf(`{"id":%q,"timestamp":"2026-01-01T00:00:00Z","type":%q,"content":%q}`, id, kind, text)
	}
	set := func(list ...string) string { return `{"$set":{"messages":[` + strings.Join(list, ",") + `]}}` + "\n" }
	lines := head + said("1", "user", "Never push.") + "\n" + said("2", "gemini", "I will not.") + "\n" + said("3", "user", "Go on.") + "\n" + said("4", "gemini", "Done.") + "\n" +
		set(said("a", "user", "<state_snapshot>First.</state_snapshot>"), said("b", "gemini", "Got it."), said("c", "user", "Go on."), said("d", "gemini", "Done.")) +
		said("5", "user", "More.") + "\n" + said("6", "gemini", "Yes.") + "\n" +
		set(said("e", "user", "<state_snapshot>Second.</state_snapshot>"), said("f", "gemini", "Yes.")) + said("7", "user", "And?") + "\n"
	rec, err := Format{}.Read(archive.Source{Path: "session.jsonl", Data: []byte(lines)})
	if err != nil {
		t.Fatal(err)
	}
	c := rec.Conversation
	if c.Transcript.Len() != 7 || len(c.Edits) != 2 || len(c.Branches) != 0 || rec.Skipped != 0 {
		t.Fatalf("%d messages, %d edits, %d branches, %v", c.Transcript.Len(), len(c.Edits), len(c.Branches), rec.Warnings)
	}
	show := func(edits []precis.Edit) (out []string) {
		for _, m := range precis.View(c.Transcript, edits) {
			out = append(out, m.PlainText())
		}
		return out
	}
	want := []string{"<state_snapshot>Second.</state_snapshot>", "Yes.", "And?"}
	if got := show(c.Edits); !slices.Equal(got, want) {
		t.Errorf("the view is %q", got)
	}
	want = []string{"<state_snapshot>First.</state_snapshot>", "Got it.", "Go on.", "Done.", "More.", "Yes.", "And?"}
	if got := show(c.Edits[:1]); !slices.Equal(got, want) {
		t.Errorf("with the first alone: %q", got)
	}
}

// A program that resumes a session reads it and sets it anew, with results twice and other
// IDs, and so does a hook that adds to a result: nothing of that is a rewriting. Lines as
// Gemini CLI 0.61.0 writes them.
func TestResumed(t *testing.T) {
	const head = `{"sessionId":"s","projectHash":"h","startTime":"2026-01-01T00:00:00Z","kind":"main"}` + "\n"
	said := func(id, kind, text string) string {
		return fmt.Sprintf(`{"id":%q,"timestamp":"2026-01-01T00:00:00Z","type":%q,"content":[{"text":%q}]}`, id, kind, text)
	}
	result := func(id, more string) string {
		return fmt.Sprintf(`{"id":%q,"type":"user","content":[{"functionResponse":{"id":"c1","name":"read","response":{"output":"one"}}}%s]}`, id, more)
	}
	const calls = `{"id":"2","type":"gemini","content":"Reading.","thoughts":[],"model":"gemini-3","toolCalls":[{"id":"c1","name":"read","args":{"p":1},"status":"success","result":[{"functionResponse":{"id":"c1","name":"read","response":{"output":"one"}}}]}]}`
	again := func(id string) string {
		return fmt.Sprintf(`{"id":%q,"type":"gemini","content":[{"text":"Reading."},{"functionCall":{"args":{"p":1},"id":"c1","name":"read"}}]}`, id)
	}
	set := func(list ...string) string { return `{"$set":{"messages":[` + strings.Join(list, ",") + `]}}` + "\n" }
	context := said("0", "user", "<session_context>Here.")
	begun := head + set(context) + said("1", "user", "Never push.") + "\n" + `{"id":"2","type":"gemini","content":"Reading."}` + "\n" + calls + "\n" + result("3", "") + "\n" + said("4", "gemini", "Read.") + "\n"
	resumed := begun + head + set(context) + `{"$set":{"sessionId":"s"}}` + "\n" +
		set(context, said("1", "user", "Never push."), again("2"), result("2", ""), result("3", ""), said("4", "gemini", "Read."))
	whole := "u:<session_context>Here.\nu:Never push.\na:Reading.:c1({\"p\":1})\nu:c1=one\na:Read."
	check := func(what, lines, want string, edits int) *precis.Conversation {
		t.Helper()
		r := read(t, lines)
		c := r.Conversation
		if got := show(c); got != want || len(c.Edits) != edits || len(c.Branches) != 0 || r.Skipped != 0 {
			t.Errorf("%s: %d edits, %d branches, %v, messages:\n%s", what, len(c.Edits), len(c.Branches), r.Warnings, got)
		}
		return c
	}
	check("resumed", resumed, whole, 0)
	check("with a hook's words", resumed+set(context, said("x", "user", "Never push.\n<hook_context>More."), again("y"), result("z", `,{"text":"<hook_context>More."}`), said("w", "gemini", "Read."), said("v", "user", "Go on.")), whole+"\nu:Go on.", 0)
	// The snapshot stands behind what the program says of the session.
	snapshot := said("a", "user", "<state_snapshot>Read.</state_snapshot>")
	compressed := resumed + set(context, snapshot, said("b", "gemini", "Got it.")) + said("5", "user", "Go on.") + "\n" + said("6", "gemini", "Yes.") + "\n"
	c := check("compressed", compressed, whole+"\nu:Go on.\na:Yes.", 1)
	if view := precis.View(c.Transcript, c.Edits); len(view) != 5 || view[1].PlainText() != "<state_snapshot>Read.</state_snapshot>" {
		t.Errorf("the view is %v", view)
	}
	check("set anew behind the compression", compressed+set(context, said("c", "user", "<state_snapshot>Read.</state_snapshot>"), said("d", "gemini", "Got it."), said("e", "user", "Go on."), said("f", "gemini", "Yes."))+said("7", "user", "And?")+"\n", whole+"\nu:Go on.\na:Yes.\nu:And?", 1)
	// A list that shares the beginning alone is another one.
	if r := read(t, begun+set(context, said("8", "user", "Another thing."))); show(r.Conversation) != "u:<session_context>Here.\nu:Another thing." || len(r.Conversation.Branches) != 1 {
		t.Errorf("%d branches, messages:\n%s", len(r.Conversation.Branches), show(r.Conversation))
	}
	// A session that does go on from its beginning has left the rest.
	r := read(t, begun+set(context)+said("8", "user", "Another thing.")+"\n")
	if got := show(r.Conversation); got != "u:<session_context>Here.\nu:Another thing." || len(r.Conversation.Branches) != 1 {
		t.Errorf("%d branches, messages:\n%s", len(r.Conversation.Branches), got)
	}
}

func TestNot(t *testing.T) {
	for _, data := range []string{
		`{"system":"s","messages":[{"role":"user","content":"hi"}]}`, `[{"role":"user","content":"hi"}]`, `[{"role":"user","content":[{"type":"text","text":"hi"}]}]`,
		`{"trajectory":[],"history":[{"role":"user","content":"x"}]}`, `[{"role":"assistant","parts":[]}]`, `{"sessionId":"x","messages":[{"role":"user","content":"x"}]}`,
	} {
		if (Format{}).Detect("x.json", []byte(data)) {
			t.Errorf("Detect(%s)", data)
		}
	}
}

func TestMalformed(t *testing.T) {
	for data, place := range map[string]string{
		`[{"role":"user","parts":[{"text":"a"}]},{"role":"user","parts":[1]}]`: "content 1 at byte 40: part 0",
		`{"contents":[{"role":"x","parts":[]}]}`:                               "content 0 at byte 13",
		`{"sessionId":"x","messages":[{"content":"a"}]}`:                       "message 0 at byte 29",
		`[{"role":"user","parts":[]}`:                                          "byte 27",
	} {
		_, err := Format{}.Read(archive.Source{Data: []byte(data)})
		if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(fmt.Sprint(err), place) {
			t.Errorf("%s: error %v, want invalid at %q", data, err, place)
		}
	}
}

func TestRecordings(t *testing.T) {
	dir := os.Getenv("PRECIS_TRANSCRIPTS")
	if dir == "" {
		t.Skip("PRECIS_TRANSCRIPTS names no directory of recordings")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "gemini", "*.json"))
	for _, path := range files {
		r, err := archive.Open(path, []archive.Format{Format{}})
		if err != nil {
			t.Error(err)
			continue
		}
		if err := archivetest.Check(r); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if b := precis.Check(r.Conversation.Transcript.Messages()); len(b) > 1 {
			t.Errorf("%s: %v", path, b)
		}
	}
}

// What the program put into a message for a person who named a file is not theirs.
func TestFilesThatWereNamed(t *testing.T) {
	r := read(t, `{"sessionId":"s","messages":[{"id":"1","type":"user","content":[{"text":"Look at @a.md."},{"text":"\n--- Content from referenced files ---"},{"text":"\nContent from @a.md:\n"},{"text":"Always dig."},{"text":"\n--- End of content ---"},{"text":"Be quick."}]}]}`)
	if got := precis.SpeechOf(r.Conversation.Transcript.Messages()).Words(0); got != "Look at @a.md.\nBe quick." {
		t.Errorf("the person says %q", got)
	}
}
