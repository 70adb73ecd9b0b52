package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"precis"
)

// KeepSummary stores a text under key; one that is there already stays.
func (s *Store) KeepSummary(ctx context.Context, key precis.Fingerprint, text string) error {
	return s.update(ctx, "keep summary", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO summaries (key, text) VALUES (?, ?) ON CONFLICT DO NOTHING`, key[:], []byte(text))
		return err
	})
}

// Summary returns the text stored under key.
func (s *Store) Summary(ctx context.Context, key precis.Fingerprint) (string, error) {
	const op = "load summary"
	var text []byte
	err := s.view(ctx, op, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `SELECT text FROM summaries WHERE key = ?`, key[:]).Scan(&text)
		if errors.Is(err, sql.ErrNoRows) {
			return precis.Errorf(precis.CodeNotFound, op, "summary %s is unknown", key.Short())
		}
		return err
	})
	return string(text), err
}
