package policy

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/precis-dev/precis"
)

// Cap bounds how often a conversation is reduced, on every route.
type Cap struct {
	Turns      int // assistant turns looked back on; 0: no cap
	Max        int // most runs in them; 0: no cap
	NoProgress int // most runs in a row that saved too little; 0: no cap
}

// Reached reports whether another automatic run would pass the cap, and why. A run makes progress
// if it saves at least the share worth of the view. Reached counts the runs in all edits, undone
// ones too, so the cap holds across processes and undoing does not lift it. Only runs that users
// ask for are free.
func (c Cap) Reached(t *precis.Transcript, edits []precis.Edit, worth float64) (string, bool) {
	runs := runsOf(edits)
	if c.Turns > 0 && c.Max > 0 {
		from := messagesBeforeTurns(t, c.Turns)
		n := 0
		for _, r := range runs {
			if r.seen > from {
				n++
			}
		}
		if n >= c.Max {
			return fmt.Sprintf("%d runs in the last %d turns, at most %d are made", n, c.Turns, c.Max), true
		}
	}
	if idle := trailingIdleRuns(runs, worth); c.NoProgress > 0 && idle >= c.NoProgress {
		return fmt.Sprintf("the last %d runs saved less than %.0f %%", idle, 100*worth), true
	}
	return "", false
}

// run is one decision: the edits that share a run ID.
type run struct {
	id            string
	seen          int
	before, after int
}

// runsOf returns the runs that no user asked for, oldest first.
func runsOf(edits []precis.Edit) []run {
	var runs []run
	for _, e := range edits {
		switch precis.TriggeredBy(e.Report.Trigger) {
		case precis.TriggeredAutomatic, precis.TriggeredForced, precis.TriggeredBackground,
			precis.TriggeredModel:
		default:
			continue
		}
		if !e.Reduces() {
			continue
		}
		if n := len(runs); n > 0 && runs[n-1].id == e.Run {
			runs[n-1].after = e.Report.TokensAfter
			continue
		}
		runs = append(runs, run{id: e.Run, seen: e.Seen, before: e.Report.TokensBefore,
			after: e.Report.TokensAfter})
	}
	return runs
}

func trailingIdleRuns(runs []run, worth float64) int {
	n := 0
	for i := len(runs) - 1; i >= 0; i-- {
		r := runs[i]
		if float64(r.before-r.after) >= worth*float64(r.before) {
			break
		}
		n++
	}
	return n
}

// messagesBeforeTurns returns the number of messages before the last n assistant turns.
func messagesBeforeTurns(t *precis.Transcript, n int) int {
	msgs := t.Messages()
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role == precis.RoleAssistant {
			if n--; n == 0 {
				return i
			}
		}
	}
	return -1
}

// Spend limits the cost of model calls for condensing, in US dollars. When a limit is reached the
// ladder skips the rungs that call a model. 0 is no limit.
type Spend struct {
	Conversation float64 // for one conversation
	Owner        float64 // since midnight UTC, for the owner of the ledger; without a ledger for all, as Day
	Day          float64 // for all conversations of this manager or its ledger, since midnight UTC
	Warn         float64 // share of a limit from which users are warned, 0 to 1; 0: 0.8
}

// Alert warns an operator that a spending limit is near or reached. Webhooks send its JSON form.
type Alert struct {
	Kind         string  `json:"kind"`                   // "spend_warning" or "spend_limit"
	Conversation string  `json:"conversation,omitempty"` // "" when unknown
	Scope        string  `json:"scope"`                  // "conversation", "owner" or "day"
	SpentUSD     float64 `json:"spent_usd"`              // so far
	LimitUSD     float64 `json:"limit_usd"`
}

// String returns "condensing this conversation has cost $0.81 of $1.00".
func (a Alert) String() string {
	what := "this conversation"
	switch a.Scope {
	case "owner":
		what = "the conversations of one key today"
	case "day":
		what = "all conversations today"
	}
	return fmt.Sprintf("condensing %s has cost $%.2f of $%.2f", what, a.SpentUSD, a.LimitUSD)
}

// dust is the epsilon for comparing dollar amounts: sums of fractions are not
// exact.
const dust = 1e-9

// spendTracker is the spend tracker in memory. Its sums of the day count without a ledger; its sums of
// conversations count without a ledger or without a conversation ID.
type spendTracker struct {
	mu    sync.Mutex
	day   string
	today float64
	convs map[*precis.Conversation]float64 // calls without a resulting edit
}

// addCost counts a call.
func (p *spendTracker) addCost(now time.Time, usd float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn(now)
	p.today += usd
}

// addLost counts a call of a conversation that led to no edit.
func (p *spendTracker) addLost(c *precis.Conversation, now time.Time, usd float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn(now)
	if p.convs == nil {
		p.convs = map[*precis.Conversation]float64{}
	}
	p.convs[c] += usd
}

func (p *spendTracker) spent(c *precis.Conversation, now time.Time) (conversation, day float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn(now)
	return p.convs[c], p.today
}

// turn begins a new day. It drops calls without an edit, so that the purse stays bounded.
func (p *spendTracker) turn(now time.Time) {
	if day := now.UTC().Format(time.DateOnly); day != p.day {
		p.day, p.today, p.convs = day, 0, nil
	}
}

// spender is a [precis.Ledger] that sums up the cost of condensing of all owners, see
// Spender in the package precis/store.
type spender interface {
	Spent(ctx context.Context, since time.Time) (float64, error)
}

// spent returns what condensing has cost, by the ledger if there is one.
func (m *Manager) spent(ctx context.Context, conv *precis.Conversation, limits Spend) (s Spend, err error) {
	ledger := m.ledger()
	s.Conversation, s.Day = m.spending.spent(conv, m.o.Now())
	s.Owner = s.Day
	if ledger != nil && limits.Day > 0 {
		if s.Day, err = spentToday(ctx, ledger, m.o.Now()); err != nil {
			return s, err
		}
	}
	if ledger != nil && limits.Owner > 0 {
		if s.Owner, err = condensingCost(ledger.Entries(ctx, "", midnight(m.o.Now()))); err != nil {
			return s, err
		}
	}
	if ledger != nil && conv.ID != "" && limits.Conversation > 0 {
		s.Conversation, err = condensingCost(ledger.Entries(ctx, conv.ID, time.Time{}))
		return s, err
	}
	for _, e := range conv.Edits {
		s.Conversation += e.Report.CostUSD
	}
	return s, nil
}

// midnight is when the day began, in UTC.
func midnight(now time.Time) time.Time { return now.UTC().Truncate(24 * time.Hour) }

// spentToday returns the day's costs in the ledger, in UTC.
func spentToday(ctx context.Context, ledger precis.Ledger, now time.Time) (float64, error) {
	if s, ok := ledger.(spender); ok {
		return s.Spent(ctx, midnight(now))
	}
	return condensingCost(ledger.Entries(ctx, "", midnight(now)))
}

// condensingCost sums the cost of entries other than requests.
func condensingCost(entries []precis.LedgerEntry, err error) (float64, error) {
	sum := 0.0
	for _, e := range entries {
		if e.Kind != "request" {
			sum += e.CostUSD
		}
	}
	return sum, err
}

// whyNoModel returns why no model may be called, "" when one may. It also issues warnings and alerts.
func (p *pass) whyNoModel(ctx context.Context) string {
	limits := p.settings.Spend
	if limits.Conversation <= 0 && limits.Owner <= 0 && limits.Day <= 0 {
		return ""
	}
	spent, err := p.m.spent(ctx, p.r.Conversation, limits)
	if err != nil {
		return "what was spent so far cannot be read: " + err.Error()
	}
	why := ""
	for _, a := range []Alert{
		{Scope: "conversation", SpentUSD: spent.Conversation, LimitUSD: limits.Conversation},
		{Scope: "owner", SpentUSD: spent.Owner, LimitUSD: limits.Owner},
		{Scope: "day", SpentUSD: spent.Day, LimitUSD: limits.Day},
	} {
		share := limits.Warn
		if share <= 0 {
			share = 0.8
		}
		if a.LimitUSD <= 0 || a.SpentUSD < share*a.LimitUSD-dust {
			continue
		}
		a.Conversation, a.Kind = p.r.Conversation.ID, "spend_warning"
		if a.SpentUSD >= a.LimitUSD-dust {
			a.Kind, why = "spend_limit", a.String()
		}
		p.warnings = append(p.warnings, a.String())
		if !p.r.DryRun {
			p.m.alert(ctx, a)
		}
	}
	return why
}

func (m *Manager) alert(ctx context.Context, a Alert) {
	m.o.Logger.WarnContext(ctx, "spending", "kind", a.Kind, "conversation", a.Conversation, "scope", a.Scope,
		"spent_usd", a.SpentUSD, "limit_usd", a.LimitUSD)
	if m.o.Alert != nil {
		m.o.Alert(ctx, a)
	}
}

// ledger returns the ledger, or nil.
func (m *Manager) ledger() precis.Ledger {
	if m.o.Ledger != nil {
		return m.o.Ledger
	}
	l, _ := m.o.Store.(precis.Ledger)
	return l
}

// bookCall records the model calls of a rung as soon as it ends, whether its edit is accepted or
// not, so that other runs and replicas count them from then on.
func (p *pass) bookCall(ctx context.Context, s precis.RungResult) {
	if s.Call == nil || s.Call.CostUSD == 0 && s.Call.Calls == 0 {
		return
	}
	p.m.spending.addCost(p.started, s.Call.CostUSD)
	ledger := p.m.ledger()
	if ledger == nil {
		return
	}
	err := ledger.Book(context.WithoutCancel(ctx), precis.LedgerEntry{
		Time: p.started, Conversation: p.r.Conversation.ID, Model: s.Call.Model, Kind: precis.KindCall,
		TriggeredBy: p.r.TriggeredBy,
		Before:      s.Before, After: s.After, Usage: s.Call.Usage, CostUSD: s.Call.CostUSD,
	})
	if err != nil {
		p.m.o.Logger.ErrorContext(ctx, "a model call is not in the ledger", "rung", s.Rung, "error", err)
	}
}

// countLost counts the calls of edits that neither the manager nor, later, the caller records.
func (p *pass) countLost(kept []precis.Edit) {
	recorded := map[*precis.CallReport]bool{}
	for _, e := range kept {
		recorded[e.Report.Call] = true
	}
	for _, s := range p.steps {
		if s.Call != nil && !recorded[s.Call] && !(p.r.Unrecorded && s.Outcome == precis.OutcomeAccepted) {
			p.m.spending.addLost(p.r.Conversation, p.started, s.Call.CostUSD)
		}
	}
}
