package registry

import (
	"context"
	"sync/atomic"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// synced is the result of [store.Reconcile].
type synced struct {
	edits  []precis.Edit
	stored int
}

// writing is the state of writing one conversation to the store.
type writing struct {
	turn     chan struct{} // of capacity 1: full while its data is written
	messages atomic.Int64  // number of leading messages that the store has
	purged   atomic.Bool   // its data must not be stored any more
	refused  atomic.Bool   // the store can never accept its messages
	unsaved  atomic.Bool   // it waits to be stored
	// the store may have unread edits: it could not be read, or another conversation made them
	unread atomic.Bool
}

// serialized calls f, which writes data of the conversation, unless the conversation was purged. Calls
// are serialized.
func (w *writing) serialized(ctx context.Context, f func() error) error {
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

// wait waits for the write in progress.
func (w *writing) wait(ctx context.Context) error {
	select {
	case w.turn <- struct{}{}:
		<-w.turn
		return nil
	case <-ctx.Done():
		return precis.Errorf(precis.CodeCanceled, "purge", "%w", context.Cause(ctx))
	}
}

// sync reconciles the store and a list of edits; see [writing.alone].
func (c *Conversation) sync(ctx context.Context, st precis.Store, t *precis.Transcript, edits []precis.Edit,
	stored int) (synced, error) {
	p := store.Progress{Messages: int(c.messages.Load()), Edits: stored}
	now, err := store.Reconcile(ctx, st, t, edits, &p)
	c.messages.Store(int64(p.Messages))
	c.markUnread(now[min(stored, p.Edits):p.Edits])
	return synced{now, p.Edits}, err
}

// markUnread makes conversations load edits that were stored at nodes they contain: an edit is in force
// for all messages after its node, in every conversation.
func (c *Conversation) markUnread(stored []precis.Edit) {
	for _, e := range stored {
		for _, l := range c.reg.table.LinesThrough(c.owner, e.Seen, e.At) {
			if o := l.State; o != nil && o != c {
				o.unread.Store(true)
			}
		}
	}
}

// clientMessages returns the client's messages, including requests that are not answered yet.
func clientMessages(c *Conversation) *precis.Transcript {
	if c.line != nil {
		return c.line.Transcript
	}
	return c.Snapshot().Conversation.Transcript
}

// unsavedBytes returns roughly how many bytes of messages wait to be stored.
func unsavedBytes(c *Conversation) int {
	msgs, n := clientMessages(c).Messages(), 0
	for _, m := range msgs[min(int(c.messages.Load()), len(msgs)):] {
		n += len(m.Raw)
	}
	return n
}
