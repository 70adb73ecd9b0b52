package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/internal/cut"
)

// Purge forgets conversations, see [store.Purger]. If the error says that the write-ahead log could
// not be emptied, the data is removed all the same; any further purge tries to empty it again.
func (s purger) Purge(ctx context.Context, q store.PurgeQuery) (store.PurgeResult, error) {
	r, err := s.Remove(ctx, q)
	if err != nil {
		return r, err
	}
	return r, s.Wipe(ctx)
}

// Remove is Purge, but the removed data stays in the write-ahead log, see [store.Wiper].
func (s purger) Remove(ctx context.Context, q store.PurgeQuery) (store.PurgeResult, error) {
	var r store.PurgeResult
	err := s.update(ctx, "purge", func(tx call) error {
		p := purge{call: tx, ctx: ctx, PurgeQuery: q}
		if err := p.run(); err != nil {
			return err
		}
		r = p.result
		return nil
	})
	if err != nil {
		return store.PurgeResult{}, err
	}
	return r, nil
}

// Wipe writes the write-ahead log into the file and empties it. It waits for readers of an older
// snapshot, which need the log.
func (s purger) Wipe(ctx context.Context) error {
	const op = "purge"
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return s.fail(op, errClosed)
	}
	for start, pause := time.Now(), time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		var busy, pages, moved int
		err := s.write.QueryRowContext(ctx, `PRAGMA wal_checkpoint (TRUNCATE)`).Scan(&busy, &pages, &moved)
		switch {
		case err != nil && !isBusy(err):
			return s.fail(op, err)
		case err == nil && busy == 0:
			return nil
		case time.Since(start) > s.patience:
			return s.fail(op, errors.New("the write-ahead log still holds what was removed: it is being read"))
		}
		select {
		case <-ctx.Done():
			return s.fail(op, ctx.Err())
		case <-time.After(pause):
		}
	}
}

// purge is one call of Purge in its transaction.
type purge struct {
	call
	store.PurgeQuery
	ctx    context.Context
	result store.PurgeResult
	plan   cut.Plan
}

func (p *purge) run() error {
	if err := p.removeRecords(); err != nil {
		return err
	}
	if p.plan.Empty() {
		return nil
	}
	if err := p.readBranches(); err != nil {
		return err
	}
	if p.plan.ByAge {
		if err := p.exec(`DELETE FROM summaries WHERE owner = ? AND (stored < ? OR ?)`, p.owner,
			p.beforeMillis(),
			p.All); err != nil {
			return err
		}
	}
	bodies, err := p.removeNodes(p.plan.Cuts())
	if err != nil {
		return err
	}
	return p.removeBodies(bodies)
}

func (p *purge) exec(text string, args ...any) error {
	_, err := p.ExecContext(p.ctx, text, args...)
	return err
}

// beforeMillis returns the time before which data without a conversation is removed.
func (p *purge) beforeMillis() int64 {
	if p.Before.IsZero() {
		return 0
	}
	return p.Before.UnixMilli()
}

// removeRecords removes the records of the conversations to forget from the catalog, and plans the
// rest of the purge by the places of all conversations.
func (p *purge) removeRecords() error {
	all, err := records(p.ctx, p.call, ``)
	if err != nil {
		return err
	}
	find, err := p.PrepareContext(p.ctx,
		`SELECT branch, depth FROM nodes WHERE owner = ? AND fingerprint = ?`)
	if err != nil {
		return err
	}
	defer find.Close()
	var gone []string
	p.plan, gone, err = cut.NewPlan(p.PurgeQuery, all,
		func(f precis.Fingerprint) (at cut.Place, ok bool, err error) {
			err = find.QueryRowContext(p.ctx, p.owner, f[:]).Scan(&at.Branch, &at.Depth)
			if errors.Is(err, sql.ErrNoRows) {
				return at, false, nil
			}
			return at, true, err
		})
	if err != nil {
		return err
	}
	for _, id := range gone {
		if err := p.exec(`DELETE FROM catalog WHERE owner = ? AND id = ?`, p.owner, []byte(id)); err != nil {
			return err
		}
	}
	p.result.Conversations = len(gone)
	return nil
}

func (p *purge) readBranches() error {
	return eachRow(p.ctx, p.call, func(rows *sql.Rows) error {
		var b cut.Branch
		err := rows.Scan(&b.ID, &b.Parent, &b.Depth, &b.End, &b.Recent)
		p.plan.Branches = append(p.plan.Branches, b)
		return err
	}, `SELECT b.id, coalesce(b.parent, 0), b.depth, (SELECT coalesce(max(depth), 0) FROM nodes WHERE branch = b.id),
			iif(?1, 0, coalesce((SELECT depth FROM nodes WHERE branch = b.id AND stored >= ?2 ORDER BY depth DESC LIMIT 1), 0))
		FROM branches b WHERE b.owner = ?3`, p.All, p.beforeMillis(), p.owner)
}

// removeNodes cuts branches, the last ones first, and returns the bodies that may no longer be
// needed.
func (p *purge) removeNodes(cuts []cut.Place) (bodies []int64, err error) {
	for _, c := range slices.Backward(cuts) {
		err := eachRow(p.ctx, p.call, func(rows *sql.Rows) error {
			var body int64
			err := rows.Scan(&body)
			bodies = append(bodies, body)
			return err
		}, `SELECT body FROM nodes WHERE branch = ? AND depth > ?`, c.Branch, c.Depth)
		if err != nil {
			return nil, err
		}
		for _, text := range []string{
			`DELETE FROM edits WHERE branch = ? AND depth > ?`,
			`DELETE FROM nodes WHERE branch = ? AND depth > ?`,
			`DELETE FROM branches WHERE id = ? AND depth = ?`, // no messages are left in it
		} {
			if err := p.exec(text, c.Branch, c.Depth); err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(bodies)
	return slices.Compact(bodies), nil
}

// removeBodies removes the bodies that no node needs, and their words.
func (p *purge) removeBodies(bodies []int64) error {
	if len(bodies) == 0 {
		return nil
	}
	upto, err := indexed(p.ctx, p.call)
	if err != nil {
		return err
	}
	unused, err := p.PrepareContext(p.ctx,
		`SELECT data FROM bodies WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM nodes WHERE body = ?1)`)
	if err != nil {
		return err
	}
	defer unused.Close()
	for _, id := range bodies {
		var data []byte
		err := unused.QueryRowContext(p.ctx, id).Scan(&data)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err == nil && id <= upto {
			err = p.exec(`INSERT INTO search (search, rowid, words) VALUES ('delete', ?, ?)`, id,
				indexedWords(p.owner, data))
		}
		if err == nil {
			err = p.exec(`DELETE FROM bodies WHERE id = ?`, id)
		}
		if err != nil {
			return err
		}
		p.result.Messages, p.result.Bytes = p.result.Messages+1, p.result.Bytes+int64(len(data))
	}
	// A new body may reuse the ID of the last one.
	return p.exec(`UPDATE searched SET upto = min(upto, (SELECT coalesce(max(id), 0) FROM bodies))`)
}
