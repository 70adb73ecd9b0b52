package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"sort"

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
	var chain []precis.Fingerprint
	known := 0
	err := s.view(ctx, op, func(tx *sql.Tx) error {
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
	err = s.update(ctx, op, func(tx *sql.Tx) error { return insert(ctx, tx, op, chain[known], adds) })
	if err != nil {
		return precis.Fingerprint{}, err
	}
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
func countKnown(ctx context.Context, tx *sql.Tx, chain []precis.Fingerprint) (int, error) {
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
func insert(ctx context.Context, tx *sql.Tx, op string, parent precis.Fingerprint, adds []addition) error {
	at, err := findOr(ctx, tx, op, parent)
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
	body, err := tx.PrepareContext(ctx, `INSERT INTO bodies (key, hash, data) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING`)
	if err != nil {
		return err
	}
	defer body.Close()
	node, err := tx.PrepareContext(ctx, `INSERT INTO nodes (branch, depth, fingerprint, body) SELECT ?, ?, ?, id FROM bodies WHERE key = ?`)
	if err != nil {
		return err
	}
	defer node.Close()
	for _, a := range adds {
		if _, err := body.ExecContext(ctx, a.key[:], a.hash[:], a.data); err != nil {
			return err
		}
		at.depth++
		if _, err := node.ExecContext(ctx, at.branch, at.depth, a.node[:], a.key[:]); err != nil {
			return err
		}
	}
	return nil
}

// branchFor returns the branch that goes on after a place: its own when the
// place is the end of it, else a new one.
func branchFor(ctx context.Context, tx *sql.Tx, at place) (int64, error) {
	if at.depth > 0 {
		var end int
		err := tx.QueryRowContext(ctx, `SELECT max(depth) FROM nodes WHERE branch = ?`, at.branch).Scan(&end)
		if err != nil || end == at.depth {
			return at.branch, err
		}
	}
	parent := sql.NullInt64{Int64: at.branch, Valid: at.depth > 0}
	r, err := tx.ExecContext(ctx, `INSERT INTO branches (parent, depth) VALUES (?, ?)`, parent, at.depth)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}
