package registry

import (
	"context"

	"github.com/precis-dev/precis/store"
)

// renewInfo adopts a newer catalog record of another replica. A turn in progress updates it
// afterwards.
func (c *Conversation) renewInfo(ctx context.Context) {
	cat := c.reg.Catalog(c.owner)
	if !c.reg.o.Shared || cat == nil || c.id == "" {
		return
	}
	_ = c.reg.reads.call(ctx, func(ctx context.Context) error { // on error, the record in memory is used
		rec, err := cat.Conversation(ctx, c.id)
		if err != nil {
			return err
		}
		c.SetInfo(func(now *store.Record) {
			if rec.Updated.After(now.Updated) {
				*now = rec
			}
		})
		return nil
	})
}

// hasNewerRecord reports whether the store has a newer turn of an open conversation: another replica's
// record that ends at a node which memory does not have.
func (c *Conversation) hasNewerRecord(rec store.Record) bool {
	if !rec.Updated.After(c.Info().Updated) {
		return false
	}
	t := c.Snapshot().Conversation.Transcript
	return rec.Messages > t.Len() || rec.Head != t.Fingerprint(rec.Messages)
}

// hasNewerTurn reports whether another replica has stored the record of a newer turn than the given
// one.
func hasNewerTurn(ctx context.Context, cat store.Lister, now store.Record) bool {
	rec, err := cat.Conversation(ctx, now.ID)
	return err == nil && rec.Updated.After(now.Updated) && rec.Messages >= now.Messages
}

// newest returns the open conversation or, if another replica has seen more of it, the stored one.
func (r *Registry) newest(ctx context.Context, c *Conversation) *Conversation {
	cat := r.Catalog(c.owner)
	if !r.o.Shared || cat == nil {
		return c
	}
	var there *Conversation
	_ = r.reads.call(ctx, func(ctx context.Context) error { // on error, memory is shown
		rec, err := cat.Conversation(ctx, c.id)
		switch {
		case err != nil:
			return err
		case rec.Updated.After(c.Info().Updated) && !c.hasNewerRecord(rec):
			c.SetInfo(func(now *store.Record) {
				if rec.Updated.After(now.Updated) {
					*now = rec
				}
			})
		case c.hasNewerRecord(rec):
			there, err = r.stored(ctx, c.owner, rec)
		}
		return err
	})
	if there != nil {
		return there
	}
	return c
}

// stored reads from the store a conversation that has no client.
func (r *Registry) stored(ctx context.Context, owner string, rec store.Record) (*Conversation, error) {
	t, edits, err := r.Store(owner).Load(ctx, rec.Head)
	if err != nil {
		return nil, err
	}
	c := r.conversation(owner, rec.ID, t)
	c.conv.Model, c.conv.Unstored, c.conv.Edits, c.stored = rec.Model, rec.Overhead, edits, len(edits)
	c.messages.Store(int64(t.Len()))
	c.info.Store(&rec)
	return c, nil
}

// Newest returns an owner's open conversations like All, and adopts newer records of other
// replicas. It omits a conversation if another replica has seen more of it, because the store then
// has the newer form.
func (r *Registry) Newest(ctx context.Context, owner string) []*Conversation {
	all := r.All(owner)
	cat := r.Catalog(owner)
	if !r.o.Shared || cat == nil || len(all) == 0 {
		return all
	}
	since := all[0].Info().Updated
	for _, c := range all {
		if u := c.Info().Updated; u.Before(since) {
			since = u
		}
	}
	var records []store.Record
	if r.reads.call(ctx, func(ctx context.Context) (err error) {
		records, err = cat.Conversations(ctx, store.Query{Since: since})
		return err
	}) != nil {
		return all
	}
	there := map[string]store.Record{}
	for _, rec := range records {
		there[rec.ID] = rec
	}
	out := all[:0]
	for _, c := range all {
		rec, ok := there[c.id]
		if ok && c.hasNewerRecord(rec) {
			continue
		}
		if ok {
			c.SetInfo(func(now *store.Record) {
				if rec.Updated.After(now.Updated) {
					*now = rec
				}
			})
		}
		out = append(out, c)
	}
	return out
}
