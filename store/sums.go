package store

import (
	"cmp"
	"context"
	"time"

	"github.com/precis-dev/precis"
)

// Sums are the usage and savings of requests and condensing.
type Sums struct {
	Requests int          `json:"requests"`
	Usage    precis.Usage `json:"usage"`    // of requests, as reported by their providers
	CostUSD  float64      `json:"cost_usd"` // of requests
	Sent     int          `json:"tokens_sent"`
	Saved    int          `json:"tokens_saved"` // sent by clients and not forwarded
	SavedUSD float64      `json:"saved_usd"`    // cost of the saved tokens, as far as it is known
	Edits    int          `json:"edits"`
	// of model calls for condensing, including failed ones
	Condensing float64 `json:"condensing_cost_usd"`
}

// Add adds one entry of a ledger.
func (s *Sums) Add(e precis.LedgerEntry) {
	if e.Kind == precis.KindShadow {
		return
	}
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
	s.SavedUSD += e.SavedUSD
}

// AddSums adds other sums.
func (s *Sums) AddSums(o Sums) {
	s.Requests += o.Requests
	s.Usage.Input += o.Usage.Input
	s.Usage.Output += o.Usage.Output
	s.Usage.CacheRead += o.Usage.CacheRead
	s.Usage.CacheWrite += o.Usage.CacheWrite
	s.CostUSD += o.CostUSD
	s.Sent += o.Sent
	s.Saved += o.Saved
	s.SavedUSD += o.SavedUSD
	s.Edits += o.Edits
	s.Condensing += o.Condensing
}

// NetUSD returns the net saving: the cost of the tokens that were not sent minus the cost of
// condensing.
func (s Sums) NetUSD() float64 { return s.SavedUSD - s.Condensing }

// DaySums are the sums of one day.
type DaySums struct {
	Day time.Time // start of the day, in UTC
	Sums
}

// ConversationSums are the sums of one conversation.
type ConversationSums struct {
	Conversation string
	Last         time.Time // of its newest entry, in whole seconds and UTC
	Sums
}

// CompareSums orders conversations as [Summer] does.
func CompareSums(a, b ConversationSums) int {
	return cmp.Or(cmp.Compare(b.CostUSD+b.Condensing, a.CostUSD+a.Condensing), b.Last.Compare(a.Last),
		cmp.Compare(a.Conversation, b.Conversation))
}

// Summer is a [precis.Ledger] that sums up its entries inside the store, which is faster than
// reading them. Each method covers the scope's entries made at or after since, of one conversation
// or, for "", of all.
type Summer interface {
	// SumsByDay returns the sums of each day that has an entry, oldest first.
	SumsByDay(ctx context.Context, conversation string, since time.Time) ([]DaySums, error)
	// SumsByConversation returns the sums of conversations that have an entry, the most expensive
	// first, for requests and condensing together; at equal cost, the last used first, then by ID.
	// Most, above 0, limits the result; all is the total number.
	SumsByConversation(ctx context.Context, conversation string, since time.Time,
		most int) (sums []ConversationSums, all int, err error)
}
