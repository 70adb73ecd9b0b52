package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/precis-dev/precis/store/internal/cut"
	"github.com/precis-dev/precis/store/internal/hits"
)

func (s source) Shelf() (*hits.Shelf, error) {
	f := &hits.Shelf{Parents: map[int64]cut.Place{}, Heads: map[string]cut.Place{}}
	err := eachRow(s.ctx, s.tx, func(rows *sql.Rows) error {
		var id int64
		var p cut.Place
		if err := rows.Scan(&id, &p.Branch, &p.Depth); err != nil {
			return err
		}
		f.Parents[id] = p
		return nil
	}, `SELECT id, parent, depth FROM branches WHERE owner = ? AND parent IS NOT NULL`, s.tx.owner)
	if err != nil {
		return nil, err
	}
	err = eachRow(s.ctx, s.tx, func(rows *sql.Rows) error {
		var id []byte
		var p cut.Place
		if err := rows.Scan(&id, &p.Branch, &p.Depth); err != nil {
			return err
		}
		f.Heads[string(id)] = p
		return nil
	}, `SELECT c.id, n.branch, n.depth FROM catalog c
		CROSS JOIN nodes n ON n.owner = c.owner AND n.fingerprint = c.head WHERE c.owner = ?`, s.tx.owner)
	return f, err
}

func (s source) Nodes(bodies []int64) ([]hits.Node, error) {
	list, err := json.Marshal(bodies)
	if err != nil {
		return nil, err
	}
	var out []hits.Node
	err = eachRow(s.ctx, s.tx, func(rows *sql.Rows) error {
		var n hits.Node
		if err := rows.Scan(&n.Branch, &n.Depth, &n.Body); err != nil {
			return err
		}
		out = append(out, n)
		return nil
	}, `SELECT n.branch, n.depth, n.body FROM json_each(?) j CROSS JOIN nodes n ON n.body = j.value`,
		string(list))
	return out, err
}

// eachRow calls f for each row of a query.
func eachRow(ctx context.Context, tx call, f func(*sql.Rows) error, query string, args ...any) error {
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
