package sqlite

import "context"

// SaveWindows replaces states by key; nil removes one.
func (s books) SaveWindows(ctx context.Context, states map[string][]byte) error {
	return s.update(ctx, "save windows", func(tx call) error {
		for key, state := range states {
			query, args := `DELETE FROM windows WHERE key = ?`, []any{[]byte(key)}
			if state != nil {
				query, args = `INSERT INTO windows (key, state) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET state = excluded.state`, append(args, state)
			}
			if _, err := tx.ExecContext(ctx, query, args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// LoadWindows returns all states by key.
func (s books) LoadWindows(ctx context.Context) (map[string][]byte, error) {
	all := map[string][]byte{}
	err := s.view(ctx, "load windows", func(tx call) error {
		rows, err := tx.QueryContext(ctx, `SELECT key, state FROM windows`)
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
