package hook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
)

func TestUnits(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "日本": 2, "🗼": 2, "e\u0301": 2, "\xff": 1} {
		if got := units(text); got != want {
			t.Errorf("%q has %d units, want %d", text, got, want)
		}
	}
}

// A text that is fitted is never longer than it may be, begins as it did, and is whole where it fits.
func TestFit(t *testing.T) {
	line := rapid.OneOf(
		rapid.StringMatching(`## [a-zA-Z ]{1,300}`), rapid.StringMatching(`- [a-z0-9 ./]{0,120}`), rapid.StringMatching(`[日本語灯台🗼🚢é]{0,200}`), rapid.StringN(0, 3000, -1),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.TrimSpace(strings.Join(rapid.SliceOfN(line, 0, 60).Draw(t, "lines"), "\n"))
		limit := rapid.IntRange(100, 5000).Draw(t, "limit")
		got := fit(text, limit)
		if units(got) > limit {
			t.Fatalf("%d units, at most %d", units(got), limit)
		}
		if units(text) <= limit && got != text {
			t.Fatalf("it fits, and became %q", got)
		}
		if kept, _, cut := strings.Cut(got, "["); !cut && !strings.HasPrefix(text, kept) {
			t.Fatalf("%q does not begin %q", got, text)
		}
	})
}

// A digest of a long conversation in non-ASCII text stays below the limits of the programs.
func TestAnswersAreBelowTheLimits(t *testing.T) {
	wide := strings.NewReplacer("lighthouse", strings.Repeat("灯台🗼", 1200), "part", "部分🚢")
	for host, c := range map[string]struct {
		in    string
		limit int
	}{"claude-code": {claudeCompact, 10_000}, "codex": {codexCompact, 24_000}, "qwen": {claudeCompact, 15_000}} {
		s := begin(t, host, 200)
		s.write(wide.Replace(recordings[host](200)))
		s.o.Window = func(string) precis.Window { return precis.Window{Tokens: 2_000_000} }
		answer := s.run("session-start", c.in)
		if answer == "" {
			if host == "claude-code" {
				t.Errorf("%s: no answer: %+v", host, s.last())
			}
			continue
		}
		if got := units(s.added(answer, "SessionStart")); got > c.limit {
			t.Errorf("%s: %d units, at most %d", host, got, c.limit)
		}
	}
}

// pi keeps sessions as trees: only the branch ahead of the entry that stays is hidden.
func TestUntil(t *testing.T) {
	const header = `{"type":"session","id":"s"}` + "\n"
	line := func(id, parent string) string { return `{"id":"` + id + `","parentId":"` + parent + `"}` + "\n" }
	trunk := header + line("a", "") + line("b", "a")
	for name, c := range map[string]struct{ data, id, want string }{
		"in a line":           {trunk + line("c", "b") + line("d", "c"), "c", trunk},
		"behind other branch": {trunk + line("x", "b") + line("y", "x") + line("c", "b") + line("d", "c"), "c", trunk},
		"of a branch":         {trunk + line("x", "a") + line("c", "x"), "c", trunk + line("x", "a")},
		"the first":           {trunk, "a", header},
		"not there":           {trunk, "z", trunk},
		"odd lines":           {trunk + "not a line\n\n" + line("c", "b"), "c", trunk},
		"no parent":           {trunk + line("c", "gone"), "c", trunk},
		"no line end":         {trunk + strings.TrimSpace(line("c", "b")), "c", trunk},
		"empty":               {"", "c", ""},
	} {
		if got := string(linesUpTo([]byte(c.data), c.id)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// clineName is the session name for cline: the plugin's run, and the beginning of the conversation.
func clineName(in []json.RawMessage) string { return "run 1\n" + string(in[0]) }

// cline asks with the first n messages of its session, in the form that is sent: without
// names.
func (s *session) cline(n int) (in, out []json.RawMessage) {
	s.t.Helper()
	var named []map[string]json.RawMessage
	if err := json.Unmarshal([]byte(recordings["cline"](400)), &named); err != nil {
		s.t.Fatal(err)
	}
	for _, m := range named[:n] {
		delete(m, "id")
		data, err := json.Marshal(m)
		if err != nil {
			s.t.Fatal(err)
		}
		in = append(in, data)
	}
	data, err := json.Marshal(map[string]any{"session": "run 1", "model": "test-1", "messages": in})
	if err != nil {
		s.t.Fatal(err)
	}
	answer := s.run("view", string(data))
	if answer == "" {
		return in, nil
	}
	if err := json.Unmarshal([]byte(answer), &out); err != nil {
		s.t.Fatal(err)
	}
	return in, out
}

func TestClineView(t *testing.T) {
	s := begin(t, "cline", 0)
	s.o.Window = func(string) precis.Window { return precis.Window{Tokens: 20_000} }
	if _, out := s.cline(11); out != nil {
		t.Errorf("a short conversation is changed: %d messages", len(out))
	}
	in, out := s.cline(401)
	if out == nil || len(out) >= len(in) {
		t.Fatalf("%d messages of %d, %+v", len(out), len(in), s.last())
	}
	came := map[string]bool{}
	for _, m := range in {
		came[compact(t, m)] = true
	}
	same := 0
	for _, m := range out {
		var said struct{ Role string }
		if err := json.Unmarshal(m, &said); err != nil || said.Role == "" {
			t.Fatalf("%v: %s", err, m)
		}
		switch {
		case came[compact(t, m)]:
			same++
		case !strings.Contains(string(m), "[Digest of messages") && !strings.Contains(string(m), "[m"):
			t.Errorf("neither as it came nor of precis: %s", m)
		}
	}
	if same == 0 || compact(t, out[len(out)-1]) != compact(t, in[len(in)-1]) {
		t.Errorf("%d of %d are as they came, the last is %s", same, len(out), out[len(out)-1])
	}
	if e := s.last(); e.Did != Replaced || !e.Compaction {
		t.Errorf("%+v", e)
	}

	// The program asks again: the same view, and no second compaction.
	if _, again := s.cline(401); textOf(again) != textOf(out) {
		t.Error("the second answer is another")
	}
	if _, more := s.cline(403); len(more) != len(out)+2 || textOf(more[:len(out)]) != textOf(out) {
		t.Errorf("two messages more: %d, want %d", len(more), len(out)+2)
	}
	if got := Compactions(s.o.State, "cline", clineName(in)); got != 1 {
		t.Errorf("%d compactions", got)
	}

	// The user goes back to before it.
	if _, back := s.cline(11); back != nil {
		t.Errorf("what was not yet hidden is: %d messages", len(back))
	}

	// If state cannot be written, the request still fits.
	s = begin(t, "cline", 0)
	s.o.Window = func(string) precis.Window { return precis.Window{Tokens: 20_000} }
	if err := os.WriteFile(s.o.State, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if in, out := s.cline(401); out == nil || len(out) >= len(in) {
		t.Errorf("%d messages of %d", len(out), len(in))
	}
}

func textOf(list []json.RawMessage) string {
	data, _ := json.Marshal(list)
	return string(data)
}

func compact(t *testing.T, m json.RawMessage) string {
	t.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Real recordings, where there are some.
func TestRealRecordings(t *testing.T) {
	dir := os.Getenv("PRECIS_TRANSCRIPTS")
	if dir == "" {
		t.Skip("PRECIS_TRANSCRIPTS is not set: no real recordings")
	}
	for _, host := range []string{"claude-code", "codex"} {
		files, err := filepath.Glob(filepath.Join(dir, host, "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files[:min(len(files), 4)] {
			s := begin(t, host, 0)
			s.path = path
			answer := s.run("session-start", claudeCompact)
			if e := s.last(); answer == "" {
				t.Errorf("%s: %+v", filepath.Base(path), e)
			} else if got := units(s.added(answer, "SessionStart")); got > 24_000 || host == "claude-code" && got > 10_000 {
				t.Errorf("%s: %d units", filepath.Base(path), got)
			}
		}
	}
}

func BenchmarkNothingToDo(b *testing.B) {
	s := begin(b, "claude-code", 4)
	for b.Loop() {
		s.run("pending", claudeBatch)
	}
}

func BenchmarkTranscriptOf4MB(b *testing.B) {
	steps := 4 << 20 * 100 / len(recordings["claude-code"](100))
	s := begin(b, "claude-code", steps)
	if info, err := os.Stat(s.path); err == nil {
		b.SetBytes(info.Size())
	}
	for b.Loop() {
		if s.run("session-start", claudeCompact) == "" {
			b.Fatalf("%+v", s.last())
		}
	}
}

// Hermes keeps every message and precis keeps the edits. Each view begins with the previous one
// until a reduction, and hidden content can be read by its handle.
func TestHermesAssemble(t *testing.T) {
	s := begin(t, "hermes", 0)
	type view struct {
		Changed, Acted bool
		Messages       []json.RawMessage
	}
	ask := func(n int, more string) (v view) {
		t.Helper()
		answer := s.run("assemble", strings.Replace(recordings["hermes"](n), "{", "{"+more, 1))
		if err := json.Unmarshal([]byte(answer), &v); err != nil {
			t.Fatalf("%v in %.200q, %+v", err, answer, s.last())
		}
		return v
	}
	if v := ask(12, ""); v.Changed || v.Acted || len(v.Messages) != 26 {
		t.Errorf("a short conversation: changed %v, %d messages", v.Changed, len(v.Messages))
	}
	var before view
	acts := 0
	for n := 300; n < 340; n++ {
		v := ask(n, "")
		if v.Acted {
			acts++
		} else if textOf(v.Messages[:len(before.Messages)]) != textOf(before.Messages) {
			t.Fatalf("the view of %d turns does not begin with the one before", n)
		}
		before = v
	}
	if acts == 0 || acts > 8 || !before.Changed || !strings.Contains(textOf(before.Messages), "Never change lamp/legacy.go") {
		t.Errorf("acted %d times in 40 turns, changed %v: %.300s", acts, before.Changed, textOf(before.Messages))
	}
	if got := Compactions(s.o.State, "hermes", "hermes s1 0"); got != acts {
		t.Errorf("%d compactions, want %d", got, acts)
	}
	if e := s.last(); e.Did != Replaced || !e.Compaction {
		t.Errorf("%+v", e)
	}
	old := s.run("expand", strings.Replace(recordings["hermes"](340), "{", `{"handle":"m8.b0",`, 1))
	if !strings.Contains(old, "undefined: rotateLens3") {
		t.Errorf("of m8.b0: %s", old)
	}
	// Asked for, whatever the size; and a history that is another one: old edits do no harm.
	if v := ask(150, `"now":true,"focus":"the lens",`); !v.Acted {
		t.Errorf("not reduced when asked: %+v", s.last())
	}
	other := strings.Replace(recordings["hermes"](12), "Port the lighthouse", "Build the lighthouse", 1)
	if got := s.run("assemble", other); !strings.Contains(got, `"changed":false`) || !strings.Contains(got, "Build the lighthouse") {
		t.Errorf("another history: %.300s, %+v", got, s.last())
	}
}
