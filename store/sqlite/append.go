package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"sort"
	"time"

	"precis"
)

// addition is a message to append, with the node it makes.
type addition struct {
	node precis.Fingerprint
	hash precis.Fingerprint
	key  [sha256.Size]byte
	data []byte
}

// Append adds messages after the node parent and returns the node after the
// last one. What is there already is not written again. Appending nothing
// returns parent. A message that cannot be stored as it is makes the error
// [precis.CodeInvalid].
func (s *Store) Append(ctx context.Context, parent precis.Fingerprint, msgs ...precis.Message) (precis.Fingerprint, error) {
	const op = "append messages"
	for {
		last, err := s.append(ctx, op, parent, msgs)
		if !errors.Is(err, errPurged) {
			return last, err
		}
	}
}

// errPurged: a node that was there is gone. Looking again shows what is left.
var errPurged = errors.New("a node was purged")

func (s *Store) append(ctx context.Context, op string, parent precis.Fingerprint, msgs []precis.Message) (precis.Fingerprint, error) {
	var chain []precis.Fingerprint
	known := 0
	err := s.view(ctx, op, func(tx call) error {
		var err error
		if chain, err = chainFrom(ctx, tx, op, parent, msgs); err != nil {
			return err
		}
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
	adds := make([]addition, 0, len(msgs)-known)
	for i, m := range msgs[known:] {
		a, err := encode(m)
		if err != nil {
			return precis.Fingerprint{}, precis.Errorf(precis.CodeInvalid, op, "message %d: %w", known+i, err)
		}
		a.node = chain[known+i+1]
		adds = append(adds, a)
	}
	if err := s.update(ctx, op, func(tx call) error { return insert(ctx, tx, chain[known], adds) }); err != nil {
		return precis.Fingerprint{}, err
	}
	s.indexer.wake()
	return last, nil
}

// encode returns the stored form of a message. It reads it back, since a
// message that came back different would be lost under its node.
func encode(m precis.Message) (addition, error) {
	data, err := json.Marshal(m)
	if err != nil {
		return addition{}, err
	}
	var back precis.Message
	if err := decode(data, &back); err != nil {
		return addition{}, err
	}
	a := addition{hash: precis.HashMessage(m), key: sha256.Sum256(data), data: data}
	if precis.HashMessage(back) != a.hash {
		return addition{}, errors.New("its stored form differs: is there text that is not UTF-8?")
	}
	return a, nil
}

// countKnown returns how many of the nodes after chain[0] are stored. Where one
// is, its ancestors are, so a few look-ups are enough.
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

// insert stores the additions after the node parent. Another writer may have
// stored some of them since they were looked up.
func insert(ctx context.Context, tx call, parent precis.Fingerprint, adds []addition) error {
	at, err := find(ctx, tx, parent)
	if errors.Is(err, sql.ErrNoRows) {
		return errPurged
	}
	if err != nil {
		return err
	}
	for len(adds) > 0 {
		p, err := find(ctx, tx, adds[0].node)
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
	body, err := tx.PrepareContext(ctx, `INSERT INTO bodies (owner, key, hash, data) VALUES (?, ?, ?, ?) ON CONFLICT (owner, key) DO NOTHING`)
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
		if _, err := body.ExecContext(ctx, tx.owner, a.key[:], a.hash[:], a.data); err != nil {
			return err
		}
		at.depth++
		if _, err := node.ExecContext(ctx, at.branch, at.depth, tx.owner, a.node[:], now, tx.owner, a.key[:]); err != nil {
			return err
		}
	}
	return nil
}

// branchFor returns the branch that goes on after a place: its own when the
// place is the end of it, else a new one.
func branchFor(ctx context.Context, tx call, at place) (int64, error) {
	if at.depth > 0 {
		var end int
		err := tx.QueryRowContext(ctx, `SELECT max(depth) FROM nodes WHERE branch = ?`, at.branch).Scan(&end)
		if err != nil || end == at.depth {
			return at.branch, err
		}
	}
	parent := sql.NullInt64{Int64: at.branch, Valid: at.depth > 0}
	r, err := tx.ExecContext(ctx, `INSERT INTO branches (owner, parent, depth) VALUES (?, ?, ?)`, tx.owner, parent, at.depth)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}
