package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"precis/internal/words"
	"precis/store"
	"precis/store/internal/form"
	"precis/store/internal/hits"
)

// Search returns hits, the best first, after the index was brought up to date as
// far as the disk and those who append leave room for it.
func (s finder) Search(ctx context.Context, q store.SearchQuery) ([]store.Hit, error) {
	const op = "search"
	list := hits.List{Query: words.NewQuery(q.Text)}
	if len(list.Query) == 0 {
		return nil, s.view(ctx, op, func(call) error { return nil })
	}
	s.indexer.CatchUp(ctx)
	err := s.view(ctx, op, func(tx call) error {
		if q.Conversation != "" {
			return searchOne(ctx, tx, &list, q.Conversation)
		}
		return list.Collect(source{ctx: ctx, tx: tx, match: match(list.Query, tx.owner)}, q.Limit)
	})
	if err != nil {
		return nil, err
	}
	return list.Best(q.Limit), nil
}

// match returns the query in the language of FTS5. Words hold nothing but
// letters, digits and marks.
func match(q words.Query, owner int64) string {
	return `"` + words.Owner(owner) + `" AND "` + strings.Join(q.Indexed(), `" AND "`) + `"`
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
		list.Add(form.Text(data), hits.Place{Conversation: id, Message: depth - 1})
	}
	return rows.Err()
}

// source is a scope in a transaction, for a query in the language of FTS5.
type source struct {
	ctx   context.Context
	tx    call
	match string
}

func (s source) Candidates(below int64) (out []hits.Candidate, err error) {
	err = each(s.ctx, s.tx, func(rows *sql.Rows) error {
		var body int64
		var data sql.RawBytes
		if err := rows.Scan(&body, &data); err != nil {
			return err
		}
		out = append(out, hits.Candidate{Body: body, Text: form.Text(data)})
		return nil
	}, `SELECT b.id, b.data FROM search CROSS JOIN bodies b ON b.id = search.rowid AND b.owner = ?
		WHERE search MATCH ? AND search.rowid < ? ORDER BY search.rowid DESC LIMIT ?`, s.tx.owner, s.match, below, hits.BatchSize)
	return out, err
}
