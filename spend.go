package precis

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Spend limits what model calls for condensing may cost, in US dollars. When a
// limit is reached the rungs that call a model are left out; the conversation
// goes on with the others. 0 is no limit.
type Spend struct {
	Conversation float64 // for one conversation
	Day          float64 // for all conversations of this manager or its ledger, since midnight UTC
	Warn         float64 // share of a limit from which users are warned, 0 to 1; 0: 0.8
}

// Alert tells of something an operator should know.
type Alert struct {
	Kind         string  // "spend_warning" or "spend_limit"
	Conversation string  // "" when unknown
	Scope        string  // "conversation" or "day"
	SpentUSD     float64 // so far
	LimitUSD     float64
}

// String returns "condensing this conversation has cost $0.81 of $1.00".
func (a Alert) String() string {
	what := "this conversation"
	if a.Scope == "day" {
		what = "all conversations today"
	}
	return fmt.Sprintf("condensing %s has cost $%.2f of $%.2f", what, a.SpentUSD, a.LimitUSD)
}

// dust is less than any sum that is booked; sums of fractions are not exact.
const dust = 1e-9

// KindCall is the kind of a [LedgerEntry] for model calls that led to no recorded
// edit.
const KindCall = "call"

// purse knows what was spent where no ledger does.
type purse struct {
	mu    sync.Mutex
	day   string
	today float64
	convs map[*Conversation]float64 // calls that led to no edit
}

func (p *purse) add(c *Conversation, now time.Time, usd float64, isEdit bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn(now)
	p.today += usd
	if isEdit || usd == 0 {
		return
	}
	if p.convs == nil {
		p.convs = map[*Conversation]float64{}
	}
	p.convs[c] += usd
}

func (p *purse) spent(c *Conversation, now time.Time) (conversation, day float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn(now)
	return p.convs[c], p.today
}

// turn begins a new day. Calls without an edit are forgotten with it, so that the
// purse does not grow for ever.
func (p *purse) turn(now time.Time) {
	if day := now.UTC().Format(time.DateOnly); day != p.day {
		p.day, p.today, p.convs = day, 0, nil
	}
}

// spent returns what condensing has cost, by the ledger if there is one.
func (m *Manager) spent(ctx context.Context, conv *Conversation) (conversation, day float64, err error) {
	now := m.o.Now()
	ledger := m.ledger()
	if ledger == nil {
		conversation, day = m.purse.spent(conv, now)
		for _, e := range conv.Edits {
			conversation += e.Report.CostUSD
		}
		return conversation, day, nil
	}
	y, mo, d := now.UTC().Date()
	entries, err := ledger.Entries(ctx, "", time.Date(y, mo, d, 0, 0, 0, 0, time.UTC))
	if err != nil {
		return 0, 0, err
	}
	for _, e := range entries {
		if e.Kind != "request" {
			day += e.CostUSD
		}
	}
	if conv.ID == "" {
		conversation, _ = m.purse.spent(conv, now)
		for _, e := range conv.Edits {
			conversation += e.Report.CostUSD
		}
		return conversation, day, nil
	}
	if entries, err = ledger.Entries(ctx, conv.ID, time.Time{}); err != nil {
		return 0, 0, err
	}
	for _, e := range entries {
		if e.Kind != "request" {
			conversation += e.CostUSD
		}
	}
	return conversation, day, nil
}

// afford returns why no model may be called, "" when one may; warnings and alerts
// are given on the way.
func (c *check) afford(ctx context.Context) string {
	limits := c.settings.Spend
	if limits.Conversation <= 0 && limits.Day <= 0 {
		return ""
	}
	conversation, day, err := c.m.spent(ctx, c.r.Conversation)
	if err != nil {
		return "what was spent so far cannot be read: " + err.Error()
	}
	why := ""
	for _, a := range []Alert{
		{Scope: "conversation", SpentUSD: conversation, LimitUSD: limits.Conversation},
		{Scope: "day", SpentUSD: day, LimitUSD: limits.Day},
	} {
		share := limits.Warn
		if share <= 0 {
			share = 0.8
		}
		if a.LimitUSD <= 0 || a.SpentUSD < share*a.LimitUSD-dust {
			continue
		}
		a.Conversation, a.Kind = c.r.Conversation.ID, "spend_warning"
		if a.SpentUSD >= a.LimitUSD-dust {
			a.Kind, why = "spend_limit", a.String()
		}
		c.warnings = append(c.warnings, a.String())
		if !c.r.DryRun {
			c.m.alert(ctx, a)
		}
	}
	return why
}

func (m *Manager) alert(ctx context.Context, a Alert) {
	m.o.Logger.WarnContext(ctx, "spending", "kind", a.Kind, "conversation", a.Conversation, "scope", a.Scope, "spent_usd", a.SpentUSD, "limit_usd", a.LimitUSD)
	if m.o.Alert != nil {
		m.o.Alert(ctx, a)
	}
}

// ledger returns the ledger, nil when there is none.
func (m *Manager) ledger() Ledger {
	if m.o.Ledger != nil {
		return m.o.Ledger
	}
	l, _ := m.o.Store.(Ledger)
	return l
}

// bookCalls books the model calls behind no edit that was recorded.
func (m *Manager) bookCalls(ctx context.Context, c *check, kept []Edit) {
	booked := map[*CallReport]bool{}
	for _, e := range kept {
		booked[e.Report.Call] = true
	}
	conv := c.r.Conversation
	for _, s := range c.steps {
		if s.Call == nil || booked[s.Call] || s.Call.CostUSD == 0 && s.Call.Calls == 0 {
			continue
		}
		mine := c.r.Unrecorded && s.Outcome == OutcomeAccepted // the caller's edit will tell
		m.purse.add(conv, c.started, s.Call.CostUSD, mine)
		ledger := m.ledger()
		if ledger == nil {
			continue
		}
		err := ledger.Book(ctx, LedgerEntry{
			Time: c.started, Conversation: conv.ID, Model: s.Call.Model, Kind: KindCall, TriggeredBy: c.triggeredBy(),
			Before: s.Before, After: s.After, Usage: s.Call.Usage, CostUSD: s.Call.CostUSD,
		})
		if err != nil {
			m.o.Logger.ErrorContext(ctx, "a model call is not in the ledger", "rung", s.Rung, "error", err)
		}
	}
}
