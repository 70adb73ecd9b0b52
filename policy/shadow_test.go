package policy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/reduce"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
	"github.com/precis-dev/precis/tokens"
)

// TestAManagerThatObservesSaysWhatItWouldDo: the plan is that of a manager that acts, step for
// step as the conversation grows; nothing is carried out; each run is booked once, and counts in
// no sum.
func TestAManagerThatObservesSaysWhatItWouldDo(t *testing.T) {
	counter, err := tokens.New(tokens.Options{Name: tokens.NameChars4})
	if err != nil {
		t.Fatal(err)
	}
	manager := func(change func(*policy.Settings)) (*policy.Manager, *memory.Store) {
		s := policy.DefaultSettings()
		s.MinSaving = 0.1
		change(&s)
		st := memory.New()
		m, err := policy.NewManager(policy.Options{Settings: s, Counter: counter, Strategies: []policy.Strategy{reduce.Prune{}, reduce.Truncate{}}, Store: st, Now: func() time.Time { return time.Unix(1, 0) }})
		if err != nil {
			t.Fatal(err)
		}
		return m, st
	}
	acting, _ := manager(func(*policy.Settings) {})
	off, st := manager(func(s *policy.Settings) { s.Preset, s.Auto, s.Observe = "off", false, true })
	one, other := &precis.Conversation{ID: "c", Transcript: &precis.Transcript{}}, &precis.Conversation{ID: "c", Transcript: &precis.Transcript{}}
	said := func(i int) []precis.Message {
		id := fmt.Sprint("t", i)
		return []precis.Message{
			precis.NewText(precis.RoleUser, fmt.Sprint("Look at part ", i)),
			{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "read", Input: []byte(`{}`)}}},
			{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: strings.Repeat(fmt.Sprintf("value %d\n", i*i), 300)}}}}},
			precis.NewText(precis.RoleAssistant, "Seen."),
		}
	}
	runs := 0
	for i := range 60 {
		one.Transcript.Append(said(i)...)
		other.Transcript.Append(said(i)...)
		window := precis.Window{Tokens: 20_000}
		did, err := acting.Manage(t.Context(), policy.Request{Conversation: one, Window: window})
		if err != nil {
			t.Fatal(err)
		}
		saw, err := off.Manage(t.Context(), policy.Request{Conversation: other, Window: window})
		if err != nil {
			t.Fatal(err)
		}
		s := saw.Report.Shadow
		if s == nil || len(saw.Edits) > 0 || len(other.Edits) > 0 || saw.Report.Decision.Action != policy.ActionNone || len(saw.View) != other.Transcript.Len() {
			t.Fatalf("turn %d: it acts: %+v", i, saw.Report)
		}
		if s.Due != (len(did.Edits) > 0) || s.Before != did.Report.Before.Tokens || s.After != did.Report.After.Tokens || s.Outcome != did.Report.Outcome || len(s.Edits) != len(did.Edits) {
			t.Fatalf("turn %d: it would be %q, from %d to %d; it was %q, from %d to %d", i, s.Outcome, s.Before, s.After, did.Report.Outcome, did.Report.Before.Tokens, did.Report.After.Tokens)
		}
		if s.Due {
			runs++
		}
	}
	if runs < 2 {
		t.Fatalf("%d runs in 60 turns", runs)
	}
	if did := acting.Settings(); did.Observe {
		t.Error("the settings are shared")
	}
	entries, err := st.Entries(context.Background(), "c", time.Time{})
	if err != nil || len(entries) != runs {
		t.Fatalf("%d entries for %d runs, %v", len(entries), runs, err)
	}
	var sums store.Sums
	for _, e := range entries {
		if e.Kind != precis.KindShadow || e.Before <= e.After || e.CostUSD != 0 || e.TriggeredBy != precis.TriggeredAutomatic {
			t.Errorf("booked: %+v", e)
		}
		sums.Add(e)
	}
	if sums != (store.Sums{}) {
		t.Errorf("it counts: %+v", sums)
	}
	// A dry run books nothing, and a conversation that was rewound is planned anew.
	if _, err := off.Manage(t.Context(), policy.Request{Conversation: other, Window: precis.Window{Tokens: 2000}, DryRun: true}); err != nil {
		t.Fatal(err)
	}
	short := &precis.Conversation{ID: "c", Transcript: other.Transcript.Prefix(30)}
	saw, err := off.Manage(t.Context(), policy.Request{Conversation: short, Window: precis.Window{Tokens: 20_000}})
	if err != nil || saw.Report.Shadow == nil || saw.Report.Shadow.Due || saw.Report.Shadow.Before != saw.Report.Before.Tokens {
		t.Errorf("after a rewind: %+v, %v", saw.Report.Shadow, err)
	}
	if again, err := st.Entries(context.Background(), "c", time.Time{}); err != nil || len(again) != runs {
		t.Errorf("%d entries, %v", len(again), err)
	}
	// What is asked for is done.
	if res, err := off.Manage(t.Context(), policy.Request{Conversation: other, Window: precis.Window{Tokens: 20_000}, TriggeredBy: precis.TriggeredManual}); err != nil || len(res.Edits) == 0 || res.Report.Shadow != nil {
		t.Errorf("asked for: %d edits, %v", len(res.Edits), err)
	}
}
