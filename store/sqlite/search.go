package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/precis-dev/precis/internal/words"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/internal/form"
	"github.com/precis-dev/precis/store/internal/hits"
)

// Search returns hits, the best first. Before that it updates the index, as far as the disk and
// concurrent appends leave room for it.
func (s finder) Search(ctx context.Context, q store.SearchQuery) ([]store.Hit, error) {
	const op = "search"
	list := hits.List{Query: words.NewQuery(q.Text, q.Exact)}
	if list.Query.Empty() {
		return nil, s.view(ctx, op, func(call) error { return nil })
	}
	s.indexer.CatchUp(ctx)
	err := s.view(ctx, op, func(tx call) error {
		if q.Conversation != "" {
			return searchOne(ctx, tx, &list, q.Conversation)
		}
		return list.Collect(source{ctx: ctx, tx: tx}, q.Limit)
	})
	if err != nil {
		return nil, err
	}
	return list.Best(q.Limit), nil
}

// match returns the FTS5 query for bodies that contain a word of each clause. Words consist of
// letters, digits and marks, so they need no escaping.
func match(clauses [][]string, owner int64) string {
	var b strings.Builder
	b.WriteString(`"` + words.Owner(owner) + `"`)
	for _, c := range clauses {
		b.WriteString(` AND ("` + strings.Join(c, `" OR "`) + `")`)
	}
	return b.String()
}

// searchOne searches the messages of one conversation.
func searchOne(ctx context.Context, tx call, list *hits.List, id string) error {
	var p place
	err := tx.QueryRowContext(ctx,
		`SELECT n.branch, n.depth FROM catalog c JOIN nodes n ON n.owner = c.owner AND n.fingerprint = c.head
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
		WHERE n.body IN (SELECT rowid FROM search WHERE search MATCH ?)`, p.branch, p.depth,
		match(list.Query.Widest().Clauses, tx.owner))
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

// source is a scope in a transaction.
type source struct {
	ctx context.Context
	tx  call
}

func (s source) Candidates(clauses [][]string, below int64) (out []hits.Candidate, err error) {
	err = eachRow(s.ctx, s.tx, func(rows *sql.Rows) error {
		var body int64
		var data sql.RawBytes
		if err := rows.Scan(&body, &data); err != nil {
			return err
		}
		out = append(out, hits.Candidate{Body: body, Text: form.Text(data)})
		return nil
	}, `SELECT b.id, b.data FROM search CROSS JOIN bodies b ON b.id = search.rowid AND b.owner = ?
		WHERE search MATCH ? AND search.rowid < ? ORDER BY search.rowid DESC LIMIT ?`, s.tx.owner,
		match(clauses, s.tx.owner), below, hits.BatchSize)
	return out, err
}
