package service

import (
	"context"
	"slices"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
)

// contentInMemory keeps message content, edits and titles only in memory, and costs, calibrations,
// evidence on windows, and leases in a durable store.
type contentInMemory struct {
	*memory.Store
	durable precis.Store
}

var (
	_ precis.Store            = contentInMemory{}
	_ precis.CalibrationStore = contentInMemory{}
	_ precis.Ledger           = contentInMemory{}
	_ store.Booker            = contentInMemory{}
	_ store.Spender           = contentInMemory{}
	_ store.Summer            = contentInMemory{}
	_ store.Checker           = contentInMemory{}
	_ store.Leaser            = contentInMemory{}
	_ store.Windows           = contentInMemory{}
	_ store.Scoper            = contentInMemory{}
	_ store.Purger            = contentInMemory{}
)

func withoutContent(durable precis.Store) precis.Store { return contentInMemory{memory.New(), durable} }

// Scope returns the part of the store that belongs to owner.
func (b contentInMemory) Scope(owner string) precis.Store {
	out := contentInMemory{b.Store.Scope(owner).(*memory.Store), b.durable}
	if s, ok := b.durable.(store.Scoper); ok {
		out.durable = s.Scope(owner)
	}
	return out
}

// Scopes returns the owners with data in the store, sorted.
func (b contentInMemory) Scopes(ctx context.Context) ([]string, error) {
	out, err := b.Store.Scopes(ctx)
	if err != nil {
		return nil, err
	}
	if s, ok := b.durable.(store.Scoper); ok {
		more, err := s.Scopes(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// SaveCalibration replaces the stored state of a model.
func (b contentInMemory) SaveCalibration(ctx context.Context, model string, state []byte) error {
	if s, ok := b.durable.(precis.CalibrationStore); ok {
		return s.SaveCalibration(ctx, model, state)
	}
	return nil
}

// LoadCalibrations returns the stored state of all models.
func (b contentInMemory) LoadCalibrations(ctx context.Context) (map[string][]byte, error) {
	if s, ok := b.durable.(precis.CalibrationStore); ok {
		return s.LoadCalibrations(ctx)
	}
	return nil, nil
}

// SaveWindows replaces states by key.
func (b contentInMemory) SaveWindows(ctx context.Context, states map[string][]byte) error {
	if s, ok := b.durable.(store.Windows); ok {
		return s.SaveWindows(ctx, states)
	}
	return nil
}

// LoadWindows returns all states by key.
func (b contentInMemory) LoadWindows(ctx context.Context) (map[string][]byte, error) {
	if s, ok := b.durable.(store.Windows); ok {
		return s.LoadWindows(ctx)
	}
	return nil, nil
}

// Book adds an entry to the ledger.
func (b contentInMemory) Book(ctx context.Context, e precis.LedgerEntry) error {
	if s, ok := b.durable.(precis.Ledger); ok {
		return s.Book(ctx, e)
	}
	return nil
}

// BookAll adds entries to the ledgers of their owners.
func (b contentInMemory) BookAll(ctx context.Context, entries []store.OwnedEntry) error {
	_, err := store.BookAll(ctx, b.durable, entries)
	return err
}

// Check returns an error when the durable store is lost.
func (b contentInMemory) Check(ctx context.Context) error {
	if s, ok := b.durable.(store.Checker); ok {
		return s.Check(ctx)
	}
	return nil
}

// Entries returns the ledger entries of a conversation.
func (b contentInMemory) Entries(ctx context.Context, conversation string,
	since time.Time) ([]precis.LedgerEntry, error) {
	if s, ok := b.durable.(precis.Ledger); ok {
		return s.Entries(ctx, conversation, since)
	}
	return nil, nil
}

// Spent returns the cost of condensing for all owners.
func (b contentInMemory) Spent(ctx context.Context, since time.Time) (float64, error) {
	if s, ok := b.durable.(store.Spender); ok {
		return s.Spent(ctx, since)
	}
	return b.Store.Spent(ctx, since)
}

// SumsByDay returns the sums of the entries by day.
func (b contentInMemory) SumsByDay(ctx context.Context, conversation string,
	since time.Time) ([]store.DaySums, error) {
	if s, ok := b.durable.(store.Summer); ok {
		return s.SumsByDay(ctx, conversation, since)
	}
	return nil, nil
}

// SumsByConversation returns the sums of the entries by conversation.
func (b contentInMemory) SumsByConversation(ctx context.Context, conversation string, since time.Time,
	most int) (sums []store.ConversationSums, all int, err error) {
	if s, ok := b.durable.(store.Summer); ok {
		return s.SumsByConversation(ctx, conversation, since, most)
	}
	return nil, 0, nil
}

// Lease takes a lease.
func (b contentInMemory) Lease(ctx context.Context, name, holder string,
	ttl time.Duration) (release func(), ok bool, err error) {
	if s, has := b.durable.(store.Leaser); has {
		return s.Lease(ctx, name, holder, ttl)
	}
	return b.Store.Lease(ctx, name, holder, ttl)
}

// Close releases both stores.
func (b contentInMemory) Close() error {
	_ = b.Store.Close() // no data can be lost
	return b.durable.Close()
}
