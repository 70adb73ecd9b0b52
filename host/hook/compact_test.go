package hook

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/internal/harness"
)

// agent is a Claude Code that compacts by precis: it has a context of rows and writes what happens into the recording as
// the program does.
type agent struct {
	*session
	rows  []row
	lines strings.Builder
	calls int
	last  string // uuid of the newest line
	clock int
}

func newAgent(t testing.TB) *agent {
	a := &agent{session: begin(t, "claude-code", 0)}
	a.says(row{Role: "user", Text: ask})
	return a
}

// line writes a line of the recording.
func (a *agent) line(format string, args ...any) {
	a.clock++
	uuid := fmt.Sprint("u", a.clock)
	parent := `"` + a.last + `"`
	if a.last == "" {
		parent = "null"
	}
	fmt.Fprintf(&a.lines, `{"parentUuid":%s,"uuid":%q,"sessionId":"s1","timestamp":"2026-01-01T%02d:%02d:%02dZ","cwd":"/src/lamp",%s}`+"\n", parent, uuid, a.clock/3600, a.clock/60%60, a.clock%60, fmt.Sprintf(format, args...))
	a.last = uuid
	a.write(a.lines.String())
}

// says adds a row to the context and the recording.
func (a *agent) says(r row) {
	a.rows = append(a.rows, r)
	a.records(r, "claude-sonnet-4-5")
}

func (a *agent) records(r row, model string) {
	var content []map[string]any
	if r.Text != "" {
		content = append(content, map[string]any{"type": "text", "text": r.Text})
	}
	for _, u := range r.Uses {
		content = append(content, map[string]any{"type": "tool_use", "id": u.ID, "name": u.Tool, "input": u.Input})
	}
	for _, u := range r.Results {
		content = append(content, map[string]any{"type": "tool_result", "tool_use_id": u.ID, "content": u.Text, "is_error": u.IsError})
	}
	data, _ := json.Marshal(content)
	a.line(`"type":%q,"madeBy":"other","message":{"role":%q,"id":"msg%d","model":%q,"content":%s}`, r.Role, r.Role, a.clock, model, data)
}

// reads has the model read a file of n lines: a row of words, one of the call, one of the result.
func (a *agent) reads(n int) {
	a.calls++
	id, path := fmt.Sprint("toolu_", a.calls), fmt.Sprintf("/src/lamp/part%d.go", a.calls)
	input, _ := json.Marshal(map[string]string{"file_path": path})
	words, call := row{Role: "assistant", Text: fmt.Sprintf("Reading part %d.", a.calls)}, row{Role: "assistant", Uses: []rowUse{{id, "Read", input}}}
	a.rows = append(a.rows, words, call)
	a.records(row{Role: "assistant", Text: words.Text, Uses: call.Uses}, "claude-sonnet-4-5")
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%d\tpart %d holds the wick of lamp %d and the key %x\n", i, a.calls, i*7, i*a.calls*7919)
	}
	a.says(row{Role: "user", Results: []rowResult{{ID: id, Text: text.String()}}})
}

// compacts asks precis, and puts the answer in the place of the context.
func (a *agent) compacts(trigger, instructions string) compaction {
	a.t.Helper()
	named := slices.Clone(a.rows)
	for i := range named { // what the module sends
		named[i].Uses, named[i].Results = slices.Clone(named[i].Uses), slices.Clone(named[i].Results)
		for k := range named[i].Uses {
			named[i].Uses[k] = rowUse{ID: named[i].Uses[k].ID}
		}
		for k := range named[i].Results {
			named[i].Results[k] = rowResult{ID: named[i].Results[k].ID, Size: units(named[i].Results[k].Text)}
		}
	}
	in, err := json.Marshal(map[string]any{
		"session_id": "s1", "transcript_path": a.path, "trigger": trigger, "instructions": instructions, "rows": named,
		"context": map[string]int{"tokens": tokensOf(a.rows), "window": 200_000},
	})
	if err != nil {
		a.t.Fatal(err)
	}
	var answer struct {
		Rows []json.RawMessage `json:"rows"`
		compaction
	}
	out := a.run("compact", string(in))
	if out == "" {
		return compaction{}
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		a.t.Fatalf("%v: %s", err, out)
	}
	if answer.Skip != "" {
		return answer.compaction
	}
	var rows []row
	for i, raw := range answer.Rows {
		var n int
		var keep keptRow
		r := row{}
		switch {
		case json.Unmarshal(raw, &n) == nil:
			r = a.rows[n]
		case strings.HasPrefix(string(raw), `{"keep"`):
			if err := json.Unmarshal(raw, &keep); err != nil {
				a.t.Fatal(err)
			}
			r = a.rows[keep.Keep]
		default:
			if err := json.Unmarshal(raw, &r); err != nil {
				a.t.Fatal(err)
			}
		}
		if i == 0 && string(raw) != `{"keep":0}` {
			a.t.Fatalf("the first row is %s", raw)
		}
		rows = append(rows, r)
	}
	a.rows = rows
	a.rewrites()
	return compaction{Rows: make([]any, len(rows)), Said: answer.Said}
}

// rewrites records the boundary and the rows after it, which have earlier times than the boundary.
func (a *agent) rewrites() {
	at := a.clock
	a.clock += len(a.rows) + 1
	last := a.last
	a.last = ""
	a.line(`"logicalParentUuid":%q,"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":100,"postTokens":10}`, last)
	end := a.clock
	a.clock = at
	for _, r := range a.rows {
		a.records(r, "<synthetic>")
	}
	a.clock = end
}

func tokensOf(rows []row) int {
	n := 0
	for _, r := range rows {
		n += len(r.Text)
		for _, u := range r.Uses {
			n += len(u.Input) + 40
		}
		for _, u := range r.Results {
			n += len(u.Text) + 20
		}
	}
	return n / 4
}

// texts are the rows as a model reads them.
func (a *agent) texts() string {
	var b strings.Builder
	for _, r := range a.rows {
		b.WriteString(r.Text + "\n")
		for _, u := range r.Results {
			b.WriteString(u.Text + "\n")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// valid verifies that each call is followed by its result, and each result preceded by its call.
func valid(rows []row) error {
	open := map[string]bool{}
	for i, r := range rows {
		for _, u := range r.Results {
			if !open[u.ID] {
				return fmt.Errorf("row %d: a result without a call: %s", i, u.ID)
			}
			delete(open, u.ID)
		}
		if r.Text == "" && len(r.Uses) == 0 && len(r.Results) == 0 {
			return fmt.Errorf("row %d is empty", i)
		}
		for _, u := range r.Uses {
			open[u.ID] = true
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("calls without results: %v", open)
	}
	return nil
}

// Compactions one after the other: the context falls each time, is valid, keeps the request and what was read last, has
// one digest of precis at most, and reading the recording gives the same messages as ever.
func TestPrecisCompacts(t *testing.T) {
	a := newAgent(t)
	for round := range 6 {
		for range 5 {
			a.reads(120)
		}
		before := tokensOf(a.rows)
		newest := a.rows[len(a.rows)-1].Results[0].Text
		if got := a.compacts("auto", ""); got.Said == "" {
			t.Fatalf("round %d: no answer: %+v", round, a.session.last())
		}
		after := tokensOf(a.rows)
		if after > before/2 {
			t.Errorf("round %d: %d tokens became %d", round, before, after)
		}
		if err := valid(a.rows); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		text := a.texts()
		if !strings.HasPrefix(text, ask) || !strings.Contains(text, strings.Join(strings.Fields(newest), " ")) {
			t.Errorf("round %d: the request or the newest result is gone:\n%.2000s", round, text)
		}
		if n := strings.Count(text, ask); n != 1 {
			t.Errorf("round %d: the request is there %d times", round, n)
		}
		if n := strings.Count(text, "[Digest of messages"); n > 1 {
			t.Errorf("round %d: %d digests", round, n)
		}
		rec, err := formats.Load(a.path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := (&call{Call: Call{Host: "claude-code"}}).recordOf(rec)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := r.conv.Transcript.Len(), 1+2*a.calls; got != want {
			t.Fatalf("round %d: the recording has %d messages, want %d", round, got, want)
		}
		shown := precis.View(r.conv.Transcript, r.conv.Edits)
		if got, want := plain(shown), text; got != want {
			t.Errorf("round %d: the recording shows\n%.3000s\nwant\n%.3000s", round, got, want)
		}
		if b := precis.Check(shown); len(b) > 0 {
			t.Errorf("round %d: the recorded view has breaches %v", round, b)
		}
	}
	if out := a.run("session-start", claudeCompact); out != "" {
		t.Errorf("the other hook says %s", out)
	}
	if out := a.run("session-start", claudeCompact); out == "" {
		t.Error("the other hook is silent behind a compaction of Claude Code itself")
	}
}

func plain(msgs []precis.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		b.WriteString(written(m).Text + "\n")
		for _, r := range written(m).Results {
			b.WriteString(r.Text + "\n")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// A person takes the newest compaction back, and then there is one less.
func TestUndoACompaction(t *testing.T) {
	a := newAgent(t)
	for range 5 {
		a.reads(100)
	}
	all := a.texts()
	if got := a.compacts("manual", " Undo "); got.Skip == "" {
		t.Errorf("there is nothing to undo: %+v", got)
	}
	a.compacts("manual", "Mind the wick.")
	once := a.texts()
	if once == all {
		t.Fatal("nothing was shortened")
	}
	a.reads(100)
	a.compacts("manual", "undo")
	if got := a.texts(); !strings.HasPrefix(got, all) || valid(a.rows) != nil {
		t.Errorf("taken back it is\n%.3000s\nwant\n%.3000s (%v)", got, all, valid(a.rows))
	}
	if got := a.compacts("manual", "undo"); got.Skip == "" {
		t.Errorf("there is nothing to undo any more: %+v", got)
	}
	if got := a.compacts("auto", ""); got.Said == "" || strings.Contains(a.texts(), harness.OwnMark) {
		t.Errorf("it is compacted again: %+v", got)
	}
}

// In any doubt, Claude Code compacts by itself and the state is unchanged.
func TestDoubtsAboutRows(t *testing.T) {
	for name, change := range map[string]func(*agent){
		"another context":          func(a *agent) { a.rows = []row{{Role: "user", Text: "Something else."}, a.rows[1]} },
		"no rows":                  func(a *agent) { a.rows = nil },
		"the newest is not there":  func(a *agent) { a.rows = a.rows[:len(a.rows)-4] },
		"the newest result is not": func(a *agent) { a.rows = a.rows[:len(a.rows)-1] },
		"only the first":           func(a *agent) { a.rows = a.rows[:1] },
		"no recording":             func(a *agent) { os.Remove(a.path) },
		"an empty recording":       func(a *agent) { a.write("") },
		"half a recording":         func(a *agent) { a.write(a.lines.String()[:200]) },
		"of another program":       func(a *agent) { a.write(recordings["codex"](3)) },
		"it is larger than it may": func(a *agent) { a.says(row{Role: "user", Text: strings.Repeat("wick ", 1<<20)}) },
	} {
		a := newAgent(t)
		for range 4 {
			a.reads(80)
		}
		change(a)
		if got := a.compacts("auto", ""); got.Said != "" {
			t.Errorf("%s: %+v", name, got)
		}
		if data, err := os.ReadFile((&call{Call: Call{Host: "claude-code"}, o: a.o, input: input{Session: "s1"}}).statePath()); err == nil && strings.Contains(string(data), "edits") {
			t.Errorf("%s: it is remembered: %s", name, data)
		}
	}
}

// Rows that the recording does not have yet stay after its own.
func TestRowsAheadOfTheRecording(t *testing.T) {
	a := newAgent(t)
	for range 5 {
		a.reads(100)
	}
	a.rows = append(a.rows, row{Role: "user", Text: "Now count the wicks."})
	if got := a.compacts("auto", ""); got.Said == "" {
		t.Fatal("no answer")
	}
	if last := a.rows[len(a.rows)-1]; last.Text != "Now count the wicks." {
		t.Errorf("the last row is %+v", last)
	}
}

// If the newest result is recorded while precis reads, precis reads again and shortens earlier
// content.
func TestTheNewestResultIsRecordedLate(t *testing.T) {
	a := newAgent(t)
	for range 5 {
		a.reads(100)
	}
	all := a.lines.String()
	a.write(all[:strings.LastIndexByte(strings.TrimSpace(all), '\n')+1])
	looks := 0
	a.o.Find = func(string, string) string {
		if looks++; looks > 1 {
			a.write(all)
		}
		return a.path
	}
	before, newest := tokensOf(a.rows), a.rows[len(a.rows)-1]
	if got := a.compacts("auto", ""); got.Said == "" || looks != 2 {
		t.Fatalf("%+v after %d looks", got, looks)
	}
	if last := a.rows[len(a.rows)-1]; last.Results[0].Text != newest.Results[0].Text || tokensOf(a.rows) > before*2/5 {
		t.Errorf("%d tokens became %d, the last is %.200v", before, tokensOf(a.rows), last)
	}
}

// Whatever is said and whenever it is compacted, taken back or forgotten, the rows are valid and begin with the first.
func TestAnyCompactions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := newAgent(t)
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			switch rapid.IntRange(0, 5).Draw(rt, "step") {
			case 0:
				a.says(row{Role: "user", Text: rapid.StringMatching(`[A-Z][a-z ]{3,40}\.`).Draw(rt, "words")})
				a.says(row{Role: "assistant", Text: rapid.SampledFrom([]string{"Done.", "The wick is long.", "All parts are read."}).Draw(rt, "answer")})
			case 1:
				a.compacts("auto", "")
			case 2:
				a.compacts("manual", rapid.SampledFrom([]string{"", "undo", "Mind the wick."}).Draw(rt, "instructions"))
			case 3:
				if rapid.Bool().Draw(rt, "forget") {
					os.RemoveAll(a.o.State)
				}
			default:
				a.reads(rapid.IntRange(1, 60).Draw(rt, "lines"))
			}
			if err := valid(a.rows); err != nil {
				rt.Fatal(err)
			}
			if a.rows[0].Text != ask {
				rt.Fatalf("the first row is %+v", a.rows[0])
			}
		}
	})
}
