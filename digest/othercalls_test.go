package digest_test

import (
	"fmt"
	"strings"
	"testing"
)

const others = "Other calls, failures first, newest first"

func TestCallsOfNoKnownKindAreTold(t *testing.T) {
	s := newSession(1)
	s.user("Move the bookings, and tell the crews.")
	for i := range 4 {
		result := fmt.Sprintf("{\n  \"status\": \"moved\",\n  \"berth\": %d\n}", i+3)
		if i == 1 {
			result = "Error: berth 4 is taken"
		}
		s.call("move_booking", map[string]any{"booking": fmt.Sprintf("QX%d", i), "to": "June", "note": nil}, result)
	}
	s.call("mcp__quay__radio", map[string]any{"crew": "Heron"}, `{"isError":true,"content":[{"type":"text","text":"no answer on channel 9"}]}`)
	s.call("move_booking", map[string]any{"booking": "ZZ1"}, "moved without a date")
	s.call("Grep", map[string]any{"pattern": "heron"}, "crews.txt")
	s.call("find_all", map[string]any{"pattern": "(heron"}, `{"isError":true,"content":[{"type":"text","text":"no closing parenthesis"}]}`)
	s.call("lookup", map[string]any{"query": "where are the crews"}, "crews/heron.txt\ncrews/otter.txt\ncrews/list.md")
	s.call("TodoWrite", map[string]any{"todos": []any{map[string]any{"content": "call the crews", "status": "pending"}}}, "ok")
	s.call("Task", map[string]any{"prompt": "find the crew lists", "subagent_type": "seeker"}, "There are two.")
	s.call("AskUserQuestion", map[string]any{"question": "June or July?"}, "June")
	s.call("Bash", map[string]any{"command": "make crews"}, "all good")
	s.says("All is moved.")
	got := section(digested(t, 3500, s.msgs...), others)
	want := []string{
		`- m15 find_all(pattern: (heron) → FAILED: no closing parenthesis`,
		`- m9 mcp__quay__radio(crew: Heron) → FAILED: no answer on channel 9`,
		`- m17 lookup(query: where are the crews) → crews/heron.txt; crews/otter.txt; crews/list.md`,
		`- m11 move_booking(booking: ZZ1) → moved without a date`,
		`- m7 move_booking(booking: QX3, to: June) ×4 (1 failed) → {"status":"moved","berth":6}`,
		`- m13 Grep(pattern: heron) → crews.txt`,
	}
	if got := strings.TrimSpace(got); got != strings.Join(want, "\n") {
		t.Errorf("%s", got)
	}
}

func TestOtherCallsTakeAFewLines(t *testing.T) {
	s := newSession(1)
	s.user("Ask them all.")
	for i := range 40 {
		s.call(fmt.Sprintf("ask_%d", i), map[string]any{"what": strings.Repeat("very long ", 40)}, strings.Repeat("a long answer ", 60))
	}
	s.says("I have asked.")
	got := section(digested(t, 8000, s.msgs...), others)
	if n := strings.Count(got, "\n- ") + 1; n > 12 || len(got) > 12*400 || !strings.HasPrefix(got, "- m79 ask_39(") {
		t.Errorf("%d lines:\n%s", n, got)
	}
}

func TestTheTellingLineOfACall(t *testing.T) {
	for _, c := range []struct {
		tool   string
		args   map[string]any
		result string
		want   string
	}{
		{"web", map[string]any{"query": "otter diet"}, "Results for query: \"otter diet\"\n\nOtters eat crabs.", "web(query: otter diet) → Otters eat crabs."},
		{"web", map[string]any{"query": "otter diet"}, "Results for query: \"otter diet\"", `web(query: otter diet) → Results for query: "otter diet"`},
		{"web", map[string]any{"query": "otter diet"}, "OT-7: otter diet\nDone.", "web(query: otter diet) → OT-7: otter diet; Done."},
		{"web", map[string]any{"query": "otter diet"}, "Pages found:\n\nOtters at home", "web(query: otter diet) → Otters at home"},
		{"web", map[string]any{"query": "otter diet", "from": ""}, `{"query":"otter diet","count":3}`, `web(query: otter diet) → {"query":"otter diet","count":3}`},
		{"web", map[string]any{"query": "otter diet"}, "[]", "web(query: otter diet) → []"},
		{"web", map[string]any{}, "", "web() → done"},
		{"web", map[string]any{"query": strings.Repeat("otter ", 40), "most": 3}, "ok", "web(most: 3, query: " + strings.TrimSpace(strings.Repeat("otter ", 11)) + "…) → ok"},
		{"run_code", map[string]any{"code": "import crabs"}, `{"error":"Traceback (most recent call last):\n  File \"a.py\", line 1\nModuleNotFoundError: No module named 'crabs'"}`,
			"run_code(code: import crabs) → FAILED: a.py:1; ModuleNotFoundError: No module named 'crabs'"},
		{"note", map[string]any{"thought": "otters"}, "noted", ""},
		{"finish", map[string]any{"message": "otters"}, "noted", ""},
	} {
		s := newSession(1)
		s.user("Find out what otters eat.")
		s.call(c.tool, c.args, c.result)
		s.says("I know.")
		if got := strings.TrimPrefix(strings.TrimSpace(section(digested(t, 3500, s.msgs...), others)), "- m1 "); got != c.want {
			t.Errorf("%s: %s, want %s", c.result, got, c.want)
		}
	}
}

// Equal calls that are told to do different things are not told as one.
func TestToolsThatDoSeveralThings(t *testing.T) {
	s := newSession(1)
	s.user("Look after the otters.")
	for _, do := range []string{"feed", "weigh", "feed"} {
		s.call("otter", map[string]any{"action": do, "name": "Ada"}, do+" done")
	}
	s.says("I did.")
	got := strings.TrimSpace(section(digested(t, 3500, s.msgs...), others))
	if want := "- m5 otter(action: feed, name: Ada) ×2 → feed done\n- m3 otter(action: weigh, name: Ada) → weigh done"; got != want {
		t.Error(got)
	}
}
