package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/internal/cut"
)

// Purge forgets conversations, see [store.Purger]. If the error says that the tables could not be
// vacuumed, the data is removed all the same; the next purge vacuums them, and eventually the
// server.
func (s purger) Purge(ctx context.Context, q store.PurgeQuery) (store.PurgeResult, error) {
	r, err := s.Remove(ctx, q)
	if err != nil {
		return r, err
	}
	return r, s.Wipe(ctx)
}

// Remove is Purge without the vacuum, see [store.Wiper].
func (s purger) Remove(ctx context.Context, q store.PurgeQuery) (store.PurgeResult, error) {
	const op = "purge"
	owner, err := s.ownerID(ctx, op)
	if err != nil {
		return store.PurgeResult{}, err
	}
	var r store.PurgeResult
	err = s.update(ctx, op, func(tx pgx.Tx) error {
		p := purge{Tx: tx, PurgeQuery: q, ctx: ctx, owner: owner}
		err := p.run()
		if p.rows > 0 { // even if it is unknown whether they were committed
			s.unvacuumed.Store(true)
		}
		r = p.result
		return err
	})
	if err != nil {
		return store.PurgeResult{}, err
	}
	return r, nil
}

// Wipe vacuums the tables of all scopes if this process has removed rows since the last vacuum.
// Other processes vacuum after their own removals.
func (s purger) Wipe(ctx context.Context) error {
	return s.do(ctx, "purge", func() error {
		if !s.unvacuumed.Swap(false) {
			return nil
		}
		_, err := s.pool.Exec(ctx, `VACUUM (INDEX_CLEANUP ON) catalog, summaries, edits, nodes, branches, search, unsearched, bodies`)
		if err != nil {
			s.unvacuumed.Store(true)
		}
		return err
	})
}

// purge is one call of Purge in its transaction.
type purge struct {
	pgx.Tx
	store.PurgeQuery
	ctx    context.Context
	owner  int64
	result store.PurgeResult
	rows   int64 // number of rows removed from all tables
	plan   cut.Plan
}

func (p *purge) run() error {
	// Wait for writers that are appending to a branch; later ones see what remains of it.
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
	if p.plan.Empty() {
		return nil
	}
	if err := p.readBranches(branches); err != nil {
		return err
	}
	if p.plan.ByAge {
		if err := p.exec(`DELETE FROM summaries WHERE owner = $1 AND (stored < $2 OR $3)`, p.owner, p.Before,
			p.All); err != nil {
			return err
		}
	}
	return p.removeNodes(p.plan.Cuts())
}

func (p *purge) exec(text string, args ...any) error {
	done, err := p.Exec(p.ctx, text, args...)
	p.rows += done.RowsAffected()
	return err
}

// removeRecords removes records from the catalog and looks up the places of the conversations.
func (p *purge) removeRecords() error {
	rows, err := p.Query(p.ctx, `SELECT id, data FROM catalog WHERE owner = $1 ORDER BY id FOR UPDATE`,
		p.owner)
	if err != nil {
		return err
	}
	all, err := pgx.CollectRows(rows, record)
	if err != nil {
		return err
	}
	places, err := p.places(all)
	if err != nil {
		return err
	}
	var gone []string
	p.plan, gone, err = cut.NewPlan(p.PurgeQuery, all, func(f precis.Fingerprint) (cut.Place, bool, error) {
		at, ok := places[f]
		return at, ok, nil
	})
	if err != nil {
		return err
	}
	p.result.Conversations = len(gone)
	ids := make([][]byte, len(gone))
	for i, id := range gone {
		ids[i] = []byte(id)
	}
	return p.exec(`DELETE FROM catalog WHERE owner = $1 AND id = ANY ($2)`, p.owner, ids)
}

// places returns the places of the heads of the conversations that are stored.
func (p *purge) places(all []store.Record) (map[precis.Fingerprint]cut.Place, error) {
	var heads []precis.Fingerprint
	for _, r := range all {
		heads = append(append(heads, r.Head), r.Earlier...)
	}
	rows, err := p.Query(p.ctx, `SELECT fingerprint, branch, depth FROM nodes WHERE owner = $1 AND fingerprint = ANY ($2)`, p.owner, keys(heads))
	if err != nil {
		return nil, err
	}
	places := map[precis.Fingerprint]cut.Place{}
	var node []byte
	var at cut.Place
	_, err = pgx.ForEachRow(rows, []any{&node, &at.Branch, &at.Depth}, func() error {
		places[precis.Fingerprint(node)] = at
		return nil
	})
	return places, err
}

// readBranches reads the locked branches. A branch begun since then holds only new messages.
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

// removeNodes cuts branches, and removes the bodies that no node needs any more, with their search
// words.
func (p *purge) removeNodes(cuts []cut.Place) error {
	ids, depths := make([]int64, len(cuts)), make([]int32, len(cuts))
	for i, c := range cuts {
		ids[i], depths[i] = c.Branch, int32(c.Depth)
	}
	const cutAt = ` USING unnest($1::bigint[], $2::integer[]) AS c (branch, depth) WHERE `
	if err := p.exec(`DELETE FROM edits e`+cutAt+`e.branch = c.branch AND e.depth > c.depth`, ids,
		depths); err != nil {
		return err
	}
	rows, err := p.Query(p.ctx, `DELETE FROM nodes n`+cutAt+
		`n.branch = c.branch AND n.depth > c.depth RETURNING n.body`, ids, depths)
	if err != nil {
		return err
	}
	bodies, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	p.rows += int64(len(bodies))
	// These branches have no messages left.
	if err := p.exec(`DELETE FROM branches b`+cutAt+`b.id = c.branch AND b.depth = c.depth`, ids,
		depths); err != nil {
		return err
	}
	return p.QueryRow(p.ctx, `WITH gone AS (DELETE FROM bodies b
			WHERE b.id = ANY ($1) AND NOT EXISTS (SELECT 1 FROM nodes WHERE body = b.id) RETURNING octet_length(data) AS size)
		SELECT count(*), coalesce(sum(size), 0) FROM gone`, bodies).Scan(&p.result.Messages, &p.result.Bytes)
}
