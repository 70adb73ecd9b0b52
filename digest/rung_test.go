package digest_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/tokens"
)

// manager has every rung and the gate, and is never kept from running.
func manager(t testing.TB, estimate string, change func(*policy.Settings)) *policy.Manager {
	t.Helper()
	s, err := preset.Settings(preset.Frugal)
	if err != nil {
		t.Fatal(err)
	}
	s.Cap, s.MinSaving = policy.Cap{}, 0
	if change != nil {
		change(&s)
	}
	m, err := preset.New(preset.Options{Settings: s, Estimate: estimate, Calibrator: tokens.Plain{}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func window(n int) precis.Window {
	return precis.Window{Tokens: n, Source: precis.SourceConfigured}
}

// namesIn returns what the messages of a transcript hold.
func namesIn(msgs []precis.Message) []precis.Fingerprint {
	var out []precis.Fingerprint
	for _, m := range msgs {
		out = append(out, precis.HashMessage(m))
	}
	return out
}

func digests(conv *precis.Conversation) int {
	n := 0
	for _, e := range conv.Edits {
		if e.Report.Rung == "digest" {
			n++
		}
	}
	return n
}

// TestWhatMattersSurvivesManyCondensations lets a conversation grow, and reduces
// it whenever it is due.
func TestWhatMattersSurvivesManyCondensations(t *testing.T) {
	for _, tt := range []struct {
		estimate string
		window   int
		seed     uint64
	}{{tokens.NameChars4, 12_000, 1}, {tokens.NameChars4, 12_000, 2}, {tokens.NameO200k, 24_000, 3}, {tokens.NameO200k, 12_000, 4}} {
		t.Run(fmt.Sprintf("%s/%d/%d", tt.estimate, tt.window, tt.seed), func(t *testing.T) {
			t.Parallel()
			m := manager(t, tt.estimate, nil)
			s := newSession(tt.seed)
			conv := &precis.Conversation{Transcript: &precis.Transcript{}}
			all := []precis.Fingerprint{}
			for turn := 0; turn < 400 && digests(conv) < 8; turn++ {
				n := len(s.msgs)
				s.turn()
				conv.Transcript.Append(s.msgs[n:]...)
				all = append(all, namesIn(s.msgs[n:])...)
				res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: window(tt.window)})
				if err != nil {
					t.Fatalf("turn %d: %v", turn, err)
				}
				if len(res.Edits) > 0 {
					checkGrown(t, s, conv, res, all)
				}
			}
			if n := digests(conv); n < 6 {
				t.Errorf("only %d condensations", n)
			}
		})
	}
}

func checkGrown(t *testing.T, s *session, conv *precis.Conversation, res policy.Result, all []precis.Fingerprint) {
	t.Helper()
	where := fmt.Sprintf("turn %d, condensation %d", s.turns, digests(conv))
	if b := precis.Check(res.View); len(b) > 0 {
		t.Errorf("%s: %v", where, b[0])
	}
	if float64(res.Report.After.Tokens) > res.Report.Decision.Allowed {
		t.Errorf("%s: %d tokens, %.0f are allowed", where, res.Report.After.Tokens, res.Report.Decision.Allowed)
	}
	text := coverageOutside(res.View)
	has := func(what, words string) {
		if words = strings.Join(strings.Fields(words), " "); !strings.Contains(text, words) {
			t.Errorf("%s: %s %q is not in the view", where, what, words)
		}
	}
	has("the first request", s.requests[0])
	has("the last request", s.requests[len(s.requests)-1])
	for _, r := range s.rules {
		has("the rule", r)
	}
	for _, f := range s.written {
		if two := strings.Split(f, "/"); !strings.Contains(text, strings.Join(two[max(len(two)-2, 0):], "/")) {
			t.Errorf("%s: the file %s is not in the view", where, f)
		}
	}
	for _, u := range precis.Units(conv.Transcript, conv.Edits) {
		if u.Original() && !u.Changed {
			continue
		}
		msgs, err := conv.Transcript.Read(precis.SpanHandle(u.From, u.To))
		if err != nil || !slices.Equal(namesIn(msgs), all[u.From:u.To]) {
			t.Errorf("%s: the original of messages %d to %d is not there (%v)", where, u.From, u.To, err)
		}
	}
	for _, step := range res.Report.Steps {
		if step.Rung == "truncate" && step.Before-step.After > 500 {
			t.Errorf("%s: messages were hidden that a digest could stand for: %+v", where, res.Report.Steps)
		}
	}
	if r := res.Report.Retention; r == nil || r.Share <= 0 || r.Share > 1 || len(r.RulesLost) > 0 || r.Rules != len(s.rules) {
		t.Errorf("%s: retention %+v of %d rules", where, r, len(s.rules))
	}
}

// TestTheLadderKeepsItsPromisesOnAnything reduces random conversations with
// every rung and the gate, twice, and takes it back.
func TestTheLadderKeepsItsPromisesOnAnything(t *testing.T) {
	m := manager(t, tokens.NameChars4, nil)
	rapid.Check(t, func(rt *rapid.T) {
		msgs := append(hostile(rt), precis.NewText(precis.RoleUser, "now do exactly this"))
		valid, _ := precis.Repair(msgs)
		conv := &precis.Conversation{Transcript: precis.NewTranscript(valid...)}
		var views [][]precis.Message
		for range 2 {
			views = append(views, precis.View(conv.Transcript, conv.Edits))
			had := len(conv.Edits)
			w := rapid.IntRange(700, 8000).Draw(rt, "window")
			res, err := m.Manage(rt.Context(), policy.Request{Conversation: conv, Window: window(w), TriggeredBy: precis.TriggeredManual})
			if err != nil {
				rt.Fatal(err)
			}
			if b := precis.Check(res.View); len(b) > 0 {
				rt.Fatalf("%v", b[0])
			}
			if float64(res.Report.After.Tokens) > res.Report.Decision.Allowed || res.Report.After.Tokens > res.Report.Before.Tokens {
				rt.Fatalf("%d tokens of %d, %.0f are allowed", res.Report.After.Tokens, res.Report.Before.Tokens, res.Report.Decision.Allowed)
			}
			for _, step := range res.Report.Steps {
				tiny := step.Rung == "truncate" && strings.Contains(step.Reason, "would grow") // a marker may be longer than two words it hides
				if step.Outcome == precis.OutcomeFailed || step.Outcome == precis.OutcomeRefused && !tiny {
					rt.Fatalf("%+v", step)
				}
			}
			if r := res.Report.Retention; len(res.Edits) > 0 && (r == nil || r.Share < 0 || r.Share > 1 || r.Repaired > r.Kept || len(r.Lost) < policy.MaxLost && r.Kept+len(r.Lost) != r.Anchors) {
				rt.Fatalf("retention %+v", r)
			}
			if len(conv.Edits) == had {
				views = views[:len(views)-1]
			}
		}
		for i := len(views) - 1; i >= 0; i-- {
			if _, err := m.Undo(rt.Context(), conv); err != nil {
				rt.Fatal(err)
			}
			if got := precis.View(conv.Transcript, conv.Edits); !reflect.DeepEqual(got, views[i]) {
				rt.Fatalf("undoing run %d gives another view", i)
			}
		}
	})
}

// TestWhatTheGateAddsLeavesRoomForWhatStaysInForce writes a short digest again: it saves less than it seems, since
// what stays in force of the messages is shown behind it.
func TestWhatTheGateAddsLeavesRoomForWhatStaysInForce(t *testing.T) {
	s := newSession(11)
	s.turn()
	s.user("<command name=\"x\">" + strings.Repeat("step by step ", 8) + "</command>")
	s.turn()
	s.call("Bash", map[string]any{"command": strings.Repeat("https://example.com/a?b=c ", 20)}, strings.Repeat("\n\n", 659))
	s.call("Bash", map[string]any{"command": strings.Repeat("a_b_c d.e.f /x/y/z.go:12 ", 20)}, "不要修改 main.go。")
	s.user("now do exactly this")
	m := manager(t, tokens.NameChars4, nil)
	conv := &precis.Conversation{Transcript: precis.NewTranscript(s.msgs...)}
	for _, w := range []int{995, 757} {
		res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: window(w), TriggeredBy: precis.TriggeredManual})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(coverageOutside(res.View), "[Digest of messages ") {
			t.Errorf("window %d: no digest: %+v", w, res.Report.Steps)
		}
		for _, step := range res.Report.Steps {
			if step.Outcome == precis.OutcomeRefused {
				t.Errorf("window %d: %+v", w, step)
			}
		}
	}
}

// long is a session whose oldest part must go to fit a window of 8000 tokens.
func long(seed uint64) *session {
	s := newSession(seed)
	for range 12 {
		s.turn()
	}
	return s
}

// summarized has the first messages of a session condensed by a model.
func summarized(t *testing.T, s *session, n int, text string) *precis.Conversation {
	t.Helper()
	conv := &precis.Conversation{Transcript: precis.NewTranscript(s.msgs...)}
	e := precis.Edit{Kind: precis.KindCondensation, Replace: []precis.Replacement{{To: n, With: []precis.Message{precis.NewText(precis.RoleUser, text)}}}}
	if err := e.Identify(conv.Transcript); err != nil {
		t.Fatal(err)
	}
	conv.Edits = []precis.Edit{e}
	return conv
}

// grow adds turns and reduces until there is another digest.
func grow(t *testing.T, m *policy.Manager, s *session, conv *precis.Conversation, size int) string {
	t.Helper()
	had := digests(conv)
	for range 60 {
		res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: window(size)})
		if err != nil {
			t.Fatal(err)
		}
		if digests(conv) > had {
			return coverageOutside(res.View)
		}
		n := len(s.msgs)
		s.turn()
		conv.Transcript.Append(s.msgs[n:]...)
	}
	t.Fatal("no digest was written")
	return ""
}

func TestAModelsSummaryIsCarriedOver(t *testing.T) {
	for name, text := range map[string]string{
		"short": "The model decided to keep the frobnicator_table as it is.",
		"long":  "The model decided to keep the frobnicator_table as it is. " + strings.Repeat("It told a long story about it. ", 400),
	} {
		s := long(5)
		conv := summarized(t, s, len(s.msgs)/3, text)
		m := manager(t, tokens.NameChars4, nil)
		for run := range 4 {
			if view := grow(t, m, s, conv, 8000); !strings.Contains(view, "keep the frobnicator_table as it is") {
				t.Errorf("%s: after run %d the model's summary is gone", name, run)
			}
		}
	}
}

func TestASummaryOfASummaryIsNotCarriedTwice(t *testing.T) {
	s := long(6)
	conv := summarized(t, s, len(s.msgs)/4, "The old_model_summary says this.")
	e := precis.Edit{Kind: precis.KindCondensation, Replace: []precis.Replacement{{To: len(s.msgs) / 2, With: []precis.Message{precis.NewText(precis.RoleUser, "The new_model_summary says that.")}}}}
	if err := e.Identify(conv.Transcript); err != nil {
		t.Fatal(err)
	}
	conv.Edits = append(conv.Edits, e)
	view := grow(t, manager(t, tokens.NameChars4, nil), s, conv, 8000)
	if strings.Contains(view, "old_model_summary") || strings.Count(view, "new_model_summary says") != 1 {
		t.Errorf("old: %t, new: %d times", strings.Contains(view, "old_model_summary"), strings.Count(view, "new_model_summary says"))
	}
}

func TestADigestIsWrittenFromTheOriginals(t *testing.T) {
	s := long(7)
	conv := &precis.Conversation{Transcript: precis.NewTranscript(s.msgs...)}
	m := manager(t, tokens.NameChars4, nil)
	for run := range 3 {
		if view := grow(t, m, s, conv, 8000); strings.Count(view, "[Digest of messages m1-") != 1 {
			t.Errorf("run %d: %d digests in the view", run, strings.Count(view, "[Digest of messages"))
		}
	}
}

// TestPinsAreInEveryViewOfEveryRung runs each rung alone, and all.
func TestPinsAreInEveryViewOfEveryRung(t *testing.T) {
	s := long(8)
	var want []precis.Handle
	for i := 2; i < len(s.msgs)-8 && len(want) < 4; i += 17 {
		for b, block := range s.msgs[i].Content {
			switch block := block.(type) {
			case precis.Text:
				block.Text += "\nKEEP-THIS"
				s.msgs[i].Content[b] = block
			case precis.ToolResult:
				block.Content = []precis.Block{precis.Text{Text: block.Text() + "\nKEEP-THIS " + strings.Repeat("and its many words ", 80)}}
				s.msgs[i].Content[b] = block
			case precis.ToolUse:
				block.Input = []byte(strings.Replace(string(block.Input), "{", `{"note":"KEEP-THIS",`, 1))
				s.msgs[i].Content[b] = block
			}
			want = append(want, precis.BlockHandle(i, b))
		}
	}
	for _, rungs := range append([][]string{nil}, []string{"dedupe"}, []string{"media"}, []string{"digest"}, []string{"prune"}, []string{"squeeze"}, []string{"truncate"}, []string{"clip"}) {
		m := manager(t, tokens.NameChars4, func(s *policy.Settings) { s.Pin, s.Rungs = "KEEP-.HIS", rungs })
		conv := &precis.Conversation{Transcript: precis.NewTranscript(s.msgs...)}
		for _, size := range []int{20_000, 12_000, 8000} {
			res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: window(size)})
			if err != nil && precis.CodeOf(err) != precis.CodeOverBudget {
				t.Fatal(err)
			}
			is := map[precis.Fingerprint]bool{}
			for _, msg := range res.View {
				for _, b := range msg.Content {
					is[precis.HashBlock(b)] = true
				}
			}
			for _, h := range want {
				if !is[precis.HashBlock(s.msgs[h.From].Content[h.Block])] {
					t.Errorf("%v, window %d: the pinned block %s is not in the view", rungs, size, h)
				}
			}
		}
	}
}

func TestTheDigestStandsForWhatPreviewsWouldNotKeep(t *testing.T) {
	s := long(9)
	conv := &precis.Conversation{Transcript: precis.NewTranscript(s.msgs...)}
	m, err := policy.NewManager(policy.Options{Counter: counter(t), Strategies: []policy.Strategy{digest.Rung{}}})
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: window(1_000_000), TriggeredBy: precis.TriggeredManual})
	if err != nil || len(res.Edits) > 0 {
		t.Errorf("a digest although there is room: %s, %v", res.Report.Outcome, err)
	}
	res, err = m.Manage(t.Context(), policy.Request{Conversation: conv, Window: window(8000), TriggeredBy: precis.TriggeredManual})
	if err != nil && precis.CodeOf(err) != precis.CodeOverBudget || len(res.Edits) == 0 || res.Edits[0].Kind != precis.KindCondensation {
		t.Errorf("%s, %v", res.Report.Outcome, err)
	}
}

func TestWhatWasTakenBackIsNotTold(t *testing.T) {
	s := long(13)
	conv := &precis.Conversation{Transcript: precis.NewTranscript(s.msgs...)}
	m := manager(t, tokens.NameChars4, nil)
	grow(t, m, s, conv, 8000)
	n := len(s.msgs)
	s.user("Please use the regretted_approach_77 for all of it.")
	s.says("I begin with regretted_approach_77.")
	conv.Transcript.Append(s.msgs[n:]...)
	if _, err := m.Rewind(t.Context(), conv, n); err != nil {
		t.Fatal(err)
	}
	if view := grow(t, m, s, conv, 8000); strings.Contains(view, "regretted_approach_77") {
		t.Error("what was taken back is in the view")
	}
	if msgs, err := conv.Transcript.Read(precis.MessageHandle(n)); err != nil || !strings.Contains(coverageOutside(msgs), "regretted_approach_77") {
		t.Errorf("it cannot be read any more (%v)", err)
	}
}

// TestManyRequestsLeaveRoomForFiles lets the user say so much that it could fill
// the digest.
func TestManyRequestsLeaveRoomForFiles(t *testing.T) {
	s := newSession(11)
	for i := range 90 {
		s.user(fmt.Sprintf("Request %d: %s", i, strings.Repeat("look at the cart again, and say what you found there; ", 3)))
		f := fmt.Sprintf("internal/part%d/written%d.go", i%5, i)
		if i%3 == 0 {
			s.call("Write", map[string]any{"file_path": root + f, "content": "package part"}, "ok")
			s.wrote(f)
		}
		s.says("Done.")
	}
	m, err := policy.NewManager(policy.Options{Counter: counter(t), Strategies: []policy.Strategy{digest.Rung{}}})
	if err != nil {
		t.Fatal(err)
	}
	conv := &precis.Conversation{Transcript: precis.NewTranscript(s.msgs...)}
	res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: window(4500), TriggeredBy: precis.TriggeredManual})
	if err != nil || len(res.Edits) == 0 {
		t.Fatalf("%s, %v", res.Report.Outcome, err)
	}
	text := coverageOutside(res.View)
	for _, f := range s.written {
		if !strings.Contains(text, strings.TrimPrefix(f, "internal/")) {
			t.Errorf("%s is not in the view", f)
		}
	}
}

func counter(t testing.TB) precis.Counter {
	t.Helper()
	c, err := tokens.New(tokens.Options{Name: tokens.NameChars4})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTheLadderIsDeterministic holds that the same situation gives the same
// edits.
func TestTheLadderIsDeterministic(t *testing.T) {
	var first []precis.Edit
	for range 4 {
		conv := &precis.Conversation{Transcript: precis.NewTranscript(long(10).msgs...)}
		res, err := manager(t, tokens.NameChars4, nil).Manage(t.Context(), policy.Request{Conversation: conv, Window: window(8000), TriggeredBy: precis.TriggeredManual})
		if err != nil || len(res.Edits) < 2 {
			t.Fatalf("%d edits, %v", len(res.Edits), err)
		}
		if first == nil {
			first = res.Edits
		}
		for i, e := range res.Edits {
			if e.ID != first[i].ID {
				t.Fatalf("edit %d by %s is another", i, e.Report.Rung)
			}
		}
	}
}
