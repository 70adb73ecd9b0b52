package sqlite

import (
	"context"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/internal/form"
)

// SaveCalibration replaces the stored state of a model.
func (s books) SaveCalibration(ctx context.Context, model string, state []byte) error {
	return s.update(ctx, "save calibration", func(tx call) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO calibrations (model, state) VALUES (?, ?)
			ON CONFLICT (model) DO UPDATE SET state = excluded.state`, model, append([]byte{}, state...))
		return err
	})
}

// LoadCalibrations returns the stored state of all models.
func (s books) LoadCalibrations(ctx context.Context) (map[string][]byte, error) {
	all := map[string][]byte{}
	err := s.view(ctx, "load calibrations", func(tx call) error {
		rows, err := tx.QueryContext(ctx, `SELECT model, state FROM calibrations`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var model string
			var state []byte
			if err := rows.Scan(&model, &state); err != nil {
				return err
			}
			all[model] = state
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Book adds an entry to the ledger. The error is [precis.CodeInvalid] when it
// has no JSON form.
func (s books) Book(ctx context.Context, e precis.LedgerEntry) error {
	return s.BookAll(ctx, []store.OwnedEntry{{Owner: s.owner, LedgerEntry: e}})
}

// BookAll adds entries to the ledgers of their owners, see [store.Booker].
func (s books) BookAll(ctx context.Context, entries []store.OwnedEntry) error {
	const op = "book entries"
	data := make([][]byte, len(entries))
	for i, e := range entries {
		var err error
		if data[i], err = form.Entry(op, e.LedgerEntry); err != nil {
			return err
		}
	}
	return s.shared().update(ctx, op, func(tx call) error {
		add, err := tx.PrepareContext(ctx,
			`INSERT INTO ledger (owner, conversation, seconds, nanos, cost, data, day, `+form.SumColumns+`)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
		if err != nil {
			return err
		}
		defer add.Close()
		for i, e := range entries {
			owner, err := s.ownerOf(ctx, tx.Tx, e.Owner, true)
			if err != nil {
				return err
			}
			sums := form.SumsOf(e.LedgerEntry)
			if _, err := add.ExecContext(ctx, owner, e.Conversation, e.Time.Unix(), e.Time.Nanosecond(),
				sums.Condensing, data[i], form.Day(e.Time),
				sums.Requests, sums.Usage.Input, sums.Usage.Output, sums.Usage.CacheRead,
				sums.Usage.CacheWrite, sums.CostUSD, sums.Sent, sums.Saved, sums.Edits,
				sums.SavedUSD); err != nil {
				return err
			}
		}
		return nil
	})
}

// Entries returns the entries of a conversation, or of all for "", made at or
// after since, oldest first; entries of the same time in the order of booking.
func (s books) Entries(ctx context.Context, conversation string,
	since time.Time) ([]precis.LedgerEntry, error) {
	where, args := `(seconds, nanos) >= (?, ?)`, []any{since.Unix(), since.Nanosecond()}
	if conversation != "" {
		where, args = `conversation = ? AND `+where, append([]any{conversation}, args...)
	}
	var entries []precis.LedgerEntry
	err := s.view(ctx, "read ledger", func(tx call) (err error) {
		entries, err = list[precis.LedgerEntry](ctx, tx,
			`SELECT data FROM ledger WHERE owner = ? AND `+where+` ORDER BY seconds, nanos, id`,
			append([]any{tx.owner}, args...)...)
		return err
	})
	return entries, err
}

// Spent returns the cost of the entries of all owners made at or after since,
// requests left out.
func (s books) Spent(ctx context.Context, since time.Time) (sum float64, err error) {
	err = s.view(ctx, "sum up ledger", func(tx call) error {
		return tx.QueryRowContext(ctx,
			`SELECT coalesce(sum(cost), 0.0) FROM ledger WHERE cost <> 0 AND (seconds, nanos) >= (?, ?)`,
			since.Unix(), since.Nanosecond()).Scan(&sum)
	})
	return sum, err
}
