package gateway

import (
	"cmp"
	"context"
	"slices"
	"time"

	"precis"
)

// Sums are what requests and condensing used and saved.
type Sums struct {
	Requests   int          `json:"requests"`
	Usage      precis.Usage `json:"usage"`    // of requests, as their providers told
	CostUSD    float64      `json:"cost_usd"` // of requests
	Sent       int          `json:"tokens_sent"`
	Saved      int          `json:"tokens_saved"` // that clients sent and nobody forwarded
	Edits      int          `json:"edits"`
	Condensing float64      `json:"condensing_cost_usd"` // of the model calls behind edits, and of those that led to none
}

// Account is what one conversation used and saved.
type Account struct {
	Conversation string    `json:"conversation"`
	Owner        string    `json:"owner"`
	Last         time.Time `json:"last"`
	Sums
}

// Day is what one day, in UTC, used and saved.
type Day struct {
	Day string `json:"day"` // as 2006-01-02
	Sums
}

// LedgerSummary is what the ledger tells. Booked is false without a store that
// keeps one; nothing is known then.
type LedgerSummary struct {
	Booked        bool      `json:"booked"`
	Since         time.Time `json:"since,omitzero"`
	Total         Sums      `json:"total"`
	Days          []Day     `json:"days"`          // oldest first
	Conversations []Account `json:"conversations"` // dearest first
}

// Ledger sums up the ledger since a time, of one conversation or, for "", of all.
func (g *Gateway) Ledger(ctx context.Context, owner, conversation string, since time.Time) (LedgerSummary, error) {
	out := LedgerSummary{Since: since, Days: []Day{}, Conversations: []Account{}}
	if conversation != "" && owner == AllOwners {
		var err error
		if owner, err = g.OwnerOf(ctx, conversation); err != nil {
			return out, err
		}
	}
	owners, err := g.owners(ctx, owner)
	if err != nil {
		return out, err
	}
	if err := g.saver.settle(ctx); err != nil {
		return out, err
	}
	days, accounts := map[string]*Day{}, map[[2]string]*Account{}
	for _, who := range owners {
		l, ok := g.store(who).(precis.Ledger)
		if !ok || g.catalog(who) == nil {
			continue
		}
		out.Booked = true
		entries, err := l.Entries(ctx, conversation, since)
		if err != nil {
			return out, err
		}
		for _, e := range entries {
			key, day := [2]string{who, e.Conversation}, e.Time.UTC().Format(time.DateOnly)
			if accounts[key] == nil {
				accounts[key] = &Account{Conversation: e.Conversation, Owner: who}
			}
			if days[day] == nil {
				days[day] = &Day{Day: day}
			}
			out.Total.add(e)
			days[day].add(e)
			accounts[key].add(e)
			accounts[key].Last = e.Time
		}
	}
	for _, d := range days {
		out.Days = append(out.Days, *d)
	}
	for _, a := range accounts {
		out.Conversations = append(out.Conversations, *a)
	}
	slices.SortFunc(out.Days, func(a, b Day) int { return cmp.Compare(a.Day, b.Day) })
	slices.SortFunc(out.Conversations, func(a, b Account) int {
		return cmp.Or(cmp.Compare(b.CostUSD+b.Condensing, a.CostUSD+a.Condensing), b.Last.Compare(a.Last), cmp.Compare(a.Conversation, b.Conversation))
	})
	return out, nil
}

func (s *Sums) add(e precis.LedgerEntry) {
	if e.Kind != "request" {
		s.Condensing += e.CostUSD
		if e.Kind != precis.KindCall {
			s.Edits++
		}
		return
	}
	s.Requests++
	s.Usage.Input += e.Usage.Input
	s.Usage.Output += e.Usage.Output
	s.Usage.CacheRead += e.Usage.CacheRead
	s.Usage.CacheWrite += e.Usage.CacheWrite
	s.CostUSD += e.CostUSD
	s.Sent += e.After
	s.Saved += max(e.Before-e.After, 0)
}
