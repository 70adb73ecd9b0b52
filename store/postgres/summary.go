package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/precis-dev/precis"
)

// KeepSummary stores a text under key; one that is there already stays.
func (s *Store) KeepSummary(ctx context.Context, key precis.Fingerprint, text string) error {
	const op = "keep summary"
	owner, err := s.ownID(ctx, op)
	if err != nil {
		return err
	}
	return s.exec(ctx, op, `INSERT INTO summaries (owner, key, text) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, owner, key[:], []byte(text))
}

// Summary returns the text stored under key.
func (s *Store) Summary(ctx context.Context, key precis.Fingerprint) (string, error) {
	const op = "load summary"
	owner, err := s.ownerID(ctx, op)
	if err != nil {
		return "", err
	}
	var text []byte
	err = s.do(ctx, op, func() error {
		err := s.pool.QueryRow(ctx, `SELECT text FROM summaries WHERE owner = $1 AND key = $2`, owner,
			key[:]).Scan(&text)
		if errors.Is(err, pgx.ErrNoRows) {
			return precis.Errorf(precis.CodeNotFound, op, "summary %s is unknown", key.Short())
		}
		return err
	})
	return string(text), err
}
