package hook

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the answers to testdata")

// Events as the programs send them.
const (
	claudePre     = `{"session_id":"s1","transcript_path":"TRANSCRIPT","cwd":"/src/lamp","prompt_id":"p","hook_event_name":"PreCompact","trigger":"auto","custom_instructions":null}`
	claudeCompact = `{"session_id":"s1","transcript_path":"TRANSCRIPT","cwd":"/src/lamp","prompt_id":"p","hook_event_name":"SessionStart","source":"compact","model":"claude-sonnet-4-5"}`
	claudePost    = `{"session_id":"s1","transcript_path":"TRANSCRIPT","cwd":"/src/lamp","prompt_id":"p","hook_event_name":"PostCompact","trigger":"auto","compact_summary":"<summary>The port is begun.</summary>"}`
	claudeBatch   = `{"session_id":"s1","transcript_path":"TRANSCRIPT","cwd":"/src/lamp","hook_event_name":"PostToolBatch"}`
	codexCompact  = `{"session_id":"s1","transcript_path":"TRANSCRIPT","cwd":"/src/lamp","hook_event_name":"SessionStart","model":"gpt-5.1-codex","permission_mode":"bypassPermissions","source":"compact"}`
	geminiTool    = `{"session_id":"s1","transcript_path":"TRANSCRIPT","cwd":"/src/lamp","hook_event_name":"AfterTool","timestamp":"2026-01-01T00:00:00Z"}`
	snapshot      = `{"$set":{"messages":[{"id":"s","type":"user","content":"<state_snapshot>The port is begun.</state_snapshot>"}]}}` + "\n"
)

// step is an event of the golden files: name, arguments, input.
type step struct {
	event string
	args  []string
	in    string
}

// Each program's events, in order, with the expected answers.
func TestAnswers(t *testing.T) {
	for host, steps := range map[string][]step{
		"claude-code": {
			{"pre-compact", nil, claudePre}, {"session-start", []string{"--part", "1"}, claudeCompact}, {"session-start", []string{"--part", "2"}, claudeCompact},
			{"post-compact", nil, claudePost}, {"pending", nil, claudeBatch}, {"pending", nil, claudeBatch},
			{"session-start", nil, strings.Replace(claudeCompact, `"compact"`, `"startup"`, 1)},
		},
		"codex":    {{"session-start", nil, codexCompact}, {"session-start", nil, strings.Replace(codexCompact, `"compact"`, `"resume"`, 1)}, {"session-start", nil, strings.Replace(codexCompact, `"TRANSCRIPT"`, `null`, 1)}},
		"qwen":     {{"pre-compact", nil, claudePre}, {"post-compact", nil, claudePost}, {"session-start", nil, claudeCompact}},
		"gemini":   {{"pending", nil, geminiTool}, {"pending", nil, geminiTool}, {"append", nil, snapshot}, {"pending", nil, geminiTool}, {"pending", nil, geminiTool}},
		"opencode": {{"digest", []string{"s1"}, recordings["opencode"](12)}, {"gate", []string{"s1"}, `{"messages":` + recordings["opencode"](12) + `,"summary":"The port is begun."}`}, {"digest", nil, "[]"}, {"digest", []string{"s1"}, "{}"}},
		"pi":       {{"digest", []string{"--before", "e12", "TRANSCRIPT"}, ""}, {"digest", []string{"--before", "e1", "TRANSCRIPT"}, ""}, {"digest", []string{"TRANSCRIPT"}, ""}},
		"hermes": {
			{"assemble", nil, recordings["hermes"](12)}, {"expand", nil, strings.Replace(recordings["hermes"](12), "{", `{"handle":"m8.b0",`, 1)},
			{"expand", nil, strings.Replace(recordings["hermes"](12), "{", `{"handle":"m800",`, 1)}, {"expand", nil, recordings["hermes"](2)}, {"assemble", nil, `{"messages":[]}`},
		},
		"cline": {{"view", nil, `{"messages":` + recordings["cline"](12) + `}`}, {"view", nil, `{"messages":[]}`}},
	} {
		t.Run(host, func(t *testing.T) {
			s := begin(t, host, 12)
			var b strings.Builder
			for _, step := range steps {
				if step.event == "append" {
					s.write(recordings[host](12) + step.in)
					continue
				}
				for i := range step.args {
					step.args[i] = strings.ReplaceAll(step.args[i], "TRANSCRIPT", s.path)
				}
				answer := s.run(step.event, step.in, step.args...)
				if host != "opencode" && host != "pi" && answer != "" && !json.Valid([]byte(answer)) {
					t.Errorf("%s: the answer is no JSON: %.200q", step.event, answer)
				}
				fmt.Fprintf(&b, "-- %s %s\n%s\n", step.event, strings.Join(step.args, " "), strings.TrimRight(answer, "\n"))
			}
			got := strings.ReplaceAll(b.String(), filepath.Dir(s.path), "DIR")
			golden := filepath.Join("testdata", host+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// every calls f with each event of each program, on a session with a recording.
func every(t *testing.T, f func(*testing.T, *session, string)) {
	for _, host := range Hosts() {
		for _, event := range Events(host) {
			t.Run(host+"/"+event, func(t *testing.T) { f(t, begin(t, host, 0), event) })
		}
	}
}

// harmless reports whether an answer has no text.
func harmless(host, answer string) bool {
	return answer == "" || host == "gemini" && answer == "{}\n"
}

// arguments that the events of a program take.
func (s *session) arguments() []string {
	switch s.host {
	case "opencode":
		return []string{"s1"}
	case "pi":
		return []string{"--before", "e9", s.path}
	}
	return nil
}

func TestNothingToSay(t *testing.T) {
	every(t, func(t *testing.T, s *session, event string) {
		huge := `{"session_id":"s1","source":"compact","compact_summary":"x","transcript_path":"TRANSCRIPT","messages":[{"role":"user","content":"` + strings.Repeat("x", 1<<20)
		for name, transcript := range map[string]string{
			"missing": "", "empty": " ", "binary": "\x00\x01\xff\xfe", "half a line": `{"type":"user","mess`, "a list": "[[[[[[", "deep": strings.Repeat(`{"a":`, 20_000),
			"other JSON": `{"type":"x"}` + "\n", "one long line": strings.Repeat("x", 4<<20),
		} {
			os.Remove(s.path)
			if transcript != "" {
				s.write(transcript)
			}
			for _, in := range []string{claudeCompact, claudePost, geminiTool, "", "null", "[]", "{", "7", "\xff", `{"session_id":7,"transcript_path":[],"source":{}}`, `{"messages":[{"role":"x"},null,7],"summary":"x"}`, huge} {
				if got := s.run(event, in, s.arguments()...); !harmless(s.host, got) {
					t.Errorf("%s, %.80s: %.200q", name, in, got)
				}
			}
		}
		s.write(recordings[s.host](4))
		for _, args := range [][]string{{"--part", "0"}, {"--part", "x"}, {"--part"}, {"", "", "", ""}} {
			if s.host != "claude-code" && s.host != "opencode" && s.host != "pi" {
				break
			}
			if got := s.run(event, `{"session_id":"s1"}`, args...); !harmless(s.host, got) {
				t.Errorf("arguments %q: %.200q", args, got)
			}
		}
	})
}

func TestUnknown(t *testing.T) {
	for _, host := range []string{"emacs", "claude-code", "gemini"} {
		s := begin(t, host, 0)
		for _, event := range []string{"", "nothing", "../x"} {
			if got := s.run(event, claudeCompact); !harmless(host, got) {
				t.Errorf("%s %s: %q", host, event, got)
			}
		}
		if e := s.last(); e.Did != Nothing || e.Why != "no such event" {
			t.Errorf("%+v", e)
		}
	}
}

// With a gateway, or in a sub-agent, hooks print no text and store no state.
func TestSilence(t *testing.T) {
	every(t, func(t *testing.T, s *session, event string) {
		s.write(recordings[s.host](6))
		in := map[string]string{"opencode": recordings["opencode"](6), "cline": `{"messages":` + recordings["cline"](6) + `}`, "hermes": recordings["hermes"](6)}[s.host]
		if in == "" {
			in = strings.Replace(claudeCompact, "{", `{"compact_summary":"x",`, 1)
		}
		s.o.Env = func(name string) string { return map[string]string{SilenceEnv: "1"}[name] }
		if got := s.run(event, in, s.arguments()...); !harmless(s.host, got) {
			t.Errorf("with a gateway: %.200q", got)
		}
		s.o.Env = nil
		if s.host != "opencode" && s.host != "pi" {
			if got := s.run(event, strings.Replace(in, "{", `{"agent_id":"a1",`, 1), s.arguments()...); !harmless(s.host, got) {
				t.Errorf("of a sub-agent: %.200q", got)
			}
		}
		if left, _ := os.ReadDir(filepath.Join(s.o.State, "sessions")); len(left) > 0 {
			t.Errorf("remembered: %v", left)
		}
	})
}

func TestDeadline(t *testing.T) {
	every(t, func(t *testing.T, s *session, event string) {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			got := Run(t.Context(), Options{State: s.o.State}, Call{Host: s.host, Event: event, Args: s.arguments(), In: endless{}})
			deadline := Deadline
			if event == "compact" {
				deadline = CompactDeadline
			}
			said := map[string]string{
				"claude-code compact":       `{"why":"not done in time"}`,
				"claude-code session-start": `{"systemMessage":"precis gives nothing back: not done in time"}`,
			}[s.host+" "+event]
			if took := time.Since(begun); took != deadline || !harmless(s.host, string(got)) && strings.TrimSpace(string(got)) != said {
				t.Errorf("%q after %v", got, took)
			}
			if e := s.last(); e.Did != Failed || e.Took != deadline {
				t.Errorf("%+v", e)
			}
			if (s.host == "gemini" || said != "") != (len(got) > 0) {
				t.Errorf("it says %q", got)
			}
			time.Sleep(2 * time.Hour) // the reader ends
		})
	})
}

// A recording too long to be read in time is not waited for, and the person is notified.
func TestTooLong(t *testing.T) {
	s := begin(t, "claude-code", 4)
	for event, want := range map[string]string{"session-start": `{"systemMessage":"precis gives nothing back: the recording is too long`, "compact": `{"why":"the recording is too long`} {
		in := strings.Replace(claudeCompact, "{", `{"rows":[{"role":"user","text":"x"}],`, 1)
		s.o.deadline = time.Second
		for size, said := range map[int64]bool{readRate + 1: true, readRate: false} {
			if err := os.Truncate(s.path, size); err != nil {
				t.Fatal(err)
			}
			if got := s.run(event, in); strings.HasPrefix(got, want) != said {
				t.Errorf("%s, %d bytes: %.200q", event, size, got)
			}
		}
	}
}

func TestPanic(t *testing.T) {
	every(t, func(t *testing.T, s *session, event string) {
		got := Run(t.Context(), s.o, Call{Host: s.host, Event: event, Args: s.arguments(), In: endless{panics: true}})
		if e := s.last(); !harmless(s.host, string(got)) || e.Did != Failed || e.Why != "a fault of precis: string" {
			t.Errorf("%q, %+v", got, e)
		}
	})
}

// What the gate found is given once, however many hooks ask at the same time.
func TestPendingOnce(t *testing.T) {
	s := begin(t, "claude-code", 30)
	for round := range 2 { // and so after a second compaction
		var all sync.WaitGroup
		parts := make([]string, 2)
		for i := range parts {
			all.Go(func() { parts[i] = s.run("session-start", claudeCompact, "--part", fmt.Sprint(i+1)) })
		}
		all.Wait()
		if text := s.added(parts[0], "SessionStart"); !strings.Contains(text, "lamp/legacy.go") {
			t.Errorf("no rule in %s", text)
		}
		s.write(recordings[s.host](30 + 10*round)) // more was said than the digest has seen
		if err := (&call{Call: Call{Host: s.host}, o: s.o, input: input{Session: "s1"}}).update(t.Context(), func(s *state) { s.Digest = "" }); err != nil {
			t.Fatal(err)
		}
		if got := s.run("post-compact", claudePost); got != "" {
			t.Errorf("the user sees %q", got)
		}
		var given [3]string
		for i := range given {
			all.Go(func() { given[i] = s.run("pending", claudeBatch) })
		}
		all.Wait()
		n := 0
		for _, got := range given {
			if got != "" {
				n++
				s.added(got, "PostToolBatch")
			}
		}
		if n != 1 {
			t.Errorf("it was given %d times", n)
		}
		if got := Compactions(s.o.State, s.host, "s1"); got != round+1 {
			t.Errorf("%d compactions, want %d", got, round+1)
		}
	}
}

// Gemini's tools end at the same time: one of their hooks gives the digest.
func TestGeminiOnce(t *testing.T) {
	s := begin(t, "gemini", 10)
	s.run("pending", geminiTool)
	s.write(recordings["gemini"](10) + snapshot)
	var all sync.WaitGroup
	var given [3]string
	for i := range given {
		all.Go(func() { given[i] = s.run("pending", geminiTool) })
	}
	all.Wait()
	n := 0
	for _, got := range given {
		if got != "{}\n" {
			n++
			if text := s.added(got, "AfterTool"); !strings.Contains(text, "Never change lamp/legacy.go") || strings.Contains(text, "state_snapshot") {
				t.Errorf("it holds the snapshot, or not what was before it: %s", text)
			}
		}
	}
	if n != 1 || Compactions(s.o.State, "gemini", "s1") != 1 {
		t.Errorf("given %d times, %d compactions", n, Compactions(s.o.State, "gemini", "s1"))
	}
}

// Texts of precis are recorded, and must not be given again.
func TestGeminiGivesNothingOfItsOwn(t *testing.T) {
	s := begin(t, "gemini", 10)
	s.run("pending", geminiTool)
	lines := recordings["gemini"](10) + snapshot
	s.write(lines)
	given := s.added(s.run("pending", geminiTool), "AfterTool")
	output := quote("files\n<hook_context>" + strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(given) + "</hook_context>")
	lines += `{"id":"u1","type":"user","content":[{"text":"Go on."},{"text":` + quote("<hook_context>"+given+"</hook_context>") + `}]}` + "\n" +
		`{"id":"g1","type":"gemini","content":"Listing.","toolCalls":[{"id":"c99","name":"ls","args":{},"status":"success","result":[{"functionResponse":{"id":"c99","name":"ls","response":{"output":` + output + `}}}]}]}` + "\n" +
		strings.Replace(snapshot, "is begun", "goes on", 1)
	s.write(lines)
	again := s.added(s.run("pending", geminiTool), "AfterTool")
	if strings.Count(again, "by precis from the recording") != 1 || strings.Contains(again, "hook_context") || !strings.Contains(again, "Never change lamp/legacy.go") {
		t.Errorf("it is given again: %s", again)
	}
}

func TestGeminiOffsets(t *testing.T) {
	s := begin(t, "gemini", 10)
	s.write(recordings["gemini"](10) + snapshot)
	check := func(what string, gives bool) {
		t.Helper()
		if got := s.run("pending", geminiTool); (got != "{}\n") != gives {
			t.Errorf("%s: %.100q", what, got)
		}
	}
	check("a session that is resumed", false)
	second := strings.Replace(snapshot, "is begun", "goes on", 1)
	s.write(recordings["gemini"](10) + snapshot + strings.TrimSuffix(second, "}\n"))
	check("half a line", false)
	s.write(recordings["gemini"](10) + snapshot + second)
	check("the whole line", true)
	check("again", false)
	s.write(recordings["gemini"](10) + snapshot + second + second)
	check("the same snapshot, set anew by a hook or a resumed program", false)
	s.write(recordings["gemini"](2))
	check("a shorter file", false)
	check("a shorter file again", false)
	s.write(recordings["gemini"](2) + snapshot)
	check("a compression of the shorter file", true)
	if err := os.Remove(s.path); err != nil {
		t.Fatal(err)
	}
	check("no file", false)
	if err := os.Mkdir(s.path, 0o700); err != nil {
		t.Fatal(err)
	}
	check("a folder", false)
}

// If state cannot be written, answers that do not depend on it are still given.
func TestStateThatCannotBeWritten(t *testing.T) {
	for host, in := range map[string]string{"claude-code": claudeCompact, "codex": codexCompact, "qwen": claudeCompact} {
		s := begin(t, host, 8)
		if err := os.WriteFile(s.o.State, nil, 0o600); err != nil { // a file in the folder's place
			t.Fatal(err)
		}
		s.added(s.run("session-start", in), "SessionStart")
		if got := s.run("session-start", strings.Replace(in, `"s1"`, `""`, 1)); got == "" {
			t.Errorf("%s: a session without a name gets nothing", host)
		}
	}
	every(t, func(t *testing.T, s *session, event string) {
		if err := os.WriteFile(s.o.State, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s.run(event, claudePost, s.arguments()...) // does not fail
	})
}

// A damaged state is as good as none.
func TestDamagedState(t *testing.T) {
	s := begin(t, "claude-code", 8)
	path := filepath.Join(s.o.State, "sessions", "claude-code-"+sessionHash("s1")+".json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, damaged := range []string{"", "{", `{"compactions":"x"}`, "[]"} {
		if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		s.added(s.run("session-start", claudeCompact), "SessionStart")
		if got := Compactions(s.o.State, "claude-code", "s1"); got != 1 {
			t.Errorf("%q: %d compactions", damaged, got)
		}
	}
}

func TestOldStatesAreRemoved(t *testing.T) {
	s := begin(t, "claude-code", 4)
	now := time.Now()
	s.o.Now = func() time.Time { return now }
	dir := filepath.Join(s.o.State, "sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, age := range map[string]time.Duration{"old.json": kept + time.Minute, "young.json": kept - time.Minute, "other.txt": 2 * kept} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	s.run("session-start", claudeCompact)
	var left []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, e.Name())
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), "claude") && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
	}
	want := []string{"claude-code-" + sessionHash("s1") + ".json", "other.txt", "young.json"}
	if !slices.Equal(left, want) {
		t.Errorf("left: %q, want %q", left, want)
	}
}

// The journal has no word of a conversation, nor the session's name or path.
func TestJournalSaysNothing(t *testing.T) {
	for _, host := range Hosts() {
		s := begin(t, host, 12)
		for _, event := range Events(host) {
			for _, in := range []string{strings.Replace(claudeCompact, "{", `{"compact_summary":"The lighthouse",`, 1), recordings[host](12), `{"summary":"The lighthouse","session":"s1","messages":` + recordings[host](12) + `}`} {
				s.run(event, in, s.arguments()...)
			}
			Run(t.Context(), s.o, Call{Host: host, Event: event, In: endless{panics: true}})
		}
		data, err := os.ReadFile(filepath.Join(s.o.State, "journal.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"lamp", "ighthouse", "legacy", "part", "s1", "session.jsonl", "conversation"} {
			if strings.Contains(string(data), word) {
				t.Errorf("%s: %q in %s", host, word, data)
			}
		}
	}
}

func TestJournal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if got := Journal(dir); got != nil {
		t.Errorf("no folder has %v", got)
	}
	j := journal(dir)
	j.add(Entry{Host: "old", Did: Gave})
	if err := os.WriteFile(j.path(), append(bytesOf(t, j.path()), strings.Repeat("not a line\n", mostJournal/10)...), 0o600); err != nil {
		t.Fatal(err)
	}
	j.add(Entry{Host: "codex", Did: Gave, Why: "first"})
	j.add(Entry{Host: "pi", Did: Replaced})
	var names []string
	for _, e := range Journal(dir) {
		names = append(names, e.Host)
	}
	if want := []string{"old", "codex", "pi"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if info, err := os.Stat(j.path()); err != nil || info.Mode().Perm() != 0o600 || info.Size() > 1000 {
		t.Errorf("%v, %v", info, err)
	}
}

func bytesOf(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSums(t *testing.T) {
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	got := Sums([]Entry{
		{Host: "pi", Time: day, Did: Replaced, Compaction: true, Tokens: 100, Took: 3},
		{Host: "codex", Time: day.Add(2), Did: Failed, Why: "one", Took: 10},
		{Host: "codex", Time: day.Add(1), Did: Gave, Compaction: true, Facts: 10, Held: 4, GivenBack: 5, Tokens: 7, Took: 20},
		{Host: "codex", Time: day.Add(3), Did: Failed, Why: "two"},
		{Host: "unknown", Did: Failed},
	})
	want := []Sum{
		{Host: "codex", Compactions: 1, Measured: 1, Facts: 10, Held: 4, Back: 5, Tokens: 7, Calls: 3, Failed: 2, Took: 30, Slowest: 20, Last: day.Add(3), LastWhy: "two"},
		{Host: "pi", Compactions: 1, Replaced: 1, Tokens: 100, Calls: 1, Took: 3, Slowest: 3, Last: day},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if Sums(nil) != nil {
		t.Error("nothing has sums")
	}
}

// A context that ends ends the answer.
func TestCanceled(t *testing.T) {
	s := begin(t, "codex", 4)
	s.o.State = filepath.Join(os.DevNull, "x") // not a folder, so that late writes cannot disturb the test's cleanup
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Run(ctx, s.o, Call{Host: "codex", Event: "session-start", In: strings.NewReader(strings.ReplaceAll(codexCompact, "TRANSCRIPT", s.path))}); len(got) > 0 && !json.Valid(got) {
		t.Errorf("it says %q", got)
	}
}

// If an event names no recording, a missing one, or another session's, it is found by the session's
// ID.
func TestTheSessionNamesTheRecording(t *testing.T) {
	with := func(path string) string { return strings.Replace(claudeCompact, "TRANSCRIPT", path, 1) }
	for name, in := range map[string]string{"none": with(""), "gone": with("/nowhere/s1.jsonl"), "null": strings.Replace(claudeCompact, `"TRANSCRIPT"`, "null", 1)} {
		s := begin(t, "claude-code", 12)
		if out := s.run("session-start", in); out != "" {
			t.Errorf("%s, and nobody looks: %.100q", name, out)
		}
		asked := ""
		s.o.Find = func(host, session string) string { asked = host + " " + session; return s.path }
		if out := s.run("session-start", in); out == "" || asked != "claude-code s1" {
			t.Errorf("%s: %q, asked for %q", name, out, asked)
		}
	}
	s := begin(t, "claude-code", 12)
	other := filepath.Join(t.TempDir(), "s0.jsonl")
	if err := os.WriteFile(other, []byte(recordings["claude-code"](1)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.o.Find = func(string, string) string { return s.path }
	want := s.run("session-start", claudeCompact)
	again := begin(t, "claude-code", 12)
	again.o.Find = func(string, string) string { return again.path }
	if got := again.run("session-start", with(other)); got == "" || len(got) != len(want) {
		t.Errorf("the recording of another session is read: %d bytes, want %d", len(got), len(want))
	}
	again.o.Find = func(string, string) string { return "" } // there is no better one
	if got := again.run("session-start", claudeCompact); got == "" {
		t.Error("the recording that is named is not read")
	}
}
