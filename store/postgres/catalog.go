package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"precis"
	"precis/store/internal/words"
)

// PutConversation stores a record, in place of the one with the same ID. The
// error is [precis.CodeInvalid] for an empty ID and for what has no JSON form.
func (s *Store) PutConversation(ctx context.Context, r precis.ConversationRecord) error {
	const op = "record conversation"
	if r.ID == "" {
		return precis.Errorf(precis.CodeInvalid, op, "a record needs an ID")
	}
	data, err := json.Marshal(r)
	if err != nil {
		return precis.Errorf(precis.CodeInvalid, op, "%w", err)
	}
	owner, err := s.ownID(ctx, op)
	if err != nil {
		return err
	}
	return s.exec(ctx, op, `INSERT INTO catalog (owner, id, head, seconds, nanos, words, data) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (owner, id) DO UPDATE SET head = excluded.head, seconds = excluded.seconds, nanos = excluded.nanos,
			words = excluded.words, data = excluded.data`,
		owner, []byte(r.ID), r.Head[:], r.Updated.Unix(), r.Updated.Nanosecond(), wordsOf(r), data)
}

// wordsOf returns what the text of a query is looked for in. No query holds the
// byte between the fields.
func wordsOf(r precis.ConversationRecord) []byte {
	return []byte(strings.Join([]string{words.Fold(r.Title), words.Fold(r.Model), words.Fold(r.Client), words.Fold(r.ID)}, "\xff"))
}

// Conversation returns the record with the ID.
func (s *Store) Conversation(ctx context.Context, id string) (precis.ConversationRecord, error) {
	const op = "load record"
	found, err := s.records(ctx, op, `AND id = $2`, []byte(id))
	if err == nil && len(found) == 0 {
		err = precis.Errorf(precis.CodeNotFound, op, "conversation %q is unknown", id)
	}
	if err != nil {
		return precis.ConversationRecord{}, err
	}
	return found[0], nil
}

// records returns those of the scope that the condition selects, whose
// parameters begin with the second.
func (s *Store) records(ctx context.Context, op, condition string, args ...any) ([]precis.ConversationRecord, error) {
	owner, err := s.ownerID(ctx, op)
	if err != nil {
		return nil, err
	}
	var out []precis.ConversationRecord
	err = s.do(ctx, op, func() error {
		rows, err := s.pool.Query(ctx, `SELECT id, data FROM catalog WHERE owner = $1 `+condition, append([]any{owner}, args...)...)
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

// record reads a row of an ID and a stored record.
func record(row pgx.CollectableRow) (precis.ConversationRecord, error) {
	var id, data []byte
	var r precis.ConversationRecord
	if err := row.Scan(&id, &data); err != nil {
		return r, err
	}
	if json.Unmarshal(data, &r) != nil {
		return r, errors.New("a stored record is damaged")
	}
	r.ID = string(id) // may be no UTF-8
	return r, nil
}

// Conversations returns the selected records, the last updated first; those of
// the same time by ID.
func (s *Store) Conversations(ctx context.Context, q precis.ConversationQuery) ([]precis.ConversationRecord, error) {
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

// Headed returns the records whose Head is one of nodes.
func (s *Store) Headed(ctx context.Context, nodes []precis.Fingerprint) ([]precis.ConversationRecord, error) {
	return s.records(ctx, "find conversations", `AND head = ANY ($2)`, keys(nodes))
}
