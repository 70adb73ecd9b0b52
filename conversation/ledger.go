package conversation

import (
	"cmp"
	"context"
	"slices"
	"time"

	"precis"
	"precis/store"
)

// Sums are what requests and condensing used and saved.
type Sums struct {
	Requests   int          `json:"requests"`
	Usage      precis.Usage `json:"usage"`    // of requests, as their providers reported
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

// LedgerSummary sums up the ledger. Booked is false without a store that keeps
// one; nothing is known then.
type LedgerSummary struct {
	Booked        bool      `json:"booked"`
	Since         time.Time `json:"since,omitzero"`
	Total         Sums      `json:"total"`
	Days          []Day     `json:"days"`          // oldest first
	Conversations []Account `json:"conversations"` // the most expensive first
}

// Ledger sums up the ledger since a time, of one conversation or, for "", of all.
func Ledger(ctx context.Context, h Home, id string, since time.Time) (LedgerSummary, error) {
	b := book{days: map[string]*Day{}, accounts: map[[2]string]*Account{}}
	b.out.Since = since
	home, ok := h.(Stored)
	if !ok {
		return b.summary(), nil
	}
	owners, err := ownersOf(ctx, home, id)
	if err != nil {
		return b.summary(), err
	}
	for _, owner := range owners {
		st, err := home.Store(ctx, owner)
		if err != nil {
			return b.summary(), err
		}
		l, ok := st.(precis.Ledger)
		if _, lists := st.(store.Lister); !ok || !lists {
			continue
		}
		b.out.Booked = true
		entries, err := l.Entries(ctx, id, since)
		if err != nil {
			return b.summary(), err
		}
		for _, e := range entries {
			b.add(owner, e)
		}
	}
	return b.summary(), nil
}

// ownersOf returns the owner of a conversation, or, for "", all owners.
func ownersOf(ctx context.Context, h Owned, id string) ([]string, error) {
	if id == "" {
		return h.Owners(ctx)
	}
	owner, err := h.OwnerOf(ctx, id)
	return []string{owner}, err
}

// book sums up ledger entries.
type book struct {
	out      LedgerSummary
	days     map[string]*Day
	accounts map[[2]string]*Account // by owner and conversation
}

func (b *book) add(owner string, e precis.LedgerEntry) {
	key, day := [2]string{owner, e.Conversation}, e.Time.UTC().Format(time.DateOnly)
	if b.accounts[key] == nil {
		b.accounts[key] = &Account{Conversation: e.Conversation, Owner: owner}
	}
	if b.days[day] == nil {
		b.days[day] = &Day{Day: day}
	}
	b.out.Total.add(e)
	b.days[day].add(e)
	b.accounts[key].add(e)
	b.accounts[key].Last = e.Time
}

func (b *book) summary() LedgerSummary {
	out := b.out
	out.Days, out.Conversations = []Day{}, []Account{}
	for _, d := range b.days {
		out.Days = append(out.Days, *d)
	}
	for _, a := range b.accounts {
		out.Conversations = append(out.Conversations, *a)
	}
	slices.SortFunc(out.Days, func(a, b Day) int { return cmp.Compare(a.Day, b.Day) })
	slices.SortFunc(out.Conversations, func(a, b Account) int {
		return cmp.Or(cmp.Compare(b.CostUSD+b.Condensing, a.CostUSD+a.Condensing), b.Last.Compare(a.Last), cmp.Compare(a.Conversation, b.Conversation))
	})
	return out
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
