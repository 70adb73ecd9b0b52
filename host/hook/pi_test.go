package hook

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/formats"
)

// piAgent is a pi with precis: it keeps a session as a tree of entries in a file, appends the
// answer at the end of a turn, and projects the session as pi does (buildSessionProjection of pi
// 1.6).
type piAgent struct {
	*session
	entries []map[string]any
	leaf    string
	calls   int
}

func newPi(t testing.TB) *piAgent {
	a := &piAgent{session: begin(t, "pi", 0)}
	a.says("user", ask)
	return a
}

// add appends an entry after the leaf.
func (a *piAgent) add(e map[string]any) string {
	e = copied(e)
	e["id"], e["parentId"], e["timestamp"] = fmt.Sprintf("e%d", len(a.entries)+1), nil, fmt.Sprintf("2026-01-01T00:%02d:%02dZ", len(a.entries)/60%60, len(a.entries)%60)
	if a.leaf != "" {
		e["parentId"] = a.leaf
	}
	a.leaf = e["id"].(string)
	a.entries = append(a.entries, e)
	return a.leaf
}

// copied is a value as JSON has it.
func copied(e map[string]any) (out map[string]any) {
	if data, err := json.Marshal(e); err != nil || json.Unmarshal(data, &out) != nil {
		panic(err)
	}
	return out
}

// saved writes the file.
func (a *piAgent) saved() {
	lines := []string{`{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00Z","cwd":"/src/lamp"}`}
	for _, e := range a.entries {
		lines = append(lines, strings.TrimSpace(string(line(e))))
	}
	a.write(strings.Join(lines, "\n") + "\n")
}

type m = map[string]any

func (a *piAgent) message(role string, content any, more m) {
	msg := m{"role": role, "content": content, "model": "claude-sonnet-4-5", "timestamp": 1}
	for k, v := range more {
		msg[k] = v
	}
	a.add(m{"type": "message", "message": msg})
}

func (a *piAgent) says(role, text string) {
	a.message(role, []m{{"type": "text", "text": text, "textSignature": "signed"}}, nil)
}

// reads has the model read a file of n lines.
func (a *piAgent) reads(n int) {
	a.calls++
	id := fmt.Sprint("call_", a.calls)
	a.message("assistant", []m{
		{"type": "thinking", "thinking": fmt.Sprint("Part ", a.calls), "thinkingSignature": "sig"}, {"type": "text", "text": fmt.Sprintf("Reading part %d.", a.calls)},
		{"type": "toolCall", "id": id, "name": "read", "arguments": m{"path": fmt.Sprintf("lamp/part%d.go", a.calls)}, "thoughtSignature": "own"},
	}, nil)
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "part %d holds the wick of lamp %d and the key %x\n", a.calls, i*7, i*a.calls*7919)
	}
	a.message("toolResult", []m{{"type": "text", "text": text.String()}}, m{"toolCallId": id, "toolName": "read", "isError": false})
}

// turnEnds asks precis, and appends its entries.
func (a *piAgent) turnEnds(instructions string) compaction {
	a.t.Helper()
	a.saved()
	in := m{
		"session_id": a.path, "transcript_path": a.path, "leaf": a.leaf, "context": m{"tokens": a.tokens()},
		"trigger": map[bool]string{true: "manual", false: "auto"}[instructions != ""], "instructions": instructions,
	}
	out := a.run("view", string(line(in)))
	var answer struct {
		compaction
		Entries []m `json:"entries"`
	}
	if out != "" && json.Unmarshal([]byte(out), &answer) != nil {
		a.t.Fatalf("the answer is %s", out)
	}
	for _, e := range answer.Entries {
		if target := e["targetId"]; target != nil && !slices.ContainsFunc(a.way(), func(e m) bool { return e["id"] == target }) {
			a.t.Fatalf("%v is not on the path", target)
		}
		a.add(e)
	}
	a.saved()
	return answer.compaction
}

// way are the entries from the root to the leaf.
func (a *piAgent) way() (out []m) {
	for id := a.leaf; id != ""; {
		i := slices.IndexFunc(a.entries, func(e m) bool { return e["id"] == id })
		out = append([]m{a.entries[i]}, out...)
		id, _ = a.entries[i]["parentId"].(string)
	}
	return out
}

// shown are the messages of pi's projection, as a model reads them.
func (a *piAgent) shown() (out []m) {
	path := a.way()
	newest := -1
	edits := map[any]any{}
	for i, e := range path {
		switch e["type"] {
		case "compaction":
			newest = i
		case "context_edit":
			edits[e["targetId"]] = e["replacement"]
		}
	}
	kept := newest < 0
	if newest >= 0 {
		out = append(out, m{"role": "user", "content": []any{m{"type": "text", "text": path[newest]["summary"]}}})
	}
	for i, e := range path {
		if newest >= 0 && (e["id"] == path[newest]["firstKeptEntryId"] || i > newest) {
			kept = true
		}
		msg, ok := e["message"].(m)
		if !kept || !ok {
			continue
		}
		msg = copied(msg)
		if edit, ok := edits[e["id"]]; ok {
			if edit == nil {
				continue
			}
			msg["content"] = edit.(m)["content"]
		}
		out = append(out, msg)
	}
	return out
}

// text is what the model reads.
func (a *piAgent) text() string {
	var b strings.Builder
	for _, msg := range a.shown() {
		for _, block := range msg["content"].([]any) {
			if text, ok := block.(m)["text"].(string); ok {
				b.WriteString(text + "\n")
			}
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func (a *piAgent) tokens() int { return len(line(a.shown())) / 4 }

// piOnly is what a summary says beside the words of the view.
var piOnly = regexp.MustCompile(`\[m\d+, word for word:\] |\[precis: the compaction before this one is taken back\. What it hid follows\.\] `)

// sound verifies that each call is followed by its result, and that precis's view of the file
// equals pi's.
func (a *piAgent) sound() error {
	open := map[any]bool{}
	for i, msg := range a.shown() {
		if id := msg["toolCallId"]; id != nil && !open[id] {
			return fmt.Errorf("message %d: a result without a call: %v", i, id)
		} else if id != nil {
			delete(open, id)
		}
		for _, block := range msg["content"].([]any) {
			if block := block.(m); block["type"] == "toolCall" {
				open[block["id"]] = true
				if block["thoughtSignature"] != "own" {
					return fmt.Errorf("message %d: the call has lost what belongs to it: %v", i, block)
				}
			}
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("calls without results: %v", open)
	}
	conv := a.conversation()
	if n := conv.Transcript.Len(); n != len(slices.DeleteFunc(a.way(), func(e m) bool { return e["type"] != "message" })) {
		return fmt.Errorf("the transcript has %d messages", n)
	}
	ours, theirs := plain(precis.View(conv.Transcript, conv.Edits)), a.text()
	if theirs = piOnly.ReplaceAllString(theirs, ""); ours != theirs {
		n := 0
		for n < min(len(ours), len(theirs)) && ours[n] == theirs[n] {
			n++
		}
		return fmt.Errorf("behind %d bytes the view is\n%.500s\npi shows\n%.500s", n, ours[n:], theirs[n:])
	}
	return nil
}

func (a *piAgent) conversation() *precis.Conversation {
	a.t.Helper()
	src, err := formats.Load(a.path)
	if err != nil {
		a.t.Fatal(err)
	}
	r, err := (&call{Call: Call{Host: "pi"}}).recordOf(src)
	if err != nil {
		a.t.Fatal(err)
	}
	return r.conv
}

// Turns that end with a full context, one after the other: the context falls each time, keeps the request and what was
// read last, has one digest at most, and is what precis shows of the file.
func TestPiShowsTheView(t *testing.T) {
	a := newPi(t)
	for round := range 6 {
		if round == 3 {
			a.says("assistant", "Half of it is read.")
			a.says("user", "Go on, and mind the wick.")
		}
		for range 5 {
			a.reads(120)
		}
		before := a.tokens()
		newest := a.entries[len(a.entries)-1]["message"].(m)["content"].([]any)[0].(m)["text"].(string)
		if got := a.turnEnds(""); got.Said == "" {
			t.Fatalf("round %d: no answer: %+v", round, a.last())
		}
		if after := a.tokens(); after > before/2 {
			t.Errorf("round %d: %d tokens became %d", round, before, after)
		}
		if err := a.sound(); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		text := a.text()
		if strings.Count(text, ask) != 1 || !strings.Contains(text, strings.Join(strings.Fields(newest), " ")) {
			t.Errorf("round %d: the request or the newest result is gone, or there twice:\n%.2000s", round, text)
		}
		if n := strings.Count(text, "[Digest of messages"); n > 1 {
			t.Errorf("round %d: %d digests", round, n)
		}
	}
	if n := len(a.conversation().Edits); n == 0 {
		t.Error("the edits of precis are not read")
	}
}

// The newest compaction is undone by a command, by going back in pi's tree, and in precis's own
// file. Later messages stay.
func TestUndoInPi(t *testing.T) {
	a := newPi(t)
	for range 5 {
		a.reads(100)
	}
	if got := a.turnEnds("undo"); got.Skip == "" {
		t.Errorf("there is nothing to undo: %+v", got)
	}
	all, leaf := a.text(), a.leaf
	a.turnEnds("")
	once := a.text()
	if once == all {
		t.Fatal("nothing was shortened")
	}
	for range 5 {
		a.reads(100)
	}
	a.turnEnds("")
	for n, want := range []string{once, all} {
		if got := a.turnEnds("undo"); got.Said == "" || !strings.Contains(a.text(), want) {
			t.Errorf("%d: %+v; taken back it is\n%.2000s\nwant\n%.2000s", n, got, a.text(), want)
		}
		if err := a.sound(); err != nil {
			t.Errorf("%d: %v", n, err)
		}
		a.reads(10)
	}
	if got := a.turnEnds("undo"); got.Skip == "" {
		t.Errorf("there is nothing to undo any more: %+v", got)
	}
	if got := a.turnEnds(""); got.Said == "" || a.sound() != nil {
		t.Errorf("it is shortened again: %+v, %v", got, a.sound())
	}
	a.leaf = leaf
	a.says("user", "Back to the beginning.")
	a.saved()
	if got := a.text(); got != all+" Back to the beginning." || a.sound() != nil {
		t.Errorf("before the compaction in the tree it is\n%.2000s (%v)", got, a.sound())
	}
	if conv := a.conversation(); len(conv.Edits) != 0 {
		t.Errorf("there are edits: %v", conv.Edits)
	}
}

// Whatever is not as it should be leaves the compaction to pi.
func TestDoubtsAboutPi(t *testing.T) {
	for name, change := range map[string]func(*piAgent){
		"another leaf":       func(a *piAgent) { a.leaf = a.entries[3]["id"].(string) },
		"no file":            func(a *piAgent) { a.path += ".gone" },
		"an empty file":      func(a *piAgent) { a.entries = nil },
		"too little is said": func(a *piAgent) { a.entries = a.entries[:2]; a.leaf = "e2" },
	} {
		a := newPi(t)
		for range 5 {
			a.reads(80)
		}
		a.saved()
		change(a)
		if name != "another leaf" && name != "no file" {
			a.saved()
		}
		in := line(m{"session_id": a.path, "transcript_path": a.path, "leaf": a.leaf, "context": m{"tokens": 20_000}, "trigger": "auto"})
		if got := a.run("view", string(in)); got != "" {
			t.Errorf("%s: %.300s", name, got)
		}
		if _, err := os.Stat((&call{Call: Call{Host: "pi"}, o: a.o, input: input{Session: a.path}}).statePath()); err == nil {
			t.Errorf("%s: something is remembered", name)
		}
	}
}

// A compaction by pi itself, or by /compact, between compactions by precis.
func TestPiCompactsBetween(t *testing.T) {
	a := newPi(t)
	for round := range 4 {
		for range 4 {
			a.reads(100)
		}
		if round%2 == 1 {
			kept := a.entries[len(a.entries)-2]["id"]
			a.add(m{"type": "compaction", "summary": fmt.Sprintf("The summary of round %d.", round), "firstKeptEntryId": kept, "tokensBefore": 9})
			a.saved()
		} else if got := a.turnEnds(""); got.Said == "" {
			t.Errorf("round %d: no answer: %+v", round, a.last())
		}
		if err := a.sound(); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
	}
}

// Whatever is said, shortened, taken back or left in the tree, what pi shows is sound and is precis's view.
func TestAnyTurnsOfPi(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := newPi(t)
		for range rapid.IntRange(1, 9).Draw(rt, "steps") {
			switch rapid.IntRange(0, 6).Draw(rt, "step") {
			case 0:
				a.says("assistant", rapid.SampledFrom([]string{"Done.", "The wick is long.", "All parts are read."}).Draw(rt, "answer"))
				a.says("user", rapid.StringMatching(`[A-Z][a-z ]{3,40}\.`).Draw(rt, "words"))
			case 1, 2:
				a.turnEnds("")
			case 3:
				a.turnEnds("undo")
			case 4:
				path := a.way()
				for i := len(path) - 1 - rapid.IntRange(0, 6).Draw(rt, "back"); i > 0; i-- {
					if msg, ok := path[i]["message"].(m); ok && msg["role"] == "toolResult" {
						a.leaf = path[i]["id"].(string)
						a.says("user", "Another way.")
						break
					}
				}
			default:
				for range rapid.IntRange(1, 4).Draw(rt, "files") {
					a.reads(rapid.IntRange(1, 60).Draw(rt, "lines"))
				}
			}
			a.saved()
			if err := a.sound(); err != nil {
				rt.Fatal(err)
			}
		}
	})
}
