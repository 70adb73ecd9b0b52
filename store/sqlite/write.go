package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"sync"
)

// writers combines concurrent writes: one goroutine at a time writes all pending changes in one
// transaction, so they wait for the disk once.
type writers struct {
	turn    chan struct{} // of capacity 1: full while changes are written
	mu      sync.Mutex
	waiting []*change
}

func newWriters() writers { return writers{turn: make(chan struct{}, 1)} }

// mostTogether is how many changes one transaction holds at most.
const mostTogether = 64

// change is the write of one call. F may run more than once, each time after its earlier effects
// were rolled back.
type change struct {
	ctx  context.Context
	s    *part
	op   string
	f    func(call) error
	done chan struct{} // closed when err is set
	err  error
}

// update runs f in a transaction isolated from other writers. F may run more than once.
func (s *part) update(ctx context.Context, op string, f func(call) error) error {
	if err := ctx.Err(); err != nil {
		return s.fail(op, err)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return s.fail(op, errClosed)
	}
	c := &change{ctx: ctx, s: s, op: op, f: f, done: make(chan struct{})}
	w := &s.writers
	w.mu.Lock()
	w.waiting = append(w.waiting, c)
	w.mu.Unlock()
	ended := ctx.Done()
	for {
		select {
		case <-c.done:
			return c.err
		case <-ended:
			if w.withdraw(c) {
				return s.fail(op, ctx.Err())
			}
			ended = nil // it is being written
		case w.turn <- struct{}{}:
			s.writeAll(w.next())
			<-w.turn
		}
	}
}

// withdraw removes a pending change; false: it is being written, or was.
func (w *writers) withdraw(c *change) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.waiting, c)
	if i >= 0 {
		w.waiting = slices.Delete(w.waiting, i, i+1)
	}
	return i >= 0
}

// next returns the oldest pending changes.
func (w *writers) next() []*change {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.waiting), mostTogether)
	next := slices.Clone(w.waiting[:n])
	w.waiting = slices.Delete(w.waiting, 0, n)
	return next
}

// writeAll writes changes together or, if that fails, each in its own transaction.
func (s *file) writeAll(changes []*change) {
	if len(changes) < 2 || s.writeTogether(changes) != nil {
		for _, c := range changes {
			c.err = c.s.transact(c.ctx, c.op, s.write, nil, c.f)
		}
	}
	for _, c := range changes {
		close(c.done)
	}
}

// writeTogether writes changes in one transaction. The error concerns the transaction: a failing change
// is rolled back alone and has its own error.
func (s *file) writeTogether(changes []*change) error {
	// The transaction is independent of any single call, which may be canceled.
	ctx := context.WithoutCancel(changes[0].ctx)
	tx, err := s.begin(ctx, s.write, nil)
	if err != nil {
		return err
	}
	owners := make([]int64, len(changes))
	for i, c := range changes {
		if owners[i], err = s.applyChange(tx, c); err != nil {
			_ = tx.Rollback() // a failed rollback closes the connection, which rolls back as well
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	for i, c := range changes {
		if c.err == nil {
			s.owners.Store(c.s.owner, owners[i])
		}
	}
	return nil
}

// applyChange makes one change as part of a transaction. The error means that the whole transaction is
// lost.
func (s *file) applyChange(tx *sql.Tx, c *change) (owner int64, err error) {
	ctx := context.WithoutCancel(c.ctx)
	if _, err := tx.ExecContext(ctx, `SAVEPOINT change`); err != nil {
		return 0, err
	}
	owner, err = s.ownerOf(c.ctx, tx, c.s.owner, true)
	if err == nil {
		err = c.f(call{Tx: tx, owner: owner})
	}
	end := `RELEASE change`
	c.err = nil
	if err != nil {
		c.err = s.fail(c.op, err)
		end = `ROLLBACK TO change; RELEASE change`
	}
	_, err = tx.ExecContext(ctx, end) // fails when an error has ended the transaction
	return owner, err
}
