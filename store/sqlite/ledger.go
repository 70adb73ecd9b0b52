package sqlite

import (
	"context"
	"encoding/json"
	"time"

	"precis"
)

// SaveCalibration replaces the stored state of a model.
func (s *Store) SaveCalibration(ctx context.Context, model string, state []byte) error {
	return s.update(ctx, "save calibration", func(tx call) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO calibrations (model, state) VALUES (?, ?)
			ON CONFLICT (model) DO UPDATE SET state = excluded.state`, model, append([]byte{}, state...))
		return err
	})
}

// LoadCalibrations returns the stored state of all models.
func (s *Store) LoadCalibrations(ctx context.Context) (map[string][]byte, error) {
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
func (s *Store) Book(ctx context.Context, e precis.LedgerEntry) error {
	const op = "book entry"
	data, err := json.Marshal(e)
	if err != nil {
		return precis.Errorf(precis.CodeInvalid, op, "%w", err)
	}
	return s.update(ctx, op, func(tx call) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO ledger (owner, conversation, seconds, nanos, data) VALUES (?, ?, ?, ?, ?)`,
			tx.owner, e.Conversation, e.Time.Unix(), e.Time.Nanosecond(), data)
		return err
	})
}

// Entries returns the entries of a conversation, or of all for "", made at or
// after since, oldest first; entries of the same time in the order of booking.
func (s *Store) Entries(ctx context.Context, conversation string, since time.Time) ([]precis.LedgerEntry, error) {
	where, args := `(seconds, nanos) >= (?, ?)`, []any{since.Unix(), since.Nanosecond()}
	if conversation != "" {
		where, args = `conversation = ? AND `+where, append([]any{conversation}, args...)
	}
	var entries []precis.LedgerEntry
	err := s.view(ctx, "read ledger", func(tx call) (err error) {
		entries, err = list[precis.LedgerEntry](ctx, tx, `SELECT data FROM ledger WHERE owner = ? AND `+where+` ORDER BY seconds, nanos, id`,
			append([]any{tx.owner}, args...)...)
		return err
	})
	return entries, err
}
