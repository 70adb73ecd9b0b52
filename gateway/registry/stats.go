package registry

import (
	"context"

	"precis/store"
)

// Stats says how full the registry is, and how it fares with its store.
type Stats struct {
	Lines   int // paths through conversations, older forms included
	Bytes   int // about, those that wait to be stored included
	Dropped int // lines dropped for want of memory

	Waiting      int // conversations that wait to be stored
	WaitingBytes int // of their messages, about
	Unrecorded   int // edits among what waits
	WaitingLines int // ledger lines that wait
	Lost         int // ledger lines dropped because the store did not take them
	Unsaved      int // conversations dropped for want of memory before they were stored
	Outage       Outage
}

// Stats returns how full the registry is, and how it fares with its store.
func (r *Registry) Stats() Stats {
	var s Stats
	s.Lines, s.Bytes, s.Dropped = r.table.Size()
	s.Bytes += int(r.saver.outside.Load())
	r.saver.count(&s)
	s.WaitingLines, s.Lost = r.books.counts()
	s.Outage = r.outage.state()
	return s
}

// count fills in what waits.
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

// check looks whether the store is still there.
func (r *Registry) check(ctx context.Context) {
	c, ok := r.o.Store.(store.Checker)
	if !ok {
		return
	}
	if err := c.Check(ctx); err != nil {
		r.outage.fail(ctx, identity, err)
	} else {
		r.outage.works(ctx, identity)
	}
}

// Check looks whether the store is still there, and returns why it does not keep what
// is new; nil: it does.
func (r *Registry) Check(ctx context.Context) error {
	r.check(ctx)
	if o := r.outage.state(); !o.Since.IsZero() {
		return o.Err
	}
	return nil
}
