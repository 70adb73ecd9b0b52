package policy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/internal/precistest"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/reduce"
	"github.com/precis-dev/precis/tokens"
)

// rungs are the strategies that need no model.
func rungs() []policy.Strategy {
	return []policy.Strategy{reduce.Dedupe{}, reduce.Media{}, digest.Rung{}, reduce.Prune{}, reduce.Squeeze{}, reduce.Truncate{}, reduce.Clip{}}
}

func chars4(t testing.TB) precis.Counter {
	c, err := tokens.New(tokens.Options{Name: tokens.NameChars4})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func manager(t testing.TB, o policy.Options) *policy.Manager {
	t.Helper()
	if o.Counter == nil {
		o.Counter = chars4(t)
	}
	if o.Strategies == nil {
		o.Strategies = rungs()
	}
	m, err := policy.NewManager(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func window(n int) precis.Window {
	return precis.Window{Tokens: n, Source: precis.SourceConfigured, Detail: "test"}
}

func TestManageKeepsEveryPromise(t *testing.T) {
	m := manager(t, policy.Options{})
	counter := chars4(t)
	rapid.Check(t, func(rt *rapid.T) {
		msgs := precistest.Conversation(rt)
		conv := &precis.Conversation{Transcript: precis.NewTranscript(msgs...), System: precis.NewText(precis.RoleSystem, "be brief")}
		if rapid.Bool().Draw(rt, "pins") {
			pin := rapid.IntRange(0, len(msgs)-1).Draw(rt, "pin")
			if _, err := m.Pin(context.Background(), conv, precis.MessageHandle(pin)); err != nil {
				rt.Fatal(err)
			}
		}
		before := precis.View(conv.Transcript, conv.Edits)
		w := rapid.SampledFrom([]int{400, 1000, 3000, 9000}).Draw(rt, "window")
		req := policy.Request{Conversation: conv, Window: window(w)}
		res, err := m.Manage(context.Background(), req)
		if err != nil {
			rt.Fatalf("window %d: %v", w, err)
		}
		if b := precis.Check(res.View); len(b) > 0 {
			rt.Fatalf("invalid view: %v", b)
		}
		const small = 20 // tokens of an unknown block that attachedTo may miss: the view may show another turn as the newest
		if got := measure.New(counter).View(res.View) - attachedTo(counter, res.View); float64(got) > res.Report.Decision.Allowed+small {
			rt.Fatalf("%d tokens, allowed %.0f", got, res.Report.Decision.Allowed)
		}
		if res.Report.After.Tokens > res.Report.Before.Tokens {
			rt.Fatal("the view grew")
		}
		if !reflect.DeepEqual(conv.Transcript.Messages(), msgs) {
			rt.Fatal("the transcript was altered")
		}
		again, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(math.MaxInt32)})
		if err != nil || !reflect.DeepEqual(again.View, res.View) {
			rt.Fatalf("the same edits give another view (%v)", err)
		}
		if len(res.Edits) > 0 {
			if _, err := m.Undo(context.Background(), conv); err != nil {
				rt.Fatal(err)
			}
		}
		if got := precis.View(conv.Transcript, conv.Edits); !reflect.DeepEqual(got, before) {
			rt.Fatal("undo does not bring the view back")
		}
	})
}

// attachedTo returns the tokens of images and unknown blocks in the user's newest turn and behind the newest answer of a view, each
// with one more, since the counter rounds a message as a whole.
func attachedTo(counter precis.Counter, view []precis.Message) (n int) {
	turn, behind := precis.LastUserTurn(view), len(view)-1
	for behind >= 0 && view[behind].Role != precis.RoleAssistant {
		behind--
	}
	for i, m := range view {
		if i != turn && i <= behind {
			continue
		}
		for _, b := range m.Content {
			blocks := []precis.Block{b}
			if r, ok := b.(precis.ToolResult); ok {
				blocks = r.Content
			}
			for _, b := range blocks {
				switch b.(type) {
				case precis.Image, precis.Opaque:
					n += counter.Count(precis.Message{Role: m.Role, Content: []precis.Block{b}}) + 1
				}
			}
		}
	}
	return n
}

func TestRewoundForgetsLaterEdits(t *testing.T) {
	m := manager(t, policy.Options{})
	rapid.Check(t, func(rt *rapid.T) {
		msgs := precistest.Conversation(rt)
		conv := &precis.Conversation{Transcript: &precis.Transcript{}}
		for _, msg := range msgs {
			conv.Transcript.Append(msg)
			if rapid.IntRange(0, 3).Draw(rt, "manage") == 0 {
				m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(600)})
			}
		}
		n := rapid.IntRange(0, len(msgs)).Draw(rt, "n")
		want := precis.Rewound(conv, n)
		if want.Transcript.Len() != n || want.Transcript.Fingerprint(n) != conv.Transcript.Fingerprint(n) {
			rt.Fatal("another transcript")
		}
		for _, u := range precis.Units(want.Transcript, want.Edits) {
			if u.To > n {
				rt.Fatalf("unit %d to %d beyond message %d", u.From, u.To, n)
			}
		}
		if n == 0 || n == len(msgs) {
			return
		}
		e, err := m.Rewind(context.Background(), conv, n)
		if err != nil {
			rt.Fatal(err)
		}
		if at := e.Replace[0].From; at != n { // inside a call and its results
			if at > n || !strings.Contains(e.Report.Reason, "go together") {
				rt.Fatalf("rewound to %d, not %d: %s", at, n, e.Report.Reason)
			}
			want = precis.Rewound(&precis.Conversation{Transcript: conv.Transcript, Edits: want.Edits}, at)
		}
		if got, w := precis.View(conv.Transcript, conv.Edits), precis.View(want.Transcript, want.Edits); !reflect.DeepEqual(got, w) {
			rt.Fatalf("rewound by an edit: %v\nby forgetting: %v", precistest.Texts(got), precistest.Texts(w))
		}
	})
}

func TestLastUserTurnIsInEveryView(t *testing.T) {
	m := manager(t, policy.Options{})
	rapid.Check(t, func(rt *rapid.T) {
		msgs := append(precistest.Conversation(rt), precis.NewText(precis.RoleUser, "now do exactly this"))
		for range rapid.IntRange(0, 3).Draw(rt, "steps after") {
			use, result := precistest.Step(rt, 1000+len(msgs))
			msgs = append(msgs, use, result)
		}
		conv := &precis.Conversation{Transcript: precis.NewTranscript(msgs...)}
		res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(rapid.IntRange(300, 4000).Draw(rt, "window"))})
		if err != nil {
			rt.Fatal(err)
		}
		for _, msg := range res.View {
			if strings.Contains(msg.PlainText(), "now do exactly this") {
				return
			}
		}
		rt.Fatalf("the last user turn is gone: %v", precistest.Texts(res.View))
	})
}

func TestOverBudgetSaysTheArithmetic(t *testing.T) {
	m := manager(t, policy.Options{})
	conv := &precis.Conversation{Transcript: precis.NewTranscript(precis.NewText("user", "hello")), System: precis.NewText("system", strings.Repeat("x", 8000))}
	res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(1000)})
	if precis.CodeOf(err) != precis.CodeOverBudget || !strings.Contains(err.Error(), "2,000 of them system prompt") || !strings.Contains(err.Error(), "allowed 1,000 × (1 − 0.1) − 200 = 700") {
		t.Errorf("error %v", err)
	}
	if len(res.View) == 0 {
		t.Error("the best view is missing")
	}
}

func TestDecision(t *testing.T) {
	base := policy.DefaultSettings()
	set := func(f func(*policy.Settings)) policy.Settings { s := base; f(&s); return s }
	for _, tt := range []struct {
		name     string
		load     policy.Load
		settings policy.Settings
		profile  string
		want     policy.Action
		trigger  policy.Trigger
	}{
		{"under", policy.Load{Used: 50_000}, base, "", policy.ActionNone, ""},
		{"warn", policy.Load{Used: 70_000}, base, "", policy.ActionWarn, "threshold"},
		{"prepare", policy.Load{Used: 60_000}, set(func(s *policy.Settings) { s.Prepare = 60 }), "", policy.ActionPrepare, "threshold"},
		{"threshold", policy.Load{Used: 75_000}, base, "", policy.ActionReduce, "threshold"},
		{"over allowed", policy.Load{Used: 81_809}, set(func(s *policy.Settings) { s.Percent = 100 }), "", policy.ActionReduce, "over_allowed"},
		{"just allowed", policy.Load{Used: 81_808}, set(func(s *policy.Settings) { s.Percent, s.Warn = 100, 0 }), "", policy.ActionNone, ""},
		{"auto off", policy.Load{Used: 76_000}, set(func(s *policy.Settings) { s.Auto = false }), "", policy.ActionWarn, "threshold"},
		{"auto off, over", policy.Load{Used: 90_000}, set(func(s *policy.Settings) { s.Auto = false }), "", policy.ActionTruncate, "over_allowed"},
		{"observe", policy.Load{Used: 190_000}, set(func(s *policy.Settings) { s.Observe = true }), "", policy.ActionNone, ""},
		{"profile", policy.Load{Used: 40_000}, set(func(s *policy.Settings) { s.Profiles = map[string]float64{"m": 40} }), "m", policy.ActionReduce, "threshold"},
		{"inherits", policy.Load{Used: 40_000}, set(func(s *policy.Settings) { s.Profiles = map[string]float64{"m": -1} }), "m", policy.ActionNone, ""},
		{"invalid profile falls back", policy.Load{Used: 40_000}, set(func(s *policy.Settings) { s.Profiles = map[string]float64{"m": 3} }), "m", policy.ActionNone, ""},
	} {
		d := policy.Plan(tt.load, tt.settings.Budget(window(100_000), 0, 0, 0), tt.settings, tt.profile)
		if d.Action != tt.want || d.Trigger != tt.trigger {
			t.Errorf("%s: %s by %q, want %s by %q", tt.name, d.Action, d.Trigger, tt.want, tt.trigger)
		}
		if bad := strings.HasPrefix(tt.name, "invalid") || tt.name == "profile"; bad != (len(d.Warnings) > 0) {
			t.Errorf("%s: warnings %v", tt.name, d.Warnings)
		}
	}
}

func TestReserve(t *testing.T) {
	for _, tt := range []struct{ window, requested, limit, want int }{
		{200_000, 0, 0, 8192}, {200_000, 32_000, 0, 32_000}, {200_000, 64_000, 0, 64_000},
		{200_000, 120_000, 0, 40_000}, {200_000, 120_000, 30_000, 30_000},
		{16_000, 0, 0, 3200}, {16_000, 1000, 0, 1000}, {4000, 0, 500, 500},
	} {
		if got := policy.DefaultSettings().Budget(window(tt.window), tt.requested, tt.limit, 0).Reserve; got.Tokens != tt.want {
			t.Errorf("%v: %+v", tt, got)
		}
	}
}

// failing is a rung that returns what it is told to.
type failing struct {
	name string
	edit precis.Edit
	err  error
}

func (f failing) Name() string { return f.name }
func (f failing) Propose(context.Context, *policy.Situation) (precis.Edit, error) {
	return f.edit, f.err
}

func TestLadderRefusesBadEdits(t *testing.T) {
	tr := precistest.Numbered(9)
	grow := precis.Edit{Kind: precis.KindTruncation, Replace: []precis.Replacement{{From: 1, To: 2, With: []precis.Message{precis.NewText("user", strings.Repeat("x", 400))}}}}
	same := precis.Edit{Kind: precis.KindTruncation, Replace: []precis.Replacement{{From: 1, To: 2, With: []precis.Message{precis.NewText("user", "x")}}}}
	kept := precis.Edit{Kind: precis.KindTruncation, Replace: []precis.Replacement{{From: 7, To: 9}}}
	outside := precis.Edit{Kind: precis.KindTruncation, Replace: []precis.Replacement{{From: 7, To: 19}}}
	broken := precis.Edit{Kind: precis.KindTruncation, Replace: []precis.Replacement{{From: 0, To: 1}}}
	settings := policy.DefaultSettings()
	settings.KeepShare = 0
	m := manager(t, policy.Options{Settings: settings, Strategies: []policy.Strategy{
		failing{"fails", precis.Edit{}, errors.New("no luck")}, failing{"grows", grow, nil}, failing{"same", same, nil}, failing{"kept", kept, nil},
		failing{"outside", outside, nil}, failing{"breaks", broken, nil}, failing{"nothing", precis.Edit{}, nil}, reduce.Truncate{},
	}})
	conv := &precis.Conversation{Transcript: tr}
	res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(1000), Target: 2, TriggeredBy: precis.TriggeredManual, DryRun: true})
	if err != nil && precis.CodeOf(err) != precis.CodeOverBudget {
		t.Fatal(err)
	}
	want := map[string]precis.Outcome{"fails": "failed", "grows": "refused", "same": "refused", "kept": "refused", "outside": "refused", "breaks": "refused", "nothing": "nothing", "truncate": "refused"}
	for _, s := range res.Report.Steps {
		if s.Outcome != want[s.Rung] {
			t.Errorf("%s: %s (%s), want %s", s.Rung, s.Outcome, s.Reason, want[s.Rung])
		}
	}
	if len(conv.Edits) > 0 {
		t.Error("a dry run changed the conversation")
	}
}

func TestSignedThinkingLeavesWithItsPrefix(t *testing.T) {
	var msgs []precis.Message
	for i := range 12 {
		msgs = append(msgs, precis.NewText("user", strings.Repeat("word ", 100)),
			precis.Message{Role: "assistant", Content: []precis.Block{precis.Thinking{Text: "hm", Signature: "s"}, precis.Thinking{Text: "unsigned"}, precis.Text{Text: fmt.Sprint("answer ", i)}}})
	}
	conv := &precis.Conversation{Transcript: precis.NewTranscript(msgs...)}
	res, err := manager(t, policy.Options{}).Manage(context.Background(), policy.Request{Conversation: conv, Window: window(1500)})
	if err != nil || len(res.Edits) == 0 {
		t.Fatal(err, res.Report.Outcome)
	}
	unsigned, changed := 0, false
	for i, m := range res.View {
		changed = changed || precis.HashMessage(m) != precis.HashMessage(msgs[i])
		for _, b := range m.Content {
			if th, ok := b.(precis.Thinking); ok && th.Signature != "" && changed {
				t.Fatal("signed reasoning after a changed prefix")
			} else if ok {
				unsigned++
			}
		}
	}
	if unsigned == 0 {
		t.Error("reasoning without a signature was left out")
	}
}

func TestCapStopsLoops(t *testing.T) {
	// A rung that saves next to nothing, on every turn.
	m := manager(t, policy.Options{Strategies: []policy.Strategy{reduce.Truncate{}}, Settings: func() policy.Settings {
		s := policy.DefaultSettings()
		s.Percent, s.Warn, s.Target, s.KeepShare, s.MinSaving = 20, 0, 18, 0.1, 0
		return s
	}()})
	conv := &precis.Conversation{Transcript: &precis.Transcript{}}
	runs := map[string]bool{}
	for i := range 30 {
		conv.Transcript.Append(precis.NewText("user", strings.Repeat("u ", 120)), precis.NewText("assistant", fmt.Sprint("a", i)))
		before := len(conv.Edits)
		if _, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(2000)}); err != nil {
			t.Fatal(err)
		}
		for _, e := range conv.Edits[before:] {
			runs[e.Run] = true
		}
		recent := map[string]bool{}
		for _, e := range conv.Edits {
			if e.Seen > conv.Transcript.Len()-20 {
				recent[e.Run] = true
			}
		}
		if len(recent) > 3 {
			t.Fatalf("turn %d: %d runs in 10 turns", i, len(recent))
		}
	}
	if len(runs) < 3 {
		t.Errorf("only %d runs in 30 turns: the cap never ends", len(runs))
	}
}

// A model may ask for a reduction before it is due, but not as often as a user may.
func TestRunsThatTheModelAsksForAreCapped(t *testing.T) {
	settings := policy.DefaultSettings()
	settings.Percent, settings.Warn, settings.Target, settings.KeepShare = 90, 0, 30, 0.05
	m := manager(t, policy.Options{Settings: settings})
	conv := &precis.Conversation{Transcript: &precis.Transcript{}}
	ask := func(r policy.Request) policy.Result {
		t.Helper()
		r.Conversation, r.Window = conv, window(10_000)
		res, err := m.Manage(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	made, capped := 0, 0
	for i := range 9 {
		conv.Transcript.Append(precis.NewText("user", strings.Repeat(fmt.Sprint("word", i, " "), 1200)), precis.NewText("assistant", fmt.Sprint("a", i)))
		if res := ask(policy.Request{}); len(res.Edits) > 0 || res.Report.Decision.Action != policy.ActionNone {
			t.Fatalf("turn %d: it is due by itself: %s", i, res.Report.Arithmetic)
		}
		res := ask(policy.Request{TriggeredBy: precis.TriggeredModel})
		switch {
		case len(res.Edits) > 0:
			made++
			if res.Report.TriggeredBy != precis.TriggeredModel || res.Edits[0].Report.Trigger != "model" || res.Report.After.Tokens > res.Report.Before.Tokens*4/5 {
				t.Errorf("turn %d: %+v", i, res.Report)
			}
		case strings.Contains(res.Report.Outcome, "runs in the last 10 turns"):
			if capped++; capped > 1 {
				continue
			}
			if res := ask(policy.Request{TriggeredBy: precis.TriggeredManual, DryRun: true}); len(res.Edits) == 0 { // a user is not held up
				t.Errorf("turn %d: %s", i, res.Report.Outcome)
			}
		case !strings.Contains(res.Report.Outcome, "left alone: "):
			t.Errorf("turn %d: %s", i, res.Report.Outcome)
		}
		if capped > 0 {
			break
		}
	}
	if made != 3 || capped == 0 {
		t.Errorf("%d runs were made and %d refused", made, capped)
	}
}

// What saves little is not done for a model, since it costs a prompt cache; for a user it is.
func TestRunsThatTheModelAsksForMustBeWorthIt(t *testing.T) {
	m := manager(t, policy.Options{Strategies: []policy.Strategy{reduce.Truncate{}}, Settings: func() policy.Settings {
		s := policy.DefaultSettings()
		s.Target, s.KeepShare, s.RungSettings.Truncate = 20, 0.01, 0.1
		return s
	}()})
	conv := &precis.Conversation{Transcript: &precis.Transcript{}}
	for i := range 20 {
		conv.Transcript.Append(precis.NewText([]precis.Role{"user", "assistant"}[i%2], strings.Repeat("abcd ", 20)+fmt.Sprint(i)))
	}
	conv.System = precis.NewText(precis.RoleSystem, strings.Repeat("rule ", 3000))
	for _, r := range []policy.Request{{TriggeredBy: precis.TriggeredModel}, {TriggeredBy: precis.TriggeredManual}} {
		r.Conversation, r.Window, r.DryRun = conv, window(10_000), true
		res, err := m.Manage(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		byModel := r.TriggeredBy == precis.TriggeredModel
		if byModel != (len(res.Edits) == 0) || byModel && !strings.Contains(res.Report.Outcome, "less than 20 %") {
			t.Errorf("asked by the model %v: %s", byModel, res.Report.Outcome)
		}
	}
}

func TestCheckIsLoggedInOneLineWithoutContent(t *testing.T) {
	var log bytes.Buffer
	m := manager(t, policy.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	conv := &precis.Conversation{ID: "c1", Transcript: precis.NewTranscript(precis.NewText("user", "secret words"))}
	if _, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(1000)}); err != nil {
		t.Fatal(err)
	}
	line := log.String()
	for _, want := range []string{"total_tokens=3", "window=1000", "usage_percent=0.3", "messages=1", "action=none"} {
		if !strings.Contains(line, want) {
			t.Errorf("%q is missing in %q", want, line)
		}
	}
	if strings.Count(line, "\n") != 1 || strings.Contains(line, "secret") {
		t.Errorf("log %q", line)
	}
}

func TestStatus(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := manager(t, policy.Options{Now: func() time.Time { return now }})
	var msgs []precis.Message
	for i := range 40 {
		msgs = append(msgs, precis.NewText([]precis.Role{"user", "assistant"}[i%2], strings.Repeat("abcd ", 40)+fmt.Sprint(i)))
	}
	conv := &precis.Conversation{Transcript: precis.NewTranscript(msgs...)}
	req := policy.Request{Conversation: conv, Window: window(2500)}
	if _, err := m.Manage(context.Background(), req); err != nil {
		t.Fatal(err)
	}
	s, err := m.Status(req)
	if err != nil {
		t.Fatal(err)
	}
	if s.Messages != 40 || s.Truncations != 0 || s.Condensations != 1 || s.Shown >= 40 || s.Percent > 50 || s.Action != policy.ActionNone {
		t.Errorf("%+v", s)
	}
	for d, want := range map[time.Duration]string{0: "just now", 2 * time.Minute: "2 minutes ago", time.Hour: "1 hour ago", 24*time.Hour - 1: "23 hours ago", 24 * time.Hour: "1 day ago", 50 * time.Hour: "2 days ago"} {
		if got := s.Ago(now.Add(d)); got != want {
			t.Errorf("after %v: %q, want %q", d, got, want)
		}
	}
	if got := (policy.Status{}).Ago(now); got != "never" {
		t.Errorf("no edit: %q", got)
	}
}

func TestRestoreBringsAPairBack(t *testing.T) {
	m := manager(t, policy.Options{})
	var msgs []precis.Message
	msgs = append(msgs, precis.NewText("user", "task"))
	for i := range 20 {
		id := fmt.Sprint("c", i)
		msgs = append(msgs,
			precis.Message{Role: "assistant", Content: []precis.Block{precis.ToolUse{ID: id, Name: "bash", Input: []byte(`{}`)}}},
			precis.Message{Role: "user", Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: strings.Repeat("o", 400) + id}}}}})
	}
	conv := &precis.Conversation{Transcript: precis.NewTranscript(msgs...)}
	if _, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(1500)}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Restore(context.Background(), conv, precis.MessageHandle(6)); err != nil {
		t.Fatal(err)
	}
	view := precis.View(conv.Transcript, conv.Edits)
	if b := precis.Check(view); len(b) > 0 {
		t.Fatal(b)
	}
	found := 0
	for _, v := range view {
		if reflect.DeepEqual(v, msgs[5]) || reflect.DeepEqual(v, msgs[6]) {
			found++
		}
	}
	if found != 2 {
		t.Errorf("%d of the call and its result are back", found)
	}
	if _, err := m.Restore(context.Background(), conv, precis.MessageHandle(99)); precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("a handle beyond the end: %v", err)
	}
}

func TestSettingsChangeAtRunTime(t *testing.T) {
	m := manager(t, policy.Options{})
	s := m.Settings()
	s.Percent = 30
	if err := m.SetSettings(s); err != nil {
		t.Fatal(err)
	}
	conv := &precis.Conversation{Transcript: precis.NewTranscript(precis.NewText(precis.RoleUser, strings.Repeat("words ", 270)))}
	if st, err := m.Status(policy.Request{Conversation: conv, Window: window(1000)}); err != nil || st.Action != policy.ActionReduce {
		t.Errorf("the new threshold is not in force: %+v, %v", st, err)
	}
	s.KeepShare = 2
	if err := m.SetSettings(s); precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), "keep_share") {
		t.Errorf("a bad setting: %v", err)
	}
	if m.Settings().KeepShare == 2 {
		t.Error("the bad setting is in force")
	}
}

func ExampleManager_Manage() {
	counter, _ := tokens.New(tokens.Options{Name: tokens.NameChars4})
	m, _ := policy.NewManager(policy.Options{Counter: counter, Strategies: []policy.Strategy{reduce.Dedupe{}, reduce.Truncate{}, reduce.Clip{}}})

	conv := &precis.Conversation{Transcript: &precis.Transcript{}}
	for i := range 50 {
		conv.Transcript.Append(
			precis.NewText(precis.RoleUser, fmt.Sprintf("question %d %s", i, strings.Repeat("why? ", 30))),
			precis.NewText(precis.RoleAssistant, "because"))
	}
	res, err := m.Manage(context.Background(), policy.Request{
		Conversation: conv, Window: precis.Window{Tokens: 1000, Source: precis.SourceConfigured},
	})
	fmt.Println(err, res.Report.Outcome)
	fmt.Println(len(res.View), "messages are sent;", conv.Transcript.Len(), "are kept")
	fmt.Println(res.View[1].PlainText())

	m.Undo(context.Background(), conv)
	fmt.Println(len(precis.View(conv.Transcript, conv.Edits)), "after undo")
	// Output:
	// <nil> reduced from 2,150 to 491 tokens by 1 edit
	// 23 messages are sent; 100 are kept
	// [78 earlier messages hidden here to save room; nothing is lost: m1-m78.]
	// 100 after undo
}

// summarizing is a rung that calls a model.
type summarizing struct{ called *int }

func (s summarizing) Name() string          { return "condense" }
func (s summarizing) Traits() policy.Traits { return policy.Traits{UsesModel: true} }

func (s summarizing) Propose(_ context.Context, sit *policy.Situation) (precis.Edit, error) {
	*s.called++
	return precis.Edit{Kind: precis.KindCondensation, Replace: []precis.Replacement{
		{From: 0, To: sit.Kept.Tail, With: []precis.Message{precis.NewText("user", "summary")}},
	}}, nil
}

func TestSmallWindowsGetNoModelSummary(t *testing.T) {
	for w, want := range map[int]int{7999: 0, 8000: 1} {
		called := 0
		m := manager(t, policy.Options{Strategies: []policy.Strategy{summarizing{&called}, reduce.Truncate{}, reduce.Clip{}}})
		tr := &precis.Transcript{}
		for i := range 20 {
			tr.Append(precis.NewText([]precis.Role{"user", "assistant"}[i%2], strings.Repeat("word ", 400)))
		}
		tr.Append(precis.NewText("user", "end"))
		conv := &precis.Conversation{Transcript: tr}
		res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(w)})
		if err != nil || called != want {
			t.Errorf("window %d: called %d times, %v", w, called, err)
		}
		if want == 0 && (res.Report.Steps[0].Outcome != precis.OutcomeSkipped || !strings.Contains(res.Report.Steps[0].Reason, "8000")) {
			t.Errorf("the reason is missing: %+v", res.Report.Steps[0])
		}
		if want == 1 {
			if s, _ := m.Status(policy.Request{Conversation: conv, Window: window(w)}); s.Condensations != 1 {
				t.Errorf("status %+v", s)
			}
		}
	}
}

func TestCanceledLeavesEverythingAsItWas(t *testing.T) {
	conv := &precis.Conversation{Transcript: work(200)}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := manager(t, policy.Options{}).Manage(ctx, policy.Request{Conversation: conv, Window: window(3000)})
	if precis.CodeOf(err) != precis.CodeCanceled || len(conv.Edits) != 0 {
		t.Errorf("%v, %d edits", err, len(conv.Edits))
	}
}

func TestManagerServesManyConversationsAtOnce(t *testing.T) {
	m := manager(t, policy.Options{Calibrator: &tokens.Calibration{}})
	done := make(chan error)
	for i := range 8 {
		go func() {
			conv := &precis.Conversation{Model: "m", Transcript: work(30 + i)}
			res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(4000)})
			if err == nil {
				err = m.Observe(context.Background(), res.Report, res.Report.After.Tokens)
			}
			s := m.Settings()
			s.Percent = float64(50 + i)
			if err == nil {
				err = m.SetSettings(s)
			}
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestCalibrationMovesTheDecision(t *testing.T) {
	var c tokens.Calibration
	for range 20 {
		c.Observe("m", 10_000, 15_000)
	}
	conv := &precis.Conversation{Model: "m", Transcript: precis.NewTranscript(precis.NewText("user", strings.Repeat("abcd", 600)))}
	m := manager(t, policy.Options{Calibrator: &c})
	res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(10_000)})
	if err != nil || res.Report.Before.Tokens != 900 || math.Abs(res.Report.Calibration-1.5) > 0.001 {
		t.Errorf("%d tokens × %g, %v", res.Report.Before.Tokens, res.Report.Calibration, err)
	}
}

func TestReportedTokensCount(t *testing.T) {
	conv := &precis.Conversation{Transcript: work(20)}
	m := manager(t, policy.Options{})
	status, err := m.Status(policy.Request{Conversation: conv, Window: window(100_000)})
	if err != nil {
		t.Fatal(err)
	}
	size := status.Tokens
	for reported, want := range map[int]policy.Action{0: policy.ActionNone, 2 * size: policy.ActionReduce} {
		res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(size * 5 / 2), MaxOutput: 1, Reported: reported, DryRun: true})
		if err != nil || res.Report.Decision.Action != want {
			t.Errorf("reported %d: %s, %v", reported, res.Report.Decision.Action, err)
		}
		if reported > 0 && (len(res.Edits) == 0 || res.Report.Before.Tokens != reported || res.Report.After.Tokens > size*5/4) {
			t.Errorf("the view that the provider counts as %d tokens has %d now, from %d", reported, res.Report.After.Tokens, res.Report.Before.Tokens)
		}
	}
}

func TestForcedComesDownWhateverItTakes(t *testing.T) {
	// All of it is kept: only the last rung can help, and only because it is forced.
	conv := &precis.Conversation{Transcript: precis.NewTranscript(precis.NewText("user", strings.Repeat("word ", 3200)))}
	m := manager(t, policy.Options{})
	res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(6000), TriggeredBy: precis.TriggeredForced})
	if err != nil || len(res.Edits) == 0 || res.Report.After.Tokens > 3000 || res.Edits[0].Report.Trigger != string(precis.TriggeredForced) {
		t.Errorf("%d tokens after, %v", res.Report.After.Tokens, err)
	}
}

func TestCapEdges(t *testing.T) {
	tr := precistest.Numbered(40)
	made := func(id string, seen, before, after int, by precis.TriggeredBy) precis.Edit {
		return precis.Edit{ID: id, Run: id, Kind: precis.KindTruncation, Seen: seen, Report: precis.EditReport{Trigger: string(by), TokensBefore: before, TokensAfter: after}}
	}
	c := policy.Cap{Turns: 10, Max: 3, NoProgress: 2}
	for _, tt := range []struct {
		name  string
		edits []precis.Edit
		want  bool
	}{
		{"two runs", []precis.Edit{made("a", 39, 100, 10, "automatic"), made("b", 40, 100, 10, "automatic")}, false},
		{"three runs", []precis.Edit{made("a", 38, 100, 10, "automatic"), made("b", 39, 100, 10, "forced"), made("c", 40, 100, 10, "automatic")}, true},
		{"three, one long ago", []precis.Edit{made("a", 20, 100, 10, "automatic"), made("b", 39, 100, 10, "automatic"), made("c", 40, 100, 10, "automatic")}, false},
		{"three, one just outside", []precis.Edit{made("a", 21, 100, 10, "automatic"), made("b", 39, 100, 10, "automatic"), made("c", 40, 100, 10, "automatic")}, false},
		{"three, one just inside", []precis.Edit{made("a", 22, 100, 10, "automatic"), made("b", 39, 100, 10, "automatic"), made("c", 40, 100, 10, "automatic")}, true},
		{"three by hand", []precis.Edit{made("a", 38, 100, 10, "manual"), made("b", 39, 100, 10, "manual"), made("c", 40, 100, 10, "manual")}, false},
		{"one idle", []precis.Edit{made("a", 5, 100, 95, "automatic")}, false},
		{"two idle", []precis.Edit{made("a", 4, 100, 95, "automatic"), made("b", 5, 100, 81, "automatic")}, true},
		{"just enough progress", []precis.Edit{made("a", 4, 100, 95, "automatic"), made("b", 5, 100, 80, "automatic")}, false},
		{"undone", []precis.Edit{made("a", 38, 100, 10, "automatic"), made("b", 39, 100, 10, "automatic"), made("c", 40, 100, 10, "automatic"),
			{ID: "u", Kind: precis.KindUndo, Undoes: []string{"a", "b", "c"}}}, true},
	} {
		if why, got := c.Reached(tr, tt.edits, 0.2); got != tt.want {
			t.Errorf("%s: %v (%s)", tt.name, got, why)
		}
	}
}

func TestAPinnedBlockIsDefendedFromEveryRung(t *testing.T) {
	msgs := []precis.Message{precis.NewText("user", "task"), precis.NewText("assistant", strings.Repeat("x", 900)), precis.NewText("user", "a"), precis.NewText("assistant", "b"), precis.NewText("user", "c")}
	tr := precis.NewTranscript(msgs...)
	conv := &precis.Conversation{Transcript: tr}
	bad := precis.Edit{Kind: precis.KindPruning, Replace: []precis.Replacement{precis.ReplaceBlock(tr, 1, 0, precis.Text{Text: "short"})}}
	m := manager(t, policy.Options{Strategies: []policy.Strategy{failing{"bad", bad, nil}}})
	if _, err := m.Pin(context.Background(), conv, precis.BlockHandle(1, 0)); err != nil {
		t.Fatal(err)
	}
	res, _ := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(1000), Target: 20, TriggeredBy: precis.TriggeredManual})
	if s := res.Report.Steps; len(s) != 1 || s[0].Outcome != precis.OutcomeRefused || !strings.Contains(s[0].Reason, "m1.b0 is pinned") {
		t.Errorf("%+v", s)
	}
}

// A threshold in tokens takes the place of one in percent where it is less, and the levels
// below it shrink with it.
func TestThresholdInTokens(t *testing.T) {
	s := policy.DefaultSettings() // threshold 75, warn 70, target 50
	s.Prepare, s.Tokens = 60, 90_000
	decide := func(window, used int) policy.Decision {
		return policy.Plan(policy.Load{Used: used}, s.Budget(precis.Window{Tokens: window}, 0, 0, 0), s, "")
	}
	for _, tt := range []struct {
		window, used int
		action       policy.Action
		near         bool
		target       int
	}{
		{1_000_000, 90_000, policy.ActionReduce, true, 60_000},
		{1_000_000, 89_999, policy.ActionPrepare, true, 60_000},
		{1_000_000, 72_000, policy.ActionPrepare, false, 60_000},
		{1_000_000, 71_000, policy.ActionNone, false, 60_000},
		{100_000, 74_999, policy.ActionPrepare, true, 50_000}, // 75 % is less
		{100_000, 75_000, policy.ActionReduce, true, 50_000},
	} {
		if d := decide(tt.window, tt.used); d.Action != tt.action || d.Near != tt.near || d.Target < tt.target-1 || d.Target > tt.target {
			t.Errorf("%d of %d: %s, near %v, target %d", tt.used, tt.window, d.Action, d.Near, d.Target)
		}
	}
	s.Target = 0
	if d := decide(1_000_000, 90_000); d.Target < 59_999 || d.Target > 60_000 || d.Origin != "90,000 tokens" {
		t.Errorf("without a target: %d, %s", d.Target, d.Origin)
	}
	if d := decide(0, 90_000); d.Percent != 0 {
		t.Errorf("an unknown window: %+v", d)
	}
	s.Tokens = -1
	if err := s.Validate(); precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), "threshold_tokens") {
		t.Errorf("%v", err)
	}
}
