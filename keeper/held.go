package keeper

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"precis"
	"precis/conversation"
	"precis/gateway"
	"precis/store"
	"precis/wire/anthropic"
	"precis/wire/chat"
	"precis/wire/responses"
)

// owner is the scope of the conversations that are held by name. Requests belong to
// the owner "": a view that a program sends through the keeper's own client is another
// conversation, and never taken for the one that it is a view of.
const owner = "keeper"

// held is a conversation by name, as this process has it. All handles of a name share
// it; it goes when the last of them does.
type held struct {
	k     *Keeper
	name  string
	store precis.Store // the scope of owner

	lock chan struct{} // of capacity 1: full while the lock is held

	// Guarded by lock.
	rec    store.Record // as it is stored; without an ID nothing is
	conv   *precis.Conversation
	stored int // leading edits of conv that the store has
	meter  *precis.Meter
	last   precis.Report // of the newest view

	snapshot atomic.Pointer[snapshot]
	looking  sync.Mutex    // held while looks counts
	looks    *precis.Meter // of those who only look
}

// snapshot is a held conversation as it was when its lock was last released. It is not
// changed.
type snapshot struct {
	rec     store.Record
	conv    precis.Conversation
	last    precis.Report
	pending bool // the store lacks some edits
}

type heldPointer = weak.Pointer[held]

// held returns the conversation by that name, new to this process or not.
func (k *Keeper) held(name string) *held {
	k.mu.Lock()
	defer k.mu.Unlock()
	if h := k.open[name].Value(); h != nil {
		return h
	}
	h := &held{k: k, name: name, store: k.store.Scope(owner), lock: make(chan struct{}, 1)}
	h.reset()
	k.open[name] = weak.Make(h)
	runtime.AddCleanup(h, k.release, name)
	return h
}

// opened returns a conversation that somebody has a handle of; nil when nobody does.
func (k *Keeper) opened(name string) *held {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.open[name].Value()
}

// release forgets a name that nobody has a handle of any more.
func (k *Keeper) release(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.open[name].Value() == nil {
		delete(k.open, name)
	}
}

// reset makes the conversation an empty one.
func (h *held) reset() {
	h.rec, h.stored, h.last = store.Record{}, 0, precis.Report{}
	h.conv = &precis.Conversation{ID: h.name, Transcript: &precis.Transcript{}}
	h.meter = h.k.manager.NewMeter()
	h.publish()
}

// enter locks the conversation and takes over what other processes have stored of it.
func (h *held) enter(ctx context.Context) (leave func(), err error) {
	select {
	case h.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, precis.Errorf(precis.CodeCanceled, "wait for the conversation", "%w", context.Cause(ctx))
	}
	if err := h.refresh(ctx); err != nil {
		<-h.lock
		return nil, err
	}
	return func() { h.publish(); <-h.lock }, nil
}

func (h *held) publish() {
	s := &snapshot{rec: h.rec, conv: *h.conv, last: h.last, pending: h.stored < len(h.conv.Edits)}
	s.conv.Edits = slices.Clip(h.conv.Edits)
	s.conv.Transcript = h.conv.Transcript.Prefix(h.conv.Transcript.Len())
	h.snapshot.Store(s)
}

// refresh takes over what the store has: messages and edits of other processes. Edits
// that only memory has stay when the store's are their beginning, see
// [precis.MergeEdits].
func (h *held) refresh(ctx context.Context) error {
	rec, err := h.catalog().Conversation(ctx, h.name)
	if precis.CodeOf(err) == precis.CodeNotFound { // not begun yet, or purged
		if h.rec.ID != "" {
			h.reset()
		}
		return nil
	}
	if err != nil {
		return err
	}
	if rec.Head == h.rec.Head {
		edits, err := precis.StoredEdits(ctx, h.store, rec.Head)
		if err != nil {
			return err
		}
		h.rec = rec
		h.merge(edits)
		return nil
	}
	t, edits, err := h.store.Load(ctx, rec.Head)
	if err != nil {
		return err
	}
	h.rec = rec
	if n := h.conv.Transcript.Len(); n <= t.Len() && t.Fingerprint(n) == h.conv.Transcript.Fingerprint(n) {
		h.conv.Transcript.Append(t.Messages()[n:]...)
	} else { // purged, and begun anew by another process
		h.conv.Transcript, h.conv.Edits, h.meter = t, nil, h.k.manager.NewMeter()
	}
	h.conv.Title = rec.Title
	if h.conv.Model == "" {
		h.conv.Model = rec.Model
	}
	h.merge(edits)
	return nil
}

func (h *held) merge(there []precis.Edit) {
	h.conv.Edits, h.stored = precis.MergeEdits(h.conv.Edits, there)
}

func (h *held) catalog() interface {
	store.Lister
	store.Mover
} {
	return h.store.(interface { // the stores that Open opens have both
		store.Lister
		store.Mover
	})
}

// attempts is how often a write is tried when other processes are faster.
const attempts = 20

// append adds messages at the end. The lock must be held. What another process has added
// meanwhile comes before them.
func (h *held) append(ctx context.Context, msgs []precis.Message) error {
	for range attempts {
		was := h.rec.Head
		head, err := h.store.Append(ctx, was, msgs...)
		if err != nil {
			return err
		}
		rec, now := h.rec, h.k.o.Now()
		if rec.ID == "" {
			rec = store.Record{ID: h.name, Dialect: formatOf(msgs), Client: "keeper", Created: now, Hints: map[string]string{gateway.NameHint: h.name}}
		}
		if rec.Title == "" {
			rec.Title = conversation.TitleOf(msgs)
		}
		rec.Head, rec.Updated = head, now
		rec.Messages += len(msgs)
		err = h.catalog().MoveConversation(ctx, was, rec)
		if err == nil {
			h.rec, h.conv.Title = rec, rec.Title
			h.conv.Transcript.Append(msgs...)
			return nil
		}
		if precis.CodeOf(err) != precis.CodeConflict {
			return err
		}
		if err := h.refresh(ctx); err != nil {
			return err
		}
	}
	return precis.Errorf(precis.CodeConflict, "append messages", "other processes append to %q all the time", h.name)
}

// formatOf returns the dialect that messages came from; "" when they were made in
// memory.
func formatOf(msgs []precis.Message) string {
	for _, m := range msgs {
		if m.Format != "" {
			return m.Format
		}
	}
	return ""
}

// dialect returns the rules that views are kept to; nil: the strictest.
func (h *held) dialect() precis.Dialect {
	switch h.rec.Dialect {
	case anthropic.Format:
		return anthropic.Dialect{}
	case chat.Format:
		return chat.Dialect{}
	case responses.Format:
		return responses.Dialect{}
	}
	return nil
}

// sync stores the edits that the store lacks. Lost: those of another process are in
// force instead. The lock must be held.
func (h *held) sync(ctx context.Context) (lost bool, err error) {
	was := h.conv.Edits
	if h.stored == len(was) {
		return false, nil
	}
	p := precis.Progress{Messages: h.conv.Transcript.Len(), Edits: h.stored}
	now, err := precis.Reconcile(ctx, h.store, h.conv.Transcript, was, &p)
	h.conv.Edits, h.stored = now, p.Edits
	return len(now) < len(was) || now[len(was)-1].ID != was[len(was)-1].ID, err
}

// put stores what changed of the record but its head, unless another process has moved
// the conversation on, whose record then counts. The lock must be held.
func (h *held) put(ctx context.Context, change func(*store.Record)) {
	rec := h.rec
	change(&rec)
	err := h.catalog().MoveConversation(ctx, rec.Head, rec)
	if err == nil {
		h.rec = rec
	} else if precis.CodeOf(err) != precis.CodeConflict {
		h.k.o.Logger.WarnContext(ctx, "the record of a conversation is not stored", "error", err)
	}
}
