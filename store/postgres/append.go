package postgres

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store/internal/form"
)

// Append adds messages after the node parent and returns the node after the last one. Stored
// messages are not written again. Appending no messages returns parent. The error is
// [precis.CodeInvalid] for a message that cannot be stored unchanged.
func (s *Store) Append(ctx context.Context, parent precis.Fingerprint,
	msgs ...precis.Message) (precis.Fingerprint, error) {
	const op = "append messages"
	chain := form.Chain(parent, msgs)
	owner, err := s.ownID(ctx, op)
	if err != nil {
		return precis.Fingerprint{}, err
	}
	var adds []form.Message // the last ones of msgs
	err = s.do(ctx, op, func() error {
		at, err := s.deepest(ctx, op, owner, chain)
		if err != nil || at.known == len(msgs) {
			return err
		}
		if len(adds) < len(msgs)-at.known { // otherwise another writer has stored more, and fewer are new
			if adds, err = form.Messages(op, msgs, chain, at.known); err != nil {
				return err
			}
		}
		return s.insert(ctx, owner, at, adds[len(adds)-(len(msgs)-at.known):])
	})
	if err != nil {
		return precis.Fingerprint{}, err
	}
	if adds != nil {
		s.indexer.Wake()
	}
	return chain[len(msgs)], nil
}

// tip is the last stored node of a chain.
type tip struct {
	place
	known int  // its index in the chain
	end   bool // it is the last node of its branch
}

// deepest finds the tip of a chain, which starts with the parent of the appended messages. The
// ancestors of a stored node are stored, so an unknown parent has no children. Usually only the
// newest messages are unknown, so the end is looked up first.
func (s *Store) deepest(ctx context.Context, op string, owner int64,
	chain []precis.Fingerprint) (tip, error) {
	const near = 16
	if from := len(chain) - near; from > 0 {
		if t, err := s.deepestOf(ctx, owner, chain[from:]); !errors.Is(err, pgx.ErrNoRows) {
			t.known += from
			return t, err
		}
	}
	t, err := s.deepestOf(ctx, owner, chain)
	if errors.Is(err, pgx.ErrNoRows) {
		if chain[0].IsZero() {
			return tip{}, nil
		}
		err = notFound(op, chain[0])
	}
	return t, err
}

// deepestOf finds the last stored node in a sequence; [pgx.ErrNoRows] when no node is stored.
func (s *Store) deepestOf(ctx context.Context, owner int64, nodes []precis.Fingerprint) (tip, error) {
	var t tip
	keys := make([][]byte, len(nodes))
	for i := range nodes {
		keys[i] = nodes[i][:]
	}
	var found []byte
	err := s.pool.QueryRow(ctx, `SELECT branch, depth, fingerprint,
			NOT EXISTS (SELECT 1 FROM nodes n WHERE n.branch = d.branch AND n.depth = d.depth + 1)
		FROM (SELECT branch, depth, fingerprint FROM nodes WHERE owner = $1 AND fingerprint = ANY ($2) ORDER BY depth DESC LIMIT 1) d`, owner, keys).
		Scan(&t.branch, &t.depth, &found, &t.end)
	t.known = slices.IndexFunc(nodes, func(f precis.Fingerprint) bool { return bytes.Equal(f[:], found) })
	return t, err
}

// insert stores the additions after a place. It takes no lock. If another writer has meanwhile
// stored one of the nodes, or extended the same end of a branch, a unique index refuses the row,
// and the transaction is rolled back and retried. The same happens when the place was purged.
func (s *Store) insert(ctx context.Context, owner int64, at tip, adds []form.Message) error {
	return s.transact(ctx, func(tx pgx.Tx) error {
		if err := insertBodies(ctx, tx, owner, at.branch, adds); err != nil {
			return err
		}
		branch := at.branch
		if !at.end {
			parent := &at.branch
			if at.depth == 0 {
				parent = nil
			}
			err := tx.QueryRow(ctx, `INSERT INTO branches (owner, parent, depth) VALUES ($1, $2, $3) RETURNING id`, owner, parent, at.depth).Scan(&branch)
			if err != nil {
				return err
			}
		}
		return insertNodes(ctx, tx, owner, at.place, branch, adds)
	})
}

// statementBytes bounds the message bytes in one statement.
const statementBytes = 8 << 20

// insertBodies stores the new message bodies. All writers insert in order of the hashes, so that
// they cannot deadlock; messages with equal hashes keep their order.
//
// It also locks the parent branch against a purge, so that insertNodes sees what remains of it.
func insertBodies(ctx context.Context, tx pgx.Tx, owner, parent int64, adds []form.Message) error {
	adds = slices.Clone(adds)
	slices.SortStableFunc(adds, func(a, b form.Message) int { return bytes.Compare(a.Hash[:], b.Hash[:]) })
	for len(adds) > 0 {
		var keys, hashes, data [][]byte
		for size := 0; len(adds) > 0 && size < statementBytes; adds = adds[1:] {
			a := &adds[0]
			keys, hashes, data = append(keys, a.Key[:]), append(hashes, a.Hash[:]), append(data, a.Data)
			size += len(a.Data)
		}
		_, err := tx.Exec(ctx, `WITH held AS MATERIALIZED (SELECT 1 FROM branches WHERE id = $5 FOR KEY SHARE), new AS (
				INSERT INTO bodies (owner, key, hash, data)
				SELECT $1, key, hash, data FROM unnest($2::bytea[], $3::bytea[], $4::bytea[]) WITH ORDINALITY AS a (key, hash, data, n)
				WHERE $5 = 0 OR EXISTS (SELECT 1 FROM held) ORDER BY n
				ON CONFLICT DO NOTHING RETURNING id)
			INSERT INTO unsearched (body) SELECT id FROM new`, owner, keys, hashes, data, parent)
		if err != nil {
			return err
		}
	}
	return nil
}

// insertNodes stores the nodes that follow a place in a branch, parents first.
func insertNodes(ctx context.Context, tx pgx.Tx, owner int64, at place, branch int64,
	adds []form.Message) error {
	depths, nodes, keys := make([]int32, len(adds)), make([][]byte, len(adds)), make([][]byte, len(adds))
	for i := range adds {
		depths[i], nodes[i], keys[i] = at.depth+int32(i)+1, adds[i].Node[:], adds[i].Key[:]
	}
	done, err := tx.Exec(ctx, `INSERT INTO nodes (branch, depth, owner, fingerprint, body)
		SELECT $1, a.depth, $2, a.fingerprint, b.id
		FROM unnest($3::integer[], $4::bytea[], $5::bytea[]) AS a (depth, fingerprint, key) JOIN bodies b ON b.owner = $2 AND b.key = a.key
		WHERE $7 = 0 OR EXISTS (SELECT 1 FROM nodes WHERE branch = $6 AND depth = $7) ORDER BY a.depth
		ON CONFLICT DO NOTHING`, branch, owner, depths, nodes, keys, at.branch, at.depth)
	if err == nil && done.RowsAffected() != int64(len(adds)) {
		err = errOvertaken
	}
	return err
}
