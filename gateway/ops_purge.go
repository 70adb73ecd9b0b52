package gateway

import (
	"context"
	"slices"
	"time"

	"precis"
)

// PurgeOptions say what is to be forgotten: exactly one of them.
type PurgeOptions struct {
	IDs    []string  // these conversations
	Before time.Time // all that were last updated before
	All    bool      // everything of the owner
}

// Purge forgets conversations, in memory and in the store. A client that sends
// one again begins it anew. IDs that the owner does not have are ignored.
func (g *Gateway) Purge(ctx context.Context, owner string, o PurgeOptions) (precis.PurgeResult, error) {
	const op = "purge"
	var total precis.PurgeResult
	n := 0
	for _, set := range []bool{len(o.IDs) > 0, !o.Before.IsZero(), o.All} {
		if set {
			n++
		}
	}
	if n != 1 {
		return total, precis.Errorf(precis.CodeInvalid, op, "name conversations, or a time, or all: one of the three")
	}
	owners, err := g.owners(ctx, owner)
	if err != nil {
		return total, err
	}
	for _, who := range owners {
		one, err := g.purgeOwner(ctx, who, o)
		total.Conversations += one.Conversations
		total.Messages += one.Messages
		total.Bytes += one.Bytes
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

func (g *Gateway) purgeOwner(ctx context.Context, owner string, o PurgeOptions) (precis.PurgeResult, error) {
	cat := g.catalog(owner)
	purger, can := cat.(precis.Purger)
	if g.o.Store != nil && !can {
		return precis.PurgeResult{}, precis.Errorf(precis.CodeInvalid, "purge", "the store cannot forget what belongs to one owner")
	}
	dropped, err := g.drop(ctx, owner, o)
	if err == nil && len(dropped) > 0 {
		err = g.saver.settle(ctx)
	}
	if err != nil || !can {
		return precis.PurgeResult{Conversations: len(dropped)}, err
	}
	unstored := 0
	for _, id := range dropped {
		if _, err := cat.Conversation(ctx, id); precis.CodeOf(err) == precis.CodeNotFound {
			unstored++
		}
	}
	res, err := purger.Purge(ctx, precis.PurgeQuery{IDs: o.IDs, Before: o.Before, All: o.All})
	res.Conversations += unstored
	if err == nil && !o.Before.IsZero() {
		err = g.keepRest(ctx, owner, cat)
	}
	return res, err
}

// drop takes conversations out of memory, and what is queued of them out of the
// queue. It returns their IDs.
func (g *Gateway) drop(ctx context.Context, owner string, o PurgeOptions) ([]string, error) {
	var out []string
	for id, h := range g.remembered(owner) {
		if !o.selects(id, h.recordNow()) {
			continue
		}
		if err := h.acquire(ctx); err != nil {
			return out, err
		}
		for _, l := range g.table.Lines() { // older forms of it, too
			if l.Owner == owner && l.ID == id {
				g.table.Drop(l)
			}
		}
		h.purged.Store(true)
		g.saver.forget(h)
		h.release()
		out = append(out, id)
	}
	return out, nil
}

func (o PurgeOptions) selects(id string, r precis.ConversationRecord) bool {
	return o.All || slices.Contains(o.IDs, id) || !o.Before.IsZero() && r.Updated.Before(o.Before)
}

// forget takes a conversation out of the queue.
func (s *saver) forget(h *held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queued[h] {
		delete(s.queued, h)
		s.lines = slices.DeleteFunc(s.lines, func(o *held) bool { return o == h })
	}
}

// settle writes what was queued by now, as far as the store takes it.
func (s *saver) settle(ctx context.Context) error {
	if s.g.o.Store != nil {
		s.flush(ctx)
	}
	if err := ctx.Err(); err != nil {
		return precis.Errorf(precis.CodeCanceled, "wait for the store", "%w", context.Cause(ctx))
	}
	return nil
}

// keepRest sees to it that the store gets back what it forgot of conversations
// that memory knows to be newer than the store did.
func (g *Gateway) keepRest(ctx context.Context, owner string, cat precis.Catalog) error {
	for id, h := range g.remembered(owner) {
		if _, err := cat.Conversation(ctx, id); precis.CodeOf(err) != precis.CodeNotFound {
			continue
		}
		if err := h.acquire(ctx); err != nil {
			return err
		}
		h.unsaved = len(h.conv.Edits) > 0
		h.release()
		g.saver.soon(h)
	}
	return nil
}
