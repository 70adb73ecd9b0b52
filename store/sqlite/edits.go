package sqlite

import (
	"context"

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
	return s.update(ctx, op, func(tx call) error {
		p, err := findOr(ctx, tx, op, e.At)
		if err != nil {
			return err
		}
		ids, err := newest(ctx, tx, p)
		if err != nil {
			return err
		}
		if ids[0] == e.ID && ids[1] == after {
			return checkSame(ctx, tx, op, p, e)
		}
		if ids[0] != after {
			return form.NotNewest(op, ids[0], after)
		}
		if err := checkUnused(ctx, tx, op, p, e.ID); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO edits (branch, depth, id, data) VALUES (?, ?, ?, ?)`,
			p.branch, p.depth, e.ID, data)
		return err
	})
}

// newest returns the IDs of the newest edit on the path to p and of the one before it; "" for a
// missing one.
func newest(ctx context.Context, tx call, p place) (ids [2]string, err error) {
	rows, err := tx.QueryContext(ctx, path+`SELECT e.id FROM path
		CROSS JOIN edits e ON e.branch = path.branch AND e.depth <= path.depth ORDER BY e.seq DESC LIMIT 2`,
		p.branch, p.depth)
	if err != nil {
		return ids, err
	}
	defer rows.Close()
	for i := 0; rows.Next(); i++ {
		if err := rows.Scan(&ids[i]); err != nil {
			return ids, err
		}
	}
	return ids, rows.Err()
}

// checkSame reports a conflict unless e is recorded at p.
func checkSame(ctx context.Context, tx call, op string, p place, e precis.Edit) error {
	there, err := list[precis.Edit](ctx, tx,
		`SELECT data FROM edits WHERE branch = ? AND depth = ? AND id = ?`, p.branch, p.depth, e.ID)
	if err != nil {
		return err
	}
	return form.CheckRepeat(op, there, e)
}

// checkUnused reports a conflict when an edit on the path to p has the ID.
func checkUnused(ctx context.Context, tx call, op string, p place, id string) error {
	var used bool
	err := tx.QueryRowContext(ctx, path+`SELECT EXISTS (SELECT 1 FROM path
		CROSS JOIN edits e ON e.branch = path.branch AND e.depth <= path.depth WHERE e.id = ?)`, p.branch,
		p.depth, id).Scan(&used)
	if err == nil && used {
		err = form.ErrTaken(op, id)
	}
	return err
}
