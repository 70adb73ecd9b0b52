package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"sync"
)

// writers are the calls that wait to write. One of them at a time writes what all
// have to write in one transaction: the disk is waited for once.
type writers struct {
	turn    chan struct{} // of capacity 1: full while somebody writes
	mu      sync.Mutex
	waiting []*change
}

func newWriters() writers { return writers{turn: make(chan struct{}, 1)} }

// mostTogether is how many changes one transaction holds at most.
const mostTogether = 64

// change is what one call is to write. F may be run more than once, each time on a
// state without what it did before.
type change struct {
	ctx  context.Context
	s    *part
	op   string
	f    func(call) error
	done chan struct{} // closed when err is set
	err  error
}

// update runs f in a transaction that sees no other writer. F may be run more than
// once.
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

// withdraw takes a change back; false: it is being written, or was.
func (w *writers) withdraw(c *change) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.waiting, c)
	if i >= 0 {
		w.waiting = slices.Delete(w.waiting, i, i+1)
	}
	return i >= 0
}

// next returns the changes that waited longest.
func (w *writers) next() []*change {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.waiting), mostTogether)
	next := slices.Clone(w.waiting[:n])
	w.waiting = slices.Delete(w.waiting, 0, n)
	return next
}

// writeAll writes changes: together, or, when that fails, each by itself.
func (s *file) writeAll(changes []*change) {
	if len(changes) < 2 || s.together(changes) != nil {
		for _, c := range changes {
			c.err = c.s.transact(c.ctx, c.op, s.write, nil, c.f)
		}
	}
	for _, c := range changes {
		close(c.done)
	}
}

// together writes changes in one transaction. The error is about the transaction:
// a change that fails by itself is undone by itself, and has its own.
func (s *file) together(changes []*change) error {
	// The transaction is not that of any one call, whose context may end.
	ctx := context.WithoutCancel(changes[0].ctx)
	tx, err := s.begin(ctx, s.write, nil)
	if err != nil {
		return err
	}
	owners := make([]int64, len(changes))
	for i, c := range changes {
		if owners[i], err = s.within(tx, c); err != nil {
			_ = tx.Rollback() // a failed one closes the connection, which rolls back as well
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

// within makes one change as a part of a transaction. The error is that of the
// transaction, which is lost.
func (s *file) within(tx *sql.Tx, c *change) (owner int64, err error) {
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
