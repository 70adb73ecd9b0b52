package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"precis"
	"precis/store/internal/cut"
)

// Purge forgets conversations, see [precis.Purger]. What was removed is gone also
// when the error says that the tables could not be vacuumed, which the server
// does by itself in time.
func (s *Store) Purge(ctx context.Context, q precis.PurgeQuery) (precis.PurgeResult, error) {
	const op = "purge"
	owner, err := s.ownerID(ctx, op)
	if err != nil {
		return precis.PurgeResult{}, err
	}
	var r precis.PurgeResult
	err = s.update(ctx, op, func(tx pgx.Tx) error {
		p := purge{Tx: tx, PurgeQuery: q, ctx: ctx, owner: owner}
		err := p.run()
		r = p.result
		return err
	})
	if err != nil {
		return precis.PurgeResult{}, err
	}
	if r == (precis.PurgeResult{}) && !q.All && q.Before.IsZero() {
		return r, nil
	}
	return r, s.exec(ctx, op, `VACUUM (INDEX_CLEANUP ON) catalog, summaries, edits, nodes, branches, search, unsearched, bodies`)
}

// purge is one call of Purge in its transaction.
type purge struct {
	pgx.Tx
	precis.PurgeQuery
	ctx    context.Context
	owner  int64
	result precis.PurgeResult
	plan   cut.Plan
}

func (p *purge) run() error {
	p.plan.ByAge = p.All || !p.Before.IsZero()
	// Whoever is appending after a branch ends first; whoever comes later sees
	// what is left of it.
	rows, err := p.Query(p.ctx, `SELECT id FROM branches WHERE owner = $1 ORDER BY id FOR UPDATE`, p.owner)
	if err != nil {
		return err
	}
	branches, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	if err := p.removeRecords(); err != nil {
		return err
	}
	if len(p.plan.Named) == 0 && !p.plan.ByAge {
		return nil
	}
	if err := p.readBranches(branches); err != nil {
		return err
	}
	if p.plan.ByAge {
		if err := p.exec(`DELETE FROM summaries WHERE owner = $1 AND (stored < $2 OR $3)`, p.owner, p.Before, p.All); err != nil {
			return err
		}
	}
	return p.removeNodes(p.plan.Cuts())
}

func (p *purge) exec(text string, args ...any) error {
	_, err := p.Exec(p.ctx, text, args...)
	return err
}

// removeRecords removes those of the catalog that go and looks where the
// conversations are.
func (p *purge) removeRecords() error {
	rows, err := p.Query(p.ctx, `SELECT id, data FROM catalog WHERE owner = $1 ORDER BY id FOR UPDATE`, p.owner)
	if err != nil {
		return err
	}
	all, err := pgx.CollectRows(rows, record)
	if err != nil {
		return err
	}
	var kept, named, aged []precis.Fingerprint
	var gone [][]byte
	for _, r := range all {
		list := &kept
		switch {
		case p.All || slices.Contains(p.IDs, r.ID):
			list = &named
		case !p.Before.IsZero() && r.Updated.Before(p.Before):
			list = &aged
		}
		*list = append(append(*list, r.Head), r.Earlier...)
		if list != &kept {
			gone = append(gone, []byte(r.ID))
		}
	}
	if p.plan.Kept, err = p.places(kept); err != nil {
		return err
	}
	if p.plan.Named, err = p.places(named); err != nil {
		return err
	}
	if p.plan.Aged, err = p.places(aged); err != nil {
		return err
	}
	p.result.Conversations = len(gone)
	return p.exec(`DELETE FROM catalog WHERE owner = $1 AND id = ANY ($2)`, p.owner, gone)
}

// places returns where nodes are that are there.
func (p *purge) places(nodes []precis.Fingerprint) ([]cut.Place, error) {
	rows, err := p.Query(p.ctx, `SELECT branch, depth FROM nodes WHERE owner = $1 AND fingerprint = ANY ($2)`, p.owner, keys(nodes))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[cut.Place])
}

// readBranches reads those that are locked. One that was begun since holds what
// is new.
func (p *purge) readBranches(ids []int64) error {
	rows, err := p.Query(p.ctx, `SELECT b.id, coalesce(b.parent, 0), b.depth,
			coalesce((SELECT max(depth) FROM nodes WHERE branch = b.id), 0),
			CASE WHEN $2 THEN 0 ELSE coalesce((SELECT max(depth) FROM nodes WHERE branch = b.id AND stored >= $3), 0) END
		FROM branches b WHERE b.id = ANY ($1)`, ids, p.All, p.Before)
	if err != nil {
		return err
	}
	p.plan.Branches, err = pgx.CollectRows(rows, pgx.RowToStructByPos[cut.Branch])
	return err
}

// removeNodes cuts branches, and removes the bodies that no node needs any more,
// and with them their words.
func (p *purge) removeNodes(cuts []cut.Place) error {
	ids, depths := make([]int64, len(cuts)), make([]int32, len(cuts))
	for i, c := range cuts {
		ids[i], depths[i] = c.Branch, int32(c.Depth)
	}
	const cutAt = ` USING unnest($1::bigint[], $2::integer[]) AS c (branch, depth) WHERE `
	if err := p.exec(`DELETE FROM edits e`+cutAt+`e.branch = c.branch AND e.depth > c.depth`, ids, depths); err != nil {
		return err
	}
	rows, err := p.Query(p.ctx, `DELETE FROM nodes n`+cutAt+`n.branch = c.branch AND n.depth > c.depth RETURNING n.body`, ids, depths)
	if err != nil {
		return err
	}
	bodies, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	// Nothing is left of these.
	if err := p.exec(`DELETE FROM branches b`+cutAt+`b.id = c.branch AND b.depth = c.depth`, ids, depths); err != nil {
		return err
	}
	return p.QueryRow(p.ctx, `WITH gone AS (DELETE FROM bodies b
			WHERE b.id = ANY ($1) AND NOT EXISTS (SELECT 1 FROM nodes WHERE body = b.id) RETURNING octet_length(data) AS size)
		SELECT count(*), coalesce(sum(size), 0) FROM gone`, bodies).Scan(&p.result.Messages, &p.result.Bytes)
}
