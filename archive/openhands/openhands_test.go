package openhands

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/archivetest"
)

// sdk writes events of the SDK; they are named e0, e1, …
func sdk(events ...string) string {
	var b strings.Builder
	for i, e := range events {
		fmt.Fprintf(&b, `{"id":"e%d","timestamp":"2025-09-25T18:58:%02d.5","source":"agent",%s}`+"\n", i, i, e)
	}
	return b.String()
}

func say(role, text string) string {
	return fmt.Sprintf(`"kind":"MessageEvent","llm_message":{"role":%q,"content":[{"type":"text","text":%q,"cache_prompt":false}]}`, role, text)
}

func act(id string) string {
	return fmt.Sprintf(`"kind":"ActionEvent","thought":[{"type":"text","text":"go"}],"tool_name":"bash","tool_call_id":%q,"tool_call":{"id":%q,"function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}`, id, id)
}

func see(id, output string) string {
	return fmt.Sprintf(`"kind":"ObservationEvent","tool_call_id":%q,"observation":{"kind":"ExecuteBashObservation","output":%q,"error":false,"metadata":{"exit_code":1,"working_dir":"/w","py_interpreter_path":"","prefix":"","suffix":"!"}}`, id, output)
}

const system = `"kind":"SystemPromptEvent","system_prompt":{"type":"text","text":"Be brief."},"tools":[{"type":"function"}]`

// The first condensation cuts between e4 and its answer, as OpenHands does.
var condensed = sdk(system, say("user", "Fix it"), act("c1"), see("c1", "one"), act("c2"), see("c2", "two"), act("c3"),
	`"kind":"Condensation","forgotten_event_ids":["e2","e3","e4"],"summary":"First.","summary_offset":2`,
	see("c3", "three"), act("c4"), see("c4", "four"),
	`"kind":"Condensation","forgotten_event_ids":["no-such","e5","e6"],"summary":"Second.","summary_offset":2`,
	`"kind":"CondensationRequest"`, `"kind":"Condensation","forgotten_event_ids":["e11"]`, say("assistant", "Done."))

var others = sdk(system, say("user", "Fix it"),
	`"kind":"ActionEvent","thought":[],"reasoning_content":"hm","tool_name":"edit","tool_call_id":"a","tool_call":{"id":"a","name":"edit","arguments":"{}"}`,
	`"kind":"ObservationEvent","tool_call_id":"a","observation":{"kind":"FileEditorObservation","is_error":true,"content":[{"type":"text","text":"no"},{"type":"image","image_urls":["data:image/png;base64,AA=="]}]}`,
	act("b"), `"kind":"AgentErrorEvent","tool_name":"bash","tool_call_id":"b","error":"bad call"`,
	act("c"), `"kind":"UserRejectObservation","tool_call_id":"c","rejection_reason":"not now"`,
	act("c"), `"kind":"ObservationEvent","tool_call_id":"c","observation":{"kind":"Odd","rows":[1]}`,
	`"kind":"ConversationStateUpdateEvent","key":"full_state","value":{"id":"conv-1","agent":{"llm":{"model":"m-1"}}}`)

func call(id, response, words string) string {
	return fmt.Sprintf(`"source":"agent","action":"run","args":{"command":"ls","thought":"t"},"tool_call_metadata":{"function_name":"bash","tool_call_id":%q,"model_response":{"id":%q,"model":"m-2","choices":[{"message":{"content":%q,"tool_calls":[{"id":%q,"function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]}}]}}`, id, response, words, id)
}

func list(events ...string) string {
	var out []string
	for i, e := range events {
		out = append(out, fmt.Sprintf(`{"id":%d,"timestamp":"2025-04-30T16:32:%02d.5",%s}`, i, i, e))
	}
	return "[" + strings.Join(out, ",\n") + "]"
}

var old = list(`"source":"agent","action":"system","args":{"content":"Be brief.","tools":[{"type":"function"}]}`,
	`"source":"user","action":"message","args":{"content":"Fix it","image_urls":["http://x/a.png"]}`,
	`"source":"user","action":"recall","args":{"query":"q"}`,
	call("c1", "r1", "Both."), call("c2", "r1", "Both."),
	`"source":"agent","cause":3,"observation":"run","content":"one","extras":{"metadata":{"exit_code":0,"working_dir":"/w"}},"tool_call_metadata":{"tool_call_id":"c1"}`,
	`"source":"agent","cause":4,"observation":"error","content":"two","extras":{},"tool_call_metadata":{"tool_call_id":"c2"}`,
	`"source":"agent","action":"read","args":{"path":"a","thought":"Look."}`,
	`"source":"agent","cause":7,"observation":"read","content":"text","extras":{}`,
	`"source":"agent","action":"condensation","args":{"forgotten_event_ids":null,"forgotten_events_start_id":3,"forgotten_events_end_id":6,"summary":"Early.","summary_offset":2}`,
	`"source":"agent","action":"message","args":{"content":"Done."}`)

var samples = map[string][]byte{
	"condensed.jsonl": []byte(condensed), "others.jsonl": []byte(others), "old.json": []byte(old),
	"output.jsonl": []byte(`{"instance_id":"i-1","metadata":{"llm_config":{"model":"m-3"}},"history":` + strings.ReplaceAll(old, "\n", "") + `}
{"instance_id":"i-2","history":[[{"source":"user","action":"message","args":{"content":"Pair"}},{"source":"agent","observation":"null","content":"","extras":{}}]]}
`),
}

func TestSuite(t *testing.T) { archivetest.Run(t, Format{}, samples) }

func FuzzRead(f *testing.F) {
	archivetest.Fuzz(f, Format{}, samples)
}

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
				s += fmt.Sprintf(":%s %s", b.ID, b.Input)
			case precis.ToolResult:
				s += fmt.Sprintf(":%s=%q/%d", b.ToolUseID, b.Text(), len(b.Content))
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

func TestCondensed(t *testing.T) {
	r := read(t, condensed)
	c := r.Conversation
	if c.System.PlainText() != "Be brief." || string(c.Tools) != `[{"type":"function"}]` || c.Transcript.Len() != 10 {
		t.Errorf("system %q, tools %s, %d messages", c.System.PlainText(), c.Tools, c.Transcript.Len())
	}
	const shell = `!\n[Current working directory: /w]\n[Command finished with exit code 1]"/1`
	const ls = ` {"command":"ls"}`
	for n, want := range map[int]string{
		1: "u:Fix it\nu:First.\na:go:c3" + ls,
		2: "u:Fix it\nu:Second.\na:go:c4" + ls + "\nu:c4=\"four" + shell + "\na:Done.",
	} {
		if n > len(c.Edits) {
			t.Fatalf("%d edits; %v", len(c.Edits), r.Warnings)
		}
		seen := c.Transcript
		if n == 1 {
			seen = seen.Prefix(c.Edits[0].Seen)
		}
		if got := show(precis.View(seen, c.Edits[:n])); got != want {
			t.Errorf("view after %d:\n%s\nwant:\n%s", n, got, want)
		}
	}
	if r.Ignored != 1 || len(r.Warnings) != 0 || len(c.Edits) != 3 {
		t.Errorf("%d ignored, warnings %v, %d edits", r.Ignored, r.Warnings, len(c.Edits))
	}
	if b := precis.Check(precis.View(c.Transcript, c.Edits)); len(b) > 0 {
		t.Error(b)
	}
}

func TestKeptBetween(t *testing.T) {
	c := read(t, sdk(say("user", "a"), say("assistant", "b"), say("user", "c"), say("assistant", "d"), say("user", "e"),
		`"kind":"Condensation","forgotten_event_ids":["e1","e3"],"summary":"S.","summary_offset":2`)).Conversation
	if got := show(precis.View(c.Transcript, c.Edits)); got != "u:a\nu:c\nu:S.\nu:e" {
		t.Errorf("view:\n%s", got)
	}
}

func TestRange(t *testing.T) {
	said := `"source":"user","action":"message","args":{"content":"x"}`
	c := read(t, list(said, said, said, said,
		`"source":"agent","action":"condensation","args":{"forgotten_events_start_id":1,"forgotten_events_end_id":2}`)).Conversation
	if len(c.Edits) != 1 || c.Edits[0].Replace[0].From != 1 || c.Edits[0].Replace[0].To != 3 || c.Edits[0].Replace[0].With != nil {
		t.Errorf("edits %+v", c.Edits)
	}
}

func TestNothingHidden(t *testing.T) {
	r := read(t, sdk(say("user", "a"), `"kind":"Condensation","forgotten_event_ids":["x"],"summary":"S.","summary_offset":0`))
	if len(r.Conversation.Edits) != 0 || len(r.Warnings) != 1 || r.Warnings[0].Place != "line 2" {
		t.Errorf("%d edits, warnings %v", len(r.Conversation.Edits), r.Warnings)
	}
}

func TestOthers(t *testing.T) {
	c := read(t, others).Conversation
	want := `u:Fix it
a:precis.Thinking:a {}
u:a="no"/2!
a:go:b {"command":"ls"}
u:b="bad call"/1!
a:go:c {"command":"ls"}
u:c="Action rejected: not now"/1!
a:go:c_4 {"command":"ls"}
u:c_4="{\"kind\":\"Odd\",\"rows\":[1]}"/1`
	if got := show(c.Transcript.Messages()); got != want {
		t.Errorf("messages:\n%s\nwant:\n%s", got, want)
	}
	if c.ID != "conv-1" || c.Model != "m-1" || c.Transcript.At(0).Time.Nanosecond() != 5e8 {
		t.Errorf("id %q, model %q, time %v", c.ID, c.Model, c.Transcript.At(0).Time)
	}
}

func TestOld(t *testing.T) {
	r := read(t, old)
	c := r.Conversation
	want := `u:Fix it:precis.Image
a:Both.:c1 {"command":"ls"}
a:c2 {"command":"ls"}
u:c1="one\n[Current working directory: /w]\n[Command finished with exit code 0]"/1
u:c2="two\n[Error occurred in processing last action]"/2!
a:Look.:event_7 {"path":"a","thought":"Look."}
u:event_7="text"/1
a:Done.`
	if got := show(c.Transcript.Messages()); got != want {
		t.Errorf("messages:\n%s\nwant:\n%s", got, want)
	}
	if b := precis.Check(c.Transcript.Messages()); len(b) > 0 || c.Model != "m-2" || r.Ignored != 1 {
		t.Errorf("breaches %v, model %q, %d ignored", b, c.Model, r.Ignored)
	}
	if got := show(precis.View(c.Transcript, c.Edits)); !strings.HasPrefix(got, "u:Fix it:precis.Image\nu:Early.\na:Look.") {
		t.Errorf("view:\n%s", got)
	}
}

func TestOutput(t *testing.T) {
	c := read(t, string(samples["output.jsonl"])).Conversation
	if c.ID != "i-1" || c.Model != "m-3" || len(c.Branches) != 1 || show(c.Branches[0].Transcript.Messages()) != "u:Pair" {
		t.Errorf("id %q, model %q, branches %v", c.ID, c.Model, c.Branches)
	}
}

func TestNot(t *testing.T) {
	for _, data := range []string{
		`{"system":"s","messages":[{"role":"user","content":"hi"}]}`, `[{"role":"user","content":"hi"}]`, `[{"kind":"MessageEvent"}]`,
		`{"trajectory":[],"history":[{"role":"user","content":"x","action":"ls"}]}`, `{"history":[{"role":"user","parts":[]}]}`, `{"kind":"other","source":"agent"}`,
	} {
		if (Format{}).Detect("x.json", []byte(data)) {
			t.Errorf("Detect(%s)", data)
		}
	}
}

func TestMalformed(t *testing.T) {
	for data, place := range map[string]string{
		`[{"source":"user","action":"message","args":{"content":"a"}},{"x":1}]`: "event 1 at byte 61",
		`[{"source":"user","action":"message","args":{"content":"a"}}`:          "byte 60",
	} {
		_, err := Format{}.Read(archive.Source{Data: []byte(data)})
		if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(fmt.Sprint(err), place) {
			t.Errorf("%s: error %v, want invalid at %q", data, err, place)
		}
	}
	r := read(t, sdk(say("user", "a"))+`{"id":"x"}`+"\n"+`{"id"`+"\n")
	if r.Skipped != 2 || r.Warnings[0].Place != "line 2" {
		t.Errorf("%d skipped, warnings %v", r.Skipped, r.Warnings)
	}
}

func TestRecordings(t *testing.T) {
	dir := os.Getenv("PRECIS_TRANSCRIPTS")
	if dir == "" {
		t.Skip("PRECIS_TRANSCRIPTS names no directory of recordings")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "openhands", "*.jsonl"))
	for _, path := range files {
		r, err := archive.Open(path, []archive.Format{Format{}})
		if err != nil {
			t.Error(err)
			continue
		}
		if err := archivetest.Check(r); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		c := r.Conversation
		if b := precis.Check(precis.View(c.Transcript, c.Edits)); len(b) > 1 || len(r.Warnings) > 0 {
			t.Errorf("%s: breaches %v, warnings %v", path, b, r.Warnings)
		}
		if strings.Contains(path, "sdk") && len(c.Edits) < 2 {
			t.Errorf("%s: %d condensations, want at least 2", path, len(c.Edits))
		}
	}
}
