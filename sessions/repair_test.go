package sessions_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation/recording"
	"github.com/precis-dev/precis/sessions"
)

const (
	lineA = `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"one"}}`
	lineB = `{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"two"}]}}`
	lineC = `{"type":"user","uuid":"u2","parentUuid":"a1","sessionId":"s","message":{"role":"user","content":"a regular expression \[x\]"}}` // a wrong escape
)

func kinds(faults []sessions.Fault) string {
	var out []string
	for _, f := range faults {
		out = append(out, f.Kind)
	}
	return strings.Join(out, " ")
}

func wide(s string) []byte {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}

func TestCheckAndRepair(t *testing.T) {
	const use = `{"type":"assistant","uuid":"a2","parentUuid":"u1","sessionId":"s","message":{"id":"m2","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}},{"type":"tool_use","id":"t2","name":"Read","input":{}}]}}
{"type":"user","uuid":"u3","parentUuid":"a2","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}
{"type":"user","uuid":"u4","parentUuid":"u3","sessionId":"s","message":{"role":"user","content":"and"}}`
	for name, tt := range map[string]struct {
		data     []byte
		faults   string
		done     string // by the repair; "": no change is needed
		messages int    // after it
	}{
		"nothing":       {[]byte(lineA + "\n" + lineB + "\n"), "", "", 2},
		"wrong escape":  {[]byte(lineA + "\n" + lineB + "\n" + lineC + "\n"), "line", "1 lines with wrong escapes or numbers were mended", 3},
		"two in a line": {[]byte(lineA + lineB + "\n"), "line", "1 lines of several objects were split", 2},
		"cut off":       {[]byte(lineA + "\n" + lineB + "\n" + lineA[:40]), "line", "1 last line, which was cut off, is gone", 2},
		"a mark":        {[]byte("\ufeff" + lineA + "\n" + lineB + "\n"), "encoding", "a byte order mark is gone", 2},
		"UTF-16":        {wide(lineA + "\n" + lineB + "\n"), "encoding unreadable", "from UTF-16 to UTF-8", 2},
		"no UTF-8":      {[]byte(strings.Replace(lineA, "one", "on\xff", 1) + "\n" + lineB + "\n"), "encoding", "bytes that are no UTF-8 became U+FFFD", 2},
		"NUL bytes":     {[]byte(lineA + "\n" + strings.Repeat("\x00", 500) + "\n" + lineB + "\n" + strings.Repeat("\x00", 9)), "encoding line line", "509 NUL bytes, as a crash leaves them, are gone", 2},
		"NULs before":   {[]byte(lineA + "\n\x00\x00" + lineB + "\n"), "encoding line", "2 NUL bytes, as a crash leaves them, are gone", 2},
		"torn":          {[]byte(lineA[:60] + lineA + "\n" + lineB + "\n"), "line", "1 lines that were cut off have what was written behind them on a line of its own", 2},
		"no result":     {[]byte(lineA + "\n" + use + "\n"), "unanswered", "", 4},
		"a comment":     {[]byte("// how it was made\n" + lineA + "\n" + lineB + "\n"), "line", "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.jsonl")
			if err := os.WriteFile(path, tt.data, 0o640); err != nil {
				t.Fatal(err)
			}
			if got := kinds(sessions.CheckFile(path)); got != tt.faults {
				t.Errorf("faults %q, want %q", got, tt.faults)
			}
			dry, err := sessions.Repair(t.Context(), path, true)
			if err != nil || strings.Join(dry.Done, "; ") != tt.done {
				t.Fatalf("would do %q, %v; want %q", dry.Done, err, tt.done)
			}
			if now, _ := os.ReadFile(path); !bytes.Equal(now, tt.data) {
				t.Fatal("a dry run wrote")
			}
			done, err := sessions.Repair(t.Context(), path, false)
			if err != nil {
				t.Fatal(err)
			}
			if kept, err := os.ReadFile(path + sessions.BackupSuffix); tt.done != "" && (err != nil || !bytes.Equal(kept, tt.data) || done.Backup == "") {
				t.Errorf("kept %d of %d bytes, %v", len(kept), len(tt.data), err)
			} else if tt.done == "" && err == nil {
				t.Error("a backup of nothing")
			}
			f, err := recording.Open(path)
			if err != nil || f.Conversation.Transcript.Len() != tt.messages {
				t.Errorf("after it: %v, %v", f, err)
			}
			if again, err := sessions.Repair(t.Context(), path, false); err != nil || len(again.Done) > 0 {
				t.Errorf("a second repair: %v, %v", again.Done, err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("the file's mode is %v, %v", info.Mode(), err)
			}
		})
	}
}

func TestRepairOfTags(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "task")
	path := filepath.Join(dir, "api_conversation_history.json")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	data := `[{"role":"user","content":"one","ts":1,"condenseParent":"gone"},{"role":"assistant","content":"two","ts":2}]`
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := kinds(sessions.CheckFile(dir)); got != "orphan" {
		t.Fatalf("faults %q", got)
	}
	if done, err := sessions.Repair(t.Context(), dir, false); err != nil || len(done.Done) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	if now, _ := os.ReadFile(path); strings.Contains(string(now), "condenseParent") || kinds(sessions.CheckFile(dir)) != "" {
		t.Errorf("after it: %s", now)
	}
}

func TestRepairKeepsAnEarlierBackup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	for name, text := range map[string]string{path: lineA + lineB + "\n", path + sessions.BackupSuffix: "another state"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := sessions.Repair(t.Context(), path, false); precis.CodeOf(err) != precis.CodeConflict {
		t.Errorf("got %v", err)
	}
	if now, _ := os.ReadFile(path); string(now) != lineA+lineB+"\n" {
		t.Error("the recording was changed")
	}
}

func TestDuplicatesAndLoops(t *testing.T) {
	h := newHome(t)
	h.claude(claudeA, "one")
	data := must(os.ReadFile(h.path(".claude", "projects", "-work-shop", claudeA+".jsonl")))
	h.write(".claude/projects/copy/"+claudeA+".jsonl", string(data))
	var loop strings.Builder
	loop.WriteString(`{"type":"session","id":"loop","cwd":"/","version":3}` + "\n")
	for i := range 4 {
		loop.WriteString(strings.NewReplacer("N", string(rune('0'+i))).Replace(`{"type":"message","id":"mN","timestamp":"2026-01-01T00:00:0NZ","message":{"role":"user","content":"wordN"}}
{"type":"compaction","id":"cN","timestamp":"2026-01-01T00:00:0NZ","summary":"sumN","firstKeptEntryId":"mN","tokensBefore":9}` + "\n"))
	}
	h.write(".pi/agent/sessions/x/1_loop.jsonl", loop.String())
	lib := h.library()
	if _, err := lib.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	if err := lib.Check(t.Context(), sessions.Filter{}, func(f sessions.Fault) { got[f.Kind+" "+f.Session]++ }); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got["duplicate "+claudeA] != 1 || got["loop loop"] != 1 {
		t.Errorf("faults %v", got)
	}
}

// A repair keeps every message that could be read before it.
func TestRepairLosesNothing(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{lineA, lineB, lineC, "\n", "\n", "// note\n", "{", `"`, "\ufeff", "\xff", lineA[:30], "\r\n"}), 1, 12).Draw(rt, "parts")
		data := []byte(lineA + "\n" + strings.Join(parts, ""))
		path := filepath.Join(dir, "s.jsonl")
		_ = os.Remove(path + sessions.BackupSuffix)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			rt.Fatal(err)
		}
		before, err := recording.Open(path)
		if err != nil {
			return
		}
		if _, err := sessions.Repair(t.Context(), path, false); err != nil {
			rt.Fatal(err)
		}
		after, err := recording.Open(path)
		if err != nil || after.Conversation.Transcript.Len() < before.Conversation.Transcript.Len() || after.Skipped > before.Skipped {
			rt.Fatalf("%d messages and %d bad lines became %v, %v", before.Conversation.Transcript.Len(), before.Skipped, after, err)
		}
	})
}
