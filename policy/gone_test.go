package policy_test

import (
	"context"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/tokens"
)

// warden is a gate that misses a word.
type warden struct{ word string }

func (warden) Admit(_ context.Context, _ *policy.Situation, e precis.Edit) (precis.Edit, error) {
	return e, nil
}

func (w warden) Loss(s *policy.Situation, before []precis.Edit) policy.Loss {
	had, has := false, false
	for _, m := range precis.View(s.Transcript, before) {
		had = had || strings.Contains(m.PlainText(), w.word)
	}
	for _, m := range precis.View(s.Transcript, s.Edits) {
		has = has || strings.Contains(m.PlainText(), w.word)
	}
	if had && !has {
		return policy.Loss{Rules: []policy.LostAnchor{{Text: w.word, Kind: "rule"}}, AllRules: 1}
	}
	return policy.Loss{}
}

// hideUpTo hides the oldest messages until the view is at its target.
type hideUpTo struct{}

func (hideUpTo) Name() string { return "hide" }

func (hideUpTo) Propose(_ context.Context, s *policy.Situation) (precis.Edit, error) {
	e := precis.Edit{Kind: precis.KindTruncation}
	saved, to := 0, 0
	for to < s.Transcript.Len()-3 && s.Used-saved > s.Target-20 {
		saved += s.Meter.View([]precis.Message{s.Transcript.At(to)})
		to++
	}
	if to > 0 {
		e.Replace = []precis.Replacement{{From: 0, To: to, With: []precis.Message{precis.NewText(precis.RoleUser, "[hidden]")}}}
	}
	return e, nil
}

// A run that nobody asked for goes to where something is in no form in the view only when
// nothing else fits, and says so; one that was asked for is left to the guard of the verb.
func TestAutomaticRunsSpareWhatTheyCan(t *testing.T) {
	talk := func(turns, at int) *precis.Conversation {
		c := &precis.Conversation{Transcript: &precis.Transcript{}}
		for i := range turns {
			text := "Say more, please."
			if i == at {
				text = "Mind the WORD."
			}
			c.Transcript.Append(precis.NewText(precis.RoleUser, text))
			c.Transcript.Append(precis.NewText(precis.RoleAssistant, strings.Repeat("It says what it says. ", 145)))
		}
		return c
	}
	counter, err := tokens.New(tokens.Options{Name: "chars4"})
	if err != nil {
		t.Fatal(err)
	}
	settings := policy.DefaultSettings()
	settings.Percent, settings.Warn, settings.Target, settings.KeepShare, settings.MinSaving = 50, 0, 20, 0, 0
	m, err := policy.NewManager(policy.Options{Settings: settings, Counter: counter, Strategies: []policy.Strategy{hideUpTo{}}, Gate: warden{"WORD"}})
	if err != nil {
		t.Fatal(err)
	}
	manage := func(c *precis.Conversation, r policy.Request) policy.Report {
		t.Helper()
		r.Conversation, r.Window = c, precis.Window{Tokens: 20_000}
		res, err := m.Manage(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return res.Report
	}
	if r := manage(talk(14, 1), policy.Request{}); r.Ended != policy.EndedWouldLose || len(r.Edits) > 0 || r.Loss != nil || !strings.Contains(r.Outcome, "1 of 1 rules") {
		t.Errorf("it fits: %s, %s", r.Ended, r.Outcome)
	}
	if r := manage(talk(14, 13), policy.Request{}); r.Ended != policy.EndedReduced || r.Loss != nil {
		t.Errorf("nothing would be lost: %s, %s", r.Ended, r.Outcome)
	}
	if r := manage(talk(24, 12), policy.Request{}); r.Ended != policy.EndedReduced || r.Loss != nil || r.After.Tokens < 8000 {
		t.Errorf("it fits without going so far: %s, %s", r.Ended, r.Outcome)
	}
	if r := manage(talk(24, 1), policy.Request{}); r.Ended != policy.EndedReduced || r.Loss == nil || !strings.Contains(r.Outcome, "breach") {
		t.Errorf("nothing else fits: %s, %s", r.Ended, r.Outcome)
	}
	if r := manage(talk(14, 1), policy.Request{TriggeredBy: precis.TriggeredManual}); r.Loss == nil || len(r.Edits) == 0 {
		t.Errorf("asked for: %s, %s", r.Ended, r.Outcome)
	}
}

// hidden is a gate that finds too much hidden, whatever is done.
type hidden struct{ warden }

func (hidden) Loss(*policy.Situation, []precis.Edit) policy.Loss { return policy.Loss{Hidden: .95} }

// counted counts how often a rung is climbed.
type counted struct {
	hideUpTo
	times *int
}

func (c counted) Propose(ctx context.Context, s *policy.Situation) (precis.Edit, error) {
	*c.times++
	return c.hideUpTo.Propose(ctx, s)
}

// Where more must be hidden than a run may hide, no gentler run is tried: it could not spare it.
func TestTheLadderIsClimbedOnceWhereNothingCanBeSpared(t *testing.T) {
	counter, err := tokens.New(tokens.Options{Name: "chars4"})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		turns, climbs int
	}{"a third too much": {24, 2}, "thirty times too much": {600, 1}} {
		times := 0
		settings := policy.DefaultSettings()
		settings.Percent, settings.Warn, settings.Target, settings.KeepShare = 50, 0, 20, 0
		m, err := policy.NewManager(policy.Options{Settings: settings, Counter: counter, Strategies: []policy.Strategy{counted{times: &times}}, Gate: hidden{}})
		if err != nil {
			t.Fatal(err)
		}
		c := &precis.Conversation{Transcript: &precis.Transcript{}}
		for range tt.turns {
			c.Transcript.Append(precis.NewText(precis.RoleUser, "Say more, please."), precis.NewText(precis.RoleAssistant, strings.Repeat("It says what it says. ", 145)))
		}
		res, err := m.Manage(t.Context(), policy.Request{Conversation: c, Window: precis.Window{Tokens: 20_000}})
		if err != nil || res.Report.Loss == nil || len(res.Edits) == 0 {
			t.Fatalf("%s: %v, %s", name, err, res.Report.Outcome)
		}
		if times != tt.climbs {
			t.Errorf("%s: climbed %d times, want %d", name, times, tt.climbs)
		}
	}
}
