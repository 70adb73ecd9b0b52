package store

import (
	"context"
	"time"

	"precis"
)

// Spender is a [precis.Ledger] that sums up what condensing has cost, for limits
// on what may be spent in a day.
type Spender interface {
	// Spent returns the cost in US dollars of the entries of all owners made at or
	// after since, whichever scope is asked. Entries of the kind "request" do not
	// count.
	Spent(ctx context.Context, since time.Time) (float64, error)
}

// Booker is a [precis.Ledger] that books many entries at once, which costs little
// more than one.
type Booker interface {
	// BookAll adds entries, each to the ledger of its owner, whichever scope is
	// asked: all of them or none. Those of one owner are booked in the order in
	// which they are given. The error is [precis.CodeInvalid] when one has no stored
	// form.
	BookAll(ctx context.Context, entries []OwnedEntry) error
}

// OwnedEntry is an entry of the ledger of an owner.
type OwnedEntry struct {
	Owner string
	precis.LedgerEntry
}

// BookAll adds entries to the ledgers of their owners: at once where st is a
// [Booker], else one by one. Booked is how many of them, from the first on, were
// added.
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
