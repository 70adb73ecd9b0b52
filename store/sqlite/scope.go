package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"

	"github.com/precis-dev/precis"
)

// noOwner is the ID of an owner without stored data.
const noOwner = -1

// Scope returns the part of the store that belongs to owner. The scope of a scope is a scope of the
// store.
func (s *Store) Scope(owner string) precis.Store {
	return newStore(s.file, owner)
}

// ownerOf returns the ID of an owner. For a write it creates a missing ID, in the same transaction.
func (s *file) ownerOf(ctx context.Context, tx *sql.Tx, name string, writes bool) (int64, error) {
	if name == "" {
		return 0, nil
	}
	if id, ok := s.owners.Load(name); ok {
		return id.(int64), nil
	}
	if writes {
		if _, err := tx.ExecContext(ctx, `INSERT INTO owners (name) VALUES (?) ON CONFLICT DO NOTHING`,
			[]byte(name)); err != nil {
			return noOwner, err
		}
	}
	var id int64
	err := tx.QueryRowContext(ctx, `SELECT id FROM owners WHERE name = ?`, []byte(name)).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return noOwner, nil
	}
	return id, err
}

// Scopes returns the owners with data in the store, sorted.
func (s *Store) Scopes(ctx context.Context) ([]string, error) {
	var owners []string
	err := s.view(ctx, "list scopes", func(tx call) error {
		rows, err := tx.QueryContext(ctx, `SELECT name FROM owners o
			WHERE EXISTS (SELECT 1 FROM bodies WHERE owner = o.id) OR EXISTS (SELECT 1 FROM catalog WHERE owner = o.id)
			OR EXISTS (SELECT 1 FROM ledger WHERE owner = o.id) OR EXISTS (SELECT 1 FROM summaries WHERE owner = o.id)
			ORDER BY name`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name []byte
			if err := rows.Scan(&name); err != nil {
				return err
			}
			owners = append(owners, string(name))
		}
		return rows.Err()
	})
	return owners, err
}

// Deepest returns the index of the last of nodes that the store knows, -1 if it knows none. The
// empty conversation is always known.
func (s *Store) Deepest(ctx context.Context, nodes []precis.Fingerprint) (int, error) {
	deepest := -1
	err := s.view(ctx, "find node", func(tx call) error {
		return tx.QueryRowContext(ctx, `SELECT coalesce(max(j.key), -1) FROM json_each(?) j
			CROSS JOIN nodes n ON n.owner = ? AND n.fingerprint = unhex(j.value)`, keys(nodes),
			tx.owner).Scan(&deepest)
	})
	if err != nil {
		return -1, err
	}
	for i, f := range slices.Backward(nodes) {
		if f.IsZero() {
			return max(deepest, i), nil
		}
	}
	return deepest, nil
}

// keys returns nodes as one parameter: a JSON array of hexadecimal texts.
func keys(nodes []precis.Fingerprint) string {
	data, _ := json.Marshal(append([]precis.Fingerprint{}, nodes...)) // fingerprints have a text form
	return string(data)
}
