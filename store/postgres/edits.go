package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"precis"
	"precis/store/internal/form"
)

// AddEdit records e at the node e.At when after is the ID of the newest edit on
// the path to it. Recording again what is the newest edit there already, with
// the same after, succeeds and stores nothing: a retry and a second replica that
// decided the same are no conflict. Two edits are the same when all but their
// Time, Run and Report is; the first one stays.
//
// The error is [precis.CodeConflict] when another edit is the newest or the ID
// is taken on the path, and [precis.CodeInvalid] for an edit without an ID and
// for one at the empty conversation, where it would be in force in all.
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
			return form.Taken(op, e.ID)
		}
		_, err = tx.Exec(ctx, `INSERT INTO edits (branch, depth, id, data) VALUES ($1, $2, $3, $4)`, p.branch, p.depth, []byte(e.ID), data)
		return err
	})
}

// standing is what the check of an edit needs to know of the path to it.
type standing struct {
	newest [2]string // the IDs of the newest edit and of the one before it; "" where there is none
	used   bool      // an edit on the path has the ID
}

// lockPath keeps the path to e.At as it is until the transaction ends, and
// looks at it.
//
// What must not happen in between is an edit on the path. It would be made at a
// node of one of the path's branches, by a writer that locks this branch as its
// own. So locking the own branch alone and the ones before it together with
// others is enough, and forks of one conversation do not wait for each other.
// Locks of rows are preferred to serializable transactions: those would also
// fail, to be retried, for edits that are not on one path, since PostgreSQL
// watches pages, not nodes. Branches are locked in the order of their IDs,
// parents first, so no two writers wait for each other.
//
// Each statement sees what was committed before it began, and so the look is on
// what the one who held the lock before has left.
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
	rows, err := tx.Query(ctx, `SELECT data FROM edits WHERE branch = $1 AND depth = $2 AND id = $3`, p.branch, p.depth, []byte(e.ID))
	if err != nil {
		return err
	}
	there, err := list[precis.Edit](rows, nil)
	if err != nil {
		return err
	}
	return form.CheckRepeat(op, there, e)
}
