package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"precis"
)

// KeepSummary stores a text under key; one that is there already stays.
func (s *Store) KeepSummary(ctx context.Context, key precis.Fingerprint, text string) error {
	return s.exec(ctx, "keep summary", `INSERT INTO summaries (key, text) VALUES ($1, $2) ON CONFLICT DO NOTHING`, key[:], []byte(text))
}

// Summary returns the text stored under key.
func (s *Store) Summary(ctx context.Context, key precis.Fingerprint) (string, error) {
	const op = "load summary"
	var text []byte
	err := s.do(ctx, op, func() error {
		err := s.pool.QueryRow(ctx, `SELECT text FROM summaries WHERE key = $1`, key[:]).Scan(&text)
		if errors.Is(err, pgx.ErrNoRows) {
			return precis.Errorf(precis.CodeNotFound, op, "summary %s is unknown", key.Short())
		}
		return err
	})
	return string(text), err
}
