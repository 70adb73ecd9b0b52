package reduce_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/reduce"
	"github.com/precis-dev/precis/tokens"
)

// counter counts characters: simple enough to reckon with in a test.
type counter struct{}

func (counter) Name() string { return "chars" }

func (counter) Count(m precis.Message) int {
	n := 0
	for _, b := range m.Content {
		n += chars(b)
	}
	return n
}

func chars(b precis.Block) int {
	switch b := b.(type) {
	case precis.Text:
		return len(b.Text)
	case precis.ToolUse:
		return len(b.Input)
	case precis.ToolResult:
		n := 0
		for _, c := range b.Content {
			n += chars(c)
		}
		return n
	case precis.Image:
		return 1000
	}
	return 10
}

// situation makes one with the given target in characters and a kept tail of
// the newest keep messages.
func situation(target, keep int, msgs ...precis.Message) *policy.Situation {
	t := precis.NewTranscript(msgs...)
	m := measure.New(counter{})
	return &policy.Situation{
		Conversation: &precis.Conversation{Transcript: t}, Transcript: t, Units: precis.Units(t, nil), Meter: m,
		Kept: policy.Keep(t, nil, m, keep, 0), Settings: policy.DefaultSettings(),
		Used: m.View(msgs), Target: target, Limit: target,
	}
}

// apply returns the view after one rung.
func apply(t *testing.T, rung policy.Strategy, s *policy.Situation) []precis.Message {
	t.Helper()
	e, err := rung.Propose(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := precis.CheckEdit(s.Transcript, nil, e); err != nil {
		t.Fatal(err)
	}
	view := precis.View(s.Transcript, []precis.Edit{e})
	if b := precis.Check(view); len(b) > 0 {
		t.Fatalf("%s made an invalid view: %v", rung.Name(), b)
	}
	return view
}

func text(role precis.Role, s string) precis.Message { return precis.NewText(role, s) }

// call is a tool use with its result.
func call(id, name, input, output string) []precis.Message {
	return []precis.Message{
		{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: name, Input: json.RawMessage(input)}}},
		{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: output}}}}},
	}
}

func join(parts ...any) []precis.Message {
	var out []precis.Message
	for _, p := range parts {
		switch p := p.(type) {
		case precis.Message:
			out = append(out, p)
		case []precis.Message:
			out = append(out, p...)
		}
	}
	return out
}

func result(view []precis.Message, i int) string {
	return view[i].Content[0].(precis.ToolResult).Text()
}

func TestDedupeReads(t *testing.T) {
	old, now := strings.Repeat("old line\n", 40), strings.Repeat("new line\n", 40)
	read := func(id, out string) []precis.Message { return call(id, "read_file", `{"path":"./a.go"}`, out) }
	for _, tt := range []struct {
		name      string
		msgs      []precis.Message
		want      string // in the first result
		unchanged bool
	}{
		{"identical", join(text("user", "go"), read("1", now), read("2", now)), "same content is shown in full at m4.b0", false},
		{"a write between", join(text("user", "go"), read("1", old), call("w", "write_file", `{"path":"a.go","content":"x"}`, "ok"), read("2", now)), "out of date", false},
		{"another range", join(text("user", "go"), call("1", "read_file", `{"path":"a.go","offset":1}`, old), call("2", "read_file", `{"path":"a.go","offset":9}`, now)), "", true},
		{"an error in between", join(text("user", "go"), read("1", now), call("2", "read_file", `{"path":"b.go"}`, now[:300])), "", true},
		{"command printed the same", join(text("user", "go"), call("1", "bash", `{"command":"ls"}`, now), call("2", "bash", `{"command":"ls"}`, now)), "same text is shown in full at m4.b0", false},
		{"command printed something else", join(text("user", "go"), call("1", "bash", `{"command":"ls"}`, old), call("2", "bash", `{"command":"ls"}`, now)), "", true},
	} {
		s := situation(0, 1, join(tt.msgs, text("assistant", "done"), text("user", "next"))...)
		view := apply(t, reduce.Dedupe{}, s)
		if tt.unchanged {
			if got, was := result(view, 2), result(s.Transcript.Messages(), 2); got != was {
				t.Errorf("%s: changed to %q", tt.name, got)
			}
			continue
		}
		if got := result(view, 2); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q in it", tt.name, got, tt.want)
		}
		if result(view, 4) == "" || strings.Contains(result(view, len(tt.msgs)-1), "[") {
			t.Errorf("%s: the newest copy was touched", tt.name)
		}
	}
}

func TestDedupeXMLCalls(t *testing.T) {
	body := strings.Repeat("line of the file\n", 30)
	read := func(out string) []precis.Message {
		return []precis.Message{
			text("assistant", "I read it.\n\n<read_file>\n<path>src/a.ts</path>\n</read_file>"),
			{Role: "user", Content: []precis.Block{
				precis.Text{Text: "[read_file for 'src/a.ts'] Result:"}, precis.Text{Text: out},
				precis.Text{Text: "<environment_details>\n" + strings.Repeat("tab ", 80) + "\n</environment_details>"},
			}},
		}
	}
	s := situation(0, 1, join(text("user", "<task>x</task>"), read(body), read(body+"more"), text("assistant", "ok"), text("user", "next"))...)
	view := apply(t, reduce.Dedupe{}, s)
	blocks := view[2].Content
	if got := blocks[1].(precis.Text).Text; !strings.Contains(got, "out of date") || !strings.Contains(got, "m2.b1") {
		t.Errorf("older read: %q", got)
	}
	if got := blocks[2].(precis.Text).Text; !strings.Contains(got, "superseded by m4.b2") {
		t.Errorf("older environment: %q", got)
	}
	if got := blocks[0].(precis.Text).Text; got != "[read_file for 'src/a.ts'] Result:" {
		t.Errorf("the head of the result was touched: %q", got)
	}
}

// A block that a newer one supersedes may be the only one that names the directory.
func TestTheWorkingDirectoryStaysNamed(t *testing.T) {
	block := func(s string) precis.Message {
		return text("user", "<environment_details>\n"+s+strings.Repeat("tab ", 80)+"\n</environment_details>")
	}
	const dir = "# Current Working Directory (/home/ann/site) Files\n"
	s := situation(0, 1, text("user", "x"), text("assistant", "ok"), block(dir), text("assistant", "ok"), block(dir), text("assistant", "ok"), block(""), text("assistant", "ok"), text("user", "next"))
	view := apply(t, reduce.Dedupe{}, s)
	if got := view[4].PlainText(); !strings.Contains(got, "superseded by m6") || !strings.Contains(got, "; current working directory: /home/ann/site") {
		t.Errorf("%q", got)
	}
	if got := view[2].PlainText(); !strings.Contains(got, "superseded by m6") || strings.Contains(got, "/home/ann/site") {
		t.Errorf("it is named twice: %q", got)
	}
}

func TestMediaKeepsTheNewest(t *testing.T) {
	image := precis.Image{MediaType: "image/png", Data: "AAAA", Width: 8, Height: 9}
	shot := func(id string) []precis.Message {
		m := call(id, "screenshot", "{}", "taken")
		r := m[1].Content[0].(precis.ToolResult)
		r.Content = append(r.Content, image)
		m[1].Content[0] = r
		return m
	}
	s := situation(0, 1, join(precis.Message{Role: "user", Content: []precis.Block{precis.Text{Text: "look"}, image}}, shot("1"), shot("2"), text("user", "next"))...)
	view := apply(t, reduce.Media{}, s)
	if got := view[0].Content[1].(precis.Text).Text; !strings.Contains(got, "image/png, 8×9") || !strings.Contains(got, "m0.b1") {
		t.Errorf("user image: %q", got)
	}
	if r := view[2].Content[0].(precis.ToolResult); len(r.Content) != 2 || !strings.Contains(r.Content[1].(precis.Text).Text, "image") {
		t.Errorf("older screenshot: %v", r)
	}
	if r := view[4].Content[0].(precis.ToolResult); precis.HashBlock(r.Content[1]) != precis.HashBlock(image) {
		t.Errorf("newest screenshot: %v", r)
	}
}

func TestPruneKeepsInputsValid(t *testing.T) {
	long := strings.Repeat("é\"\\n", 2000)
	raw, _ := json.Marshal(map[string]any{"path": "a.go", "content": long, "nested": []any{map[string]string{"x": long}}, "n": 1.5})
	s := situation(0, 1, join(text("user", "go"), call("1", "write_file", string(raw), "ok"), text("user", "next"))...)
	view := apply(t, reduce.Prune{}, s)
	input := view[1].Content[0].(precis.ToolUse).Input
	var got map[string]any
	if err := json.Unmarshal(input, &got); err != nil {
		t.Fatalf("%s: %v", input, err)
	}
	if got["path"] != "a.go" || got["n"] != 1.5 || len(input) > len(raw)/4 {
		t.Errorf("%d of %d bytes left: %s", len(input), len(raw), input)
	}
	if !strings.Contains(got["content"].(string), "m1.b0") {
		t.Error("the handle is missing")
	}
}

func TestPruneKeepsTagsOfXMLCalls(t *testing.T) {
	long := strings.Repeat("some code\n", 300)
	msg := "I write it.\n\n<write_to_file>\n<path>a.go</path>\n<content>\n" + long + "</content>\n<line_count>300</line_count>\n</write_to_file>\nDone."
	s := situation(0, 1, text("user", "go"), text("assistant", msg), text("user", "next"))
	got := apply(t, reduce.Prune{}, s)[1].PlainText()
	for _, want := range []string{"I write it.\n\n<write_to_file>\n<path>a.go</path>\n<content>", "</content>\n<line_count>300</line_count>\n</write_to_file>\nDone.", "m1.b0"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
	if len(got) > len(msg)/2 {
		t.Errorf("%d of %d bytes left", len(got), len(msg))
	}
}

func TestTruncateHidesWholeTurns(t *testing.T) {
	var msgs []precis.Message
	msgs = append(msgs, text("user", "the task"))
	for i := range 10 {
		msgs = append(msgs, call(fmt.Sprint(i), "bash", `{"command":"x"}`, strings.Repeat("out ", 50))...)
	}
	msgs = append(msgs, text("assistant", "done"), text("user", "the last words"))
	s := situation(math.MaxInt, 3, msgs...)
	view := apply(t, reduce.Truncate{}, s)
	if view[0].PlainText() != "the task" || view[len(view)-1].PlainText() != "the last words" {
		t.Error("the first or the last message is gone")
	}
	if got := view[1].PlainText(); !strings.Contains(got, "10 earlier messages") || !strings.Contains(got, "m1-m10") {
		t.Errorf("marker %q", got)
	}
	s = situation(300, 3, msgs...)
	if n := s.Meter.View(apply(t, reduce.Truncate{}, s)); n > 600 {
		t.Errorf("%d characters left: it must go on until the target or the kept tail", n)
	}
	s = situation(math.MaxInt, 0, msgs...)
	s.Settings.RungSettings.KeepLast = 4
	if view := apply(t, reduce.Truncate{}, s); len(view) != 6 {
		t.Errorf("%d messages left of the last 4, the first and a marker", len(view))
	}
}

func TestTruncateHidesNoMoreThanTheTargetTakes(t *testing.T) {
	var msgs []precis.Message
	for i := range 40 {
		msgs = append(msgs, text([]precis.Role{"user", "assistant"}[i%2], strings.Repeat(fmt.Sprint("message ", i, " "), 20)))
	}
	for _, tt := range []struct {
		name     string
		rung     reduce.Truncate
		trigger  int
		least    int
		mostLeft int
	}{
		{"a view that fits", reduce.Truncate{}, math.MaxInt, 36, 40},
		{"one that would be reduced again at once", reduce.Truncate{}, 0, 20, 23},
		{"Roo's way", reduce.Truncate{Roo: true}, math.MaxInt, 20, 23},
	} {
		s := situation(0, 1, msgs...)
		s.Target, s.Limit, s.Trigger = s.Used-4, s.Used, tt.trigger
		view := apply(t, tt.rung, s)
		if n := len(view); n < tt.least || n > tt.mostLeft || s.Meter.View(view) > s.Target {
			t.Errorf("%s: %d messages, %d characters over the target", tt.name, n, s.Meter.View(view)-s.Target)
		}
	}
}

func TestTruncateNeverCountsTheHidden(t *testing.T) {
	var msgs []precis.Message
	for i := range 20 {
		role := precis.RoleUser
		if i%2 == 1 {
			role = precis.RoleAssistant
		}
		msgs = append(msgs, text(role, fmt.Sprint("message ", i)))
	}
	s := situation(math.MaxInt, 0, msgs...)
	first, _ := reduce.Truncate{}.Propose(context.Background(), s)
	first.ID = "first"
	s.Edits = []precis.Edit{first}
	s.Units = precis.Units(s.Transcript, s.Edits)
	second, err := reduce.Truncate{}.Propose(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := precis.CheckEdit(s.Transcript, s.Edits, second); err != nil {
		t.Fatal(err)
	}
	view := precis.View(s.Transcript, append(s.Edits, second))
	// 20: 18 of 19/2 → 8 hidden; 12 left with a marker: 11/2 → 4 more.
	if len(view) != 20-8-4+1 {
		t.Errorf("%d messages in the view", len(view))
	}
	if got := view[1].PlainText(); !strings.Contains(got, "m1-m12") {
		t.Errorf("the markers were not joined: %q", got)
	}
}

func TestTruncateLeavesPins(t *testing.T) {
	var msgs []precis.Message
	for i := range 12 {
		msgs = append(msgs, text([]precis.Role{"user", "assistant"}[i%2], fmt.Sprint("message ", i)))
	}
	s := situation(0, 1, msgs...)
	pin := precis.Edit{ID: "p", Kind: precis.KindPin, Pins: []precis.Handle{precis.MessageHandle(5)}}
	s.Edits = []precis.Edit{pin}
	s.Kept = policy.Keep(s.Transcript, s.Edits, s.Meter, 1, 0)
	found := false
	for _, m := range apply(t, reduce.Truncate{}, s) {
		found = found || m.PlainText() == "message 5"
	}
	if !found {
		t.Error("the pinned message is hidden")
	}
}

func TestClipCannotFail(t *testing.T) {
	big := strings.Repeat("0123456789", 5000)
	msgs := join(text("user", "task "+big), call("1", "bash", `{"command":"`+big+`"}`, big), text("assistant", big),
		call("2", "bash", `{"command":"ls"}`, big), text("user", "begin "+big+" end"))
	for _, target := range []int{100_000, 20_000, 3000, 700} {
		s := situation(target, 3, msgs...)
		view := apply(t, reduce.Clip{}, s)
		if n := s.Meter.View(view); n > target {
			t.Errorf("target %d: %d characters left", target, n)
		}
		last := view[len(view)-1].PlainText()
		if !strings.HasPrefix(last, "beg") || !strings.HasSuffix(last, "nd") && target > 700 {
			t.Errorf("target %d: the ends of the last user turn are gone: %.40q … %.20q", target, last, last[max(0, len(last)-20):])
		}
	}
}

func TestClipCutsInOrder(t *testing.T) {
	big := strings.Repeat("0123456789", 1000)
	msgs := join(text("user", big), call("1", "bash", `{"command":"a"}`, big), call("2", "bash", `{"command":"b"}`, big), text("user", big))
	s := situation(32_000, 3, msgs...)
	view := apply(t, reduce.Clip{}, s)
	if len(result(view, 2)) == len(big) || len(result(view, 4)) != len(big) {
		t.Errorf("old result %d, newer result %d: the old one goes first", len(result(view, 2)), len(result(view, 4)))
	}
	if view[0].PlainText() != big || view[5].PlainText() != big {
		t.Error("user text was cut before tool results were used up")
	}
	s = situation(23_000, 3, msgs...)
	view = apply(t, reduce.Clip{}, s)
	if len(result(view, 4)) == len(big) || view[0].PlainText() != big {
		t.Error("the newer result goes before user text")
	}
}

func TestRungsNeverGrowTheView(t *testing.T) {
	roo := tokens.Roo{}
	for _, rung := range []policy.Strategy{reduce.Dedupe{}, reduce.Media{}, reduce.Prune{}, reduce.Truncate{}, reduce.Clip{}} {
		s := situation(0, 0, text("user", "a"), text("assistant", "b"), text("user", "c"))
		s.Meter = measure.New(roo)
		s.Used = s.Meter.View(s.Transcript.Messages())
		e, err := rung.Propose(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		if rung.Name() != "truncate" && rung.Name() != "clip" && len(e.Replace) > 0 {
			t.Errorf("%s found something to do in three words", rung.Name())
		}
	}
}
