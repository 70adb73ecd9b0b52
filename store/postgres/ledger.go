package postgres

import (
	"context"
	"encoding/json"
	"time"

	"precis"
)

// SaveCalibration replaces the stored state of a model.
func (s *Store) SaveCalibration(ctx context.Context, model string, state []byte) error {
	return s.exec(ctx, "save calibration", `INSERT INTO calibrations (model, state) VALUES ($1, $2)
		ON CONFLICT (model) DO UPDATE SET state = excluded.state`, []byte(model), append([]byte{}, state...))
}

// LoadCalibrations returns the stored state of all models.
func (s *Store) LoadCalibrations(ctx context.Context) (map[string][]byte, error) {
	var all map[string][]byte
	err := s.do(ctx, "load calibrations", func() error {
		all = map[string][]byte{}
		rows, err := s.pool.Query(ctx, `SELECT model, state FROM calibrations`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var model, state []byte
			if err := rows.Scan(&model, &state); err != nil {
				return err
			}
			all[string(model)] = state
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
	owner, err := s.ownID(ctx, op)
	if err != nil {
		return err
	}
	return s.exec(ctx, op, `INSERT INTO ledger (owner, conversation, seconds, nanos, data) VALUES ($1, $2, $3, $4, $5)`,
		owner, []byte(e.Conversation), e.Time.Unix(), e.Time.Nanosecond(), data)
}

// Entries returns the entries of a conversation, or of all for "", made at or
// after since, oldest first; entries of the same time in the order of booking.
func (s *Store) Entries(ctx context.Context, conversation string, since time.Time) ([]precis.LedgerEntry, error) {
	const op = "read ledger"
	owner, err := s.ownerID(ctx, op)
	if err != nil {
		return nil, err
	}
	where, args := `owner = $1 AND (seconds, nanos) >= ($2, $3)`, []any{owner, since.Unix(), since.Nanosecond()}
	if conversation != "" {
		where, args = `conversation = $4 AND `+where, append(args, []byte(conversation))
	}
	return query[precis.LedgerEntry](ctx, s, op, `SELECT data FROM ledger WHERE `+where+` ORDER BY seconds, nanos, id`, args...)
}

// exec runs one statement.
func (s *database) exec(ctx context.Context, op, text string, args ...any) error {
	return s.do(ctx, op, func() error {
		_, err := s.pool.Exec(ctx, text, args...)
		return err
	})
}
