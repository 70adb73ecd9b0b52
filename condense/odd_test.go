package condense_test

import (
	"context"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/provider"
	"github.com/precis-dev/precis/provider/providertest"
)

// blankStore says of every summary that it is there, and has nothing.
type blankStore struct{}

func (blankStore) KeepSummary(context.Context, precis.Fingerprint, string) error { return nil }
func (blankStore) Summary(context.Context, precis.Fingerprint) (string, error)   { return "\u200b", nil }

func TestNothingIsHiddenBehindAnInvisibleSummary(t *testing.T) {
	zero := func(context.Context, condense.HookEvent) (string, error) { return "\u200b", nil }
	for _, tt := range []struct {
		name, answer string
		c            condense.WriterConfig
		accepted     bool
	}{
		{"the model says it", "\u200b\u2060", condense.WriterConfig{Prompt: condense.Prompt{Custom: "summarize"}}, false},
		{"a hook says it", brief, condense.WriterConfig{Hooks: condense.Hooks{After: zero}}, true},
		{"a store says it", brief, condense.WriterConfig{Cache: blankStore{}}, true},
	} {
		tt.c.Model, tt.c.MaxTokens = &fakeModel{answer: always(tt.answer)}, 800
		res, err := rungs(t, condense.Full{Summarizer: writer(t, tt.c)}).Manage(t.Context(),
			policy.Request{Conversation: held(talk(20, 2000)...), Window: precis.Window{Tokens: 16_000}, TriggeredBy: precis.TriggeredManual})
		if (len(res.Edits) > 0) != tt.accepted {
			t.Errorf("%s: %v, %+v", tt.name, err, res.Report.Steps)
		}
		if len(res.Edits) > 0 && !strings.Contains(res.Edits[0].Replace[0].With[0].PlainText(), "half done") {
			t.Errorf("%s: %q", tt.name, res.Edits[0].Replace[0].With[0].PlainText())
		}
	}
}

func TestALearnedWindowLeavesRoom(t *testing.T) {
	m := &fakeModel{}
	m.answer = func(r model.Request) (string, error) {
		if sizeOf(r)+r.MaxTokens > 16_000 {
			return "", &model.Error{Fault: model.FaultOverflow, Limit: 16_000}
		}
		return brief, nil
	}
	if _, err := writer(t, condense.WriterConfig{Model: m}).Summarize(t.Context(), policy.SummaryRequest{Messages: talk(20, 2000)}); err != nil {
		t.Error(err)
	}
}

func TestBlankTextIsNotSent(t *testing.T) {
	server := providertest.New(t, providertest.Options{})
	server.SetDefault(providertest.Text(brief))
	c, err := provider.New(provider.Config{Dialect: "anthropic", BaseURL: server.BaseURL("anthropic"), Key: "test-key", Model: "m", Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	msgs := append(talk(3, 2000), precis.NewText("assistant", "\n\n"), precis.NewText("user", " "), precis.NewText("assistant", "go on"))
	if _, err := writer(t, condense.WriterConfig{Model: c}).Summarize(t.Context(), policy.SummaryRequest{Messages: msgs}); err != nil {
		t.Error(err, server.Problems())
	}
}

func TestOneMessageOfManyBlocksIsCut(t *testing.T) {
	m := &fakeModel{answer: always(brief), info: model.Info{ID: "m", Window: precis.Window{Tokens: 16_000}}}
	blocks := make([]precis.Block, 1000)
	for i := range blocks {
		blocks[i] = precis.Text{Text: strings.Repeat("word ", 60)}
	}
	msgs := []precis.Message{{Role: "user", Content: blocks}, precis.NewText("assistant", "ok")}
	if _, err := writer(t, condense.WriterConfig{Model: m}).Summarize(t.Context(), policy.SummaryRequest{Messages: msgs}); err != nil {
		t.Error(err)
	}
}

func TestASummaryWithoutImagesIsNotThatWithThem(t *testing.T) {
	cache := condense.NewCache(0)
	m := &fakeModel{answer: always(brief), info: model.Info{ID: "m", Images: true}}
	msgs := append(talk(3, 2000), precis.Message{Role: "user", Content: []precis.Block{precis.Image{MediaType: "image/png", Data: "AAAA"}}})
	for _, keep := range []bool{false, true} {
		w := writer(t, condense.WriterConfig{Model: m, Cache: cache, KeepImages: keep})
		if _, err := w.Summarize(t.Context(), policy.SummaryRequest{Messages: msgs}); err != nil {
			t.Fatal(err)
		}
	}
	if len(m.requests) != 2 {
		t.Errorf("%d requests", len(m.requests))
	}
}

func TestARefusedRideIsSentByItself(t *testing.T) {
	m := &fakeModel{info: model.Info{ID: "m", Dialect: "anthropic"}}
	m.answer = func(r model.Request) (string, error) {
		if r.Body != nil {
			return "", &model.Error{Fault: model.FaultRequest, Status: 400}
		}
		return brief, nil
	}
	msgs := talk(5, 2000)
	sum, err := writer(t, condense.WriterConfig{Model: m}).Summarize(t.Context(),
		policy.SummaryRequest{Messages: msgs, View: msgs, Live: &policy.LiveRequest{Dialect: "anthropic", Model: "m", Body: []byte("{garbage")}})
	if err != nil || sum.Call.Form != "compact" || !strings.Contains(sum.Call.Why, "refused") {
		t.Errorf("%v, %+v", err, sum.Call)
	}
}

func TestSummariesInPartsMustSaveToo(t *testing.T) {
	m := &fakeModel{answer: always(brief), info: model.Info{Window: precis.Window{Tokens: 8000}}}
	_, err := writer(t, condense.WriterConfig{Model: m, MaxTokens: 800}).Summarize(t.Context(), policy.SummaryRequest{Messages: talk(60, 2000), Replaces: 10})
	if reasonOf(err) != condense.ReasonNoProgress {
		t.Errorf("%v after %d requests", err, len(m.requests))
	}
}

func TestSelectiveHeedsHooksAndFallsBack(t *testing.T) {
	bad := &fakeModel{info: model.Info{ID: "bad"}, answer: func(model.Request) (string, error) { return "", &model.Error{Fault: model.FaultAuth} }}
	own := &fakeModel{info: model.Info{ID: "own"}, answer: always("short")}
	run := func(v condense.Selective) precis.RungResult {
		res, _ := rungs(t, v).Manage(t.Context(), policy.Request{Conversation: held(talk(20, 4000)...), Window: precis.Window{Tokens: 16_000}, TriggeredBy: precis.TriggeredManual})
		return res.Report.Steps[0]
	}
	veto := func(context.Context, condense.HookEvent) (string, error) { return "", condense.ErrVeto }
	if s := run(condense.Selective{Model: own, Before: veto}); s.Code != condense.ReasonVetoed || len(own.requests) != 0 {
		t.Errorf("%d calls in spite of a veto: %+v", len(own.requests), s)
	}
	add := func(context.Context, condense.HookEvent) (string, error) { return "ticket ABC-1", nil }
	s := run(condense.Selective{Model: bad, Fallback: own, Before: add})
	if s.Outcome != precis.OutcomeAccepted || s.Call == nil || s.Call.Model != "own" || len(s.Call.Warnings) != 1 || s.Call.Calls != len(bad.requests)+len(own.requests) {
		t.Errorf("%+v, %+v", s, s.Call)
	}
	if !strings.Contains(own.requests[0].Messages[0].PlainText(), "ticket ABC-1") {
		t.Error("what the hook says is not shown")
	}
}
