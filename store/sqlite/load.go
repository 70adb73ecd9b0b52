package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store/internal/form"
)

// place is the position of a node. The zero value is the empty conversation.
type place struct {
	branch int64
	depth  int
}

// path selects the positions up to a place, given by its two parameters: each branch on the path
// with the depth up to which it counts.
const path = `WITH RECURSIVE path (branch, depth) AS (
	VALUES (?, ?)
	UNION ALL
	SELECT b.parent, b.depth FROM path JOIN branches b ON b.id = path.branch WHERE b.parent IS NOT NULL
) `

// find returns the place of a node; [sql.ErrNoRows] when it is unknown.
func find(ctx context.Context, tx call, node precis.Fingerprint) (place, error) {
	var p place
	if node.IsZero() {
		return p, nil
	}
	row := tx.QueryRowContext(ctx, `SELECT branch, depth FROM nodes WHERE owner = ? AND fingerprint = ?`,
		tx.owner, node[:])
	return p, row.Scan(&p.branch, &p.depth)
}

// findOr is find with [precis.CodeNotFound].
func findOr(ctx context.Context, tx call, op string, node precis.Fingerprint) (place, error) {
	p, err := find(ctx, tx, node)
	if errors.Is(err, sql.ErrNoRows) {
		return p, notFound(op, node)
	}
	return p, err
}

// Load returns the messages from the root to the node, and the edits at it and its ancestors in the
// order of their recording, which may differ from the order of their nodes. The zero fingerprint
// gives an empty transcript.
func (s *Store) Load(ctx context.Context,
	node precis.Fingerprint) (*precis.Transcript, []precis.Edit, error) {
	const op = "load conversation"
	var msgs []precis.Message
	var edits []precis.Edit
	err := s.view(ctx, op, func(tx call) error {
		p, err := findOr(ctx, tx, op, node)
		if err != nil {
			return err
		}
		if msgs, err = messages(ctx, tx, p); err != nil {
			return err
		}
		edits, err = list[precis.Edit](ctx, tx, editsOfPath, p.branch, p.depth)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return precis.NewTranscript(msgs...), edits, nil
}

const editsOfPath = path + `SELECT e.data FROM path
	CROSS JOIN edits e ON e.branch = path.branch AND e.depth <= path.depth ORDER BY e.seq`

// Edits returns the same edits as Load, without the messages.
func (s *Store) Edits(ctx context.Context, node precis.Fingerprint) ([]precis.Edit, error) {
	const op = "load edits"
	var edits []precis.Edit
	err := s.view(ctx, op, func(tx call) error {
		p, err := findOr(ctx, tx, op, node)
		if err != nil {
			return err
		}
		edits, err = list[precis.Edit](ctx, tx, editsOfPath, p.branch, p.depth)
		return err
	})
	return edits, err
}

func messages(ctx context.Context, tx call, p place) ([]precis.Message, error) {
	msgs, err := list[precis.Message](ctx, tx, path+`SELECT bodies.data FROM path
		CROSS JOIN nodes n ON n.branch = path.branch AND n.depth <= path.depth
		CROSS JOIN bodies ON bodies.id = n.body ORDER BY n.depth`, p.branch, p.depth)
	if err == nil && len(msgs) != p.depth {
		err = fmt.Errorf("the path to message %d has %d messages: the file is damaged", p.depth, len(msgs))
	}
	return msgs, err
}

// list decodes the single column of a query's result.
func list[T any](ctx context.Context, tx call, query string, args ...any) ([]T, error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		var data sql.RawBytes
		if err := rows.Scan(&data); err != nil {
			return nil, err
		}
		v, err := form.Read[T](data)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// Body returns the stored form of the message with the given hash; the first one stored if there
// are several.
func (s *Store) Body(ctx context.Context, hash precis.Fingerprint) (precis.Message, error) {
	const op = "load message"
	var found []precis.Message
	err := s.view(ctx, op, func(tx call) (err error) {
		found, err = list[precis.Message](ctx, tx,
			`SELECT data FROM bodies WHERE owner = ? AND hash = ? ORDER BY id LIMIT 1`, tx.owner, hash[:])
		return err
	})
	if err == nil && len(found) == 0 {
		err = precis.Errorf(precis.CodeNotFound, op, "message %s is unknown", hash.Short())
	}
	if err != nil {
		return precis.Message{}, err
	}
	return found[0], nil
}
