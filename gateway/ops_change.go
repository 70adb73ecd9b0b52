package gateway

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"precis"
)

// Change is an edit that was asked for, and what it led to.
type Change struct {
	Edit   EditInfo      `json:"edit"`
	Status precis.Status `json:"status"`
}

// Undo takes back edits: those with the IDs, or with none the last run.
func (g *Gateway) Undo(ctx context.Context, owner, id string, edits ...string) (Change, error) {
	return g.change(ctx, owner, id, func(s *subject) (precis.Edit, error) {
		return s.mgr.Undo(ctx, s.conv, edits...)
	})
}

// Pin marks messages or blocks as important: no later run hides or cuts them.
func (g *Gateway) Pin(ctx context.Context, owner, id string, handles ...string) (Change, error) {
	var list []precis.Handle
	for _, text := range handles {
		h, err := precis.ParseHandle(text)
		if err != nil {
			return Change{}, err
		}
		list = append(list, h)
	}
	return g.change(ctx, owner, id, func(s *subject) (precis.Edit, error) {
		return s.mgr.Pin(ctx, s.conv, list...)
	})
}

// Restore shows hidden messages, or a block, to the model again.
func (g *Gateway) Restore(ctx context.Context, owner, id, handle string) (Change, error) {
	h, err := precis.ParseHandle(handle)
	if err != nil {
		return Change{}, err
	}
	return g.change(ctx, owner, id, func(s *subject) (precis.Edit, error) {
		return s.mgr.Restore(ctx, s.conv, h)
	})
}

// Rewind hides all but the first n messages and takes back what was done since.
// Undoing it brings all of it back. What the client says next comes after.
func (g *Gateway) Rewind(ctx context.Context, owner, id string, n int) (Change, error) {
	return g.change(ctx, owner, id, func(s *subject) (precis.Edit, error) {
		return s.mgr.Rewind(ctx, s.conv, n)
	})
}

// change makes one edit of a conversation.
func (g *Gateway) change(ctx context.Context, owner, id string, f func(*subject) (precis.Edit, error)) (c Change, err error) {
	err = g.editing(ctx, owner, id, func(s *subject) error {
		before, err := s.changeable(ctx)
		if err != nil {
			return err
		}
		e, err := f(s)
		if err != nil {
			return err
		}
		c.Edit = editInfos(s.conv.Edits, []precis.Edit{e})[0]
		c.Status, err = s.took(ctx, before)
		return err
	})
	return c, err
}

// editing locks a conversation while f works on it, and sees to it that a client
// that has come back meanwhile has the edits.
func (g *Gateway) editing(ctx context.Context, owner, id string, f func(*subject) error) error {
	s, err := g.open(ctx, owner, id)
	if err != nil {
		return err
	}
	had := len(s.conv.Edits)
	func() {
		defer s.close()
		err = f(s)
	}()
	if len(s.conv.Edits) > had {
		return errors.Join(err, g.handOver(ctx, s))
	}
	return err
}

// changeable reports why a conversation cannot be edited now, and how it stands.
func (s *subject) changeable(ctx context.Context) (precis.Status, error) {
	if s.stale != nil {
		return precis.Status{}, s.stale
	}
	if s.held == nil && s.rec.Branched != "" && s.rec.Requests == 0 {
		return precis.Status{}, &precis.Error{
			Code: precis.CodeConflict, Op: "edit conversation", Err: fmt.Errorf("%s has no message of its own yet, so an edit would hold for %s, too", s.rec.ID, s.rec.Branched),
			Hint: "preview it, or edit it after its first request",
		}
	}
	return s.status(ctx)
}

// took takes over the edits that were recorded, and notes in the record how big
// the view is now.
func (s *subject) took(ctx context.Context, before precis.Status) (precis.Status, error) {
	after, err := s.status(ctx)
	if err != nil {
		return after, err
	}
	if s.held != nil {
		s.held.conv.Edits = s.conv.Edits
		s.held.resized(after.Tokens)
		s.g.saver.soon(s.held)
		return after, nil
	}
	s.rec.Tokens = max(s.rec.Tokens+after.Tokens-before.Tokens, 0)
	if cat := s.g.catalog(s.owner); cat != nil {
		if err := cat.PutConversation(ctx, s.rec); err != nil { // the edit stands
			s.g.o.Logger.WarnContext(ctx, "a record is not up to date", "conversation", s.rec.ID, "error", err)
		}
	}
	return after, nil
}

// resized notes how big the view is.
func (h *held) resized(tokens int) {
	for {
		old := h.record.Load()
		rec := *old
		rec.Tokens = tokens
		if h.record.CompareAndSwap(old, &rec) {
			return
		}
	}
}

// soon queues a conversation to be stored.
func (s *saver) soon(h *held) {
	if s.g.o.Store == nil {
		return
	}
	s.mu.Lock()
	if !s.queued[h] {
		s.queued[h] = true
		s.lines = append(s.lines, h)
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// handOver gives the edits of a conversation that only the store knew to a
// client that has come back to it meanwhile.
func (g *Gateway) handOver(ctx context.Context, s *subject) error {
	if s.held != nil {
		return nil
	}
	h := g.inMemory(s.owner, s.rec.ID)
	if h == nil {
		return nil
	}
	if err := h.acquire(ctx); err != nil {
		return err
	}
	defer h.release()
	return g.catchUp(ctx, h, s.mgr)
}

// Branch makes a conversation of its own of the first n messages of another one,
// and of the edits that were made by then. It shares what is stored. No client
// is at it until one sends those messages and goes on differently; until then
// its view can be looked at and previewed, not edited. It needs a store.
func (g *Gateway) Branch(ctx context.Context, owner, id string, n int) (precis.ConversationRecord, error) {
	const op = "branch conversation"
	s, err := g.open(ctx, owner, id)
	if err != nil {
		return precis.ConversationRecord{}, err
	}
	defer s.close()
	cat := g.catalog(s.owner)
	if cat == nil {
		return precis.ConversationRecord{}, precis.Errorf(precis.CodeInvalid, op, "branches need a store that lists conversations")
	}
	if n < 1 || n > s.conv.Transcript.Len() {
		return precis.ConversationRecord{}, precis.Errorf(precis.CodeNotFound, op, "message %d: the conversation has %d", n, s.conv.Transcript.Len())
	}
	if s.stale != nil {
		return precis.ConversationRecord{}, s.stale
	}
	s.conv = precis.Rewound(s.conv, n)
	head, err := g.store(s.owner).Append(ctx, precis.Fingerprint{}, s.conv.Transcript.Messages()...)
	if err != nil {
		return precis.ConversationRecord{}, err
	}
	st, err := s.status(ctx)
	if err != nil {
		return precis.ConversationRecord{}, err
	}
	now := g.o.Now()
	rec := precis.ConversationRecord{
		ID: branchID(), Title: s.rec.Title, Dialect: s.rec.Dialect, Model: s.rec.Model, Head: head, Messages: n, Tokens: st.Tokens, Window: st.Window,
		Created: now, Updated: now, Branched: s.rec.ID,
	}
	return rec, cat.PutConversation(ctx, rec)
}

func branchID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return "b" + hex.EncodeToString(b[:])
}
