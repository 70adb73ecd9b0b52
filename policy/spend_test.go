package policy_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/store/memory"
)

// dear is a rung whose call costs half a dollar; it hides message 1, or fails.
type dear struct{ fails bool }

func (dear) Name() string          { return "condense" }
func (dear) Traits() policy.Traits { return policy.Traits{UsesModel: true} }

func (d dear) Propose(context.Context, *policy.Situation) (precis.Edit, error) {
	call := &precis.CallReport{Calls: 1, CostUSD: 0.5}
	if d.fails {
		return precis.Edit{}, &policy.RungError{Reason: condense.ReasonEmpty, Call: call, Err: errors.New("nothing was said")}
	}
	e := precis.Edit{Kind: precis.KindCondensation, Replace: []precis.Replacement{{From: 1, To: 2, With: []precis.Message{precis.NewText(precis.RoleAssistant, "sum")}}}}
	e.Report.CostUSD, e.Report.Call = call.CostUSD, call
	return e, nil
}

// fullDisk is a store that can take no edit.
type fullDisk struct{ *memory.Store }

func (fullDisk) AddEdit(context.Context, string, precis.Edit) error { return errors.New("disk full") }

// between is a conversation with so many tokens in message 1 and in the last.
func between(middle, last int) *precis.Conversation {
	words := func(n int) string { return strings.Repeat("abc ", n) }
	return &precis.Conversation{ID: "c", Model: "m", Transcript: precis.NewTranscript(
		precis.NewText("user", "first"), precis.NewText("assistant", words(middle)), precis.NewText("user", "go on"),
		precis.NewText("assistant", "ok"), precis.NewText("user", "x"), precis.NewText("assistant", "ok"), precis.NewText("user", words(last)))}
}

func spending(t *testing.T, o policy.Options, limits policy.Spend) *policy.Manager {
	o.Settings = policy.DefaultSettings()
	o.Settings.MinModelWindow, o.Settings.Spend = 0, limits
	if o.Strategies == nil {
		o.Strategies = []policy.Strategy{dear{}}
	}
	return manager(t, o)
}

// TestEveryPaidCallIsBookedOnce has edits kept, dropped, refused by the store and
// left to the caller.
func TestEveryPaidCallIsBookedOnce(t *testing.T) {
	ledger := memory.New()
	booked := func() float64 {
		entries, err := ledger.Entries(t.Context(), "", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, e := range entries {
			sum += e.CostUSD
		}
		return sum
	}
	for i, tt := range []struct {
		name  string
		store precis.Store
		r     policy.Request
		edits int
	}{
		{"kept", ledger, policy.Request{Conversation: between(80_000, 10), TriggeredBy: precis.TriggeredManual}, 1},
		{"saves too little", ledger, policy.Request{Conversation: between(200, 83_000)}, 0},
		{"does not fit", ledger, policy.Request{Conversation: between(20_000, 183_000)}, 1},
		{"not stored", fullDisk{ledger}, policy.Request{Conversation: between(80_000, 10), TriggeredBy: precis.TriggeredManual}, 0},
		{"left to the caller", ledger, policy.Request{Conversation: between(80_000, 10), TriggeredBy: precis.TriggeredManual, Unrecorded: true}, 1},
		{"in a ledger alone", nil, policy.Request{Conversation: between(80_000, 10), TriggeredBy: precis.TriggeredManual}, 1},
	} {
		m := spending(t, policy.Options{Store: tt.store, Ledger: map[bool]precis.Ledger{true: ledger}[tt.store == nil]}, policy.Spend{})
		tt.r.Window, tt.r.MaxOutput = window(100_000), 100
		res, err := m.Manage(t.Context(), tt.r)
		if res.Report.CostUSD() != 0.5 || len(res.Edits) != tt.edits {
			t.Errorf("%s: %d edits, $%g, %v", tt.name, len(res.Edits), res.Report.CostUSD(), err)
		}
		if got, want := booked(), 0.5*float64(i+1); got != want {
			t.Errorf("%s: $%g are booked, want $%g", tt.name, got, want)
		}
	}
}

func TestLimitsHoldWithoutEdits(t *testing.T) {
	for name, store := range map[string]precis.Store{"no store": nil, "a store": memory.New()} {
		conv := between(80_000, 10)
		conv.ID = ""
		m := spending(t, policy.Options{Store: store, Strategies: []policy.Strategy{dear{fails: true}}}, policy.Spend{Conversation: 0.4})
		spent := 0.0
		for range 3 {
			res, _ := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: window(100_000), TriggeredBy: precis.TriggeredManual})
			spent += res.Report.CostUSD()
		}
		if spent != 0.5 {
			t.Errorf("%s: $%g of $0.40", name, spent)
		}
	}
	m := spending(t, policy.Options{}, policy.Spend{Day: 0.4})
	for i, want := range []float64{0.5, 0} {
		res, err := m.Manage(t.Context(), policy.Request{Conversation: between(80_000, 10), Window: window(100_000), TriggeredBy: precis.TriggeredManual, Unrecorded: true})
		if i == 0 && err != nil || res.Report.CostUSD() != want {
			t.Errorf("run %d of the day: $%g, %v", i, res.Report.CostUSD(), err)
		}
	}
}

func TestDryRunsAlertNobody(t *testing.T) {
	alerts := 0
	m := spending(t, policy.Options{Strategies: []policy.Strategy{dear{fails: true}}, Alert: func(context.Context, policy.Alert) { alerts++ }}, policy.Spend{Conversation: 0.4})
	r := policy.Request{Conversation: between(80_000, 10), Window: window(100_000), TriggeredBy: precis.TriggeredManual}
	for _, dry := range []bool{false, true, false} { // the first spends, the last finds the limit
		r.DryRun = dry
		_, _ = m.Manage(t.Context(), r) // nothing is reduced
		if dry && alerts != 0 {
			t.Error("a dry run alerts")
		}
	}
	if alerts != 1 {
		t.Errorf("%d alerts", alerts)
	}
}

func TestForcedGetsSmallerWhateverTheTarget(t *testing.T) {
	m := spending(t, policy.Options{}, policy.Spend{})
	res, err := m.Manage(t.Context(), policy.Request{Conversation: between(60_000, 20_000), Window: window(100_000), MaxOutput: 100, TriggeredBy: precis.TriggeredForced, Target: 90_000})
	if err != nil || res.Report.After.Tokens > 60_000 {
		t.Errorf("%d tokens are left, %v", res.Report.After.Tokens, err)
	}
}

func TestAReportOutOfAllProportionIsNoScale(t *testing.T) {
	conv := &precis.Conversation{Transcript: precis.NewTranscript(precis.NewText("user", strings.Repeat("hello ", 20)))}
	res, err := manager(t, policy.Options{}).Manage(t.Context(), policy.Request{Conversation: conv, Window: window(80_000), Reported: 79_000})
	if err != nil || len(res.Edits) > 0 || res.Report.Calibration != 1 {
		t.Errorf("%s, factor %g, %v", res.Report.Outcome, res.Report.Calibration, err)
	}
}

func TestTheDaysLimitHoldsForAllOwners(t *testing.T) {
	st := memory.New()
	spent := 0.0
	for _, owner := range []string{"a", "b", "c"} {
		m := spending(t, policy.Options{Store: st.Scope(owner)}, policy.Spend{Day: 0.4})
		res, _ := m.Manage(t.Context(), policy.Request{Conversation: between(80_000, 10), Window: window(100_000), TriggeredBy: precis.TriggeredManual})
		spent += res.Report.CostUSD()
	}
	if spent != 0.5 {
		t.Errorf("$%g of $0.40 a day", spent)
	}
}

// A limit of one owner holds over all of their conversations, and for nobody else.
func TestTheOwnersLimitHoldsForOne(t *testing.T) {
	st := memory.New()
	var alerts []string
	for i, tt := range []struct {
		owner string
		spent float64
	}{{"a", 0.5}, {"a", 0}, {"b", 0.5}} {
		m := spending(t, policy.Options{Store: st.Scope(tt.owner), Alert: func(_ context.Context, a policy.Alert) { alerts = append(alerts, a.Kind+" "+a.Scope) }}, policy.Spend{Owner: 0.4})
		conv := between(80_000+i, 10)
		conv.ID = strings.Repeat("c", i+1)
		res, _ := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: window(100_000), TriggeredBy: precis.TriggeredManual})
		if res.Report.CostUSD() != tt.spent {
			t.Errorf("%d: %s spends $%g, want $%g", i, tt.owner, res.Report.CostUSD(), tt.spent)
		}
	}
	if len(alerts) != 1 || alerts[0] != "spend_limit owner" {
		t.Errorf("alerts %v", alerts)
	}
	later := spending(t, policy.Options{Store: st.Scope("a"), Now: func() time.Time { return time.Now().Add(48 * time.Hour) }}, policy.Spend{Owner: 0.4})
	if res, _ := later.Manage(t.Context(), policy.Request{Conversation: between(70_000, 10), Window: window(100_000), TriggeredBy: precis.TriggeredManual}); res.Report.CostUSD() != 0.5 {
		t.Errorf("on another day $%g are spent", res.Report.CostUSD())
	}
	bare := spending(t, policy.Options{}, policy.Spend{Owner: 0.4})
	for i, want := range []float64{0.5, 0} {
		res, _ := bare.Manage(t.Context(), policy.Request{Conversation: between(80_000, 10), Window: window(100_000), TriggeredBy: precis.TriggeredManual, Unrecorded: true})
		if res.Report.CostUSD() != want {
			t.Errorf("without a ledger, run %d: $%g", i, res.Report.CostUSD())
		}
	}
}

// paying is a rung that counts the entries of the ledger.
type paying struct {
	name   string
	ledger precis.Ledger
	seen   *[]int
}

func (p paying) Name() string { return p.name }

func (p paying) Propose(ctx context.Context, s *policy.Situation) (precis.Edit, error) {
	entries, err := p.ledger.Entries(ctx, "", time.Time{})
	*p.seen = append(*p.seen, len(entries))
	if err != nil {
		return precis.Edit{}, err
	}
	return precis.Edit{}, nil
}

func TestACallIsBookedBeforeTheNextRung(t *testing.T) {
	st := memory.New()
	var seen []int
	m := spending(t, policy.Options{Store: st, Strategies: []policy.Strategy{paying{"before", st, &seen}, dear{fails: true}, paying{"after", st, &seen}}}, policy.Spend{})
	if _, err := m.Manage(t.Context(), policy.Request{Conversation: between(80_000, 10), Window: window(100_000), TriggeredBy: precis.TriggeredManual}); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 2 || seen[0] != 0 || seen[1] != 1 {
		t.Errorf("ledger entries before and after the call: %v", seen)
	}
}
