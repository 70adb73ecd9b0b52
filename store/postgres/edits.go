package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store/internal/form"
)

// AddEdit records e at the node e.At if after is the ID of the newest edit on the path to it. If
// the newest edit there equals e, with the same after, it succeeds without storing: a retry, or a
// second replica with the same decision, is no conflict. Two edits are equal if they differ only in
// Time, Run and Report; the first one stays.
//
// The error is [precis.CodeConflict] when another edit is the newest or the ID is taken on the
// path, and [precis.CodeInvalid] for an edit without an ID, or at the empty conversation, where it
// would be in force everywhere.
func (s *Store) AddEdit(ctx context.Context, after string, e precis.Edit) error {
	const op = "record edit"
	data, err := form.Edit(op, e)
	if err != nil {
		return err
	}
	owner, err := s.ownerID(ctx, op)
	if err != nil {
		return err
	}
	return s.update(ctx, op, func(tx pgx.Tx) error {
		p, err := find(ctx, tx, op, owner, e.At)
		if err != nil {
			return err
		}
		there, err := lockPath(ctx, tx, owner, p, e)
		if err != nil {
			return err
		}
		switch {
		case there.newest[0] == e.ID && there.newest[1] == after:
			return checkSame(ctx, tx, op, p, e)
		case there.newest[0] != after:
			return form.NotNewest(op, there.newest[0], after)
		case there.used:
			return form.ErrTaken(op, e.ID)
		}
		_, err = tx.Exec(ctx, `INSERT INTO edits (branch, depth, id, data) VALUES ($1, $2, $3, $4)`, p.branch,
			p.depth, []byte(e.ID), data)
		return err
	})
}

// standing is the state of the path to an edit that its check needs.
type standing struct {
	newest [2]string // IDs of the newest edit and the one before it; "": no edit
	used   bool      // an edit on the path has the ID
}

// lockPath locks the path to e.At until the transaction ends, and reads its state.
//
// No edit may be added on the path meanwhile. Its writer would add it at a node of one of the
// path's branches, and would lock that branch as its own. So it suffices to lock our own branch
// exclusively and the earlier ones in shared mode, and forks of one conversation do not wait for
// each other. Row locks are used instead of serializable transactions, which would also fail and
// retry for edits on different paths, because PostgreSQL tracks pages, not nodes. Branches are
// locked in the order of their IDs, parents first, so writers cannot deadlock.
//
// Each statement sees everything committed before it began, so the read after the lock sees the
// writes of the previous holder.
func lockPath(ctx context.Context, tx pgx.Tx, owner int64, p place, e precis.Edit) (standing, error) {
	var there standing
	var b pgx.Batch
	b.Queue(path+`SELECT 1 FROM branches WHERE id IN (SELECT branch FROM path) AND id <> $3 ORDER BY id FOR SHARE OF branches`, owner, e.At[:], p.branch)
	b.Queue(`SELECT 1 FROM branches WHERE id = $1 FOR NO KEY UPDATE`, p.branch)
	b.Queue(path+`SELECT e.id FROM path CROSS JOIN LATERAL (
			SELECT id, seq FROM edits WHERE branch = path.branch AND depth <= path.depth ORDER BY seq DESC LIMIT 2
		) e ORDER BY e.seq DESC LIMIT 2`, owner, e.At[:]).Query(func(rows pgx.Rows) error {
		for i := 0; rows.Next(); i++ {
			var id []byte
			if err := rows.Scan(&id); err != nil {
				return err
			}
			there.newest[i] = string(id)
		}
		return rows.Err()
	})
	b.Queue(path+`SELECT EXISTS (SELECT 1 FROM path JOIN edits e ON e.branch = path.branch AND e.id = $3 AND e.depth <= path.depth)`,
		owner, e.At[:], []byte(e.ID)).QueryRow(func(row pgx.Row) error { return row.Scan(&there.used) })
	return there, tx.SendBatch(ctx, &b).Close()
}

// checkSame reports a conflict unless e is recorded at p.
func checkSame(ctx context.Context, tx pgx.Tx, op string, p place, e precis.Edit) error {
	rows, err := tx.Query(ctx, `SELECT data FROM edits WHERE branch = $1 AND depth = $2 AND id = $3`,
		p.branch, p.depth, []byte(e.ID))
	if err != nil {
		return err
	}
	there, err := list[precis.Edit](rows, nil)
	if err != nil {
		return err
	}
	return form.CheckRepeat(op, there, e)
}
