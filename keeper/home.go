package keeper

import (
	"context"

	"precis"
	"precis/conversation"
	"precis/gateway"
	"precis/store"
)

// full is what the home of a gateway can do.
type full interface {
	conversation.Home
	conversation.Stored
	conversation.Purger
}

// home is the gateway's, with the conversations that are held by name in front: what
// memory has of them goes before what the store has.
type home struct {
	full
	k *Keeper
}

// Look calls f with a snapshot. It waits for nobody: while somebody makes a view, the
// conversation is seen as it was before.
func (h home) Look(ctx context.Context, id string, f func(*conversation.Subject) error) error {
	c := h.k.opened(id)
	if c == nil {
		return h.full.Look(ctx, id, f)
	}
	select {
	case c.lock <- struct{}{}:
		err := c.refresh(ctx)
		c.publish()
		<-c.lock
		if err != nil {
			return err
		}
	default:
	}
	snap := c.snapshot.Load()
	if snap.rec.ID == "" {
		return h.full.Look(ctx, id, f) // that of a request, or unknown
	}
	conv := snap.conv
	s := c.subject(&conv, snap.rec, snap.last)
	s.Pending = snap.pending
	if c.looking.TryLock() {
		defer c.looking.Unlock()
		if c.looks == nil {
			c.looks = h.k.manager.NewMeter()
		}
		s.Ask.Meter = c.looks
	}
	return f(s)
}

// Edit calls f with the conversation locked, and stores the edits that f made.
func (h home) Edit(ctx context.Context, id string, f func(*conversation.Subject) error) error {
	c := h.k.opened(id)
	if c == nil {
		return h.full.Edit(ctx, id, f)
	}
	leave, err := c.enter(ctx)
	if err != nil {
		return err
	}
	if c.rec.ID == "" {
		leave()
		return h.full.Edit(ctx, id, f)
	}
	defer leave()
	s := c.subject(c.conv, c.rec, c.last)
	s.Ask.Meter = c.meter
	failed := f(s)
	lost, err := c.sync(ctx)
	switch {
	case err != nil:
		c.conv.Edits = c.conv.Edits[:min(c.stored, len(c.conv.Edits))] // an edit that is not stored was not made
		return err
	case lost:
		return precis.Errorf(precis.CodeConflict, "record edits", "another process has recorded others meanwhile")
	}
	if tokens := s.Record.Tokens; tokens != c.rec.Tokens {
		c.put(ctx, func(rec *store.Record) { rec.Tokens = tokens })
	}
	return failed
}

// subject describes the conversation to the verbs.
func (h *held) subject(conv *precis.Conversation, rec store.Record, last precis.Report) *conversation.Subject {
	ledger, _ := h.store.(precis.Ledger)
	ask := h.ask(Prompt{Model: conv.Model})
	ask.Window = h.k.window(conv.Model, last)
	return &conversation.Subject{
		Conversation: conv, Record: rec, Owner: owner, Open: conv.HasSystem() || conv.Tools != nil, Last: last,
		Manager: h.k.manager.With(nil).WithLedger(ledger), Ask: ask,
	}
}

// ask returns how the manager is asked for a view.
func (h *held) ask(p Prompt) precis.Request {
	r := precis.Request{
		Window: h.k.o.Window(p.Model), MaxOutput: p.MaxOutput, OutputLimit: h.k.o.Catalog.OutputLimit(p.Model), Profile: p.Model, Focus: p.Focus,
		Dialect: h.dialect(), Reasoning: precis.ReasoningStays, Unrecorded: true,
	}
	if gateway.BindsReasoning(p.Model) {
		r.Reasoning = precis.ReasoningLoop
	}
	return r
}

// window returns the window of the newest view, or what it would be for a model.
func (k *Keeper) window(model string, last precis.Report) precis.Window {
	if w := last.Decision.Window; w.Tokens > 0 && last.Model == model {
		return w
	}
	return k.o.Window(model)
}
