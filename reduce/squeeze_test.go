package reduce_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/reduce"
	"github.com/precis-dev/precis/retain"
)

// pinned adds a pin to a situation.
func pinned(s *policy.Situation, keep int, pins ...precis.Handle) *policy.Situation {
	s.Edits = append(s.Edits, precis.Edit{ID: "pin", Kind: precis.KindPin, Pins: pins})
	s.Kept = policy.Keep(s.Transcript, s.Edits, s.Meter, keep, 0)
	return s
}

func TestSqueezeIsForViewsThatDoNotFit(t *testing.T) {
	msgs := join(text("user", "go"), call("1", "bash", `{"command":"find"}`, listing()), call("2", "bash", `{"command":"go test"}`, testLog()))
	size := situation(0, 0, msgs...).Used
	m, err := policy.NewManager(policy.Options{Counter: counter{}, Strategies: []policy.Strategy{reduce.Squeeze{}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		window int
		want   precis.Outcome
	}{{size * 16 / 10, precis.OutcomeSkipped}, {size, precis.OutcomeAccepted}} {
		conv := &precis.Conversation{Transcript: precis.NewTranscript(msgs...)}
		res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: tt.window}, MaxOutput: 1, TriggeredBy: precis.TriggeredManual})
		if err != nil || len(res.Report.Steps) != 1 || res.Report.Steps[0].Outcome != tt.want {
			t.Errorf("window %d of %d: %+v, %v", tt.window, size, res.Report.Steps, err)
		}
	}
}

func TestSqueezeCutsTheResultToAnswer(t *testing.T) {
	xml := []precis.Message{text("assistant", "I look.\n\n<execute_command>\n<command>go test ./...</command>\n</execute_command>"),
		{Role: "user", Content: []precis.Block{precis.Text{Text: "[execute_command for 'go test ./...'] Result:"}, precis.Text{Text: testLog()}}}}
	for name, last := range map[string][]precis.Message{"native": call("1", "bash", `{"command":"go test ./..."}`, testLog()), "written": xml} {
		s := situation(2000, 3, join(text("user", "the task"), last)...)
		view := apply(t, reduce.Squeeze{}, s)
		if n := s.Meter.View(view); n > 2000 {
			t.Errorf("%s: %d characters left", name, n)
		}
		if r, ok := view[2].Content[0].(precis.ToolResult); ok {
			if r.ToolUseID != "1" || !strings.Contains(r.Text(), testLog()[:200]) || !strings.Contains(r.Text(), "TestCheckoutRounds") {
				t.Errorf("%s: %+v", name, r)
			}
			continue
		}
		got := view[2].PlainText()
		if !strings.HasPrefix(got, "[execute_command for 'go test ./...'] Result:\n"+testLog()[:200]) || !strings.Contains(got, "TestCheckoutRounds") {
			t.Errorf("%s: %.400q", name, got)
		}
	}
}

func TestSqueezeLeavesASmallMessageToAnswerWhole(t *testing.T) {
	answer := strings.Repeat("ok  \tprecis/tokens\t1.2s\n", 20)
	msgs := join(text("user", "the task"), call("1", "bash", `{"command":"find"}`, listing()), call("2", "bash", `{"command":"go test"}`, answer))
	s := situation(4*len(answer)+800, len(msgs), msgs...)
	s.Target = min(s.Target, s.Used-1)
	view := apply(t, reduce.Squeeze{}, s)
	if got := view[4].Content[0].(precis.ToolResult).Text(); got != answer {
		t.Errorf("the answer to the last call was cut: %.200q", got)
	}
	if got := view[2].Content[0].(precis.ToolResult).Text(); got == listing() {
		t.Error("nothing was squeezed")
	}
}

func TestSqueezeLeavesUserTextAndPinsAlone(t *testing.T) {
	code := "Look:\n```go\n" + goFile() + "```\n"
	msgs := join(text("user", "the task\n"+code), call("1", "bash", `{"command":"find"}`, listing()), call("2", "bash", `{"command":"find"}`, listing()+"x"),
		text("user", code), text("assistant", "I see."), text("user", "and "+code), call("3", "bash", `{"command":"git diff"}`, patch()))
	s := pinned(situation(0, 7, msgs...), 7, precis.BlockHandle(2, 0), precis.MessageHandle(9))
	view := apply(t, reduce.Squeeze{}, s)
	for _, i := range []int{2, 5, 7, 9} {
		if precis.HashMessage(view[i]) != precis.HashMessage(msgs[i]) {
			t.Errorf("message %d was touched", i)
		}
	}
	if len(result(view, 4)) > 1000 {
		t.Errorf("%d characters of a free result left: the test shows nothing", len(result(view, 4)))
	}
	s = situation(0, 7, msgs...)
	if view = apply(t, reduce.Squeeze{}, s); len(result(view, 9)) > 2500 || len(result(view, 2)) > 1000 {
		t.Error("without pins nothing else is cut: the test shows nothing")
	}
}

// TestSqueezeFindsBlocksThatMoved shows a client that sends fewer empty blocks
// than when a result was pruned.
func TestSqueezeFindsBlocksThatMoved(t *testing.T) {
	msgs := asked(call("1", "bash", `{"command":"find"}`, listing()), call("2", "bash", `{"command":"x"}`, testLog()))
	more := slices.Clone(msgs)
	more[2].Content = append([]precis.Block{precis.Text{}}, more[2].Content...)
	s := situation(4000, 1, more...)
	e, err := reduce.Prune{}.Propose(t.Context(), s)
	if err != nil || len(e.Replace) == 0 || e.Replace[0].Block.Index != 1 {
		t.Fatalf("%+v, %v", e, err)
	}
	e.ID = "pruned"
	s = situation(1000, 1, msgs...)
	s.Edits = []precis.Edit{e}
	s.Units = precis.Units(s.Transcript, s.Edits)
	s.Used = s.Meter.View(precis.View(s.Transcript, s.Edits))
	again, err := reduce.Squeeze{}.Propose(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	again.ID = "squeezed"
	if n := s.Meter.View(precis.View(s.Transcript, append(s.Edits, again))); n > 1000 {
		t.Errorf("%d characters left", n)
	}
}

// requests is a user's text of n sentences with rules between.
func requests(n int) (text string, rules []string) {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Please look into part number %d of the shop and tell me what you think of it, in a few words. ", i)
		if i%(n/4) == n/8 {
			rule := fmt.Sprintf("Never touch the file part%d.go by hand.", i)
			rules = append(rules, rule)
			b.WriteString(rule + "\n")
		}
	}
	return b.String(), rules
}

func TestClipKeepsRulesOfUserText(t *testing.T) {
	long, rules := requests(80)
	for _, tt := range []struct {
		name   string
		target int
		msgs   []precis.Message
		at     int
	}{
		{"older", 4000, join(text("user", long), text("assistant", "ok"), text("user", "next")), 0},
		{"last", 4000, join(text("user", "task"), text("assistant", "ok"), text("user", long)), 2},
		{"last, narrow", 1500, join(text("user", "task"), text("assistant", "ok"), text("user", long)), 2},
	} {
		s := situation(tt.target, 3, tt.msgs...)
		view := apply(t, reduce.Clip{}, s)
		got := view[tt.at].PlainText()
		for _, r := range rules {
			if !strings.Contains(got, r) {
				t.Errorf("%s: %q is gone from %q", tt.name, r, got)
			}
		}
		if h := precis.BlockHandle(tt.at, 0).String(); !strings.Contains(got, h) || !strings.HasPrefix(long, got[:80]) {
			t.Errorf("%s: %q", tt.name, got)
		}
		if n := s.Meter.View(view); n > tt.target {
			t.Errorf("%s: %d characters, target %d", tt.name, n, tt.target)
		}
	}
}

func TestClipCutsAnyUserText(t *testing.T) {
	for name, long := range map[string]string{
		"one word": strings.Repeat("x", 30_000), "CJK": strings.Repeat("请务必检查每个文件，不要修改主文件。", 900), "only rules": strings.Repeat("Never do this. Always do that! ", 900),
		"one giant rule": "You must " + strings.Repeat("very ", 6000) + "much.", "invalid": strings.Repeat("\xff\xfe never do this.\n", 2000),
	} {
		for _, target := range []int{6000, 900, 200} {
			s := situation(target, 3, text("user", "task"), text("assistant", "ok"), text("user", long))
			view := apply(t, reduce.Clip{}, s)
			if n := s.Meter.View(view); n > target {
				t.Errorf("%s: %d characters, target %d", name, n, target)
			}
			if got := view[len(view)-1].PlainText(); utf8.ValidString(long) && !utf8.ValidString(got) {
				t.Errorf("%s: a character was cut", name)
			}
		}
	}
	if retain.Shorten("short", 100, "m1") != "short" {
		t.Error("short text was cut")
	}
}

// After an overflow, too, a kept result that fits is not cut: a forced run comes down
// to what fits with certainty, and to its target only at the expense of what is old.
func TestForcedRunsSqueezeOnlyWhatDoesNotFit(t *testing.T) {
	msgs := join(text("user", "go"), call("1", "bash", `{"command":"find"}`, listing()))
	for n := range 6 {
		msgs = append(msgs, join(call(fmt.Sprint("s", n), "bash", `{"command":"pwd"}`, "/src"))...)
	}
	msgs = append(msgs, join(call("2", "bash", `{"command":"go test"}`, testLog()))...)
	newest := situation(0, 0, msgs[len(msgs)-2:]...).Used
	m, err := policy.NewManager(policy.Options{Counter: counter{}, Strategies: []policy.Strategy{reduce.Prune{}, reduce.Squeeze{}}})
	if err != nil {
		t.Fatal(err)
	}
	conv := &precis.Conversation{Transcript: precis.NewTranscript(msgs...)}
	window := newest * 10 / 6 // of which the newest messages take 60 %
	res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: window}, MaxOutput: 1, TriggeredBy: precis.TriggeredForced})
	if err != nil {
		t.Fatal(err)
	}
	if got := res.View[len(res.View)-1].Content[0].(precis.ToolResult).Text(); got != testLog() {
		t.Errorf("%d of %d are left, and the newest result was cut: %+v", res.Report.After.Tokens, window, res.Report.Steps)
	}
	if res.Report.After.Tokens > window*3/4 {
		t.Errorf("%d of %d are left", res.Report.After.Tokens, window)
	}
}

// TestSqueezeLeavesWhatIsUnreadWhole: the newest result is cut only when it does not fit with everything older cut down.
func TestSqueezeLeavesWhatIsUnreadWhole(t *testing.T) {
	older, unread := listing(), testLog()
	msgs := join(text("user", "the task"), call("1", "bash", `{"command":"find"}`, older), call("2", "bash", `{"command":"go test"}`, unread))
	for name, tt := range map[string]struct {
		target, limit int
		whole         bool
	}{
		"much room":   {len(unread) / 2, len(unread) + 4000, true},
		"little room": {len(unread) / 2, len(unread) + 1500, true},
		"too long":    {len(unread) / 2, len(unread) - 1, false},
	} {
		s := situation(tt.target, len(msgs), msgs...)
		s.Limit, s.Trigger = tt.limit, tt.limit
		view := apply(t, reduce.Squeeze{}, s)
		got := view[4].Content[0].(precis.ToolResult).Text()
		if whole := got == unread; whole != tt.whole {
			t.Errorf("%s: the newest result is whole: %v", name, whole)
		}
		if n := s.Meter.View(view); n >= tt.limit || tt.whole && n < tt.limit-1500 {
			t.Errorf("%s: %d characters are left, %d fit", name, n, tt.limit)
		}
	}
}

// What the agent said last, to which the user replies, is not squeezed while what it said before can be.
func TestSqueezeLeavesTheNewestAnswer(t *testing.T) {
	answer := func(n int) string {
		var b strings.Builder
		for i := range 30 {
			fmt.Fprintf(&b, "Option %d.%d: keep the cursor of shard %d where the lease of its owner ends.\n", n, i, n*30+i)
		}
		return b.String()
	}
	msgs := join(text("user", strings.Repeat("Look at the shards, and at what their owners hold. ", 400)),
		text("assistant", "I look.\n"+answer(1)), text("user", "And the others?"), call("1", "bash", `{"command":"cat shards"}`, answer(2)))
	last := strings.Repeat("I would rather go slowly here, since so much of it is old, and ask what you think.\n", 25)
	msgs = append(msgs, text("assistant", last), text("user", "What do you prefer of these, Option 1.3, Option 2.4 or Option 2.5?"))
	s := situation(0, len(msgs), msgs...)
	s.Target = s.Used - 2500
	s.Limit = s.Target
	if s.Target < 8*len(last) {
		t.Fatalf("a target of %d is too small for the test", s.Target)
	}
	view := apply(t, reduce.Squeeze{}, s)
	if n := s.Meter.View(view); n > s.Target {
		t.Errorf("%d of %d", n, s.Target)
	}
	if got := view[len(view)-2].PlainText(); got != last {
		t.Errorf("the newest answer is cut:\n%s", got)
	}
}
