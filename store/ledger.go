package store

import (
	"context"
	"time"

	"github.com/precis-dev/precis"
)

// Spender is a [precis.Ledger] that sums up the cost of condensing, for daily spending limits.
type Spender interface {
	// Spent returns the cost in US dollars of all owners' entries made at or after since, in any
	// scope. Entries of the kind "request" do not count.
	Spent(ctx context.Context, since time.Time) (float64, error)
}

// Booker is a [precis.Ledger] that books many entries at once, for little more than the cost of
// one.
type Booker interface {
	// BookAll adds entries, each to the ledger of its owner, in any scope: all of them or none. One
	// owner's entries are booked in the given order. The error is [precis.CodeInvalid] when an
	// entry has no stored form.
	BookAll(ctx context.Context, entries []OwnedEntry) error
}

// OwnedEntry is an entry of the ledger of an owner.
type OwnedEntry struct {
	Owner string
	precis.LedgerEntry
}

// BookAll adds entries to the ledgers of their owners: at once if st is a [Booker], else one by
// one. Booked is the number of leading entries that were added.
func BookAll(ctx context.Context, st precis.Store, entries []OwnedEntry) (booked int, err error) {
	if b, ok := st.(Booker); ok {
		if err := b.BookAll(ctx, entries); err != nil {
			return 0, err
		}
		return len(entries), nil
	}
	for i, e := range entries {
		own := st
		if s, ok := st.(Scoper); ok {
			own = s.Scope(e.Owner)
		}
		if l, ok := own.(precis.Ledger); ok {
			if err := l.Book(ctx, e.LedgerEntry); err != nil {
				return i, err
			}
		}
	}
	return len(entries), nil
}
