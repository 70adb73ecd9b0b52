package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/words"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/internal/form"
)

// PutConversation stores a record, in place of the one with the same ID. The error is
// [precis.CodeInvalid] for an empty ID and for a record without a JSON form.
func (s catalog) PutConversation(ctx context.Context, r store.Record) error {
	const op = "record conversation"
	data, err := form.Record(op, r)
	if err != nil {
		return err
	}
	return s.update(ctx, op, func(tx call) error {
		_, err := tx.ExecContext(ctx,
			`INSERT INTO catalog (owner, id, head, seconds, nanos, words, data) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (owner, id) DO UPDATE SET head = excluded.head, seconds = excluded.seconds, nanos = excluded.nanos,
				words = excluded.words, data = excluded.data`,
			tx.owner, []byte(r.ID), r.Head[:], r.Updated.Unix(), r.Updated.Nanosecond(), form.RecordWords(r),
			data)
		return err
	})
}

// Conversation returns the record with the ID.
func (s catalog) Conversation(ctx context.Context, id string) (store.Record, error) {
	const op = "load record"
	var found []store.Record
	err := s.view(ctx, op, func(tx call) (err error) {
		found, err = records(ctx, tx, `AND id = ?`, []byte(id))
		return err
	})
	if err == nil && len(found) == 0 {
		err = precis.Errorf(precis.CodeNotFound, op, "conversation %q is unknown", id)
	}
	if err != nil {
		return store.Record{}, err
	}
	return found[0], nil
}

// records returns the scope's records that satisfy the condition.
func records(ctx context.Context, tx call, condition string, args ...any) ([]store.Record, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, data FROM catalog WHERE owner = ? `+condition,
		append([]any{tx.owner}, args...)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []store.Record
	for rows.Next() {
		var id, data sql.RawBytes
		if err := rows.Scan(&id, &data); err != nil {
			return nil, err
		}
		r, err := form.ReadRecord(id, data)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// CountConversations returns the number of records, see [store.Census].
func (s catalog) CountConversations(ctx context.Context, except []string) (n int, err error) {
	ids := make([]any, len(except))
	for i, id := range except {
		ids[i] = []byte(id)
	}
	err = s.view(ctx, "count conversations", func(tx call) error {
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM catalog WHERE owner = ?`,
			tx.owner).Scan(&n); err != nil {
			return err
		}
		for part := range slices.Chunk(ids, mostParameters) {
			var there int
			in := strings.TrimSuffix(strings.Repeat("?, ", len(part)), ", ")
			if err := tx.QueryRowContext(ctx,
				`SELECT count(*) FROM catalog WHERE owner = ? AND id IN (`+in+`)`,
				append([]any{tx.owner}, part...)...).Scan(&there); err != nil {
				return err
			}
			n -= there
		}
		return nil
	})
	return n, err
}

// mostParameters bounds the parameters of a statement.
const mostParameters = 500

// Conversations returns the selected records, the last updated first; at equal times, ordered by
// ID.
func (s catalog) Conversations(ctx context.Context, q store.Query) ([]store.Record, error) {
	condition, args := "", []any{}
	add := func(text string, more ...any) { condition, args = condition+text, append(args, more...) }
	if !q.Before.IsZero() {
		add(` AND (seconds, nanos) < (?, ?)`, q.Before.Unix(), q.Before.Nanosecond())
	}
	if !q.Since.IsZero() {
		add(` AND (seconds, nanos) >= (?, ?)`, q.Since.Unix(), q.Since.Nanosecond())
	}
	if q.Text != "" {
		add(` AND instr(words, ?) > 0`, []byte(words.Fold(q.Text)))
	}
	add(` ORDER BY seconds DESC, nanos DESC, id`)
	if q.Limit > 0 {
		add(` LIMIT ?`, q.Limit)
	}
	var found []store.Record
	err := s.view(ctx, "list conversations", func(tx call) (err error) {
		found, err = records(ctx, tx, condition, args...)
		return err
	})
	return found, err
}

// Headed returns the records with a Head among nodes.
func (s catalog) Headed(ctx context.Context, nodes []precis.Fingerprint) ([]store.Record, error) {
	var found []store.Record
	err := s.view(ctx, "find conversations", func(tx call) (err error) {
		found, err = records(ctx, tx, `AND head IN (SELECT unhex(value) FROM json_each(?))`, keys(nodes))
		return err
	})
	return found, err
}
