package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sort"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store/internal/form"
)

// Append adds messages after the node parent and returns the node after the last one. Stored
// messages are not written again. Appending no messages returns parent. The error is
// [precis.CodeInvalid] for a message that cannot be stored unchanged.
func (s *Store) Append(ctx context.Context, parent precis.Fingerprint,
	msgs ...precis.Message) (precis.Fingerprint, error) {
	const op = "append messages"
	for {
		last, err := s.append(ctx, op, parent, msgs)
		if !errors.Is(err, errPurged) {
			return last, err
		}
	}
}

// errPurged: a known node was purged. A new lookup shows what remains.
var errPurged = errors.New("a node was purged")

func (s *Store) append(ctx context.Context, op string, parent precis.Fingerprint,
	msgs []precis.Message) (precis.Fingerprint, error) {
	var chain []precis.Fingerprint
	known := 0
	err := s.view(ctx, op, func(tx call) error {
		var err error
		if _, err := findOr(ctx, tx, op, parent); err != nil {
			return err
		}
		chain = form.Chain(parent, msgs)
		known, err = countKnown(ctx, tx, chain)
		return err
	})
	if err != nil {
		return precis.Fingerprint{}, err
	}
	last := chain[len(msgs)]
	if known == len(msgs) {
		return last, nil
	}
	adds, err := form.Messages(op, msgs, chain, known)
	if err != nil {
		return precis.Fingerprint{}, err
	}
	if err := s.update(ctx, op, func(tx call) error {
		return insert(ctx, tx, chain[known],
			adds)
	}); err != nil {
		return precis.Fingerprint{}, err
	}
	s.indexer.Wake()
	return last, nil
}

// countKnown returns how many of the nodes after chain[0] are stored. The ancestors of a stored
// node are stored, so a few lookups suffice.
func countKnown(ctx context.Context, tx call, chain []precis.Fingerprint) (int, error) {
	var failed error
	n := sort.Search(len(chain)-1, func(i int) bool {
		_, err := find(ctx, tx, chain[i+1])
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			failed = err
		}
		return err != nil
	})
	return n, failed
}

// insert stores the additions after the node parent. Another writer may have stored some of them
// since the lookup.
func insert(ctx context.Context, tx call, parent precis.Fingerprint, adds []form.Message) error {
	at, err := find(ctx, tx, parent)
	if errors.Is(err, sql.ErrNoRows) {
		return errPurged
	}
	if err != nil {
		return err
	}
	for len(adds) > 0 {
		p, err := find(ctx, tx, adds[0].Node)
		if errors.Is(err, sql.ErrNoRows) {
			break
		}
		if err != nil {
			return err
		}
		at, adds = p, adds[1:]
	}
	if len(adds) == 0 {
		return nil
	}
	if at.branch, err = branchFor(ctx, tx, at); err != nil {
		return err
	}
	body, err := tx.PrepareContext(ctx,
		`INSERT INTO bodies (owner, key, hash, data) VALUES (?, ?, ?, ?) ON CONFLICT (owner, key) DO NOTHING`)
	if err != nil {
		return err
	}
	defer body.Close()
	node, err := tx.PrepareContext(ctx, `INSERT INTO nodes (branch, depth, owner, fingerprint, stored, body)
		SELECT ?, ?, ?, ?, ?, id FROM bodies WHERE owner = ? AND key = ?`)
	if err != nil {
		return err
	}
	defer node.Close()
	now := time.Now().UnixMilli()
	for _, a := range adds {
		if _, err := body.ExecContext(ctx, tx.owner, a.Key[:], a.Hash[:], a.Data); err != nil {
			return err
		}
		at.depth++
		if _, err := node.ExecContext(ctx, at.branch, at.depth, tx.owner, a.Node[:], now, tx.owner,
			a.Key[:]); err != nil {
			return err
		}
	}
	return nil
}

// branchFor returns the branch for messages after a place: its own if the place is its end, else a
// new one.
func branchFor(ctx context.Context, tx call, at place) (int64, error) {
	if at.depth > 0 {
		var end int
		err := tx.QueryRowContext(ctx, `SELECT max(depth) FROM nodes WHERE branch = ?`, at.branch).Scan(&end)
		if err != nil || end == at.depth {
			return at.branch, err
		}
	}
	parent := sql.NullInt64{Int64: at.branch, Valid: at.depth > 0}
	r, err := tx.ExecContext(ctx, `INSERT INTO branches (owner, parent, depth) VALUES (?, ?, ?)`, tx.owner,
		parent, at.depth)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}
