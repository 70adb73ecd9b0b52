package registry

import (
	"context"

	"github.com/precis-dev/precis/store"
)

// Stats is the fill level of the registry and the condition of its store.
type Stats struct {
	Lines   int // lines of conversations, older forms included
	Bytes   int // roughly, including data that waits to be stored
	Dropped int // lines dropped for lack of memory

	Waiting      int // conversations that wait to be stored
	WaitingBytes int // of their messages, roughly
	Unrecorded   int // edits that wait
	WaitingLines int // ledger lines that wait
	Lost         int // ledger lines dropped because the store did not take them
	Unsaved      int // conversations dropped for lack of memory before they were stored
	Outage       Outage
}

// Stats returns the fill level of the registry and the condition of its store.
func (r *Registry) Stats() Stats {
	var s Stats
	s.Lines, s.Bytes, s.Dropped = r.table.Size()
	s.Bytes += int(r.saver.evictedCount.Load())
	r.saver.count(&s)
	s.WaitingLines, s.Lost = r.books.counts()
	s.Outage = r.outage.state()
	return s
}

// count adds the pending data.
func (s *saver) count(out *Stats) {
	s.mu.Lock()
	waiting := make([]*Conversation, 0, len(s.waiting))
	for c := range s.waiting {
		waiting = append(waiting, c)
	}
	out.Unsaved = s.dropped
	s.mu.Unlock()
	out.Waiting = len(waiting)
	for _, c := range waiting {
		out.WaitingBytes += unsavedBytes(c)
		snap := c.Snapshot()
		out.Unrecorded += len(snap.Conversation.Edits) - snap.Stored
	}
}

// check checks whether the store still exists.
func (r *Registry) check(ctx context.Context) {
	c, ok := r.o.Store.(store.Checker)
	if !ok {
		return
	}
	if err := c.Check(ctx); err != nil {
		r.outage.fail(ctx, identity, err)
	} else {
		r.outage.recordSuccess(ctx, identity)
	}
}

// Check checks whether the store still exists, and returns why it does not keep new data; nil when
// it does.
func (r *Registry) Check(ctx context.Context) error {
	r.check(ctx)
	if o := r.outage.state(); !o.Since.IsZero() {
		return o.Err
	}
	return nil
}
