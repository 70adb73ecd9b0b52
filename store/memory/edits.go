package memory

import (
	"context"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store/internal/form"
)

// AddEdit records e at the node e.At if after is the ID of the newest edit on the path to it. If
// the newest edit there equals e, with the same after, it succeeds without storing. Two edits are
// equal if they differ only in Time, Run and Report; the first one stays.
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
	done, err := s.begin(ctx, op)
	defer done()
	if err != nil {
		return err
	}
	d := s.mine()
	n, err := d.find(op, e.At)
	if err != nil {
		return err
	}
	path := n.path()
	if n.repeats(path, after, e) {
		return nil
	}
	if newest := lastID(path); newest != after {
		return form.NotNewest(op, newest, after)
	}
	if slices.ContainsFunc(path, func(p entry) bool { return p.id == e.ID }) {
		return form.ErrTaken(op, e.ID)
	}
	d.seq++
	n.edits = append(n.edits, entry{seq: d.seq, id: e.ID, data: data})
	return nil
}

// repeats reports whether e equals the newest edit of the path, recorded at n after the edit named
// after.
func (n *node) repeats(path []entry, after string, e precis.Edit) bool {
	if len(path) == 0 || len(n.edits) == 0 || lastID(path) != e.ID || lastID(path[:len(path)-1]) != after {
		return false
	}
	there, err := form.Read[precis.Edit](n.edits[len(n.edits)-1].data)
	return err == nil && there.ID == e.ID && form.SameEdit(there, e)
}

func lastID(path []entry) string {
	if len(path) == 0 {
		return ""
	}
	return path[len(path)-1].id
}

// Edits returns the same edits as Load, without the messages.
func (s *Store) Edits(ctx context.Context, f precis.Fingerprint) ([]precis.Edit, error) {
	const op = "load edits"
	done, err := s.begin(ctx, op)
	defer done()
	if err != nil {
		return nil, err
	}
	n, err := s.mine().find(op, f)
	if err != nil {
		return nil, err
	}
	return n.decoded(op)
}

// decoded returns the edits at the node and its ancestors, oldest first.
func (n *node) decoded(op string) ([]precis.Edit, error) {
	var edits []precis.Edit
	for _, e := range n.path() {
		edit, err := form.Read[precis.Edit](e.data)
		if err != nil {
			return nil, precis.Errorf(precis.CodeInternal, op, "edit %s: %w", e.id, err)
		}
		edits = append(edits, edit)
	}
	return edits, nil
}
