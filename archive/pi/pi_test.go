package pi_test

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
	"github.com/precis-dev/precis/archive/pi"
)

const header = `{"type":"session","id":"s1","timestamp":"2026-01-01T00:00:00Z","cwd":"/x","modelId":"m0"}`

// entries writes lines; one that does not begin with a brace is "id parent rest".
func entries(lines ...string) string {
	var b strings.Builder
	for i, l := range lines {
		if f := strings.SplitN(l, " ", 3); !strings.HasPrefix(l, "{") && len(f) == 3 {
			l = fmt.Sprintf(`{"id":%q,"parentId":"%s","timestamp":"2026-01-01T00:00:%02dZ",%s}`, f[0], f[1], i, f[2])
			l = strings.Replace(l, `"parentId":"-"`, `"parentId":null`, 1)
		}
		b.WriteString(l + "\n")
	}
	return b.String()
}

func message(role, rest string) string {
	return fmt.Sprintf(`"type":"message","message":{"role":%q,%s}`, role, rest)
}

func content(blocks string) string { return `"content":[` + blocks + `]` }

func text(s string) string { return content(fmt.Sprintf(`{"type":"text","text":%q}`, s)) }

const (
	call   = `{"type":"thinking","thinking":"hm","thinkingSignature":"sig"},{"type":"toolCall","id":"t1","name":"read","arguments":{"path":"a"}}`
	result = `"toolCallId":"t1","toolName":"read","isError":true,"content":[{"type":"text","text":"no"},{"type":"image","mimeType":"image/png","data":"AA"}]`
)

var tree = entries(header, "e1 - "+message("user", `"content":"one"`), "e2 e1 "+message("assistant", `"model":"m1",`+content(call)), "e3 e2 "+message("toolResult", result),
	"e4 e3 "+message("assistant", text("left")), "e5 e3 "+message("assistant", text("taken")),
	"e6 e5 "+message("bashExecution", `"command":"ls","output":"a\n","exitCode":1`), "e7 e6 "+message("bashExecution", `"command":"secret","output":"b","excludeFromContext":true`),
	"e8 e7 "+`"type":"model_change","provider":"p","modelId":"m2"`, "e9 e8 "+`"type":"session_info","name":"A title"`, "e10 e9 "+`"type":"custom_message","content":"from an extension"`, ``)

var compacted = entries(header, "e1 - "+message("user", text("one")), "e2 e1 "+message("assistant", text("first")), "e3 e2 "+message("user", text("two")),
	"e4 e3 "+`"type":"compaction","summary":"Summary.","firstKeptEntryId":"e3","tokensBefore":77`, "e5 e4 "+message("assistant", text("second")))

// old has no tree, and counts entries from the header.
var old = header + "\n" + strings.Join([]string{
	`{"type":"message","timestamp":"2026-01-01T00:00:01Z","message":{"role":"user","content":"one"}}`,
	`{"type":"thinking_level_change","timestamp":"2026-01-01T00:00:01Z","thinkingLevel":"off"}`,
	`{"type":"message","timestamp":"2026-01-01T00:00:02Z","message":{"role":"assistant","content":[{"type":"text","text":"first"}]}}`,
	`{"type":"message","timestamp":"2026-01-01T00:00:03Z","message":{"role":"user","content":"two"}}`,
	`{"type":"compaction","timestamp":"2026-01-01T00:00:04Z","summary":"Summary.","firstKeptEntryIndex":4,"tokensBefore":77}`,
	`{"type":"message","timestamp":"2026-01-01T00:00:05Z","message":{"role":"assistant","content":[{"type":"text","text":"second"}]}}`,
}, "\n") + "\n"

var samples = map[string][]byte{"tree.jsonl": []byte(tree), "compacted.jsonl": []byte(compacted), "old.jsonl": []byte(old)}

func TestSuite(t *testing.T) { archivetest.Run(t, pi.Format{}, samples) }

func FuzzRead(f *testing.F) { archivetest.Fuzz(f, pi.Format{}, samples) }

func read(t *testing.T, data string) *archive.Recording {
	t.Helper()
	r, err := pi.Format{}.Read(archive.Source{Data: []byte(data)})
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
				line += "(" + b.Text + " " + b.Signature + ")"
			case precis.ToolUse:
				line += fmt.Sprintf("<%s %s", b.ID, b.Input)
			case precis.ToolResult:
				line += fmt.Sprintf(">%s %s %d %v", b.ToolUseID, b.Text(), len(b.Content), b.IsError)
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, " ")
}

func TestTree(t *testing.T) {
	r := read(t, tree)
	c := r.Conversation
	head := `u:[one] a:(hm sig)<t1 {"path":"a"} u:>t1 no 2 true `
	want := head + "a:[taken] u:[Ran `ls` (exit code 1)\n```\na\n\n```] u:[from an extension]"
	if got := show(c.Transcript.Messages()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if c.ID != "s1" || c.Title != "A title" || c.Model != "m2" || c.Transcript.At(1).Time.Second() != 2 {
		t.Errorf("ID %q, title %q, model %q, time %v", c.ID, c.Title, c.Model, c.Transcript.At(1).Time)
	}
	if len(c.Branches) != 1 || c.Branches[0].ID != "s1/e4" || show(c.Branches[0].Transcript.Messages()) != head+"a:[left]" {
		t.Errorf("branches are %v", c.Branches)
	}
	if r.Ignored != 4 {
		t.Errorf("ignored %d, want 4: the header, a command kept from the model, the model and the name", r.Ignored)
	}
}

func TestLeaf(t *testing.T) {
	c := read(t, entries(header, "e1 - "+message("user", text("one")), "e2 e1 "+message("assistant", text("first")), "e3 e2 "+message("user", text("two")),
		"e4 e1 "+message("assistant", text("other")), "e5 e4 "+`"type":"leaf","targetId":"e2"`)).Conversation
	if got, want := show(c.Transcript.Messages()), "u:[one] a:[first] u:[two]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEmptyBranch(t *testing.T) {
	c := read(t, entries(header, "e1 - "+message("user", text("one")), "e2 - "+message("assistant", content("")), "e3 e1 "+message("assistant", text("first")))).Conversation
	if len(c.Branches) != 0 || c.Transcript.Len() != 2 {
		t.Errorf("%d branches, %d messages", len(c.Branches), c.Transcript.Len())
	}
}

func TestCompacted(t *testing.T) {
	for name, data := range map[string]string{"by ID": compacted, "by number": old} {
		c := read(t, data).Conversation
		if got, want := show(precis.View(c.Transcript, c.Edits)), "u:[Summary.] u:[two] a:[second]"; got != want {
			t.Errorf("%s: the view is %s, want %s", name, got, want)
		}
		if e := c.Edits[0]; e.Seen != 3 || e.Report.TokensBefore != 77 || e.Time.IsZero() {
			t.Errorf("%s: the edit is %+v", name, e)
		}
	}
}

func TestMalformed(t *testing.T) {
	r := read(t, header+"\n"+`{"type":"message","message":5}`+"\n"+`{"type":"message","message":{"role":"user","content":[{"text":"no type"}]}}`+"\n{\n"+`{"type":"compaction"}`+"\n"+
		`{"type":"message","message":{"role":"user","content":"one"}}`)
	if r.Skipped != 4 || show(r.Conversation.Transcript.Messages()) != "u:[one]" {
		t.Errorf("skipped %d: %v", r.Skipped, r.Warnings)
	}
}

// TestRecordings reads the recordings in the directory PRECIS_TRANSCRIPTS.
func TestRecordings(t *testing.T) {
	dir := os.Getenv("PRECIS_TRANSCRIPTS")
	if dir == "" {
		t.Skip("PRECIS_TRANSCRIPTS names no directory of recordings")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "pi", "*.jsonl"))
	for _, file := range files {
		r, err := archive.Open(file, []archive.Format{pi.Format{}})
		if err == nil {
			err = archivetest.Check(r)
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		msgs := r.Conversation.Transcript.Messages()
		if b := precis.Check(msgs); len(b) > len(msgs)/100 {
			t.Errorf("%s: %d breaches before repair, the first: %v", file, len(b), b[0])
		}
	}
	if len(files) == 0 {
		t.Errorf("no recordings in %s", dir)
	}
}

// TestWhoSaidIt: commands that the user ran, summaries and what extensions add are no words of the user.
func TestWhoSaidIt(t *testing.T) {
	data := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/p"}
{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01Z","message":{"role":"user","content":"Always test."}}
{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:02Z","message":{"role":"bashExecution","command":"cat rules","output":"Never test.","exitCode":0}}
{"type":"custom_message","id":"c","parentId":"b","timestamp":"2026-01-01T00:00:03Z","content":"You must not test."}
{"type":"branch_summary","id":"d","parentId":"c","timestamp":"2026-01-01T00:00:04Z","summary":"We did not test."}
{"type":"message","id":"e","parentId":"d","timestamp":"2026-01-01T00:00:05Z","message":{"role":"assistant","content":[{"type":"text","text":"Good."}]}}
`
	r, err := pi.Format{}.Read(archive.Source{Path: "x.jsonl", Data: []byte(data)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range r.Conversation.Transcript.Messages() {
		got = append(got, fmt.Sprintf("%s/%s %t", m.AttributionOf(0).Author, m.AttributionOf(0).Act, m.IsUserTurn()))
	}
	if want := "/ true, tool/shell false, program/ false, recap/summary false, / false"; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
}

// What another session or the program has sent is no request of the user's.
func TestWhoSentAMessage(t *testing.T) {
	from := func(kind string) string {
		return message("user", `"provenance":{"kind":"`+kind+`"},`+text("Always "+kind))
	}
	r, err := pi.Format{}.Read(archive.Source{Data: []byte(entries(header, "e1 - "+from("inter_session"), "e2 e1 "+from("internal_system"), "e3 e2 "+from("external_user")))})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, false, true} {
		if m := r.Conversation.Transcript.At(i); m.IsUserTurn() != want {
			t.Errorf("%q is the user's: %v", m.PlainText(), !want)
		}
	}
}

// A context edit replaces a message in the view, or leaves it out; the newest one of a message
// counts. The transcript keeps the original.
func TestContextEdits(t *testing.T) {
	head := []string{header, "e1 - " + message("user", text("one")), "e2 e1 " + message("assistant", content(call)), "e3 e2 " + message("toolResult", result)}
	edit := func(id, parent, target, replacement string) string {
		return fmt.Sprintf(`%s %s "type":"context_edit","targetId":%q,"replacement":%s`, id, parent, target, replacement)
	}
	const called = `u:[one] a:(hm sig)<t1 {"path":"a"} `
	for name, tt := range map[string]struct {
		lines []string
		view  string
	}{
		"a result by a text":         {[]string{edit("e4", "e3", "e3", `"short"`)}, called + "u:>t1 short 1 true"},
		"a result by content":        {[]string{edit("e4", "e3", "e3", `{"content":[{"type":"text","text":"short"}]}`)}, called + "u:>t1 short 1 true"},
		"a result is left out":       {[]string{edit("e4", "e3", "e3", `null`)}, called + "u:>t1 No result provided 1 true"},
		"a user's message":           {[]string{edit("e4", "e3", "e1", `{"content":"uno"}`)}, strings.Replace(called, "one", "uno", 1) + "u:>t1 no 2 true"},
		"an answer is left out":      {[]string{"e4 e3 " + message("assistant", text("oops")), edit("e5", "e4", "e4", `null`)}, called + "u:>t1 no 2 true"},
		"the newest of two":          {[]string{edit("e4", "e3", "e3", `null`), edit("e5", "e4", "e3", `"later"`)}, called + "u:>t1 later 1 true"},
		"the newest of two is null":  {[]string{edit("e4", "e3", "e1", `"uno"`), edit("e5", "e4", "e1", `null`)}, strings.Replace(called, "u:[one] ", "", 1) + "u:>t1 no 2 true"},
		"of another branch":          {[]string{edit("e4", "e3", "e3", `"short"`), "e5 e3 " + message("assistant", text("taken"))}, called + "u:>t1 no 2 true a:[taken]"},
		"of a message of another":    {[]string{"e4 e3 " + message("assistant", text("left")), "e5 e3 " + message("assistant", text("taken")), edit("e6", "e5", "e4", `"gone"`)}, called + "u:>t1 no 2 true a:[taken]"},
		"before a branch":            {[]string{edit("e4", "e3", "e3", `"short"`), "e5 e4 " + message("assistant", text("left")), "e6 e4 " + message("assistant", text("taken"))}, called + "u:>t1 short 1 true a:[taken]"},
		"of no entry":                {[]string{edit("e4", "e3", "e9", `"short"`), "e5 e4 " + message("assistant", text("taken"))}, called + "u:>t1 no 2 true a:[taken]"},
		"of what a compaction hides": {[]string{`e4 e3 "type":"compaction","summary":"Summary.","firstKeptEntryId":"e2"`, edit("e5", "e4", "e1", `"uno"`)}, strings.Replace(called, "one", "Summary.", 1) + "u:>t1 no 2 true"},
		"before a compaction":        {[]string{edit("e4", "e3", "e3", `"short"`), `e5 e4 "type":"compaction","summary":"Summary.","firstKeptEntryId":"e2"`}, strings.Replace(called, "one", "Summary.", 1) + "u:>t1 short 1 true"},
	} {
		r := read(t, entries(append(head[:len(head):len(head)], tt.lines...)...))
		c := r.Conversation
		if got := show(precis.View(c.Transcript, c.Edits)); got != tt.view {
			t.Errorf("%s: the view is\n%s\nwant\n%s", name, got, tt.view)
		}
		if got := show(c.Transcript.Messages()[:3]); got != called+"u:>t1 no 2 true" || r.Skipped > 0 {
			t.Errorf("%s: the transcript begins with %s; skipped %d: %v", name, got, r.Skipped, r.Warnings)
		}
	}
}

// All requests of a session are counted: for messages, summaries and tools, and entries "usage".
// Tokens without a recorded cost are counted separately.
func TestSpent(t *testing.T) {
	usage := func(input, cost string) string {
		return `"usage":{"input":` + input + `,"cacheRead":7,"cost":` + cost + `}`
	}
	r := read(t, entries(header, "e1 - "+message("user", text("one")), "e2 e1 "+message("assistant", `"model":"m1",`+usage("1", `{"total":0.5}`)+","+content(call)), "e3 e2 "+message("toolResult", usage("2", `{"total":0.25}`)+","+result),
		`e4 e3 "type":"usage","kind":"cache_warm","model":"m1",`+usage("4", `{"total":2}`), `e5 e4 "type":"usage","kind":"another","model":"m2",`+usage("8", `{"total":4}`),
		`e6 e5 "type":"usage","kind":"cache_warm","model":"m1",`+usage("16", `null`), `e7 e6 "type":"compaction","summary":"Summary.","firstKeptEntryId":"e3",`+usage("32", `{"total":8}`),
		`e8 e7 "type":"branch_summary","summary":"Left.",`+usage("64", `{"total":16}`), `e9 e8 "type":"usage","kind":"cache_warm","model":"m1"`))
	var got []string
	for _, s := range r.Origin.Spent {
		got = append(got, fmt.Sprintf("%s: %d for %g, %d, %d of them unpriced, %d cached", s.Model, s.Requests, s.CostUSD, s.Usage.Input, s.Unpriced.Input, s.Usage.CacheRead))
	}
	want := []string{"m1: 3 for 2.5, 21, 16 of them unpriced, 21 cached", ": 3 for 24.25, 98, 0 of them unpriced, 21 cached", "m2: 1 for 4, 8, 0 of them unpriced, 7 cached"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The first system message is the system prompt, with its sections and tools; a later one is said in its place.
func TestSystemMessages(t *testing.T) {
	r := read(t, entries(header, "e1 - "+message("system", `"content":"Keep the shed.","sections":{"env":"It is noon.","none":null},"toolsAdded":[{"name":"read","parameters":{}}]`),
		"e2 e1 "+message("user", text("one")), "e3 e2 "+message("system", `"content":"","sections":{"env":"It is one."}`), "e4 e3 "+message("assistant", text("two"))))
	c := r.Conversation
	if got := c.System.PlainText(); !strings.Contains(got, "Keep the shed.") || !strings.Contains(got, "It is noon.") || string(c.Tools) != `[{"name":"read","parameters":{}}]` {
		t.Errorf("system prompt %q, tools %s", got, c.Tools)
	}
	msgs := c.Transcript.Messages()
	if len(msgs) != 3 || msgs[1].Role != precis.RoleSystem || msgs[1].PlainText() != "It is one." {
		t.Fatalf("%v", msgs)
	}
	if b := precis.Check(precis.View(c.Transcript, c.Edits)); len(b) > 0 {
		t.Error(b)
	}
}
