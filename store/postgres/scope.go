package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/precis-dev/precis"
)

// noOwner is the ID of an owner without stored data.
const noOwner = -1

// Scope returns the part of the store that belongs to owner. The scope of a scope is a scope of the
// store.
func (s *Store) Scope(owner string) precis.Store {
	return newStore(s.database, owner)
}

// ownerID returns the ID of the scope's owner, for a call that reads.
func (s *part) ownerID(ctx context.Context, op string) (int64, error) {
	if s.owner == "" {
		return 0, nil
	}
	if id, ok := s.owners.Load(s.owner); ok {
		return id.(int64), nil
	}
	id := int64(noOwner)
	err := s.do(ctx, op, func() error {
		err := s.pool.QueryRow(ctx, `SELECT id FROM owners WHERE name = $1`, []byte(s.owner)).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	if err == nil && id != noOwner {
		s.owners.Store(s.owner, id)
	}
	return id, err
}

// ownID returns the ID of the scope's owner, for a call that writes.
func (s *part) ownID(ctx context.Context, op string) (int64, error) {
	id, err := s.ownerID(ctx, op)
	if err != nil || id != noOwner {
		return id, err
	}
	if err := s.exec(ctx, op, `INSERT INTO owners (name) VALUES ($1) ON CONFLICT DO NOTHING`,
		[]byte(s.owner)); err != nil {
		return noOwner, err
	}
	return s.ownerID(ctx, op)
}

// Scopes returns the owners with data in the store, sorted.
func (s *Store) Scopes(ctx context.Context) ([]string, error) {
	var owners []string
	err := s.do(ctx, "list scopes", func() error {
		rows, err := s.pool.Query(ctx, `SELECT name FROM owners o
			WHERE EXISTS (SELECT 1 FROM branches WHERE owner = o.id) OR EXISTS (SELECT 1 FROM catalog WHERE owner = o.id)
			OR EXISTS (SELECT 1 FROM ledger WHERE owner = o.id) OR EXISTS (SELECT 1 FROM summaries WHERE owner = o.id)
			ORDER BY name`)
		if err != nil {
			return err
		}
		owners, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
			var name []byte
			err := row.Scan(&name)
			return string(name), err
		})
		return err
	})
	return owners, err
}

// Deepest returns the index of the last of nodes that the store knows, -1 if it knows none. The
// empty conversation is always known.
func (s *Store) Deepest(ctx context.Context, nodes []precis.Fingerprint) (int, error) {
	const op = "find node"
	owner, err := s.ownerID(ctx, op)
	if err != nil {
		return -1, err
	}
	deepest := -1
	err = s.do(ctx, op, func() error {
		return s.pool.QueryRow(ctx, `SELECT coalesce(max(a.n), 0) - 1 FROM unnest($2::bytea[]) WITH ORDINALITY AS a (fingerprint, n)
			JOIN nodes ON nodes.owner = $1 AND nodes.fingerprint = a.fingerprint`, owner,
			keys(nodes)).Scan(&deepest)
	})
	if err != nil {
		return -1, err
	}
	for i := len(nodes) - 1; i > deepest; i-- {
		if nodes[i].IsZero() {
			return i, nil
		}
	}
	return deepest, nil
}

// keys returns nodes as one parameter.
func keys(nodes []precis.Fingerprint) [][]byte {
	out := make([][]byte, len(nodes))
	for i := range nodes {
		out[i] = nodes[i][:]
	}
	return out
}
