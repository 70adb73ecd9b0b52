package registry

import (
	"context"
	"slices"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// Purge selects what to forget: exactly one of its fields is set.
type Purge struct {
	IDs    []string  // these conversations
	Before time.Time // all that were last updated before
	All    bool      // everything of the owner
	// Memory forgets only the copies in memory, and does not count them, because another replica
	// purges the store.
	Memory bool
}

func (p Purge) selects(id string, r store.Record) bool {
	return p.All || slices.Contains(p.IDs, id) || !p.Before.IsZero() && r.Updated.Before(p.Before)
}

// Purge forgets conversations of an owner, in memory and in the store. The file of the store may
// still contain them until [Registry.Wipe]. Requests in progress are answered, but no longer
// stored. IDs that the owner does not have are ignored.
func (r *Registry) Purge(ctx context.Context, owner string, p Purge) (store.PurgeResult, error) {
	cat := r.Catalog(owner)
	purger, can := cat.(store.Purger)
	if r.o.Store != nil && !can {
		return store.PurgeResult{}, precis.Errorf(precis.CodeInvalid, "purge",
			"the store cannot forget what belongs to one owner")
	}
	dropped, err := r.drop(ctx, owner, p)
	if err != nil {
		return store.PurgeResult{Conversations: len(dropped)}, err
	}
	if !can {
		return store.PurgeResult{Conversations: len(dropped)}, nil
	}
	var res store.PurgeResult
	if !p.Memory {
		unstored := 0
		for _, id := range dropped {
			if _, err := cat.Conversation(ctx, id); precis.CodeOf(err) == precis.CodeNotFound {
				unstored++
			}
		}
		res, err = store.Remove(ctx, purger, store.PurgeQuery{IDs: p.IDs, Before: p.Before, All: p.All})
		res.Conversations += unstored
	}
	if err == nil && !p.Before.IsZero() {
		err = r.keepRest(ctx, owner, cat)
	}
	return res, err
}

// Wipe makes the purged data of all owners unreadable, see [store.Wiper].
func (r *Registry) Wipe(ctx context.Context) error {
	if w, ok := r.o.Store.(store.Wiper); ok {
		return w.Wipe(ctx)
	}
	return nil
}

// drop removes conversations from memory and from the queue, and returns their IDs.
func (r *Registry) drop(ctx context.Context, owner string, p Purge) (ids []string, err error) {
	for _, c := range r.All(owner) {
		if !p.selects(c.id, c.Info()) {
			continue
		}
		for _, l := range r.table.Lines() { // including older forms of it
			if l.Owner != c.owner || l.ID != c.id {
				continue
			}
			r.table.Drop(l)
			l.State.purged.Store(true)
			r.saver.forget(l.State)
			if err := l.State.wait(ctx); err != nil {
				return ids, err
			}
		}
		ids = append(ids, c.id)
	}
	return ids, nil
}

// keepRest stores again what a purge by age deleted of conversations that are newer in memory than
// they were in the store.
func (r *Registry) keepRest(ctx context.Context, owner string, cat store.Lister) error {
	for _, c := range r.All(owner) {
		if _, err := cat.Conversation(ctx, c.id); precis.CodeOf(err) != precis.CodeNotFound {
			continue
		}
		if err := c.Lock(ctx); err != nil {
			return err
		}
		c.stored = 0
		c.messages.Store(0)
		c.Unlock()
		c.Save()
	}
	return nil
}
