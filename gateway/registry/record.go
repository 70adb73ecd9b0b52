package registry

import (
	"context"
	"errors"

	"precis"
)

// Refresh takes over newer edits that another replica has recorded. What memory
// has and the store lacks stays, and is stored in the background. The lock must be
// held. It waits for the store only when replicas share it, or when the store could
// not be asked before, and not for long.
func (c *Conversation) Refresh(ctx context.Context) {
	if c.behind() {
		_ = c.reload(ctx) // what memory has is used
	}
	c.renewInfo(ctx)
}

// Renew asks the store for the edits of the conversation although nobody else is known
// to write there, before something is paid for that could not be recorded: a
// conversation of the same words may have edits in the store that memory lacks. It
// reports whether others are in force now. The lock must be held.
func (c *Conversation) Renew(ctx context.Context) (changed bool) {
	was := c.conv.Edits
	_ = c.reload(ctx) // what memory has is used
	return !sameEdits(was, c.conv.Edits)
}

// behind reports whether the store may have edits that memory does not.
func (c *Conversation) behind() bool { return c.reg.o.Shared || c.unread.Load() }

// reload asks the store for the edits of the conversation, whoever else may write
// there.
func (c *Conversation) reload(ctx context.Context) error {
	st := c.reg.Store(c.owner)
	if st == nil || c.purged.Load() {
		return nil
	}
	unread, read, had := c.unread.Swap(false), false, len(c.conv.Edits) // what others store while this reads is read next time
	err := c.reg.reads.call(ctx, func(ctx context.Context) error {
		there, ok, err := latest(ctx, st, c.conv.Transcript)
		if ok {
			c.take(precis.MergeEdits(c.conv.Edits, there))
			read = true
		}
		return err
	})
	if unread && !read {
		c.unread.Store(true)
	}
	if n := len(c.conv.Edits); unread && had == 0 && n > 0 {
		c.reg.tookOver(c.id, n)
	}
	if err != nil {
		c.reg.o.Logger.WarnContext(ctx, "the edits in the store are not known", "conversation", c.id, "error", err)
	}
	return err
}

// take puts a list of edits in force. Stored is how many of them the store has.
func (c *Conversation) take(now []precis.Edit, stored int) {
	if !sameEdits(now, c.conv.Edits) {
		c.conv.Edits = now
		c.Written.Forget()
	}
	c.stored = stored
}

func sameEdits(a, b []precis.Edit) bool { return len(a) == len(b) && begins(a, b) }

// begins reports whether a list of edits begins with another.
func begins(list, prefix []precis.Edit) bool {
	if len(prefix) > len(list) {
		return false
	}
	for i := range prefix {
		if list[i].ID != prefix[i].ID {
			return false
		}
	}
	return true
}

// Record puts edits in force and stores them. The lock must be held. When the
// store does not answer in time they are in force all the same, and stored later.
// The error is [precis.CodeConflict] when one does not fit the conversation, or
// when the store has edits of another replica: these are in force then, and the
// given ones are not.
func (c *Conversation) Record(ctx context.Context, m *precis.Manager, edits ...precis.Edit) error {
	err := m.With(nil).Record(ctx, c.conv, edits...)
	return errors.Join(err, c.store(ctx, false))
}

// Keep puts edits in force in memory, to be stored later. The lock must be held.
func (c *Conversation) Keep(ctx context.Context, m *precis.Manager, edits ...precis.Edit) error {
	return m.With(nil).Record(ctx, c.conv, edits...)
}

// store stores the edits that the store lacks, see [Conversation.Record]. With
// now the work ends when it takes too long, and what is not stored is an error; else it
// goes on.
func (c *Conversation) store(ctx context.Context, now bool) error {
	st := c.reg.Store(c.owner)
	if st == nil || c.purged.Load() || c.stored == len(c.conv.Edits) || c.isDoubted() && !now {
		return nil
	}
	ctx, cancel := c.reg.writes.bound(ctx)
	defer cancel()
	if !c.await(ctx) { // what an earlier turn has not waited for
		return unstored(now, context.Cause(ctx))
	}
	was := c.conv.Edits
	j := c.reg.saver.hurry(st, c, c.conv.Transcript.Prefix(c.conv.Transcript.Len()), was, c.stored)
	c.job = j
	if !c.await(ctx) {
		if c.reg.writes.ended(ctx) && !now {
			c.reg.o.Logger.WarnContext(ctx, "the store is slow: edits are in force, and stored later", "conversation", c.id)
		}
		if now {
			j.cancel()
		}
		return unstored(now, context.Cause(ctx))
	}
	c.take(j.edits, j.stored)
	switch {
	case j.err != nil: // in force, and stored by the saver
		c.reg.outage.fail(ctx, conversations, j.err)
		return unstored(now, j.err)
	case !begins(c.conv.Edits, was):
		return precis.Errorf(precis.CodeConflict, "record edits", "another replica has recorded others meanwhile")
	}
	c.reg.writes.answered()
	return nil
}

// await waits for the storing of edits that is under way; false: ctx has ended.
func (c *Conversation) await(ctx context.Context) bool {
	if c.job == nil {
		return true
	}
	select {
	case <-c.job.done:
		c.job = nil
		return true
	case <-ctx.Done():
		return false
	}
}

// unstored is the error of edits that must be stored now and are not.
func unstored(now bool, cause error) error {
	if !now {
		return nil
	}
	return precis.Errorf(precis.CodeInternal, "store edits", "the store that replicas share does not take them; nothing was changed: %w", cause)
}

// Look returns the conversation as it is now, with newer edits of other replicas
// when they share the store. It neither locks the conversation nor changes it.
func (c *Conversation) Look(ctx context.Context) *Snapshot {
	s := c.Snapshot()
	st := c.reg.Store(c.owner)
	if st == nil || !c.behind() || !c.Open() {
		return s
	}
	now := *s
	err := c.reg.reads.call(ctx, func(ctx context.Context) error {
		there, ok, err := latest(ctx, st, s.Conversation.Transcript)
		if ok {
			now.Conversation.Edits, now.Stored = precis.MergeEdits(s.Conversation.Edits, there)
		}
		return err
	})
	if err != nil {
		return s
	}
	return &now
}

// Edit locks the conversation, calls f with it, and stores the edits that f has
// appended to it. Edits that cannot be stored in time are in force all the same,
// and stored later; of a store that replicas share they are taken back, and the
// error is [precis.CodeInternal]. The error is that of f, or [precis.CodeConflict] when another
// replica was faster: its edits are in force then instead of those of f. A
// conversation whose stored edits could not be read yet is not edited, since the
// edit might have to give way to them; the error is that of the store.
func (c *Conversation) Edit(ctx context.Context, f func(*precis.Conversation) error) error {
	return c.edit(ctx, false, f)
}

// EditRenewed is Edit where the edits in the store are asked for in any case, see
// [Conversation.Renew].
func (c *Conversation) EditRenewed(ctx context.Context, f func(*precis.Conversation) error) error {
	return c.edit(ctx, true, f)
}

func (c *Conversation) edit(ctx context.Context, always bool, f func(*precis.Conversation) error) error {
	if err := c.Lock(ctx); err != nil {
		return err
	}
	if always || c.behind() {
		if err := c.reload(ctx); err != nil && c.unread.Load() {
			c.Unlock()
			return err
		}
	}
	had := len(c.conv.Edits)
	err := f(c.conv)
	edited := len(c.conv.Edits) > had
	if edited {
		c.Written.Forget()
		err = errors.Join(err, c.store(ctx, c.reg.o.Shared))
	}
	if edited && c.reg.o.Shared && c.stored < len(c.conv.Edits) {
		// Another replica may go on without them, and then they would be lost.
		c.conv.Edits = c.conv.Edits[:max(had, c.stored)]
	}
	c.Unlock()
	if edited && !c.Open() {
		err = errors.Join(err, handOver(ctx, c))
	}
	return err
}

// handOver gives the edits of a conversation that only the store had to a client
// that has come back to it meanwhile.
func handOver(ctx context.Context, c *Conversation) error {
	open := c.reg.Get(c.owner, c.id)
	if open == nil {
		return nil
	}
	if err := open.Lock(ctx); err != nil {
		return err
	}
	defer open.Unlock()
	return open.reload(ctx)
}
