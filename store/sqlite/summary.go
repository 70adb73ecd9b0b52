package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/precis-dev/precis"
)

// KeepSummary stores a text under key; one that is there already stays.
func (s summaries) KeepSummary(ctx context.Context, key precis.Fingerprint, text string) error {
	return s.update(ctx, "keep summary", func(tx call) error {
		_, err := tx.ExecContext(ctx,
			`INSERT INTO summaries (owner, key, text, stored) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			tx.owner, key[:], []byte(text), time.Now().UnixMilli())
		return err
	})
}

// Summary returns the text stored under key.
func (s summaries) Summary(ctx context.Context, key precis.Fingerprint) (string, error) {
	const op = "load summary"
	var text []byte
	err := s.view(ctx, op, func(tx call) error {
		err := tx.QueryRowContext(ctx, `SELECT text FROM summaries WHERE owner = ? AND key = ?`, tx.owner,
			key[:]).Scan(&text)
		if errors.Is(err, sql.ErrNoRows) {
			return precis.Errorf(precis.CodeNotFound, op, "summary %s is unknown", key.Short())
		}
		return err
	})
	return string(text), err
}
