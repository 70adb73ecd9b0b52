package condense_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/reduce"
	"github.com/precis-dev/precis/store/memory"
	"github.com/precis-dev/precis/tokens"
)

// rungs makes a manager with these rungs and no other.
func rungs(t *testing.T, all ...policy.Strategy) *policy.Manager {
	t.Helper()
	counter, err := tokens.New(tokens.Options{Name: tokens.NameChars4})
	if err != nil {
		t.Fatal(err)
	}
	s := policy.DefaultSettings()
	s.MinModelWindow = 0
	m, err := policy.NewManager(policy.Options{Settings: s, Counter: counter, Strategies: all, Gate: digest.Gate{}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func condensed(t *testing.T, f condense.Full, conv *precis.Conversation, r policy.Request) policy.Result {
	t.Helper()
	r.Conversation, r.TriggeredBy = conv, cmp.Or(r.TriggeredBy, precis.TriggeredManual)
	if r.Window.Tokens == 0 {
		r.Window = precis.Window{Tokens: 16_000}
	}
	res, err := rungs(t, f).Manage(t.Context(), r)
	if err != nil {
		t.Fatalf("%v: %+v", err, res.Report.Steps)
	}
	if broken := precis.Check(res.View); len(broken) > 0 {
		t.Fatalf("the view is not valid: %v", broken)
	}
	return res
}

func held(msgs ...precis.Message) *precis.Conversation {
	return &precis.Conversation{ID: "c", Model: "m", Transcript: precis.NewTranscript(msgs...)}
}

func full(t *testing.T, m *fakeModel) condense.Full {
	return condense.Full{Summarizer: writer(t, condense.WriterConfig{Model: m, MaxTokens: 800})}
}

func TestFullKeepsTheFirstMessageAndTheNewest(t *testing.T) {
	m := &fakeModel{answer: always(brief)}
	conv := held(talk(20, 2000)...)
	res := condensed(t, full(t, m), conv, policy.Request{})
	if len(res.Edits) != 1 || res.Edits[0].Kind != precis.KindCondensation {
		t.Fatalf("%+v", res.Report.Steps)
	}
	if first := res.View[0]; first.Role != precis.RoleUser || !strings.Contains(first.PlainText(), "fix the parser") {
		t.Errorf("the view begins with %q", first.PlainText())
	}
	summary := res.View[1].PlainText()
	for _, want := range []string{"[Summary of messages m1-m", "not new instructions", "half done", "[End of the summary]"} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary lacks %q: %.300q", want, summary)
		}
	}
	last := res.View[len(res.View)-1]
	if precis.HashMessage(last) != precis.HashMessage(conv.Transcript.At(conv.Transcript.Len()-1)) {
		t.Error("the last message is not as it was")
	}
	e := res.Edits[0]
	if e.Report.Call == nil || e.Report.CostUSD != 0.01 || e.Report.Call.Model != "" || res.Report.CostUSD() != 0.01 {
		t.Errorf("%+v", e.Report)
	}
}

func TestFreshStartLeavesTheSummaryAndWhatIsKept(t *testing.T) {
	f := full(t, &fakeModel{answer: always(brief)})
	f.Mode = condense.FreshStart
	msgs := append(talk(20, 2000), precis.NewText(precis.RoleAssistant, "Done."), precis.NewText(precis.RoleUser, "now the lexer"))
	res := condensed(t, f, held(msgs...), policy.Request{})
	if first := res.View[0]; precis.HashMessage(first) != precis.HashMessage(msgs[0]) {
		t.Errorf("the view begins with %.200q", first.PlainText())
	}
	if summary := res.View[1]; summary.Role != precis.RoleUser || !strings.HasPrefix(summary.PlainText(), "[Summary of messages m1-m") {
		t.Errorf("the view goes on with %.200q", summary.PlainText())
	}
	if last := res.View[len(res.View)-1]; last.PlainText() != "now the lexer" {
		t.Errorf("the view ends with %q", last.PlainText())
	}
}

func TestSummaryBetweenTwoUserMessagesIsTheAssistants(t *testing.T) {
	for _, reasoning := range []bool{false, true} {
		f := full(t, &fakeModel{answer: always(brief)})
		f.Reasoning = reasoning
		msgs := append(talk(20, 2000), precis.NewText(precis.RoleAssistant, "Done."), precis.NewText(precis.RoleUser, strings.Repeat("now the lexer ", 1000)),
			precis.NewText(precis.RoleAssistant, "It is fast."), precis.NewText(precis.RoleUser, "thanks"))
		res := condensed(t, f, held(msgs...), policy.Request{Target: 4500})
		if got := res.View[1].Role; got != precis.RoleAssistant {
			t.Errorf("role %s", got)
		}
		_, thinks := res.View[1].Content[0].(precis.Thinking)
		if thinks != reasoning {
			t.Errorf("reasoning %v: %+v", reasoning, res.View[1].Content[0])
		}
	}
}

func TestFullSaysWhyItDoesNothing(t *testing.T) {
	m := &fakeModel{answer: always(brief)}
	step := func(conv *precis.Conversation, f condense.Full, r policy.Request) precis.RungResult {
		r.Conversation, r.TriggeredBy, r.Window = conv, precis.TriggeredManual, precis.Window{Tokens: 16_000}
		res, _ := rungs(t, f).Manage(t.Context(), r)
		if len(res.Report.Steps) == 0 {
			t.Fatal("no step")
		}
		return res.Report.Steps[len(res.Report.Steps)-1]
	}
	if s := step(held(precis.NewText(precis.RoleUser, strings.Repeat("one message only ", 3000))), full(t, m), policy.Request{}); s.Code != condense.ReasonTooFewMessages {
		t.Errorf("%+v", s)
	}
	if s := step(held(talk(20, 2000)...), condense.Full{}, policy.Request{}); s.Code != condense.ReasonNoSummarizer {
		t.Errorf("%+v", s)
	}
	if s := step(held(talk(20, 2000)...), full(t, m), policy.Request{DryRun: true}); s.Code != policy.ReasonNothing || !strings.Contains(s.Reason, "dry run") {
		t.Errorf("%+v", s)
	}
	if len(m.requests) != 0 {
		t.Errorf("%d calls were made", len(m.requests))
	}
	conv := held(talk(20, 2000)...)
	condensed(t, full(t, m), conv, policy.Request{})
	f := full(t, m)
	f.LeastNew = 60
	if s := step(conv, f, policy.Request{Target: 1000}); s.Code != condense.ReasonCondensedRecently || len(m.requests) != 1 {
		t.Errorf("%+v", s)
	}
}

func TestSecondCondensationUpdatesTheFirst(t *testing.T) {
	m := &fakeModel{answer: always(brief)}
	conv := held(talk(20, 2000)...)
	condensed(t, full(t, m), conv, policy.Request{})
	more := talk(20, 2000)[1:]
	for i := range more { // IDs of their own
		more[i].Content = renamed(more[i].Content)
	}
	conv.Transcript = precis.NewTranscript(append(slices.Clone(conv.Transcript.Messages()), more...)...)
	condensed(t, full(t, m), conv, policy.Request{})
	if len(m.requests) != 2 {
		t.Fatalf("%d calls", len(m.requests))
	}
	all := ""
	for _, msg := range m.requests[1].Messages {
		all += msg.PlainText() + "\n"
	}
	if !strings.Contains(all, "[Summary of messages") || strings.Count(all, "path: f3.go") != 1 {
		t.Error("the second summary is not made from the first and what is new")
	}
	if !strings.Contains(strings.ToLower(m.requests[1].Messages[len(m.requests[1].Messages)-1].PlainText()), "earlier summary") {
		t.Error("the prompt does not say that there is an earlier summary")
	}
}

func TestAttachmentsFollowTheSummary(t *testing.T) {
	msgs := talk(20, 2000)
	msgs[0] = precis.NewText(precis.RoleUser, "<command name=\"review\">Always review twice.</command>\n"+strings.Repeat("and fix the parser ", 400))
	for _, manual := range []bool{true, false} {
		f := full(t, &fakeModel{answer: always(brief)})
		r := policy.Request{Environment: "<environment_details>\nopen: a.go\n</environment_details>", TriggeredBy: map[bool]precis.TriggeredBy{true: precis.TriggeredManual, false: precis.TriggeredForced}[manual]}
		res := condensed(t, f, held(msgs...), r)
		all := ""
		for _, m := range res.View {
			all += m.PlainText() + "\n"
		}
		if !strings.Contains(all, `<command name="review">Always review twice.</command>`) {
			t.Error("the workflow is lost")
		}
		if got := strings.Contains(all, "open: a.go"); got == manual {
			t.Errorf("manual %v: environment details %v", manual, got)
		}
	}
}

// The client's surroundings are in a summary that hides the newest of them, and not where
// the view still shows them.
func TestTheSurroundingsAreThoseOfTheConversation(t *testing.T) {
	at := func(i int, text string) func([]precis.Message) {
		return func(msgs []precis.Message) {
			msgs[i].Content = append(msgs[i].Content, precis.Text{Text: "<environment_details>\nopen: " + text + "\n</environment_details>"})
		}
	}
	for _, tt := range []struct {
		name   string
		change []func([]precis.Message)
		manual bool
		want   int // times that the surroundings stand in the view
		open   string
	}{
		{"hidden", []func([]precis.Message){at(2, "old.go"), at(4, "a.go")}, false, 1, "a.go"},
		{"still shown", []func([]precis.Message){at(4, "old.go"), at(19, "a.go")}, false, 1, "a.go"},
		{"by hand", []func([]precis.Message){at(4, "a.go")}, true, 0, "a.go"},
	} {
		msgs := talk(20, 2000)
		if msgs[19].Role != precis.RoleUser {
			msgs = append(msgs, precis.NewText(precis.RoleUser, "Go on."))
		}
		for _, f := range tt.change {
			if i := len(msgs) - 1; tt.name == "still shown" {
				at(i, "a.go")(msgs)
				at(4, "old.go")(msgs)
				break
			}
			f(msgs)
		}
		res := condensed(t, full(t, &fakeModel{answer: always(brief)}), held(msgs...), policy.Request{Environment: condense.EnvironmentOf(msgs), TriggeredBy: map[bool]precis.TriggeredBy{true: precis.TriggeredManual, false: precis.TriggeredForced}[tt.manual]})
		all := ""
		for _, m := range res.View {
			all += m.PlainText() + "\n"
		}
		if strings.Count(all, "<environment_details>") != tt.want || tt.want > 0 && !strings.Contains(all, "open: "+tt.open) {
			t.Errorf("%s: %d times, want %d of %s", tt.name, strings.Count(all, "<environment_details>"), tt.want, tt.open)
		}
	}
}

func TestFailedSummaryChangesNothingAndIsPaid(t *testing.T) {
	m := &fakeModel{answer: func(model.Request) (string, error) {
		return "", &model.Error{Fault: model.FaultOverloaded, Status: 529}
	}}
	conv := held(talk(12, 2000)...)
	before := conv.Transcript.Messages()
	res, err := rungs(t, full(t, m)).Manage(t.Context(), policy.Request{Conversation: conv, TriggeredBy: precis.TriggeredManual, Window: precis.Window{Tokens: 10_000}})
	if err != nil || len(res.Edits) != 0 || len(conv.Edits) != 0 || len(res.View) != len(before) {
		t.Fatalf("%v, %d edits", err, len(res.Edits))
	}
	s := res.Report.Steps[0]
	if s.Outcome != precis.OutcomeFailed || s.Code != condense.ReasonCallFailed || s.Call == nil || s.Call.CostUSD != 0.01 || !strings.Contains(s.Reason, "529") {
		t.Errorf("%+v", s)
	}
}

func TestForgottenRuleIsRepaired(t *testing.T) {
	const rule = "You must never edit the file vendor/lib.go."
	msgs := talk(20, 2000)
	msgs[2] = precis.Message{Role: precis.RoleUser, Content: append(slices.Clone(msgs[2].Content), precis.Text{Text: rule})}
	msgs = append(msgs, precis.NewText(precis.RoleAssistant, "Done."), precis.NewText(precis.RoleUser, "now the lexer"))
	res := condensed(t, full(t, &fakeModel{answer: always(brief)}), held(msgs...), policy.Request{})
	e := res.Report.Edits[0]
	if !strings.Contains(res.View[1].PlainText(), rule) || !strings.Contains(strings.Join(e.Detail, "; "), "rule added") || e.Repaired == 0 || e.Likely < e.Held {
		t.Errorf("%+v\n%s", e, res.View[1].PlainText())
	}
}

func TestSelectiveSummarizesResultsInTheirPlace(t *testing.T) {
	m := &fakeModel{info: model.Info{ID: "m"}, answer: func(r model.Request) (string, error) {
		if !strings.Contains(r.Messages[0].PlainText(), "fix the parser") || !strings.Contains(r.Messages[0].PlainText(), "[Tool Use: Read]") {
			return "", errors.New("the task or the call is not told")
		}
		return "It holds forty lines. </system-reminder>", nil
	}}
	cache := condense.NewCache(0)
	v := condense.Selective{Model: m, Cache: cache}
	msgs := talk(20, 3000)
	conv := held(msgs...)
	res, err := rungs(t, v).Manage(t.Context(), policy.Request{Conversation: conv, TriggeredBy: precis.TriggeredManual, Window: precis.Window{Tokens: 16_000}})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Edits) != 1 || len(res.View) != len(msgs) {
		t.Fatalf("%+v", res.Report.Steps)
	}
	calls := len(m.requests)
	if n := len(res.Edits[0].Replace); n != calls || res.Edits[0].Report.Call.Calls != calls || n < 8 {
		t.Errorf("%d blocks, %d calls", n, calls)
	}
	changed := 0
	for i, msg := range res.View {
		for k, b := range msg.Content {
			if precis.HashBlock(b) == precis.HashBlock(msgs[i].Content[k]) {
				continue
			}
			changed++
			text := b.(precis.ToolResult).Text()
			if !strings.HasPrefix(text, "["+precis.BlockHandle(i, k).String()+": ") || !strings.Contains(text, "forty lines") {
				t.Errorf("m%d: %q", i, text)
			}
		}
	}
	if changed != calls {
		t.Errorf("%d blocks changed", changed)
	}
	other := slices.Clone(msgs)
	other[0] = precis.NewText(precis.RoleUser, "another task")
	again, err := rungs(t, v).Manage(t.Context(), policy.Request{Conversation: held(other...), TriggeredBy: precis.TriggeredManual, Window: precis.Window{Tokens: 16_000}})
	if err != nil || len(m.requests) != calls || len(again.Edits) != 1 {
		t.Errorf("paid twice: %d calls after %d, %v", len(m.requests), calls, err)
	}
}

func TestSelectiveLeavesAResultWhoseSummaryFails(t *testing.T) {
	m := &fakeModel{answer: func(r model.Request) (string, error) {
		if strings.Contains(r.Messages[0].PlainText(), "f3.go") {
			return "", &model.Error{Fault: model.FaultOverloaded}
		}
		return "short", nil
	}}
	msgs := talk(12, 3000)
	res, err := rungs(t, condense.Selective{Model: m}).Manage(t.Context(), policy.Request{Conversation: held(msgs...), TriggeredBy: precis.TriggeredManual, Target: 2000, Window: precis.Window{Tokens: 16_000}})
	if precis.CodeOf(err) != precis.CodeOverBudget && err != nil {
		t.Fatal(err)
	}
	if len(res.Edits) != 1 || !strings.Contains(strings.Join(res.Report.Edits[0].Detail, ";"), "1 could not be summarized") {
		t.Fatalf("%+v", res.Report.Steps)
	}
	if precis.HashMessage(res.View[8]) != precis.HashMessage(msgs[8]) {
		t.Error("the failed one was changed")
	}
}

func TestSpendLimits(t *testing.T) {
	m := &fakeModel{answer: always(brief)}
	day := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var alerts []string
	s := policy.DefaultSettings()
	s.MinModelWindow, s.Cap = 0, policy.Cap{}
	s.Spend = policy.Spend{Conversation: 0.03, Day: 0.05}
	counter, err := tokens.New(tokens.Options{Name: tokens.NameChars4})
	if err != nil {
		t.Fatal(err)
	}
	mgr, err := policy.NewManager(policy.Options{
		Settings: s, Counter: counter, Strategies: []policy.Strategy{full(t, m), digest.Rung{}}, Now: func() time.Time { return day },
		Alert: func(_ context.Context, a policy.Alert) { alerts = append(alerts, fmt.Sprint(a.Kind, " ", a.Scope)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	run := func(conv *precis.Conversation) precis.RungResult {
		t.Helper()
		res, err := mgr.Manage(t.Context(), policy.Request{Conversation: conv, TriggeredBy: precis.TriggeredManual, Target: 4000, Window: precis.Window{Tokens: 16_000}})
		if err != nil {
			t.Fatal(err)
		}
		return res.Report.Steps[0]
	}
	for i := range 5 { // 0.01 each; the day's limit is near from 0.04 on
		if step := run(held(talk(20, 2000)...)); step.Outcome != precis.OutcomeAccepted {
			t.Errorf("run %d: %+v", i, step)
		}
	}
	if step := run(held(talk(20, 2000)...)); step.Code != policy.ReasonBudget || step.Outcome != precis.OutcomeSkipped {
		t.Errorf("%+v", step)
	}
	if want := []string{"spend_warning day", "spend_limit day"}; !slices.Equal(alerts, want) {
		t.Errorf("alerts %v, want %v", alerts, want)
	}
	day = day.Add(24 * time.Hour)
	if step := run(held(talk(20, 2000)...)); step.Outcome != precis.OutcomeAccepted {
		t.Errorf("the next day: %+v", step)
	}
	conv := held(talk(20, 2000)...) // without a ledger its edits tell
	conv.Edits = append(conv.Edits, precis.Edit{ID: "old", Kind: precis.KindPin, Report: precis.EditReport{CostUSD: 0.5}})
	if step := run(conv); step.Code != policy.ReasonBudget {
		t.Errorf("a conversation that cost too much: %+v", step)
	}
}

// TestRidingSendsWhatTheCacheHolds has a rung before the summary change the view:
// the summary request still begins with what was sent before.
func TestRidingSendsWhatTheCacheHolds(t *testing.T) {
	m := &fakeModel{info: model.Info{ID: "m", Dialect: "anthropic"}, answer: always(brief)}
	msgs := talk(20, 2000)
	for i := range msgs[1:21] { // the same file again
		msgs[i+21] = precis.Message{Role: msgs[i+1].Role, Content: renamed(msgs[i+1].Content)}
	}
	live := &policy.LiveRequest{Dialect: "anthropic", Model: "m", Body: []byte(`{}`)}
	res, err := rungs(t, reduce.Dedupe{}, full(t, m)).Manage(t.Context(), policy.Request{
		Conversation: held(msgs...), TriggeredBy: precis.TriggeredManual, Target: 3000, Window: precis.Window{Tokens: 16_000}, Live: live})
	if err != nil || len(res.Edits) != 2 || len(m.requests) != 1 {
		t.Fatalf("%v, %+v", err, res.Report.Steps)
	}
	for i, msg := range msgs {
		if precis.HashMessage(m.requests[0].Messages[i]) != precis.HashMessage(msg) {
			t.Fatalf("message %d is not the one that was sent before", i)
		}
	}
}

// renamed returns the blocks with other tool use IDs.
func renamed(blocks []precis.Block) []precis.Block {
	out := slices.Clone(blocks)
	for k, b := range out {
		switch b := b.(type) {
		case precis.ToolUse:
			b.ID += "x"
			out[k] = b
		case precis.ToolResult:
			b.ToolUseID += "x"
			out[k] = b
		}
	}
	return out
}

// TestSpendIsReadFromTheLedger has another process spend, and a call that led to
// nothing.
func TestSpendIsReadFromTheLedger(t *testing.T) {
	store := memory.New()
	book := func(conv, kind string, usd float64) {
		if err := store.Book(t.Context(), precis.LedgerEntry{Time: time.Now(), Conversation: conv, Kind: kind, CostUSD: usd}); err != nil {
			t.Fatal(err)
		}
	}
	s := policy.DefaultSettings()
	s.MinModelWindow, s.Spend = 0, policy.Spend{Conversation: 1, Day: 2}
	counter, err := tokens.New(tokens.Options{Name: tokens.NameChars4})
	if err != nil {
		t.Fatal(err)
	}
	m := &fakeModel{answer: always("")} // no summary: paid twice for nothing
	mgr, err := policy.NewManager(policy.Options{Settings: s, Counter: counter, Strategies: []policy.Strategy{full(t, m), digest.Rung{}}, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	run := func(id string) precis.RungResult {
		t.Helper()
		conv := held(talk(20, 2000)...)
		conv.ID = id
		res, err := mgr.Manage(t.Context(), policy.Request{Conversation: conv, TriggeredBy: precis.TriggeredManual, Target: 4000, Window: precis.Window{Tokens: 16_000}})
		if err != nil {
			t.Fatal(err)
		}
		return res.Report.Steps[0]
	}
	if step := run("a"); step.Code != condense.ReasonEmpty {
		t.Errorf("%+v", step)
	}
	entries, err := store.Entries(t.Context(), "a", time.Time{})
	if err != nil || !slices.ContainsFunc(entries, func(e precis.LedgerEntry) bool {
		return e.Kind == precis.KindCall && e.CostUSD == 0.02 && e.Usage.Input > 0
	}) {
		t.Errorf("%+v, %v", entries, err)
	}
	book("a", "request", 50) // the conversation's own cost is none of ours
	if step := run("a"); step.Code != condense.ReasonEmpty {
		t.Errorf("%+v", step)
	}
	book("a", string(precis.KindCondensation), 0.97)
	if step := run("a"); step.Code != policy.ReasonBudget {
		t.Errorf("the conversation's limit: %+v", step)
	}
	if step := run("b"); step.Code != condense.ReasonEmpty {
		t.Errorf("another conversation: %+v", step)
	}
	book("c", string(precis.KindCondensation), 1)
	if step := run("b"); step.Code != policy.ReasonBudget {
		t.Errorf("the day's limit: %+v", step)
	}
}

// fromStart makes a manager that condenses as the files of Roo Code can say it.
func fromStart(t *testing.T, byDigest bool, f condense.Full) *policy.Manager {
	t.Helper()
	counter, err := tokens.New(tokens.Options{Name: tokens.NameChars4})
	if err != nil {
		t.Fatal(err)
	}
	s := policy.DefaultSettings()
	s.MinModelWindow, s.KeepHead = 0, 0
	f.FromStart, f.Framing = true, condense.Plain
	var rung policy.Strategy = f
	if byDigest {
		rung = condense.ByDigest{Full: f}
	}
	m, err := policy.NewManager(policy.Options{Settings: s, Counter: counter, Strategies: []policy.Strategy{rung}, Gate: digest.Gate{}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A summary that stands for everything from the first message on says what the user said last
// where that lies within, word for word, also when it is condensed again.
func TestWhatTheUserSaidLastIsQuoted(t *testing.T) {
	for _, byDigest := range []bool{false, true} {
		for _, mode := range []condense.Mode{condense.FreshStart, condense.KeepRecent} {
			f := full(t, &fakeModel{answer: always(brief)})
			f.Mode = mode
			msgs := talk(20, 2000)
			msgs[0] = precis.NewText(precis.RoleUser, "<task>\nPort the lexer to\n  tables, but leave the  grammar alone.\n</task>")
			conv := held(msgs...)
			const words = "Port the lexer to\n  tables, but leave the  grammar alone."
			for round := range 2 {
				res, err := fromStart(t, byDigest, f).Manage(t.Context(), policy.Request{Conversation: conv, TriggeredBy: precis.TriggeredManual, Window: precis.Window{Tokens: 16_000}})
				if broken := precis.Check(res.View); err != nil || len(broken) > 0 {
					t.Fatalf("digest %v, %s, round %d: %v, %v", byDigest, mode, round, err, broken)
				}
				if len(res.Edits) != 1 || len(res.Edits[0].Replace) != 1 || res.Edits[0].Replace[0].From != 0 || res.Edits[0].Kind != precis.KindCondensation {
					t.Fatalf("digest %v, %s, round %d: %+v", byDigest, mode, round, res.Report.Steps)
				}
				if text := res.View[0].PlainText(); res.View[0].Role != precis.RoleUser || !strings.Contains(text, "Port the lexer") || !strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(words), " ")) {
					t.Errorf("digest %v, %s, round %d: the view begins with %.400q", byDigest, mode, round, text)
				}
				if !byDigest && !strings.Contains(res.View[0].PlainText(), "What the user said last (m0), word for word:\n"+words) {
					t.Errorf("%s, round %d: it is not quoted: %.400q", mode, round, res.View[0].PlainText())
				}
				if mode == condense.KeepRecent && len(res.View) < 4 {
					t.Errorf("digest %v, round %d: %d messages are left", byDigest, round, len(res.View))
				}
				conv = held(append(slices.Clone(conv.Transcript.Messages()), talk(20, 2000)[1:]...)...)
				conv.Edits = append(conv.Edits, res.Edits...)
			}
		}
	}
}

// What is pinned ends what such a summary can stand for, and so does a last turn that is too
// long to be quoted.
func TestWhatCannotBeQuotedStays(t *testing.T) {
	f := full(t, &fakeModel{answer: always(brief)})
	f.Mode = condense.FreshStart
	conv := held(talk(20, 2000)...)
	pin := precis.Edit{ID: "p", Kind: precis.KindPin, Pins: []precis.Handle{precis.SpanHandle(11, 13)}}
	if err := pin.Identify(conv.Transcript); err != nil {
		t.Fatal(err)
	}
	conv.Edits = append(conv.Edits, pin)
	ask := policy.Request{Conversation: conv, TriggeredBy: precis.TriggeredManual, Window: precis.Window{Tokens: 16_000}}
	res, err := fromStart(t, false, f).Manage(t.Context(), ask)
	if err != nil || len(res.Edits) != 1 {
		t.Fatal(err, res.Report.Steps)
	}
	if r := res.Edits[0].Replace; len(r) != 1 || r[0].From != 0 || r[0].To != 11 {
		t.Errorf("replaced %+v", r)
	}
	msgs := talk(20, 2000)
	msgs[0] = precis.NewText(precis.RoleUser, strings.Repeat("a long order of its own ", 500))
	ask.Conversation = held(msgs...)
	if res, err := fromStart(t, false, f).Manage(t.Context(), ask); precis.CodeOf(err) != precis.CodeOverBudget || len(res.Edits) != 0 {
		t.Errorf("an order that takes over a quarter of the target is hidden: %v, %+v", err, res.Report.Steps)
	}
}

// Programs that write results as text have them shortened in their place, too: the words of a
// program around a result, and the user's, stay.
func TestSelectiveSummarizesResultsWrittenAsText(t *testing.T) {
	long := strings.Repeat("func of(x int) int { return x } // a line of the file\n", 60)
	msgs := []precis.Message{precis.NewText(precis.RoleUser, "<task>\nRead every file.\n</task>")}
	for i := range 12 {
		path := fmt.Sprintf("f%d.go", i)
		content := []precis.Block{precis.Text{Text: "[read_file for '" + path + "'] Result:"}, precis.Text{Text: long}}
		if i%2 == 0 { // in one block, with what the program says behind it
			content = []precis.Block{precis.Text{Text: "[read_file for '" + path + "'] Result:\n\n" + long}}
		}
		content = append(content, precis.Text{Text: "<environment_details>\n# Open Tabs\n" + path + "\n</environment_details>"})
		msgs = append(msgs, precis.NewText(precis.RoleAssistant, "<read_file>\n<path>"+path+"</path>\n</read_file>"), precis.Message{Role: precis.RoleUser, Content: content})
	}
	m := &fakeModel{answer: always("It holds sixty functions.")}
	res, err := rungs(t, condense.Selective{Model: m}).Manage(t.Context(), policy.Request{Conversation: held(msgs...), TriggeredBy: precis.TriggeredManual, Window: precis.Window{Tokens: 12_000}})
	if err != nil || len(res.Edits) != 1 {
		t.Fatalf("%v: %+v", err, res.Report.Steps)
	}
	short := 0
	for i, msg := range res.View {
		text := msg.PlainText()
		if msg.Role != precis.RoleUser || i == 0 {
			continue
		}
		if !strings.Contains(text, "[read_file for 'f") || !strings.Contains(text, "# Open Tabs") {
			t.Errorf("m%d lost what stands around the result: %.300q", i, text)
		}
		if strings.Contains(text, "It holds sixty functions.") {
			short++
			if strings.Contains(text, long) {
				t.Errorf("m%d: the result is still there", i)
			}
		}
	}
	if short < 4 || short != len(m.requests) {
		t.Errorf("%d results are short after %d calls", short, len(m.requests))
	}
	if !slices.IsSortedFunc(res.Edits[0].Replace, func(a, b precis.Replacement) int { return a.From - b.From }) {
		t.Error("they are not in order")
	}
}

// TestFilesThatWereReadAreOutlinedBehindTheSummary: of the files that were read in what a
// summary stands for, the definitions follow it; not those of files that are still shown.
func TestFilesThatWereReadAreOutlinedBehindTheSummary(t *testing.T) {
	msgs := talk(20, 2000)
	source := func(i int, name string) {
		var b strings.Builder
		fmt.Fprintf(&b, "package parser\n\nfunc %s(in string) int {\n", name)
		for n := range 60 {
			fmt.Fprintf(&b, "\tin = step%d(in)\n", n)
		}
		b.WriteString("\treturn len(in)\n}\n")
		result := msgs[i].Content[0].(precis.ToolResult)
		result.Content = []precis.Block{precis.Text{Text: b.String()}}
		msgs[i].Content[0] = result
	}
	source(2, "parseOldest")
	source(len(msgs)-1, "parseNewest")
	res := condensed(t, full(t, &fakeModel{answer: always(brief)}), held(msgs...), policy.Request{})
	if len(res.View) < 3 {
		t.Fatalf("%d messages", len(res.View))
	}
	summary := res.View[1].PlainText()
	_, behind, ok := strings.Cut(summary, "[End of the summary]")
	if !ok || !strings.Contains(behind, "## File Context: f0.go") || !strings.Contains(behind, "3--65 | func parseOldest(in string) int {") {
		t.Errorf("behind the summary stands %q", behind)
	}
	if strings.Contains(summary, "step7(in)") || strings.Contains(summary, "parseNewest") {
		t.Errorf("there is more than definitions of what is hidden: %q", summary)
	}
}
