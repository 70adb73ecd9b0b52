package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"

	"precis/store/internal/cut"
	"precis/store/internal/hits"
)

// shelf returns the branches of the scope and the heads of its conversations.
func shelf(ctx context.Context, tx call) (*hits.Shelf, error) {
	f := &hits.Shelf{Parents: map[int64]cut.Place{}, Heads: map[string]cut.Place{}}
	err := each(ctx, tx, func(rows *sql.Rows) error {
		var id int64
		var p cut.Place
		if err := rows.Scan(&id, &p.Branch, &p.Depth); err != nil {
			return err
		}
		f.Parents[id] = p
		return nil
	}, `SELECT id, parent, depth FROM branches WHERE owner = ? AND parent IS NOT NULL`, tx.owner)
	if err != nil {
		return nil, err
	}
	err = each(ctx, tx, func(rows *sql.Rows) error {
		var id []byte
		var p cut.Place
		if err := rows.Scan(&id, &p.Branch, &p.Depth); err != nil {
			return err
		}
		f.Heads[string(id)] = p
		return nil
	}, `SELECT c.id, n.branch, n.depth FROM catalog c
		CROSS JOIN nodes n ON n.owner = c.owner AND n.fingerprint = c.head WHERE c.owner = ?`, tx.owner)
	return f, err
}

// nodesOf returns all nodes that show one of the bodies.
func nodesOf(ctx context.Context, tx call, found []candidate) ([]hits.Node, error) {
	ids := make([]int64, len(found))
	for i, c := range found {
		ids[i] = c.id
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	var out []hits.Node
	err = each(ctx, tx, func(rows *sql.Rows) error {
		var n hits.Node
		if err := rows.Scan(&n.Branch, &n.Depth, &n.Body); err != nil {
			return err
		}
		out = append(out, n)
		return nil
	}, `SELECT n.branch, n.depth, n.body FROM json_each(?) j CROSS JOIN nodes n ON n.body = j.value`, string(list))
	return out, err
}

// each calls f for each row of a query.
func each(ctx context.Context, tx call, f func(*sql.Rows) error, query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
