package postgres

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
)

// SaveWindows replaces states by key; nil removes one.
func (s books) SaveWindows(ctx context.Context, states map[string][]byte) error {
	const op = "save windows"
	var keys, values, gone [][]byte
	for _, key := range slices.Sorted(maps.Keys(states)) { // replicas lock rows in the same order
		if state := states[key]; state != nil {
			keys, values = append(keys, []byte(key)), append(values, state)
		} else {
			gone = append(gone, []byte(key))
		}
	}
	return s.update(ctx, op, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM windows WHERE key = ANY($1::bytea[])`, gone); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO windows (key, state) SELECT * FROM unnest($1::bytea[], $2::bytea[])
			ON CONFLICT (key) DO UPDATE SET state = excluded.state`, keys, values)
		return err
	})
}

// LoadWindows returns all states by key.
func (s books) LoadWindows(ctx context.Context) (map[string][]byte, error) {
	var all map[string][]byte
	err := s.do(ctx, "load windows", func() error {
		all = map[string][]byte{}
		rows, err := s.pool.Query(ctx, `SELECT key, state FROM windows`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var key, state []byte
			if err := rows.Scan(&key, &state); err != nil {
				return err
			}
			all[string(key)] = state
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
