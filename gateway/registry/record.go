package registry

import (
	"context"
	"errors"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/store"
)

// Refresh adopts newer edits that another replica has recorded. Edits that the store lacks stay,
// and are stored in the background. It waits for the store, within the patience, only if replicas
// share it or if an earlier request failed. The lock must be held.
func (c *Conversation) Refresh(ctx context.Context) {
	if c.mayLack() {
		_ = c.reload(ctx) // on error, the edits in memory are used
	}
	c.renewInfo(ctx)
}

// Renew loads the conversation's edits from the store even if no other writer is known. It is
// called before a paid condensation that a conflict would waste: a conversation with the same
// messages may have stored edits that memory lacks. It reports whether the edits in force have
// changed. The lock must be held.
func (c *Conversation) Renew(ctx context.Context) (changed bool) {
	was := c.conv.Edits
	_ = c.reload(ctx) // on error, the edits in memory are used
	return !sameEdits(was, c.conv.Edits)
}

// Reports whether the store may have edits that memory lacks.
func (c *Conversation) mayLack() bool { return c.reg.o.Shared || c.unread.Load() }

// reload loads the conversation's edits from the store, whether or not others write there.
func (c *Conversation) reload(ctx context.Context) error {
	st := c.reg.Store(c.owner)
	if st == nil || c.purged.Load() {
		return nil
	}
	// edits stored during this read are read next time
	unread, read, had := c.unread.Swap(false), false, len(c.conv.Edits)
	err := c.reg.reads.call(ctx, func(ctx context.Context) error {
		there, ok, err := latest(ctx, st, c.conv.Transcript)
		if ok {
			c.setEdits(store.MergeEdits(c.conv.Edits, there))
			read = true
		}
		return err
	})
	if unread && !read {
		c.unread.Store(true)
	}
	if n := len(c.conv.Edits); unread && had == 0 && n > 0 {
		c.reg.logAdopted(c.id, n)
	}
	if err != nil {
		c.reg.o.Logger.WarnContext(ctx, "the edits in the store are not known", "conversation", c.id, "error",
			err)
	}
	return err
}

// setEdits puts a list of edits in force. Stored is the number of leading edits that the store has.
func (c *Conversation) setEdits(now []precis.Edit, stored int) {
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

// Record puts edits in force and stores them. The lock must be held. When the store does not answer
// in time, they are in force all the same and stored later. The error is [precis.CodeConflict] when
// an edit does not fit the conversation, or when the store has edits of another replica: those are
// then in force instead of the given ones.
func (c *Conversation) Record(ctx context.Context, m *policy.Manager, edits ...precis.Edit) error {
	err := m.WithStore(nil).Record(ctx, c.conv, edits...)
	return errors.Join(err, c.store(ctx, false))
}

// Keep puts edits in force in memory, to be stored later. The lock must be held.
func (c *Conversation) Keep(ctx context.Context, m *policy.Manager, edits ...precis.Edit) error {
	return m.WithStore(nil).Record(ctx, c.conv, edits...)
}

// store stores the edits that the store lacks, see [Conversation.Record]. With now, it gives up
// when the time is over and returns an error if any edit is unstored; otherwise the work continues.
func (c *Conversation) store(ctx context.Context, now bool) error {
	st := c.reg.Store(c.owner)
	if st == nil || c.purged.Load() || c.stored == len(c.conv.Edits) || c.isDoubted() && !now {
		return nil
	}
	ctx, cancel := c.reg.writes.withLimit(ctx)
	defer cancel()
	if !c.await(ctx) { // an unfinished job of an earlier turn
		return unstoredError(now, context.Cause(ctx))
	}
	was := c.conv.Edits
	j := c.reg.saver.storeNow(st, c, c.conv.Transcript.Prefix(c.conv.Transcript.Len()), was, c.stored)
	c.job = j
	if !c.await(ctx) {
		if c.reg.writes.ended(ctx) && !now {
			c.reg.o.Logger.WarnContext(ctx, "the store is slow: edits are in force, and stored later",
				"conversation", c.id)
		}
		if now {
			j.cancel()
		}
		return unstoredError(now, context.Cause(ctx))
	}
	c.setEdits(j.edits, j.stored)
	switch {
	case j.err != nil: // in force; the saver retries
		c.reg.outage.fail(ctx, conversations, j.err)
		return unstoredError(now, j.err)
	case !begins(c.conv.Edits, was):
		return precis.Errorf(precis.CodeConflict, "record edits",
			"another replica has recorded others meanwhile")
	}
	c.reg.writes.answered()
	return nil
}

// await waits for the running job that stores edits; false: ctx has ended.
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

// unstoredError returns the error for edits that must be stored now and are not.
func unstoredError(now bool, cause error) error {
	if !now {
		return nil
	}
	return precis.Errorf(precis.CodeInternal, "store edits",
		"the store that replicas share does not take them; nothing was changed: %w", cause)
}

// Look returns the conversation with the newest edits, including edits of other replicas that share
// the store. It neither locks nor changes the conversation.
func (c *Conversation) Look(ctx context.Context) *Snapshot {
	s := c.Snapshot()
	st := c.reg.Store(c.owner)
	if st == nil || !c.mayLack() || !c.Open() {
		return s
	}
	now := *s
	err := c.reg.reads.call(ctx, func(ctx context.Context) error {
		there, ok, err := latest(ctx, st, s.Conversation.Transcript)
		if ok {
			now.Conversation.Edits, now.Stored = store.MergeEdits(s.Conversation.Edits, there)
		}
		return err
	})
	if err != nil {
		return s
	}
	return &now
}

// Edit locks the conversation, calls f with it, and stores the edits that f appended. If the store
// does not answer in time, they are in force all the same and stored later; if replicas share the
// store, they are taken back instead, and the error is [precis.CodeInternal]. Errors of f are
// returned. The error is [precis.CodeConflict] when another replica was faster: then its edits are
// in force instead. It returns the store's error, without calling f, if the stored edits could not
// be read yet, because the new edit might conflict with them.
func (c *Conversation) Edit(ctx context.Context, f func(*precis.Conversation) error) error {
	return c.edit(ctx, false, f)
}

// EditRenewed is Edit that always loads the stored edits first, see [Conversation.Renew].
func (c *Conversation) EditRenewed(ctx context.Context, f func(*precis.Conversation) error) error {
	return c.edit(ctx, true, f)
}

func (c *Conversation) edit(ctx context.Context, always bool, f func(*precis.Conversation) error) error {
	if err := c.Lock(ctx); err != nil {
		return err
	}
	if always || c.mayLack() {
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
		// Another replica might go on without them, and they would be lost.
		c.conv.Edits = c.conv.Edits[:max(had, c.stored)]
	}
	c.Unlock()
	if edited && !c.Open() {
		err = errors.Join(err, passEdits(ctx, c))
	}
	return err
}

// passEdits passes the edits of a stored conversation on to its open form, if a client has continued
// it meanwhile.
func passEdits(ctx context.Context, c *Conversation) error {
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
