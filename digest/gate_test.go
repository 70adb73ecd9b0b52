package digest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/tokens"
)

// situation is what a rung sees of a conversation, without a target.
func situation(t testing.TB, msgs []precis.Message) *policy.Situation {
	t.Helper()
	tr := precis.NewTranscript(msgs...)
	m := measure.New(counter(t))
	s := &policy.Situation{
		Conversation: &precis.Conversation{Transcript: tr}, Transcript: tr, Units: precis.Units(tr, nil), Meter: m,
		Kept: policy.Keep(tr, nil, m, 3, 0), Settings: policy.DefaultSettings(), Used: m.View(msgs),
	}
	s.Budget.Window.Tokens = s.Used
	return s
}

// hide is an edit that shows text in place of the first n messages.
func hide(kind precis.EditKind, n int, text string) precis.Edit {
	return precis.Edit{Kind: kind, Replace: []precis.Replacement{{To: n, With: []precis.Message{precis.NewText(precis.RoleUser, text)}}}}
}

func gated(t testing.TB, g digest.Gate, s *policy.Situation, e precis.Edit) (precis.Edit, string) {
	t.Helper()
	out, err := g.Admit(context.Background(), s, e)
	if err != nil {
		t.Fatal(err)
	}
	return out, out.Replace[0].With[0].PlainText()
}

func TestGateAddsWhatATextLacks(t *testing.T) {
	s := long(20)
	n := len(s.msgs) - 3
	for _, e := range []precis.Edit{hide(precis.KindTruncation, n, "[hidden]"), hide(precis.KindCondensation, n, "A model wrote: all went well.")} {
		before := e.Replace[0].With[0].PlainText()
		sit := situation(t, s.msgs)
		got, text := gated(t, digest.Gate{}, sit, e)
		if !strings.HasPrefix(text, before+"\n\n[Added from the conversation itself") {
			t.Errorf("%s: %.200q", e.Kind, text)
		}
		if e.Replace[0].With[0].PlainText() != before {
			t.Errorf("%s: the edit that was proposed was changed", e.Kind)
		}
		lacks(t, string(e.Kind)+" rules", section(text, "Typed by the user"), s.rules...)
		files := section(text, "Files written")
		for _, f := range s.written {
			lacks(t, string(e.Kind)+" files", files, strings.TrimPrefix(f, "internal/"))
		}
		lacks(t, string(e.Kind)+" facts", text, "## Lines most likely", "## Also mentioned")
		hidden := sit.Meter.View(s.msgs[:n])
		if added := sit.Meter.View(got.Replace[0].With) - sit.Meter.View(e.Replace[0].With); added > hidden/20 {
			t.Errorf("%s: %d tokens added, %d hidden", e.Kind, added, hidden)
		}
		if len(got.Report.Notes) < 3 {
			t.Errorf("%s: notes %q", e.Kind, got.Report.Notes)
		}
	}
}

func TestGateAddsTheLastRequestWhenItIsHidden(t *testing.T) {
	s := long(21)
	last := s.requests[len(s.requests)-1]
	sit := situation(t, s.msgs)
	_, text := gated(t, digest.Gate{}, sit, hide(precis.KindCondensation, len(s.msgs), "A summary."))
	lacks(t, "all hidden", section(text, "The user's last request"), last)
	_, text = gated(t, digest.Gate{}, sit, hide(precis.KindCondensation, len(s.msgs)-1, "A summary. The user said: "+strings.ReplaceAll(last, " ", "\n ")))
	if strings.Contains(text, "The user's last request") {
		t.Errorf("a request that the summary quotes is added:\n%s", text)
	}
	s.user("and one thing more")
	_, text = gated(t, digest.Gate{}, situation(t, s.msgs), hide(precis.KindCondensation, len(s.msgs)-1, "A summary."))
	if strings.Contains(text, "The user's last request") {
		t.Error("the last request, which is shown, is added")
	}
}

func TestGateLeavesCompleteSummariesAlone(t *testing.T) {
	s := newSession(22)
	s.user("Make the cart faster. Never touch main_module.go. Always run make test.")
	s.call("Write", map[string]any{"file_path": root + "internal/cart/total.go", "content": "func computeCartTotal() {}"}, "ok")
	s.call("Write", map[string]any{"file_path": "Makefile", "content": "all:"}, "ok")
	s.call("Bash", map[string]any{"command": "echo x > LICENSE"}, "")
	s.says("computeCartTotal is done.")
	s.user("thanks")
	whole := coverageOutside(s.msgs)
	for name, text := range map[string]string{
		"all of it": whole + "\nMake the cart faster. Never touch main_module.go. Always run make test.",
		"in other words": "The user wants:\nMake the cart faster. Never touch\n  main_module.go. Always run make test.\nWritten: internal/cart/total.go (computeCartTotal), Makefile and LICENSE, by Write and echo x. thanks\n" +
			root + " all: func computeCartTotal() {}",
	} {
		e := hide(precis.KindCondensation, len(s.msgs)-1, text)
		got, after := gated(t, digest.Gate{Share: 0.9}, situation(t, s.msgs), e)
		if after != text || len(got.Report.Notes) > 0 {
			t.Errorf("%s: a complete summary got %q", name, strings.TrimPrefix(after, text))
		}
		if r := digest.Repair(policy.SummaryRequest{Messages: s.msgs, Previous: text}, digest.RepairOptions{}); r.Text != text || len(r.Added) > 0 || len(r.Rules) > 0 {
			t.Errorf("%s: repaired by %q: %q", name, r.Added, strings.TrimPrefix(r.Text, text))
		}
	}
	r := digest.Repair(policy.SummaryRequest{Messages: s.msgs, Previous: "All done."}, digest.RepairOptions{})
	lacks(t, "an empty summary", r.Text, "Makefile", "LICENSE", "internal/cart/total.go", "Never touch main_module.go.")
	again := digest.Repair(policy.SummaryRequest{Messages: s.msgs, Previous: r.Text}, digest.RepairOptions{})
	if again.Text != r.Text {
		t.Errorf("a repaired summary is repaired again: %q", strings.TrimPrefix(again.Text, r.Text))
	}
}

func TestGateLeavesOtherEditsAlone(t *testing.T) {
	s := long(23)
	sit := situation(t, s.msgs)
	for _, kind := range []precis.EditKind{precis.KindPruning, precis.KindDedupe, precis.KindMedia, precis.KindClip, precis.KindRestore, precis.KindRewind} {
		if _, text := gated(t, digest.Gate{}, sit, hide(kind, len(s.msgs)-3, "as it is")); text != "as it is" {
			t.Errorf("%s: %q", kind, text)
		}
	}
	for name, e := range map[string]precis.Edit{
		"no text":      {Kind: precis.KindTruncation, Replace: []precis.Replacement{{To: 5}}},
		"two messages": {Kind: precis.KindCondensation, Replace: []precis.Replacement{{To: 5, With: []precis.Message{precis.NewText("user", "x"), precis.NewText("assistant", "y")}}}},
		"an image":     {Kind: precis.KindCondensation, Replace: []precis.Replacement{{To: 5, With: []precis.Message{{Role: "user", Content: []precis.Block{precis.Image{Data: "A"}}}}}}},
		"blocks":       {Kind: precis.KindCondensation, Replace: []precis.Replacement{precis.ReplaceBlock(sit.Transcript, 1, 0, precis.Text{Text: "x"})}},
		"nothing":      {Kind: precis.KindTruncation},
	} {
		got, err := digest.Gate{}.Admit(t.Context(), sit, e)
		if err != nil || len(got.Report.Notes) > 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestGateNeverMakesATextAsLargeAsWhatItHides hides few messages and many.
func TestGateNeverMakesATextAsLargeAsWhatItHides(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		msgs := hostile(rt)
		if len(msgs) < 2 {
			return
		}
		sit := situation(t, msgs)
		from := rapid.IntRange(0, len(msgs)-2).Draw(rt, "from")
		to := rapid.IntRange(from+1, len(msgs)-1).Draw(rt, "to")
		e := precis.Edit{Kind: rapid.SampledFrom([]precis.EditKind{precis.KindTruncation, precis.KindCondensation}).Draw(rt, "kind"),
			Replace: []precis.Replacement{{From: from, To: to, With: []precis.Message{precis.NewText(precis.RoleUser, "[hidden]")}}}}
		got, err := digest.Gate{Share: rapid.SampledFrom([]float64{0, 0.05, 0.5, 1}).Draw(rt, "share")}.Admit(rt.Context(), sit, e)
		if err != nil {
			rt.Fatal(err)
		}
		was, plain, is := sit.Meter.View(msgs[from:to]), sit.Meter.View(e.Replace[0].With), sit.Meter.View(got.Replace[0].With)
		if plain < was && is >= was {
			rt.Fatalf("%d tokens stand for %d:\n%s", is, was, got.Replace[0].With[0].PlainText())
		}
	})
}

func TestTheNewestRulesCountMost(t *testing.T) {
	s := newSession(24)
	var rules []string
	for i := range 60 {
		rules = append(rules, fmt.Sprintf("Never use the old_function_%d again.", i))
		s.user(rules[i])
		s.says("ok")
	}
	got := digest.Repair(policy.SummaryRequest{Messages: s.msgs, Previous: "A summary.", MaxTokens: 400}, digest.RepairOptions{})
	in := section(got.Text, "Typed by the user")
	if !strings.Contains(in, rules[58]) || strings.Contains(in, rules[0]) || strings.Index(in, rules[55]) > strings.Index(in, rules[58]) {
		t.Errorf("rules:\n%s", in)
	}
}

func TestRepairTellsWhatItDid(t *testing.T) {
	s := long(25)
	s.msgs[0] = precis.NewText(precis.RoleUser, s.requests[0]+"\n<command name=\"x\">step one</command>")
	const from = 9
	transcript := precis.NewTranscript(append(make([]precis.Message, from), s.msgs...)...)
	for _, r := range []policy.SummaryRequest{{Messages: s.msgs}, {Messages: s.msgs, From: from}, {Messages: s.msgs, Previous: "What was done: module1.go.", MaxTokens: 900}} {
		got := digest.Repair(r, digest.RepairOptions{})
		has := map[string]bool{}
		for _, a := range got.Added {
			for what, title := range map[string]string{"rule": "## Typed by the user", "last request": "## The user's last request", "written file": "## Files written", "fact": "## Lines most", "workflow": "## Active workflows"} {
				var n int
				if strings.Contains(a, what) {
					has[what] = true
					if _, err := fmt.Sscan(a, &n); err != nil || n == 0 || !strings.Contains(got.Text, title) {
						t.Errorf("%q, but %q: %t", a, title, strings.Contains(got.Text, title))
					}
					if what == "rule" && n != strings.Count(section(got.Text, "Typed by the user"), "- m") {
						t.Errorf("%q:\n%s", a, section(got.Text, "Typed by the user"))
					}
				}
			}
		}
		if r.From == 0 && !has["workflow"] || !has["rule"] || !has["written file"] || !has["fact"] {
			t.Errorf("added %q to\n%s", got.Added, got.Text)
		}
		if n := (utf8.RuneCountInString(got.Text) + 3) / 4; r.MaxTokens > 0 && n > r.MaxTokens {
			t.Errorf("%d tokens, %d are allowed", n, r.MaxTokens)
		}
		for _, l := range slices.Concat(got.Lost, got.Rules) {
			show := precis.NewTranscript(s.msgs...)
			if r.From > 0 {
				show = transcript
			}
			msgs, err := show.Read(l.Handle)
			if name := l.Text[strings.LastIndexByte(l.Text, '/')+1:]; err != nil || len(msgs) != 1 || !strings.Contains(coverageOutside(msgs), name) {
				t.Errorf("from %d: %s %q is not at %s (%v)", r.From, l.Kind, l.Text, l.Handle, err)
			}
		}
		if k := got.Retention; k.Kept+len(got.Lost) != k.Anchors && len(got.Lost) < policy.MaxLost || k.Repaired > k.Kept || k.Share <= 0 || k.Share > 1 || k.Rules != len(s.rules) {
			t.Errorf("%+v with %d lost", k, len(got.Lost))
		}
	}
}

func TestRepairKeepsItsSize(t *testing.T) {
	o200k := tokens.O200k()
	rapid.Check(t, func(rt *rapid.T) {
		r := policy.SummaryRequest{Messages: hostile(rt), Previous: strings.Repeat(rapid.SampledFrom(words).Draw(rt, "words"), rapid.IntRange(0, 60).Draw(rt, "times"))}
		count := func(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }
		if rapid.Bool().Draw(rt, "exact") {
			count = o200k.Count
		}
		r.MaxTokens = rapid.SampledFrom([]int{0, 1, 50, 200, 900, 3000}).Draw(rt, "size")
		got := digest.Repair(r, digest.RepairOptions{Count: count})
		most := r.MaxTokens
		if most == 0 {
			most = count(r.Previous) + 1500
		}
		if n := count(got.Text); got.Text != r.Previous && n > most {
			rt.Fatalf("%d tokens, %d are allowed:\n%s", n, most, got.Text)
		}
		if !strings.HasPrefix(got.Text, r.Previous) || (got.Text == r.Previous) != (len(got.Added) == 0) {
			rt.Fatalf("added %q:\n%s", got.Added, got.Text)
		}
		for _, l := range got.Lost {
			if _, err := precis.NewTranscript(r.Messages...).Read(l.Handle); err != nil {
				rt.Fatal(err)
			}
		}
		if again := digest.Repair(r, digest.RepairOptions{Count: count}); again.Text != got.Text {
			rt.Fatalf("another repair:\n%s\n---\n%s", got.Text, again.Text)
		}
	})
}

func TestRepairOfLongLastRequests(t *testing.T) {
	o200k := tokens.O200k()
	for name, words := range map[string]string{"words": "please look at the cart ", "digits": "8417 0932 5561 ", "CJK": "请检查购物车的每个文件"} {
		msgs := []precis.Message{precis.NewText("user", "start"), precis.NewText("assistant", "ok"), precis.NewText("user", "LAST "+strings.Repeat(words, 900))}
		for _, count := range []func(string) int{nil, o200k.Count} {
			got := digest.Repair(policy.SummaryRequest{Messages: msgs, Previous: "A summary.", MaxTokens: 500}, digest.RepairOptions{Count: count})
			if !strings.Contains(got.Text, "- m2: LAST") {
				t.Errorf("%s: of the last request nothing is left:\n%s", name, got.Text)
			}
		}
	}
}

// A file that was written is not named by another of the same name.
func TestRepairTellsFilesOfOneNameApart(t *testing.T) {
	s := newSession(1)
	s.user("Mend both.")
	for _, path := range []string{"/w/one/pkg/util.go", "/w/two/pkg/util.go"} {
		s.call("Write", map[string]any{"file_path": path, "content": "package pkg"}, "ok")
	}
	r := digest.Repair(policy.SummaryRequest{Messages: s.msgs, Previous: "Mend both. /w/one/pkg/util.go was written.", MaxTokens: 300}, digest.RepairOptions{})
	if !strings.Contains(r.Text, "two/pkg/util.go") {
		t.Errorf("the other file is missing:\n%s", r.Text)
	}
}

// A file that was read and that a summary does not name is named, without the call that read it, and without what the
// agent's program writes around the lines of results.
func TestRepairNamesReadFiles(t *testing.T) {
	s := newSession(1)
	s.user("Read the ledger.")
	for _, part := range []string{"rates", "taxes", "cart"} {
		s.call("exec_command", map[string]any{"cmd": "cat /w/shop/" + part + ".go"}, "Warning: truncated output (original token count: 6141)\nTotal output lines: 303\n\nfunc "+part+"OfDay(day int) int {\n…14563 chars truncated…\n}")
	}
	r := digest.Repair(policy.SummaryRequest{Messages: s.msgs, Previous: "The user wants the ledger read.", MaxTokens: 9000}, digest.RepairOptions{})
	lacks(t, "what was read", r.Text, "rates.go", "taxes.go", "func cartOfDay(day int) int {")
	for _, noise := range []string{"exec_command", "truncated", "output lines", "14563"} {
		if strings.Contains(r.Text, noise) {
			t.Errorf("%q is told:\n%s", noise, r.Text)
		}
	}
}

// TestGateAddsAgentsAndPlans leaves agents in flight, and steps of a plan, out of a summary.
func TestGateAddsAgentsAndPlans(t *testing.T) {
	s := newSession(5)
	s.user("Look at every part of the shop.")
	s.call("Task", map[string]any{"description": "Look at the cart", "prompt": "find what rounds"}, "Async agent launched successfully.\nagentId: a81bc81b\nThe agent is working in the background.")
	s.call("Task", map[string]any{"description": "Look at the taxes", "prompt": "find the rates"}, "Async agent launched successfully.\nagentId: b92cd92c\nThe agent is working in the background.")
	s.call("TodoWrite", map[string]any{"todos": []any{
		map[string]any{"content": "read the cart", "status": "completed"},
		map[string]any{"content": "merge what the agents report", "status": "in_progress"},
		map[string]any{"content": "write the migration", "status": "pending"}}}, "ok")
	s.says("Both are running.")
	r := digest.Repair(policy.SummaryRequest{Messages: s.msgs, Previous: "The agent b92cd92c looks at the taxes. Next: write the migration."}, digest.RepairOptions{})
	agents := section(r.Text, "Agents and background work")
	lacks(t, "the agents", agents, "Look at the cart", "a81bc81b")
	if strings.Contains(agents, "b92cd92c") {
		t.Errorf("an agent that the summary names is added:\n%s", agents)
	}
	if plan := section(r.Text, "Plan, what is open"); strings.TrimSpace(plan) != "- [>] merge what the agents report" {
		t.Errorf("the plan: %q", plan)
	}
	lacks(t, "what was added", strings.Join(r.Added, "\n"), "1 agent added", "1 step of the plan added")
	if again := digest.Repair(policy.SummaryRequest{Messages: s.msgs, Previous: r.Text}, digest.RepairOptions{}); strings.Count(again.Text, "a81bc81b") != strings.Count(r.Text, "a81bc81b") {
		t.Errorf("added twice:\n%s", again.Text)
	}
}

// TestARequestInAnotherCutIsNotRepeated: a request that the view shows without its middle is there; so is a rule in the
// request that the gate adds.
func TestARequestInAnotherCutIsNotRepeated(t *testing.T) {
	k := &talker{}
	k.user("Port the lamp of the northern lighthouse to the new controller. " +
		strings.Repeat("It turns as before. ", 40) + "Never touch the lens of the northern lighthouse, and say when it is done.")
	k.assistant("I begin.")
	repair := func(beside string) string {
		o := digest.RepairOptions{Beside: beside}
		r := policy.SummaryRequest{Messages: k.msgs, Previous: "The lamp is ported.", MaxTokens: 600}
		return digest.Repair(r, o).Text
	}
	cut := "Port the lamp of the northern lighthouse to the new controller. It turns as before.\n" +
		"[… 700 characters left out …]\nIt turns as before. Never touch the lens of the northern lighthouse, and say when it is done."
	for beside, want := range map[string]int{"": 1, cut: 0, "Port the lamp of the northern lighthouse to the new controller. It turns": 1} {
		got := repair(beside)
		if strings.Count(got, "Port the lamp") != want || strings.Count(got, "Never touch the lens") != want {
			t.Errorf("beside %q, want %d:\n%s", beside, want, got)
		}
	}
}
