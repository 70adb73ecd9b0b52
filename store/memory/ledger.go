package memory

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/internal/form"
)

// SaveCalibration replaces the stored state of a model.
func (s books) SaveCalibration(ctx context.Context, model string, state []byte) error {
	done, err := s.begin(ctx, "save calibration")
	defer done()
	if err != nil {
		return err
	}
	s.calibrations[model] = bytes.Clone(state)
	return nil
}

// LoadCalibrations returns the stored state of all models.
func (s books) LoadCalibrations(ctx context.Context) (map[string][]byte, error) {
	done, err := s.begin(ctx, "load calibrations")
	defer done()
	if err != nil {
		return nil, err
	}
	all := maps.Clone(s.calibrations)
	for model, state := range all {
		all[model] = bytes.Clone(state)
	}
	return all, nil
}

// Book adds an entry to the ledger. The error is [precis.CodeInvalid] when it has no JSON form.
func (s books) Book(ctx context.Context, e precis.LedgerEntry) error {
	return s.BookAll(ctx, []store.OwnedEntry{{Owner: s.owner, LedgerEntry: e}})
}

// BookAll adds entries to the ledgers of their owners, see [store.Booker].
func (s books) BookAll(ctx context.Context, entries []store.OwnedEntry) error {
	const op = "book entries"
	stored := make([]precis.LedgerEntry, len(entries))
	for i, e := range entries {
		data, err := form.Entry(op, e.LedgerEntry)
		if err != nil {
			return err
		}
		if stored[i], err = form.Read[precis.LedgerEntry](data); err != nil {
			return precis.Errorf(precis.CodeInvalid, op, "%w", err)
		}
	}
	done, err := s.begin(ctx, op)
	defer done()
	if err != nil {
		return err
	}
	for i, e := range entries {
		s.of(e.Owner).book(stored[i])
	}
	return nil
}

// book inserts an entry after all entries that are not newer.
func (d *data) book(e precis.LedgerEntry) {
	i, _ := slices.BinarySearchFunc(d.ledger, e.Time, func(x precis.LedgerEntry, at time.Time) int {
		if x.Time.After(at) {
			return 1
		}
		return -1
	})
	d.ledger = slices.Insert(d.ledger, i, e)
}

// Entries returns the entries of a conversation, or of all for "", made at or
// after since, oldest first; entries of the same time in the order of booking.
func (s books) Entries(ctx context.Context, conversation string,
	since time.Time) ([]precis.LedgerEntry, error) {
	done, err := s.begin(ctx, "read ledger")
	defer done()
	if err != nil {
		return nil, err
	}
	var found []precis.LedgerEntry
	for _, e := range s.mine().ledger {
		if (conversation == "" || e.Conversation == conversation) && !e.Time.Before(since) {
			found = append(found, e)
		}
	}
	return found, nil
}

// Spent returns the cost of all owners' entries made at or after since, except requests.
func (s books) Spent(ctx context.Context, since time.Time) (float64, error) {
	done, err := s.begin(ctx, "sum up ledger")
	defer done()
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, d := range s.scopes {
		for _, e := range slices.Backward(d.ledger) {
			if e.Time.Before(since) {
				break
			}
			sum += form.Cost(e)
		}
	}
	return sum, nil
}
