package postgres

import (
	"context"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"

	"precis"
	"precis/store/internal/cut"
	"precis/store/internal/hits"
	"precis/store/internal/words"
)

// candidates are asked for in batches until there are enough hits: most of what
// the index finds is shown in some conversation.
const (
	batchSize  = 200
	maxBatches = 5
)

// Search returns hits, the best first, after the index was brought up to date.
func (s *Store) Search(ctx context.Context, q precis.SearchQuery) ([]precis.SearchHit, error) {
	const op = "search"
	owner, err := s.ownerID(ctx, op)
	if err != nil {
		return nil, err
	}
	list := &hits.List{Query: words.NewQuery(q.Text)}
	if len(list.Query) == 0 {
		return nil, s.do(ctx, op, func() error { return nil })
	}
	for more := true; more; {
		if more, err = s.indexSome(ctx); err != nil {
			return nil, err
		}
	}
	// One state of the database for all statements: a purge must not come between.
	err = s.do(ctx, op, func() error {
		list = &hits.List{Query: list.Query}
		o := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
		return pgx.BeginTxFunc(ctx, s.pool, o, func(tx pgx.Tx) error {
			if q.Conversation != "" {
				return searchOne(ctx, tx, list, owner, q.Conversation)
			}
			return searchAll(ctx, tx, list, owner, hits.Limit(q.Limit))
		})
	})
	if err != nil {
		return nil, err
	}
	return list.Best(q.Limit), nil
}

// match returns the query in the language of tsquery. Words hold nothing but
// letters, digits and marks.
func match(q words.Query, owner int64) string {
	return `'` + ownerWord(owner) + `' & '` + strings.Join(q.Indexed(), `' & '`) + `'`
}

// searchOne looks at the messages of one conversation.
func searchOne(ctx context.Context, tx pgx.Tx, list *hits.List, owner int64, id string) error {
	rows, err := tx.Query(ctx, `WITH RECURSIVE path (branch, depth) AS (
			SELECT n.branch, n.depth FROM catalog c JOIN nodes n ON n.owner = c.owner AND n.fingerprint = c.head WHERE c.owner = $1 AND c.id = $2
			UNION ALL
			SELECT b.parent, b.depth FROM path JOIN branches b ON b.id = path.branch WHERE b.parent IS NOT NULL
		) SELECT n.depth, b.data FROM path
		JOIN nodes n ON n.branch = path.branch AND n.depth <= path.depth
		JOIN bodies b ON b.id = n.body
		JOIN search s ON s.body = b.id WHERE s.words @@ $3::tsquery`, owner, []byte(id), match(list.Query, owner))
	if err != nil {
		return err
	}
	var depth int
	var data []byte
	_, err = pgx.ForEachRow(rows, []any{&depth, &data}, func() error {
		list.Add(textOf(data), hits.Place{Conversation: id, Message: depth - 1})
		return nil
	})
	return err
}

// searchAll looks at the newest messages that the index finds.
func searchAll(ctx context.Context, tx pgx.Tx, list *hits.List, owner int64, limit int) error {
	below := int64(math.MaxInt64)
	var shown *hits.Shelf
	for range maxBatches {
		found, err := candidates(ctx, tx, match(list.Query, owner), owner, below)
		if err != nil || len(found) == 0 {
			return err
		}
		if shown == nil {
			if shown, err = shelf(ctx, tx, owner); err != nil {
				return err
			}
		}
		nodes, err := nodesOf(ctx, tx, found)
		if err != nil {
			return err
		}
		places := shown.Places(nodes)
		for _, c := range found {
			list.Add(textOf(c.data), places[c.id]...)
		}
		if below = found[len(found)-1].id; list.Len() >= limit || len(found) < batchSize {
			return nil
		}
	}
	return nil
}

// candidate is a body that the index has found.
type candidate struct {
	id   int64
	data []byte
}

func candidates(ctx context.Context, tx pgx.Tx, match string, owner, below int64) ([]candidate, error) {
	rows, err := tx.Query(ctx, `SELECT b.id, b.data FROM search s JOIN bodies b ON b.id = s.body
		WHERE s.words @@ $1::tsquery AND b.owner = $2 AND s.body < $3 ORDER BY s.body DESC LIMIT $4`, match, owner, below, batchSize)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (c candidate, err error) {
		return c, row.Scan(&c.id, &c.data)
	})
}

// nodesOf returns all nodes that show one of the bodies.
func nodesOf(ctx context.Context, tx pgx.Tx, found []candidate) ([]hits.Node, error) {
	ids := make([]int64, len(found))
	for i, c := range found {
		ids[i] = c.id
	}
	rows, err := tx.Query(ctx, `SELECT branch, depth, body FROM nodes WHERE body = ANY ($1)`, ids)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (n hits.Node, err error) {
		return n, row.Scan(&n.Branch, &n.Depth, &n.Body)
	})
}

// shelf returns the branches of the scope and the heads of its conversations.
func shelf(ctx context.Context, tx pgx.Tx, owner int64) (*hits.Shelf, error) {
	f := &hits.Shelf{Parents: map[int64]cut.Place{}, Heads: map[string]cut.Place{}}
	rows, err := tx.Query(ctx, `SELECT id, parent, depth FROM branches WHERE owner = $1 AND parent IS NOT NULL`, owner)
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
	rows, err = tx.Query(ctx, `SELECT c.id, n.branch, n.depth FROM catalog c
		JOIN nodes n ON n.owner = c.owner AND n.fingerprint = c.head WHERE c.owner = $1`, owner)
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
