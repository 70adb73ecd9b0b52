package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

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
	owner, err := s.ownID(ctx, op)
	if err != nil {
		return err
	}
	return s.exec(ctx, op, `INSERT INTO catalog (owner, id, head, seconds, nanos, words, data) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (owner, id) DO UPDATE SET head = excluded.head, seconds = excluded.seconds, nanos = excluded.nanos,
			words = excluded.words, data = excluded.data`,
		owner, []byte(r.ID), r.Head[:], r.Updated.Unix(), r.Updated.Nanosecond(), form.RecordWords(r), data)
}

// Conversation returns the record with the ID.
func (s catalog) Conversation(ctx context.Context, id string) (store.Record, error) {
	const op = "load record"
	found, err := s.records(ctx, op, `AND id = $2`, []byte(id))
	if err == nil && len(found) == 0 {
		err = precis.Errorf(precis.CodeNotFound, op, "conversation %q is unknown", id)
	}
	if err != nil {
		return store.Record{}, err
	}
	return found[0], nil
}

// records returns the scope's records that satisfy the condition. Parameters of the condition start
// at $2.
func (s catalog) records(ctx context.Context, op, condition string, args ...any) ([]store.Record, error) {
	owner, err := s.ownerID(ctx, op)
	if err != nil {
		return nil, err
	}
	var out []store.Record
	err = s.do(ctx, op, func() error {
		rows, err := s.pool.Query(ctx, `SELECT id, data FROM catalog WHERE owner = $1 `+condition,
			append([]any{owner}, args...)...)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, record)
		return err
	})
	if len(out) == 0 {
		out = nil
	}
	return out, err
}

// record reads a row with an ID and a stored record.
func record(row pgx.CollectableRow) (store.Record, error) {
	var id, data []byte
	if err := row.Scan(&id, &data); err != nil {
		return store.Record{}, err
	}
	return form.ReadRecord(id, data)
}

// Conversations returns the selected records, the last updated first; at equal times, ordered by
// ID.
func (s catalog) Conversations(ctx context.Context, q store.Query) ([]store.Record, error) {
	var condition string
	var args []any
	add := func(text string, more ...any) {
		for i := range more {
			text = strings.Replace(text, "?", fmt.Sprint("$", len(args)+i+2), 1)
		}
		condition, args = condition+text, append(args, more...)
	}
	if !q.Before.IsZero() {
		add(` AND (seconds, nanos) < (?, ?)`, q.Before.Unix(), q.Before.Nanosecond())
	}
	if !q.Since.IsZero() {
		add(` AND (seconds, nanos) >= (?, ?)`, q.Since.Unix(), q.Since.Nanosecond())
	}
	if q.Text != "" {
		add(` AND position(? IN words) > 0`, []byte(words.Fold(q.Text)))
	}
	add(` ORDER BY seconds DESC, nanos DESC, id`)
	if q.Limit > 0 {
		add(` LIMIT ?`, q.Limit)
	}
	return s.records(ctx, "list conversations", condition, args...)
}

// CountConversations returns the number of records, see [store.Census].
func (s catalog) CountConversations(ctx context.Context, except []string) (n int, err error) {
	const op = "count conversations"
	owner, err := s.ownerID(ctx, op)
	if err != nil {
		return 0, err
	}
	ids := make([][]byte, len(except))
	for i, id := range except {
		ids[i] = []byte(id)
	}
	err = s.do(ctx, op, func() error {
		return s.pool.QueryRow(ctx, `SELECT count(*) FROM catalog WHERE owner = $1 AND id <> ALL ($2::bytea[])`, owner, ids).Scan(&n)
	})
	return n, err
}

// Headed returns the records with a Head among nodes.
func (s catalog) Headed(ctx context.Context, nodes []precis.Fingerprint) ([]store.Record, error) {
	return s.records(ctx, "find conversations", `AND head = ANY ($2)`, keys(nodes))
}
