package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"strings"

	"precis"
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
	list := hits.List{Query: words.NewQuery(q.Text)}
	if len(list.Query) == 0 {
		return nil, s.view(ctx, op, func(call) error { return nil })
	}
	for more := true; more; {
		var err error
		if more, err = s.indexSome(ctx); err != nil {
			return nil, err
		}
	}
	err := s.view(ctx, op, func(tx call) error {
		if q.Conversation != "" {
			return searchOne(ctx, tx, &list, q.Conversation)
		}
		return searchAll(ctx, tx, &list, hits.Limit(q.Limit))
	})
	if err != nil {
		return nil, err
	}
	return list.Best(q.Limit), nil
}

// match returns the query in the language of FTS5. Words hold nothing but
// letters, digits and marks.
func match(q words.Query, owner int64) string {
	return `"` + ownerWord(owner) + `" AND "` + strings.Join(q.Indexed(), `" AND "`) + `"`
}

// searchOne looks at the messages of one conversation.
func searchOne(ctx context.Context, tx call, list *hits.List, id string) error {
	var p place
	err := tx.QueryRowContext(ctx, `SELECT n.branch, n.depth FROM catalog c JOIN nodes n ON n.owner = c.owner AND n.fingerprint = c.head
		WHERE c.owner = ? AND c.id = ?`, tx.owner, []byte(id)).Scan(&p.branch, &p.depth)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, path+`SELECT n.depth, b.data FROM path
		CROSS JOIN nodes n ON n.branch = path.branch AND n.depth <= path.depth
		CROSS JOIN bodies b ON b.id = n.body
		WHERE n.body IN (SELECT rowid FROM search WHERE search MATCH ?)`, p.branch, p.depth, match(list.Query, tx.owner))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var depth int
		var data sql.RawBytes
		if err := rows.Scan(&depth, &data); err != nil {
			return err
		}
		list.Add(textOf(data), hits.Place{Conversation: id, Message: depth - 1})
	}
	return rows.Err()
}

// searchAll looks at the newest messages that the index finds.
func searchAll(ctx context.Context, tx call, list *hits.List, limit int) error {
	below := int64(math.MaxInt64)
	var shown *hits.Shelf
	for range maxBatches {
		found, err := candidates(ctx, tx, match(list.Query, tx.owner), below)
		if err != nil || len(found) == 0 {
			return err
		}
		if shown == nil {
			if shown, err = shelf(ctx, tx); err != nil {
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

func candidates(ctx context.Context, tx call, match string, below int64) ([]candidate, error) {
	rows, err := tx.QueryContext(ctx, `SELECT b.id, b.data FROM search CROSS JOIN bodies b ON b.id = search.rowid AND b.owner = ?
		WHERE search MATCH ? AND search.rowid < ? ORDER BY search.rowid DESC LIMIT ?`, tx.owner, match, below, batchSize)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []candidate
	for rows.Next() {
		var c candidate
		if err := rows.Scan(&c.id, &c.data); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}
