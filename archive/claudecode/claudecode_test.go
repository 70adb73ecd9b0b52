package claudecode_test

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
	"github.com/precis-dev/precis/archive/claudecode"
)

// session writes lines of a session, each as "uuid parent rest"; "-" is null. A "c" begins the uuid of a row that a
// hook has chosen, which is older than the boundary before it.
func session(lines ...string) string {
	var b strings.Builder
	for i, l := range lines {
		f := strings.SplitN(l, " ", 3)
		if len(f) < 3 || strings.HasPrefix(l, "{") || strings.HasPrefix(l, "/") {
			b.WriteString(l + "\n")
			continue
		}
		parent := `"` + f[1] + `"`
		if f[1] == "-" {
			parent = "null"
		}
		if strings.HasPrefix(f[0], "c") {
			i = 0
		}
		fmt.Fprintf(&b, `{"parentUuid":%s,"uuid":%q,"sessionId":"s1","timestamp":"2026-01-01T00:00:%02dZ",%s}`+"\n", parent, f[0], i, f[2])
	}
	return b.String()
}

func authorOf(text string) string {
	return fmt.Sprintf(`"type":"user","message":{"role":"user","content":%q}`, text)
}

func reply(id, blocks string) string {
	return fmt.Sprintf(`"type":"assistant","message":{"id":%q,"type":"message","role":"assistant","model":"claude-x","content":[%s],"usage":{"input_tokens":1}}`, id, blocks)
}

func text(s string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }

func call(id string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Read","input":{"path":"a"}}`, id)
}

func result(id string) string {
	return fmt.Sprintf(`"type":"user","toolUseResult":{"stdout":"again"},"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"out of %s"}]}`, id, id)
}

const (
	progress = `"type":"progress","data":{"type":"hook_progress"}`
	compact  = `"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":1234,"postTokens":99}`
	summed   = `"type":"user","isCompactSummary":true,"isVisibleInTranscriptOnly":true,"message":{"role":"user","content":"Summary."}`
)

// parallel has two concurrent calls with sibling answers, in a message of three lines with progress
// lines in between.
var parallel = session(
	`{"type":"file-history-snapshot","snapshot":{}}`,
	"u1 - "+authorOf("hello"),
	"a1 u1 "+reply("m1", text("\n\n")),
	"a2 a1 "+reply("m1", call("t1")),
	"p1 a2 "+progress,
	"r1 a2 "+result("t1"),
	"a3 a2 "+reply("m1", call("t2")),
	"r2 a3 "+result("t2"),
	"a4 r2 "+reply("m2", text("done")),
)

var rewound = session(
	"u1 - "+authorOf("one"), "a1 u1 "+reply("m1", text("first answer")),
	"u2 a1 "+authorOf("two, left"), "a2 u2 "+reply("m2", text("left answer")),
	"u3 a1 "+authorOf("taken back"),
	"u4 a1 "+authorOf("two"), "a4 u4 "+reply("m4", text("second answer")),
)

var compacted = session(
	"u1 - "+authorOf("one"), "a1 u1 "+reply("m1", text("first answer")),
	"b1 - "+compact, "s1 b1 "+summed, "p1 s1 "+progress,
	"a2 p1 "+reply("m2", text("go on")), "u2 a2 "+authorOf("two"), "a3 u2 "+reply("m3", text("end")),
	`{"type":"summary","summary":"A title","leafUuid":"a3"}`,
)

var agents = session(
	"u1 - "+authorOf("ask them"), "a1 u1 "+reply("m1", call("t1")),
	"x1 - "+`"isSidechain":true,`+authorOf("sub task"), "x2 x1 "+`"isSidechain":true,`+reply("n1", text("sub answer")),
	"p1 a1 "+`"type":"progress","data":{"type":"agent_progress","agentId":"ag","message":{"uuid":"q1","type":"user","message":{"role":"user","content":"agent task"}}}`,
	"p2 a1 "+`"type":"progress","data":{"type":"agent_progress","agentId":"ag","message":{"uuid":"q2",`+reply("n2", call("t9"))+`}}`,
	"p3 a1 "+`"type":"progress","data":{"type":"agent_progress","agentId":"ag","message":{"uuid":"q3",`+result("t9")+`}}`,
	"r1 a1 "+result("t1"), "a2 r1 "+reply("m2", text("done")),
)

var broken = session(
	`// a comment`,
	"u1 - "+authorOf("one"), "a1 u1 "+reply("m1", call("t1")),
	`{"parentUuid":"a1","uuid":"lost","message":q}`,
	"a2 lost "+reply("m2", text("after"))+`}{"type":"summary","summary":"Glued","leafUuid":"a2"`,
	"e1 a2 "+`"type":"assistant","message":{"role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"API Error"}]}`,
	"u2 e1 "+authorOf("two"),
)

var samples = map[string][]byte{
	"parallel.jsonl": []byte(parallel), "rewound.jsonl": []byte(rewound), "compacted.jsonl": []byte(compacted),
	"agents.jsonl": []byte(agents), "broken.jsonl": []byte(broken),
}

func TestSuite(t *testing.T) { archivetest.Run(t, claudecode.Format{}, samples) }

func FuzzRead(f *testing.F) { archivetest.Fuzz(f, claudecode.Format{}, samples) }

func read(t *testing.T, data string) *archive.Recording {
	t.Helper()
	r, err := claudecode.Format{}.Read(archive.Source{Data: []byte(data)})
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
			case precis.ToolUse:
				line += "<" + b.ID
			case precis.ToolResult:
				line += ">" + b.ToolUseID
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, " ")
}

func TestConversation(t *testing.T) {
	const head = "u:[one] a:[first answer] "
	for _, c := range []struct {
		name, data, want string
		branches         []string
	}{
		{"parallel", parallel, "u:[hello] a:<t1<t2 u:>t1 u:>t2 a:[done]", nil},
		{"rewound", rewound, head + "u:[two] a:[second answer]", []string{"u2 " + head + "u:[two, left] a:[left answer]"}},
		{"compacted", compacted, head + "a:[go on] u:[two] a:[end]", nil},
		{"agents", agents, "u:[ask them] a:<t1 u:>t1 a:[done]", []string{"x1 u:[sub task] a:[sub answer]", "ag u:[agent task] a:<t9 u:>t9"}},
		{"broken", broken, "u:[one] a:<t1 a:[after] u:[two]", nil},
		{"only a sub-agent", session("x1 - "+`"isSidechain":true,`+authorOf("task"), "x2 x1 "+`"isSidechain":true,`+reply("n", text("answer"))), "u:[task] a:[answer]", nil},
		{"summary without a past", session("b1 - "+compact, "s1 b1 "+summed, "a1 s1 "+reply("m", text("go on"))), "u:[Summary.] a:[go on]", nil},
		{"late answer", session("u1 - "+authorOf("one"), "a1 u1 "+reply("m1", call("t1")), "a2 a1 "+reply("m1", call("t2")), "r2 a2 "+result("t2"), "a3 r2 "+reply("m2", text("on")), "r1 a1 "+result("t1")), "u:[one] a:<t1<t2 u:>t2 u:>t1 a:[on]", nil},
		{"a call without an ID", session("u1 - "+authorOf("one"), "a1 u1 "+reply("m1", call("")), "r1 a1 "+result("")), "u:[one] a:<precis_call_1 u:>precis_call_1", nil},
		{"the same path twice", session("u1 - "+authorOf("one"), "a1 u1 "+reply("m1", call("t1")), "r1 a1 "+result("t1"), "v1 - "+authorOf("one"), "b1 v1 "+reply("m1", call("t1")), "q1 b1 "+result("t1"), "u2 q1 "+authorOf("two")),
			"u:[one] a:<t1 u:>t1 u:[two]", []string{"u1 u:[one] a:<t1 u:>t1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			conv := read(t, c.data).Conversation
			if got := show(conv.Transcript.Messages()); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			var branches []string
			for _, b := range conv.Branches {
				branches = append(branches, b.ID+" "+show(b.Transcript.Messages()))
			}
			if strings.Join(branches, "\n") != strings.Join(c.branches, "\n") {
				t.Errorf("branches are %q\nwant %q", branches, c.branches)
			}
		})
	}
}

func TestCompaction(t *testing.T) {
	conv := read(t, compacted).Conversation
	if conv.Title != "A title" || conv.Model != "claude-x" || conv.ID != "s1" {
		t.Errorf("title %q, model %q, ID %q", conv.Title, conv.Model, conv.ID)
	}
	if got, want := show(precis.View(conv.Transcript, conv.Edits)), "u:[Summary.] a:[go on] u:[two] a:[end]"; got != want {
		t.Errorf("the view is %s, want %s", got, want)
	}
	e := conv.Edits[0]
	if e.Seen != 2 || e.Report.TokensBefore != 1234 || e.Report.TokensAfter != 99 || e.Time.Second() != 3 || e.Kind != precis.KindCondensation {
		t.Errorf("the edit is %+v", e)
	}
}

// TestKeptMessages reads a compaction that kept the last messages: what follows
// hangs under them, not under the summary.
func TestKeptMessages(t *testing.T) {
	conv := read(t, session(
		"u1 - "+authorOf("one"), "a1 u1 "+reply("m1", text("old")), "u2 a1 "+authorOf("two"), "a2 u2 "+reply("m2", text("kept")),
		"b1 - "+`"logicalParentUuid":"a2","type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"manual","preTokens":5,"preservedSegment":{"headUuid":"u2","anchorUuid":"s1","tailUuid":"a2"}}`,
		"s1 b1 "+summed, "u3 a2 "+authorOf("three"),
	)).Conversation
	if got, want := show(precis.View(conv.Transcript, conv.Edits)), "u:[Summary.] u:[two] a:[kept] u:[three]"; got != want {
		t.Errorf("the view is %s, want %s", got, want)
	}
	if n := conv.Transcript.Len(); n != 5 {
		t.Errorf("the transcript has %d messages, want 5", n)
	}
}

// A function hook compacts without a summary: the messages that it chose are written down once more. What it copied was said
// once; the view is what it chose, and what follows.
func TestCompactedByAHook(t *testing.T) {
	begun := []string{
		"u1 - " + authorOf("one"), "n1 u1 " + `"type":"attachment","attachment":{"type":"date","date":"2026-11-20"}`, "a1 n1 " + reply("m1", call("t1")), "r1 a1 " + result("t1"), "a2 r1 " + reply("m2", text("old")),
		"u2 a2 " + authorOf("go on"), "a3 u2 " + reply("m3", call("t3")), "r3 a3 " + result("t3"), "b1 - " + `"logicalParentUuid":"r3",` + compact,
	}
	const (
		ours = "[What the conversation held before it was compacted, by precis from the recording of this session. A record.]"
		all  = "u:[one][<system-reminder>\nToday's date is 2026-11-20\n</system-reminder>] a:<t1 u:>t1 a:[old] u:[go on] a:<t3 u:>t3"
		date = "[<system-reminder>\nToday's date is 2026-11-21\n</system-reminder>]"
	)
	again := []string{"c1 b1 " + authorOf("one"), "c5 c1 " + `"type":"attachment","attachment":{"type":"date","date":"2026-11-21"}`}
	kept := []string{"c3 c2 " + reply("m3", call("t3")), "c4 c3 " + result("t3")}
	for name, tt := range map[string]struct {
		lines            []string
		view, transcript string
	}{
		"a text and the newest messages": {
			slices.Concat(again, []string{"c2 c5 " + authorOf(ours)}, kept, []string{"a4 c4 " + reply("m4", text("new"))}),
			"u:[one]" + date + " u:[" + ours + "] a:<t3 u:>t3 a:[new]", all + " a:[new]",
		},
		"a text of another plugin": {
			slices.Concat(again, []string{"c2 c5 " + authorOf("What was done.")}, kept, []string{"u4 c4 " + authorOf("go on")}),
			"u:[one]" + date + " u:[What was done.] a:<t3 u:>t3 u:[go on]", all + " u:[go on]",
		},
		"nothing is kept": {
			slices.Concat(again, []string{"c2 c5 " + authorOf(ours), "u4 c2 " + authorOf("and now?")}),
			"u:[one]" + date + " u:[" + ours + "] u:[and now?]", all + " u:[and now?]",
		},
		"what is kept is shortened": {
			slices.Concat(again, []string{"c2 c5 " + authorOf(ours), kept[0], strings.Replace(kept[1], "out of", "bit of", 1), "a4 c4 " + reply("m4", text("new"))}),
			"u:[one]" + date + " u:[" + ours + "] a:<t3 u:>t3 a:[new]", all + " a:[new]",
		},
		"all is written anew": {
			[]string{"c1 b1 " + authorOf("one"), "c2 c1 " + reply("x1", text("What was done.")), "c3 c2 " + reply("x2", call("t1")), "c4 c3 " + result("t1"), "u4 c4 " + authorOf("and now?")},
			"u:[one] a:[What was done.] a:<t1 u:>t1 u:[and now?]", all + " u:[and now?]",
		},
		"no copy": {
			[]string{"u4 b1 " + authorOf("another"), "a4 u4 " + reply("m4", text("new"))},
			all + " u:[another] a:[new]", all + " u:[another] a:[new]",
		},
	} {
		conv := read(t, session(slices.Concat(begun, tt.lines)...)).Conversation
		if got := show(precis.View(conv.Transcript, conv.Edits)); got != tt.view {
			t.Errorf("%s: the view is\n%s, want\n%s", name, got, tt.view)
		}
		if got := show(conv.Transcript.Messages()); got != tt.transcript {
			t.Errorf("%s: the transcript is\n%s, want\n%s", name, got, tt.transcript)
		}
		if sent := precis.View(conv.Transcript, conv.Edits); name == "what is kept is shortened" && sent[3].Content[0].(precis.ToolResult).Text() != "bit of t3" {
			t.Errorf("%s: %+v", name, sent[3])
		}
		if b := precis.Check(precis.View(conv.Transcript, conv.Edits)); len(b) > 0 {
			t.Errorf("%s: the view has breaches %v", name, b)
		}
	}
	again2 := slices.Concat(begun, again, []string{"c2 c5 " + authorOf(ours)}, kept, []string{"a4 c4 " + reply("m4", text("new")), "b2 - " + `"logicalParentUuid":"a4",` + compact,
		"c11 b2 " + authorOf("one"), "c12 c11 " + authorOf(ours), "c13 c12 " + reply("m4", text("new")), "u5 c13 " + authorOf("two")})
	conv := read(t, session(again2...)).Conversation
	if got, want := show(precis.View(conv.Transcript, conv.Edits)), "u:[one] u:["+ours+"] a:[new] u:[two]"; got != want || len(conv.Edits) != 2 || conv.Edits[1].Report.TokensBefore != 1234 {
		t.Errorf("twice: %s, want %s; edits %+v", got, want, conv.Edits)
	}
}

func TestNotes(t *testing.T) {
	r := read(t, broken)
	if r.Skipped != 2 || r.Conversation.Title != "Glued" {
		t.Errorf("skipped %d, title %q, warnings %v", r.Skipped, r.Conversation.Title, r.Warnings)
	}
	if got, want := fmt.Sprint(r.Warnings[1:]), "[line 4: skipped: byte 43: invalid character 'q' at start of value line 5: 2 objects in one line]"; got != want {
		t.Errorf("warnings are %s, want %s", got, want)
	}
	if r.Ignored != 2 {
		t.Errorf("ignored %d, want 2: the title and the error", r.Ignored)
	}
}

// TestBytes checks that what can be sent keeps its bytes and the rest does not.
func TestBytes(t *testing.T) {
	msgs := read(t, parallel).Conversation.Transcript.Messages()
	if got := string(msgs[0].Raw); got != `{"role":"user","content":"hello"}` || msgs[0].Format != "anthropic" {
		t.Errorf("the user's message has bytes %s", got)
	}
	if msgs[1].Raw != nil || string(msgs[1].Content[0].(precis.ToolUse).Raw) != call("t1") {
		t.Errorf("the merged message has bytes %s", msgs[1].Raw)
	}
}

// TestHostile reads files that would be slow if any path were walked again for
// each line.
func TestHostile(t *testing.T) {
	var forks, deep, sums strings.Builder
	forks.WriteString(session("u0 - " + authorOf("x")))
	deep.WriteString(session("u0 - " + authorOf("x")))
	sums.WriteString(session("u0 - " + authorOf("x")))
	for i := range 5000 {
		forks.WriteString(session(fmt.Sprintf("u%d u%d %s", i+1, i, reply(fmt.Sprint("m", i), text("x")))))
		deep.WriteString(session(fmt.Sprintf("u%d u%d %s", i+1, i, result("none"))))
		sums.WriteString(session(fmt.Sprintf("u%d u%d %s", i+1, i, []string{summed, authorOf("x")}[i%2])))
	}
	for i := range 5000 {
		forks.WriteString(session(fmt.Sprintf("v%d u%d %s", i, i, reply(fmt.Sprint("n", i), text("y")))))
	}
	if r := read(t, forks.String()); len(r.Conversation.Branches) != 100 {
		t.Errorf("%d branches, want 100", len(r.Conversation.Branches))
	}
	read(t, deep.String())
	if r := read(t, sums.String()); len(r.Conversation.Edits) != 2500 {
		t.Errorf("%d edits, want 2500", len(r.Conversation.Edits))
	}
}

// TestRecordings reads the recordings in the directory PRECIS_TRANSCRIPTS.
func TestRecordings(t *testing.T) {
	dir := os.Getenv("PRECIS_TRANSCRIPTS")
	if dir == "" {
		t.Skip("PRECIS_TRANSCRIPTS names no directory of recordings")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "claude-code", "*.jsonl"))
	for _, file := range files {
		r, err := archive.Open(file, []archive.Format{claudecode.Format{}})
		if err == nil {
			err = archivetest.Check(r)
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		msgs := r.Conversation.Transcript.Messages()
		if b := precis.Check(msgs); len(b) > len(msgs)/10+2 {
			t.Errorf("%s: %d breaches before repair, the first: %v", file, len(b), b[0])
		}
	}
	if len(files) == 0 {
		t.Errorf("no recordings in %s", dir)
	}
}

func BenchmarkRead(b *testing.B) {
	var s strings.Builder
	for i := range 2000 {
		s.WriteString(session(
			fmt.Sprintf("u%d a%d %s", i, i-1, authorOf(strings.Repeat("word ", 100))),
			fmt.Sprintf("a%d u%d %s", i, i, reply(fmt.Sprint("m", i), text(strings.Repeat("word ", 200)))),
		))
	}
	data := []byte(s.String())
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := (claudecode.Format{}).Read(archive.Source{Data: data}); err != nil {
			b.Fatal(err)
		}
	}
}

func queued(operation, words string) string {
	if words == "" {
		return fmt.Sprintf(`{"type":"queue-operation","operation":%q,"timestamp":"2026-01-01T00:00:00Z","sessionId":"s1"}`, operation)
	}
	return fmt.Sprintf(`{"type":"queue-operation","operation":%q,"timestamp":"2026-01-01T00:00:00Z","sessionId":"s1","content":%q}`, operation, words)
}

// What the user types while the agent works is shown to the model with the results that come next, and
// recorded only as having left the queue.
func TestReadWhatWasTypedMeanwhile(t *testing.T) {
	begin := []string{"u1 - " + authorOf("hello"), "a1 u1 " + reply("m1", call("t1"))}
	for name, c := range map[string]struct {
		lines []string
		want  string // the user's words, a message a line
	}{
		"shown with the next results": {[]string{queued("enqueue", "also the tests"), queued("remove", ""), "r1 a1 " + result("t1")}, "hello\nalso the tests"},
		"shown after the results":     {[]string{queued("enqueue", "also the tests"), "r1 a1 " + result("t1"), queued("remove", "")}, "hello\nalso the tests"},
		"two of them": {[]string{queued("enqueue", "one"), queued("enqueue", "two"), queued("remove", ""), queued("remove", ""), "r1 a1 " + result("t1")},
			"hello\none\ntwo"},
		"a message of its own":   {[]string{queued("enqueue", "later"), "r1 a1 " + result("t1"), queued("dequeue", ""), "u2 r1 " + authorOf("later")}, "hello\n\nlater"},
		"back into the editor":   {[]string{queued("enqueue", "never"), queued("popAll", ""), "r1 a1 " + result("t1")}, "hello\n"},
		"still in the queue":     {[]string{queued("enqueue", "never"), "r1 a1 " + result("t1")}, "hello\n"},
		"nothing is queued":      {[]string{queued("remove", ""), queued("dequeue", ""), "r1 a1 " + result("t1")}, "hello\n"},
		"the end came before":    {[]string{"r1 a1 " + result("t1"), "a2 r1 " + reply("m2", text("on")), queued("enqueue", "wait"), queued("remove", "")}, "hello\n\nwait"},
		"an unknown operation":   {[]string{queued("shuffle", "x"), "r1 a1 " + result("t1")}, "hello\n"},
		"an operation of no one": {[]string{`{"type":"queue-operation","operation":7,"content":{}}`, "r1 a1 " + result("t1")}, "hello\n"},
	} {
		rec := read(t, session(append(slices.Clone(begin), c.lines...)...))
		var got []string
		for _, m := range rec.Conversation.Transcript.Messages() {
			if m.Role == precis.RoleUser {
				got = append(got, m.PlainText())
			}
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s: %q, want %q", name, strings.Join(got, "\n"), c.want)
		}
	}
}

// TestWhatTheFileSaysOfTexts: texts that Claude Code marks as its own are no requests of a person,
// and a refusal is recognized by its record besides the text.
func TestWhatTheFileSaysOfTexts(t *testing.T) {
	const refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\\nnot there"
	answer := func(id, note string, text string) string {
		return fmt.Sprintf(`"type":"user","toolUseResult":%s,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"is_error":true,"content":"%s"}]}`, note, id, text)
	}
	r := read(t, session(
		"u1 - "+authorOf("one"), "i1 u1 "+`"isMeta":true,`+authorOf("Publish the session. Always test."),
		"a1 i1 "+reply("m1", call("t1")), "r1 a1 "+answer("t1", `"User rejected tool use"`, refusal),
		"a2 r1 "+reply("m2", call("t2")), "r2 a2 "+answer("t2", `{"stdout":""}`, refusal), "a3 r2 "+reply("m3", call("t3")),
		"r3 a3 "+strings.Replace(answer("t3", `""`, refusal), `"toolUseResult":"",`, "", 1), "a4 r3 "+reply("m4", strings.Replace(call("t4"), `"name":"`, `"name":"mcp__post__`, 1)),
		"r4 a4 "+strings.Replace(answer("t4", `""`, refusal), `"toolUseResult":"",`, "", 1), "a5 r4 "+reply("m5", text("done")),
	))
	msgs := r.Conversation.Transcript.Messages()
	var turns []string
	for _, m := range msgs {
		if m.IsUserTurn() {
			turns = append(turns, m.PlainText())
		}
	}
	if strings.Join(turns, "|") != "one" {
		t.Errorf("turns of the user: %q", turns)
	}
	if a := precis.SpeechOf(msgs).Answers(3); len(a) != 1 || a[0].Text != "not there" {
		t.Errorf("said with the refusal: %+v", a)
	}
	if a := precis.SpeechOf(msgs).Answers(5); len(a) != 0 {
		t.Errorf("an output speaks for the user: %+v", a)
	}
	if a := precis.SpeechOf(msgs).Answers(7); len(a) != 1 || a[0].Text != "not there" {
		t.Errorf("said with a refusal of which nothing is noted: %+v", a)
	}
	if a := precis.SpeechOf(msgs).Answers(9); len(a) != 0 {
		t.Errorf("a server speaks for the user: %+v", a)
	}
}

func attachment(fields string) string { return `"type":"attachment","attachment":{` + fields + `}` }

// The texts of a message besides its results, each with its author.
func noteBlocks(m precis.Message) string {
	var out []string
	for b, block := range m.Content {
		if t, ok := block.(precis.Text); ok {
			s := m.AttributionOf(b)
			out = append(out, strings.TrimSuffix(fmt.Sprintf("%s/%s %s", s.Author, s.Act, strings.Join(strings.Fields(strings.NewReplacer("<system-reminder>", "", "</system-reminder>", "").Replace(t.Text)), " ")), " "))
		}
	}
	return strings.Join(out, "\n")
}

// TestAttachmentsAreWhatTheModelWasSent: each is a passage in its place, with who said it; no message gets another number by them.
func TestAttachmentsAreWhatTheModelWasSent(t *testing.T) {
	r := read(t, session(
		"x0 - "+attachment(`"type":"date","date":"2026-01-01"`),
		"u1 x0 "+authorOf("Look at @a.md."),
		"x1 u1 "+attachment(`"type":"file","filename":"/p/a.md","content":{"type":"text","file":{"content":"Always red."}}`),
		"x2 x1 "+attachment(`"type":"nested_memory","content":{"path":"/p/sub/CLAUDE.md","content":"Never blue."}`),
		"x3 x2 "+attachment(`"type":"total_tokens_reminder","text":"9 tokens left"`),
		"x4 x3 "+attachment(`"type":"new_kind","content":["one","two"]`),
		"x5 x4 "+attachment(`"type":"hook_system_message","content":"for the person only"`),
		"a1 x5 "+reply("m1", call("t1")),
		"q1 a1 "+attachment(`"type":"queued_command","prompt":"and green","commandMode":"prompt","origin":{"kind":"human"}`),
		"r1 a1 "+result("t1"),
		"x6 r1 "+attachment(`"type":"queued_command","prompt":[{"type":"text","text":"<task-notification>b1</task-notification>"}],"commandMode":"task-notification"`),
		"x7 x6 "+attachment(`"type":"queued_command","prompt":"from a peer","origin":{"kind":"peer"}`),
		"a2 x7 "+reply("m2", text("done")),
		"x8 a2 "+attachment(`"type":"edited_text_file","filename":"/p/a.md","snippet":"1\tAlways pink."`),
		"u2 x8 "+authorOf("Go on."),
		"a3 u2 "+reply("m3", text("gone")),
		"x9 a3 "+attachment(`"type":"hook_additional_context","hookName":"Stop","content":["rain"]`),
	))
	var got []string
	for i, m := range r.Conversation.Transcript.Messages() {
		if m.Role == precis.RoleUser {
			got = append(got, fmt.Sprintf("%d: %s", i, noteBlocks(m)))
		}
	}
	want := []string{
		"0: / Look at @a.md.\nprogram/environment Today's date is 2026-01-01\ntool/quote Contents of /p/a.md: Always red.\noperator/instruction Contents of /p/sub/CLAUDE.md: Never blue.\nprogram/ one two",
		"2: person/request and green\nprogram/notice <task-notification>b1</task-notification>\ndelegate/notice from a peer",
		"4: / Go on.\nprogram/notice Note: /p/a.md changed on disk since it was read. 1 Always pink.",
		"6: program/notice Stop hook additional context: rain",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if b := precis.Check(r.Conversation.Transcript.Messages()); len(b) > 0 {
		t.Error(b)
	}
	if got := precis.LastUserTurn(r.Conversation.Transcript.Messages()); got != 4 {
		t.Errorf("the last turn of the user is %d", got)
	}
}

// TestBrokenAttachments: invalid attachments are skipped like any line without content.
func TestBrokenAttachments(t *testing.T) {
	for _, fields := range []string{`"type":7`, `"type":"file"`, `"type":"file","content":[]`, `"type":"queued_command","prompt":{"a":1}`, `"type":"queued_command"`, `"type":"instructions","files":"x"`, ``} {
		r := read(t, session("u1 - "+authorOf("hello"), "x1 u1 "+attachment(fields), "a1 x1 "+reply("m1", text("hi"))))
		if got := noteBlocks(r.Conversation.Transcript.At(0)); got != "/ hello" || r.Conversation.Transcript.Len() != 2 {
			t.Errorf("%s: %q", fields, got)
		}
	}
}

// TestWordsAreReadOnce: the queue gives what a person typed before what the program notes, and what an attachment holds is not
// read from the lines about the queue again.
func TestWordsAreReadOnce(t *testing.T) {
	const notice = "<task-notification>n1</task-notification>"
	r := read(t, session(
		"u1 - "+authorOf("hello"), "a1 u1 "+reply("m1", text("hi")),
		queued("enqueue", notice), queued("enqueue", "green"), queued("dequeue", ""), "u2 a1 "+authorOf("green"),
		"a2 u2 "+reply("m2", call("t1")),
		queued("enqueue", "red"), "x1 a2 "+attachment(`"type":"queued_command","prompt":"red"`), queued("remove", "red"), "r1 a2 "+result("t1"),
		"a3 r1 "+reply("m3", call("t2")), queued("remove", ""), "r2 a3 "+result("t2"),
		"a4 r2 "+reply("m4", text("on")), "u3 a4 "+authorOf(notice+"\nRead the file."),
	))
	var got []string
	for _, m := range r.Conversation.Transcript.Messages() {
		if m.Role == precis.RoleUser {
			got = append(got, noteBlocks(m))
		}
	}
	want := "/ hello|/ green|person/request red|program/notice " + notice + "|program/notice " + notice + " Read the file."
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
}

// TestASummaryWithoutItsMark: versions that do not mark the summary write it after the boundary.
func TestASummaryWithoutItsMark(t *testing.T) {
	const words = "This session is being continued from a previous conversation that ran out of context. Always test."
	r := read(t, session("u1 - "+authorOf("hello"), "a1 u1 "+reply("m1", text("hi")), "b1 a1 "+compact, "u2 b1 "+authorOf(words), "a2 u2 "+reply("m2", text("on"))))
	c := r.Conversation
	if len(c.Edits) != 1 || c.Transcript.Len() != 3 {
		t.Fatalf("%d edits, %d messages", len(c.Edits), c.Transcript.Len())
	}
	if got := noteBlocks(precis.View(c.Transcript, c.Edits)[0]); !strings.HasPrefix(got, "recap/summary This session") {
		t.Errorf("the summary is %s", got)
	}
}

// Web searches, which are billed by number, are counted with the tokens.
func TestWebSearches(t *testing.T) {
	searched := strings.Replace(reply("m1", text("ok")), `"input_tokens":1`, `"input_tokens":1,"server_tool_use":{"web_search_requests":2,"web_fetch_requests":4}`, 1)
	spent := read(t, session("a - "+authorOf("Look."), "b a "+searched, "c b "+reply("m2", text("done")))).Origin.Spent
	if len(spent) != 1 || spent[0].Usage != (precis.Usage{Input: 2, WebSearches: 2}) || spent[0].Unpriced != spent[0].Usage {
		t.Errorf("%+v", spent)
	}
}

// Claude Code 2.1.197 may write a prompt and its attachments after the answer.
func TestAPromptBehindItsAnswer(t *testing.T) {
	inOrder := []string{"u1 - " + authorOf("Never push."), "u2 u1 " + progress, "a1 u2 " + reply("m1", call("t1")), "r1 a1 " + result("t1"), "a2 r1 " + reply("m2", text("Done."))}
	late := []string{inOrder[2], inOrder[3], inOrder[0], inOrder[1], inOrder[4]}
	want := read(t, session(inOrder...)).Conversation.Transcript.Messages()
	got := read(t, session(late...)).Conversation.Transcript.Messages()
	if len(want) != 4 || len(got) != len(want) {
		t.Fatalf("%d messages, in order %d", len(got), len(want))
	}
	for i := range want {
		if got[i].PlainText() != want[i].PlainText() || got[i].Role != want[i].Role {
			t.Errorf("message %d is %s %q, want %s %q", i, got[i].Role, got[i].PlainText(), want[i].Role, want[i].PlainText())
		}
	}
}
