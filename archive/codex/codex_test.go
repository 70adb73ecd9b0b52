package codex_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/archivetest"
	"github.com/precis-dev/precis/archive/codex"
	"github.com/precis-dev/precis/inforce"
)

// rollout writes lines, each as "type payload", or as they are.
func rollout(lines ...string) string {
	var b strings.Builder
	for i, l := range lines {
		if kind, payload, ok := strings.Cut(l, " "); ok && !strings.HasPrefix(l, "{") {
			l = fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:%02dZ","type":%q,"payload":%s}`, i, kind, payload)
		}
		b.WriteString(l + "\n")
	}
	return b.String()
}

func item(payload string) string { return "response_item " + payload }

func user(text string) string { return item(said("user", "input_text", text)) }

func reply(text string) string { return item(said("assistant", "output_text", text)) }

func said(role, kind, text string) string {
	return fmt.Sprintf(`{"type":"message","role":%q,"content":[{"type":%q,"text":%q}]}`, role, kind, text)
}

const (
	meta   = `session_meta {"id":"s1","timestamp":"2026-01-01T00:00:00Z","cwd":"/x","base_instructions":{"text":"You are Codex."},"instructions":"later"}`
	call   = `{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c1"}`
	output = `{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"a\",\"metadata\":{\"exit_code\":0}}"}`
	think  = `{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"content":null,"encrypted_content":"e"}`
	tokens = `event_msg {"type":"token_count","info":{"last_token_usage":{"input_tokens":90,"total_tokens":100}}}`
)

var full = rollout(meta, user("<environment_context>x</environment_context>"), user("list"), `event_msg {"type":"user_message","message":"list"}`,
	`turn_context {"model":"gpt-x"}`, item(think), item(call), item(output), tokens, reply("there is a"), item(`{"type":"ghost_snapshot","ghost_commit":{}}`))

var compacted = rollout(meta, user("one"), reply("first"), tokens,
	`compacted {"message":"sum","replacement_history":[`+said("user", "input_text", "one")+`,`+said("user", "input_text", "sum")+`]}`,
	user("two"), reply("second"), `compacted {"message":"Summary again."}`, user("three"))

var rolledBack = rollout(meta, user("one"), reply("first"), user("two"), item(call), item(output), `event_msg {"type":"thread_rolled_back","num_turns":1}`, user("other"), reply("second"))

var old = rollout(`{"id":"s0","timestamp":"2025-06-01T00:00:00Z","instructions":"Do well.","git":{}}`,
	said("user", "input_text", "hi"), `{"record_type":"state"}`, `{"type":"local_shell_call","call_id":null,"status":"completed","action":{"type":"exec","command":["ls"]}}`,
	`{"type":"function_call_output","call_id":"","output":"a"}`, said("assistant", "output_text", "done"))

var samples = map[string][]byte{"full.jsonl": []byte(full), "compacted.jsonl": []byte(compacted), "rolledback.jsonl": []byte(rolledBack), "rollout-old.jsonl": []byte(old)}

func TestSuite(t *testing.T) { archivetest.Run(t, codex.Format{}, samples) }

func FuzzRead(f *testing.F) { archivetest.Fuzz(f, codex.Format{}, samples) }

func read(t *testing.T, data string) *archive.Recording {
	t.Helper()
	r, err := codex.Format{}.Read(archive.Source{Data: []byte(data)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// show writes messages as one word each block.
func show(msgs []precis.Message) string {
	var out []string
	for _, m := range msgs {
		line := string(m.Role[:1]) + ":"
		for _, b := range m.Content {
			switch b := b.(type) {
			case precis.Text:
				line += "[" + b.Text + "]"
			case precis.Thinking:
				line += "(" + b.Text + ")"
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

func TestFull(t *testing.T) {
	r := read(t, full)
	c := r.Conversation
	want := `u:[<environment_context>x</environment_context>] u:[list] a:(hm) a:<c1 u:>c1 {"output":"a","metadata":{"exit_code":0}} a:[there is a]`
	if got := show(c.Transcript.Messages()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if string(c.System.Raw) != `"You are Codex."` || c.System.PlainText() != "You are Codex." || c.Model != "gpt-x" || c.ID != "s1" {
		t.Errorf("system %s, model %q, ID %q", c.System.Raw, c.Model, c.ID)
	}
	if m := c.Transcript.At(3); string(m.Raw) != call || m.Format != "responses" || m.Time.Second() != 6 {
		t.Errorf("the call is %s, %s, %v", m.Raw, m.Format, m.Time)
	}
	if r.Ignored != 5 {
		t.Errorf("ignored %d lines, want 5", r.Ignored)
	}
}

// TestTheEventSaysWhatWasTyped: the words that Codex notes as a person's are a person's, whatever they look like.
func TestTheEventSaysWhatWasTyped(t *testing.T) {
	const look = "<environment_context>is what I ask about</environment_context>"
	const edited = "# Context from my IDE setup:\\n\\n## Open tabs:\\n- a.go\\n\\n## My request for Codex:\\nGo on."
	r := read(t, rollout(meta, user("<environment_context>x</environment_context>"), user(look), `event_msg {"type":"user_message","message":"`+look+`"}`, reply("yes"),
		user(edited), `event_msg {"type":"user_message","message":"`+edited+`"}`, reply("yes"), user("unnoted"), tokens, `event_msg {"type":"user_message","message":"unnoted"}`, user("last")))
	var got []string
	for _, m := range r.Conversation.Transcript.Messages() {
		got = append(got, string(m.AttributionOf(0).Author))
	}
	if strings.Join(got, " ") != " person     " {
		t.Errorf("authors %q", got)
	}
}

func TestCompacted(t *testing.T) {
	c := read(t, compacted).Conversation
	for i, want := range []string{"u:[one] u:[sum] u:[two] a:[second] u:[three]", "u:[one] u:[two] u:[Summary again.] u:[three]"} {
		if got := show(precis.View(c.Transcript, c.Edits[:i+1])); got != want {
			t.Errorf("after edit %d: %s\nwant %s", i, got, want)
		}
	}
	for i, e := range c.Edits {
		with := e.Replace[0].With
		for k, m := range with {
			if is := m.Attribution.Author == precis.AuthorRecap; is != (k == len(with)-1) {
				t.Errorf("edit %d, message %d of %d is a summary: %v", i, k, len(with), is)
			}
		}
	}
	if e := c.Edits[0]; e.Seen != 2 || e.Report.TokensBefore != 100 || e.Time.Second() != 4 {
		t.Errorf("the edit is %+v", e)
	}
	begin := read(t, rollout(meta, `compacted {"message":"Summary."}`, user("two"))).Conversation
	if got := show(begin.Transcript.Messages()); got != "u:[Summary.] u:[two]" || len(begin.Edits) > 0 {
		t.Errorf("at the beginning: %s and %d edits", got, len(begin.Edits))
	}
}

// A new context window without a summary (features.token_budget) shows the instructions alone, and what was said before
// stays in the transcript: with the notes that the model wrote and read again.
func TestANewContextWindow(t *testing.T) {
	window := said("developer", "input_text", "<context_window>\nCurrent context window id: b\nPrevious context window id: a\n</context_window>")
	call := func(id, namespace, name, arguments, output string) []string {
		return []string{
			item(fmt.Sprintf(`{"type":"function_call","call_id":%q,"namespace":%q,"name":%q,"arguments":%q}`, id, namespace, name, arguments)),
			item(fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, id, output)),
		}
	}
	lines := append([]string{meta, user("one")}, call("c1", "notes", "append_to_file", `{"path":"plan.md"}`, "done")...)
	lines = append(lines, call("c2", "", "new_context", "{}", "A new context window will start without summarizing conversation history.")...)
	lines = append(lines, `compacted {"message":"","replacement_history":[`+window+`],"window_number":1,"previous_window_id":"a","window_id":"b"}`)
	lines = append(lines, call("c3", "history", "read_item", `{"item_id":"x"}`, "one")...)
	r := read(t, rollout(lines...))
	c := r.Conversation
	if got := show(precis.View(c.Transcript, c.Edits)); strings.Contains(got, "u:[one]") || !strings.HasPrefix(got, "s:[<context_window>") || !strings.Contains(got, "c3") {
		t.Errorf("the view is %s", got)
	}
	if n := c.Transcript.Len(); n != 7 || len(c.Edits) != 1 || r.Skipped > 0 {
		t.Errorf("%d messages, %d edits, %d lines skipped: %v", n, len(c.Edits), r.Skipped, r.Warnings)
	}
}

func TestRolledBack(t *testing.T) {
	c := read(t, rolledBack).Conversation
	if got, want := show(c.Transcript.Messages()), "u:[one] a:[first] u:[other] a:[second]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if len(c.Branches) != 1 || !strings.HasPrefix(show(c.Branches[0].Transcript.Messages()), "u:[one] a:[first] u:[two] a:<c1") {
		t.Errorf("branches are %v", c.Branches)
	}
}

func TestOld(t *testing.T) {
	r := read(t, old)
	want := "u:[hi] a:<precis_call_1 u:>precis_call_1 a a:[done]"
	if got := show(r.Conversation.Transcript.Messages()); got != want || r.Conversation.System.PlainText() != "Do well." || r.Conversation.ID != "s0" {
		t.Errorf("got %s, system %q, ID %q", got, r.Conversation.System.PlainText(), r.Conversation.ID)
	}
}

// An output that names no call, and follows none that has no ID, is what Codex itself put there.
func TestAnOutputWithoutACall(t *testing.T) {
	for _, id := range []string{`"id":"fco_1",`, `"call_id":"",`, ``} {
		goal := `{"type":"function_call_output",` + id + `"name":"goal_objective","namespace":"agent","output":"close the day"}`
		msgs := read(t, rollout(meta, user("one"), item(goal), reply("yes"), item(call), item(output))).Conversation.Transcript.Messages()
		if b := precis.Check(msgs); len(b) > 0 || string(msgs[1].Raw) != goal {
			t.Errorf("%s: breaches %v, bytes %s", id, b, msgs[1].Raw)
		}
		if in := inforce.Handles(msgs); len(in) != 1 || in[0].From != 1 {
			t.Errorf("%s: in force is %v", id, in)
		}
	}
}

func TestMalformed(t *testing.T) {
	r := read(t, rollout(meta, user("one"), "response_item 5", `response_item {"type":"message","role":5}`, "compacted {}", `event_msg {"type":"thread_rolled_back"}`, `{"type":"response_item"}`))
	if r.Skipped != 5 || r.Conversation.Transcript.Len() != 1 {
		t.Errorf("skipped %d of 5: %v", r.Skipped, r.Warnings)
	}
}

// TestRecordings reads the recordings in the directory PRECIS_TRANSCRIPTS.
func TestRecordings(t *testing.T) {
	dir := os.Getenv("PRECIS_TRANSCRIPTS")
	if dir == "" {
		t.Skip("PRECIS_TRANSCRIPTS names no directory of recordings")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "codex", "*.jsonl"))
	for _, file := range files {
		r, err := archive.Open(file, []archive.Format{codex.Format{}})
		if err == nil {
			err = archivetest.Check(r)
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if b := precis.Check(r.Conversation.Transcript.Messages()); len(b) > 0 || r.Skipped > 0 {
			t.Errorf("%s: %d skipped, breaches before repair: %v", file, r.Skipped, b)
		}
	}
	if len(files) == 0 {
		t.Errorf("no recordings in %s", dir)
	}
}
