package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store/internal/form"
)

// place is the position of a node. The zero value is the empty conversation.
type place struct {
	branch int64
	depth  int32
}

// path selects the positions up to a node, given by owner and fingerprint in the first two
// parameters: each branch on the path with the depth up to which it counts.
const path = `WITH RECURSIVE path (branch, depth) AS (
	SELECT branch, depth FROM nodes WHERE owner = $1 AND fingerprint = $2
	UNION ALL
	SELECT b.parent, b.depth FROM path JOIN branches b ON b.id = path.branch WHERE b.parent IS NOT NULL
) `

// Load returns the messages from the root to the node, and the edits at it and its ancestors in the
// order of their recording, which may differ from the order of their nodes. The zero fingerprint
// gives an empty transcript.
func (s *Store) Load(ctx context.Context,
	node precis.Fingerprint) (*precis.Transcript, []precis.Edit, error) {
	const op = "load conversation"
	owner, err := s.ownerID(ctx, op)
	if err != nil {
		return nil, nil, err
	}
	var msgs []precis.Message
	var edits []precis.Edit
	err = s.do(ctx, op, func() error {
		if node.IsZero() {
			return nil
		}
		// Two statements in one round trip. They need no common snapshot: the messages of a node
		// never change, and a purge deletes its edits with them.
		var both pgx.Batch
		both.Queue(path+`SELECT n.depth, bodies.data FROM path
			JOIN nodes n ON n.branch = path.branch AND n.depth <= path.depth
			LEFT JOIN bodies ON bodies.id = n.body ORDER BY n.depth`, owner,
			node[:]).Query(func(rows pgx.Rows) (err error) {
			msgs, err = messages(rows)
			return err
		})
		both.Queue(editsOfPath, owner, node[:]).Query(func(rows pgx.Rows) (err error) {
			edits, err = list[precis.Edit](rows, nil)
			return err
		})
		if err := s.pool.SendBatch(ctx, &both).Close(); err != nil {
			return err
		}
		if len(msgs) == 0 {
			return notFound(op, node)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return precis.NewTranscript(msgs...), edits, nil
}

const editsOfPath = path + `SELECT e.data FROM path
	JOIN edits e ON e.branch = path.branch AND e.depth <= path.depth ORDER BY e.seq`

// Edits returns the same edits as Load, without the messages.
func (s *Store) Edits(ctx context.Context, node precis.Fingerprint) ([]precis.Edit, error) {
	const op = "load edits"
	owner, err := s.ownerID(ctx, op)
	if err != nil || node.IsZero() {
		return nil, err
	}
	var edits []precis.Edit
	err = s.do(ctx, op, func() error {
		rows, err := s.pool.Query(ctx, path+`SELECT 1 FROM path LIMIT 1`, owner, node[:])
		if err != nil {
			return err
		}
		known := rows.Next()
		rows.Close()
		if err := rows.Err(); err != nil {
			return err
		}
		if !known {
			return notFound(op, node)
		}
		if rows, err = s.pool.Query(ctx, editsOfPath, owner, node[:]); err != nil {
			return err
		}
		edits, err = list[precis.Edit](rows, nil)
		return err
	})
	return edits, err
}

// messages decodes rows of a depth and a message, with consecutive depths from 1.
func messages(rows pgx.Rows) ([]precis.Message, error) {
	var depth int
	msgs, err := list[precis.Message](rows, &depth)
	if err == nil && len(msgs) != depth {
		err = fmt.Errorf("the path to message %d has %d messages: the database is damaged", depth, len(msgs))
	}
	return msgs, err
}

// list decodes the last column of the rows. If there is a column before it, that is stored in
// first.
func list[T any](rows pgx.Rows, first *int) ([]T, error) {
	defer rows.Close()
	var data pgtype.DriverBytes // decoded before the next row overwrites it
	columns := []any{&data}
	if first != nil {
		columns = []any{first, &data}
	}
	var out []T
	for rows.Next() {
		if err := rows.Scan(columns...); err != nil {
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

// query decodes the single column of a query's result.
func query[T any](ctx context.Context, s *part, op, text string, args ...any) (out []T, err error) {
	err = s.do(ctx, op, func() error {
		rows, err := s.pool.Query(ctx, text, args...)
		if err != nil {
			return err
		}
		out, err = list[T](rows, nil)
		return err
	})
	return out, err
}

// Body returns the stored form of the message with the given hash; the first one stored if there
// are several.
func (s *Store) Body(ctx context.Context, hash precis.Fingerprint) (precis.Message, error) {
	const op = "load message"
	owner, err := s.ownerID(ctx, op)
	if err != nil {
		return precis.Message{}, err
	}
	found, err := query[precis.Message](ctx, s.part, op,
		`SELECT data FROM bodies WHERE owner = $1 AND hash = $2 ORDER BY id LIMIT 1`, owner, hash[:])
	if err == nil && len(found) == 0 {
		err = precis.Errorf(precis.CodeNotFound, op, "message %s is unknown", hash.Short())
	}
	if err != nil {
		return precis.Message{}, err
	}
	return found[0], nil
}

// find returns the place of a node.
func find(ctx context.Context, tx pgx.Tx, op string, owner int64, node precis.Fingerprint) (place, error) {
	var p place
	err := tx.QueryRow(ctx, `SELECT branch, depth FROM nodes WHERE owner = $1 AND fingerprint = $2`, owner,
		node[:]).Scan(&p.branch, &p.depth)
	if errors.Is(err, pgx.ErrNoRows) {
		err = notFound(op, node)
	}
	return p, err
}
