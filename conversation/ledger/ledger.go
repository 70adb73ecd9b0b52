// Package ledger answers: what did conversations use, cost and save? [Of] sums up the ledgers of
// the stores of a home by day, owner and conversation; [Arms] does so for the conversations in
// experiments.
package ledger

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/store"
)

// Sums are totals used and saved by requests and condensations.
type Sums = store.Sums

// ConversationTotal are the totals of one conversation.
type ConversationTotal struct {
	Conversation string    `json:"conversation"`
	Owner        string    `json:"owner"`
	Last         time.Time `json:"last"` // in whole seconds
	Sums
}

// DayTotal are the totals of one day in UTC.
type DayTotal struct {
	Day string `json:"day"` // as 2006-01-02
	Sums
}

// OwnerTotal are the totals of the conversations of one owner.
type OwnerTotal struct {
	Owner string `json:"owner"`
	Sums
}

// Summary sums up the ledger. Booked is false if no store keeps one; then all else is zero.
type Summary struct {
	Booked bool       `json:"booked"`
	Since  time.Time  `json:"since,omitzero"`
	Total  Sums       `json:"total"`
	Days   []DayTotal `json:"days"` // oldest first
	// the most expensive first; owners without entries are left out
	Owners        []OwnerTotal        `json:"owners"`
	Conversations []ConversationTotal `json:"conversations"`  // the most expensive first
	More          int                 `json:"more,omitempty"` // number of conversations not listed
}

// Since sums up the ledger since a time for one conversation, or with "" for all. A store that is
// a [store.Summer] computes the sums itself.
func Since(ctx context.Context, h conversation.Home, id string, since time.Time) (Summary, error) {
	return Of(ctx, h, Query{Conversation: id, Since: since})
}

// Query selects entries of a ledger. The zero value selects all.
type Query struct {
	Conversation string    // only this conversation; "": all
	Since        time.Time // only entries at or after this time
	Limit        int       // most conversations to list; 0: all; negative: none
}

// Of sums up the ledger as a query says.
func Of(ctx context.Context, h conversation.Home, q Query) (Summary, error) {
	b := book{q: q, days: map[string]*DayTotal{}, accounts: map[[2]string]*ConversationTotal{},
		payers: map[string]*OwnerTotal{}}
	b.out.Since = q.Since
	home, ok := h.(conversation.Stored)
	if !ok {
		return b.summary(), nil
	}
	owners, err := ownersOf(ctx, home, q.Conversation)
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
		if s, ok := st.(store.Summer); ok {
			err = b.sum(ctx, s, owner)
		} else {
			err = b.read(ctx, l, owner)
		}
		if err != nil {
			return b.summary(), err
		}
	}
	return b.summary(), nil
}

// ownersOf returns the owner of a conversation, or, for "", all owners.
func ownersOf(ctx context.Context, h conversation.Owned, id string) ([]string, error) {
	if id == "" {
		return h.Owners(ctx)
	}
	owner, err := h.OwnerOf(ctx, id)
	return []string{owner}, err
}

// book sums up ledger entries.
type book struct {
	q        Query
	out      Summary
	days     map[string]*DayTotal
	accounts map[[2]string]*ConversationTotal // by owner and conversation
	payers   map[string]*OwnerTotal           // by owner
}

// sum adds the sums computed by the store of an owner.
func (b *book) sum(ctx context.Context, s store.Summer, owner string) error {
	days, err := s.SumsByDay(ctx, b.q.Conversation, b.q.Since)
	if err != nil {
		return err
	}
	for _, d := range days {
		b.out.Total.AddSums(d.Sums)
		b.day(d.Day).AddSums(d.Sums)
		b.payer(owner).AddSums(d.Sums)
	}
	if b.q.Limit < 0 {
		return nil
	}
	list, all, err := s.SumsByConversation(ctx, b.q.Conversation, b.q.Since, b.q.Limit)
	b.out.More += all - len(list)
	for _, c := range list {
		a := b.account(owner, c.Conversation)
		a.AddSums(c.Sums)
		a.Last = c.Last
	}
	return err
}

// read adds the entries of an owner one by one.
func (b *book) read(ctx context.Context, l precis.Ledger, owner string) error {
	entries, err := l.Entries(ctx, b.q.Conversation, b.q.Since)
	for _, e := range entries {
		b.out.Total.Add(e)
		b.day(e.Time).Add(e)
		b.payer(owner).Add(e)
		if b.q.Limit >= 0 {
			a := b.account(owner, e.Conversation)
			a.Add(e)
			a.Last = e.Time.UTC().Truncate(time.Second)
		}
	}
	return err
}

// day returns the day of a time.
func (b *book) day(at time.Time) *DayTotal {
	day := at.UTC().Format(time.DateOnly)
	if b.days[day] == nil {
		b.days[day] = &DayTotal{Day: day}
	}
	return b.days[day]
}

// account returns the account of a conversation of an owner.
func (b *book) account(owner, id string) *ConversationTotal {
	key := [2]string{owner, id}
	if b.accounts[key] == nil {
		b.accounts[key] = &ConversationTotal{Conversation: id, Owner: owner}
	}
	return b.accounts[key]
}

// payer returns the totals of an owner.
func (b *book) payer(owner string) *OwnerTotal {
	if b.payers[owner] == nil {
		b.payers[owner] = &OwnerTotal{Owner: owner}
	}
	return b.payers[owner]
}

func (b *book) summary() Summary {
	out := b.out
	out.Days, out.Owners, out.Conversations = []DayTotal{}, []OwnerTotal{}, []ConversationTotal{}
	for _, d := range b.days {
		out.Days = append(out.Days, *d)
	}
	for _, a := range b.accounts {
		out.Conversations = append(out.Conversations, *a)
	}
	for _, p := range b.payers {
		out.Owners = append(out.Owners, *p)
	}
	slices.SortFunc(out.Owners, func(a, b OwnerTotal) int {
		return cmp.Or(cmp.Compare(b.CostUSD+b.Condensing, a.CostUSD+a.Condensing),
			cmp.Compare(a.Owner, b.Owner))
	})
	slices.SortFunc(out.Days, func(a, b DayTotal) int { return cmp.Compare(a.Day, b.Day) })
	slices.SortFunc(out.Conversations, func(a, b ConversationTotal) int {
		return cmp.Or(cmp.Compare(b.CostUSD+b.Condensing, a.CostUSD+a.Condensing), b.Last.Compare(a.Last),
			cmp.Compare(a.Conversation, b.Conversation))
	})
	if most := b.q.Limit; most > 0 && len(out.Conversations) > most {
		out.More += len(out.Conversations) - most
		out.Conversations = out.Conversations[:most]
	}
	return out
}
