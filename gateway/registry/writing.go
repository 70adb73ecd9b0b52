package registry

import (
	"context"
	"sync/atomic"

	"precis"
)

// synced is what [precis.Reconcile] has led to.
type synced struct {
	edits  []precis.Edit
	stored int
}

// writing is the writing of one conversation to the store.
type writing struct {
	turn     chan struct{} // of capacity 1: full while something of it is written
	messages atomic.Int64  // leading messages that the store has
	purged   atomic.Bool   // nothing more of it may be stored
	refused  atomic.Bool   // the store can never take its messages
	unsaved  atomic.Bool   // it waits to be stored
	unread   atomic.Bool   // the store may have edits that were not read: it could not be asked, or another conversation made them
}

// alone calls f, which is to write what belongs to the conversation, unless it was
// purged. One call at a time is made.
func (w *writing) alone(ctx context.Context, f func() error) error {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return precis.Errorf(precis.CodeInternal, "store conversation", "%w", context.Cause(ctx))
	}
	if w.purged.Load() {
		return nil
	}
	return f()
}

// wait waits for what is being written.
func (w *writing) wait(ctx context.Context) error {
	select {
	case w.turn <- struct{}{}:
		<-w.turn
		return nil
	case <-ctx.Done():
		return precis.Errorf(precis.CodeCanceled, "purge", "%w", context.Cause(ctx))
	}
}

// sync brings the store and a list of edits together; see [writing.alone].
func (c *Conversation) sync(ctx context.Context, st precis.Store, t *precis.Transcript, edits []precis.Edit, stored int) (synced, error) {
	p := precis.Progress{Messages: int(c.messages.Load()), Edits: stored}
	now, err := precis.Reconcile(ctx, st, t, edits, &p)
	c.messages.Store(int64(p.Messages))
	c.spread(now[min(stored, p.Edits):p.Edits])
	return synced{now, p.Edits}, err
}

// spread has the conversations read edits that were stored at nodes they pass: an
// edit is in force in all that was said after its node, whoever said it.
func (c *Conversation) spread(stored []precis.Edit) {
	for _, e := range stored {
		for _, l := range c.reg.table.Through(c.owner, e.Seen, e.At) {
			if o := l.State; o != nil && o != c {
				o.unread.Store(true)
			}
		}
	}
}

// said returns what the client has said, requests that are not answered yet
// included.
func said(c *Conversation) *precis.Transcript {
	if c.line != nil {
		return c.line.Transcript
	}
	return c.Snapshot().Conversation.Transcript
}

// unsavedBytes returns about how many bytes of messages wait to be stored.
func unsavedBytes(c *Conversation) int {
	msgs, n := said(c).Messages(), 0
	for _, m := range msgs[min(int(c.messages.Load()), len(msgs)):] {
		n += len(m.Raw)
	}
	return n
}
