package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/precis-dev/precis/internal/words"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/internal/cut"
	"github.com/precis-dev/precis/store/internal/form"
	"github.com/precis-dev/precis/store/internal/hits"
)

// Search returns hits, the best first. Before that it updates the index, as far as concurrent
// appends leave time for it.
func (s *Store) Search(ctx context.Context, q store.SearchQuery) ([]store.Hit, error) {
	const op = "search"
	owner, err := s.ownerID(ctx, op)
	if err != nil {
		return nil, err
	}
	list := &hits.List{Query: words.NewQuery(q.Text, q.Exact)}
	if list.Query.Empty() {
		return nil, s.do(ctx, op, func() error { return nil })
	}
	s.indexer.CatchUp(ctx)
	// One snapshot for all statements: a purge must not intervene.
	err = s.do(ctx, op, func() error {
		list = &hits.List{Query: list.Query}
		o := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
		return pgx.BeginTxFunc(ctx, s.pool, o, func(tx pgx.Tx) error {
			if q.Conversation != "" {
				return searchOne(ctx, tx, list, owner, q.Conversation)
			}
			return list.Collect(source{ctx: ctx, tx: tx, owner: owner}, q.Limit)
		})
	})
	if err != nil {
		return nil, err
	}
	return list.Best(q.Limit), nil
}

// match returns the tsquery for bodies that contain a word of each clause. Words consist of
// letters, digits and marks, so they need no quoting.
func match(clauses [][]string, owner int64) string {
	var b strings.Builder
	b.WriteString(`'` + words.Owner(owner) + `'`)
	for _, c := range clauses {
		b.WriteString(` & ('` + strings.Join(c, `' | '`) + `')`)
	}
	return b.String()
}

// searchOne searches the messages of one conversation.
func searchOne(ctx context.Context, tx pgx.Tx, list *hits.List, owner int64, id string) error {
	rows, err := tx.Query(ctx, `WITH RECURSIVE path (branch, depth) AS (
			SELECT n.branch, n.depth FROM catalog c JOIN nodes n ON n.owner = c.owner AND n.fingerprint = c.head WHERE c.owner = $1 AND c.id = $2
			UNION ALL
			SELECT b.parent, b.depth FROM path JOIN branches b ON b.id = path.branch WHERE b.parent IS NOT NULL
		) SELECT n.depth, b.data FROM path
		JOIN nodes n ON n.branch = path.branch AND n.depth <= path.depth
		JOIN bodies b ON b.id = n.body
		JOIN search s ON s.body = b.id WHERE s.words @@ $3::tsquery`, owner, []byte(id),
		match(list.Query.Widest().Clauses, owner))
	if err != nil {
		return err
	}
	var depth int
	var data []byte
	_, err = pgx.ForEachRow(rows, []any{&depth, &data}, func() error {
		list.Add(form.Text(data), hits.Place{Conversation: id, Message: depth - 1})
		return nil
	})
	return err
}

// source is a scope in a transaction.
type source struct {
	ctx   context.Context
	tx    pgx.Tx
	owner int64
}

func (s source) Candidates(clauses [][]string, below int64) ([]hits.Candidate, error) {
	rows, err := s.tx.Query(s.ctx, `SELECT b.id, b.data FROM search s JOIN bodies b ON b.id = s.body
		WHERE s.words @@ $1::tsquery AND b.owner = $2 AND s.body < $3 ORDER BY s.body DESC LIMIT $4`,
		match(clauses, s.owner), s.owner, below, hits.BatchSize)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (c hits.Candidate, err error) {
		var data pgtype.DriverBytes // decoded before the next row overwrites it
		err = row.Scan(&c.Body, &data)
		c.Text = form.Text(data)
		return c, err
	})
}

func (s source) Nodes(bodies []int64) ([]hits.Node, error) {
	rows, err := s.tx.Query(s.ctx, `SELECT branch, depth, body FROM nodes WHERE body = ANY ($1)`, bodies)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (n hits.Node, err error) {
		return n, row.Scan(&n.Branch, &n.Depth, &n.Body)
	})
}

func (s source) Shelf() (*hits.Shelf, error) {
	f := &hits.Shelf{Parents: map[int64]cut.Place{}, Heads: map[string]cut.Place{}}
	rows, err := s.tx.Query(s.ctx,
		`SELECT id, parent, depth FROM branches WHERE owner = $1 AND parent IS NOT NULL`, s.owner)
	if err != nil {
		return nil, err
	}
	var id int64
	var at cut.Place
	_, err = pgx.ForEachRow(rows, []any{&id, &at.Branch, &at.Depth}, func() error {
		f.Parents[id] = at
		return nil
	})
	if err != nil {
		return nil, err
	}
	rows, err = s.tx.Query(s.ctx, `SELECT c.id, n.branch, n.depth FROM catalog c
		JOIN nodes n ON n.owner = c.owner AND n.fingerprint = c.head WHERE c.owner = $1`, s.owner)
	if err != nil {
		return nil, err
	}
	var name []byte
	_, err = pgx.ForEachRow(rows, []any{&name, &at.Branch, &at.Depth}, func() error {
		f.Heads[string(name)] = at
		return nil
	})
	return f, err
}
