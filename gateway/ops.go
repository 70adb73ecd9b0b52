package gateway

import (
	"context"
	"slices"

	"precis"
	"precis/gateway/lineage"
	"precis/wire"
	"precis/wire/anthropic"
	"precis/wire/chat"
	"precis/wire/responses"
)

// The files ops_*.go are the operations that a dashboard, an MCP server and the
// HTTP API of package control share. Each takes the owner whose conversations it
// may see, or [AllOwners], and works on conversations in memory and on those that
// only the store knows. A conversation is locked while it is worked on, as it is
// by requests. What an operation records is in force for the client's next
// request. Errors are [precis.CodeNotFound] for a conversation that the owner
// does not have, whoever else has one of that name.

// AllOwners, as the owner of an operation, is everybody.
const AllOwners = "*"

// subject is a conversation that an operation works on, locked until it is
// closed.
type subject struct {
	g     *Gateway
	owner string
	held  *held // nil: only the store knows it
	rec   precis.ConversationRecord
	conv  *precis.Conversation // as it is now; what is recorded is appended
	mgr   *precis.Manager
	meter *precis.Meter
	stale error // why the store does not have all edits of memory
}

// open finds and locks a conversation.
func (g *Gateway) open(ctx context.Context, owner, id string) (*subject, error) {
	if owner == AllOwners {
		var err error
		if owner, err = g.OwnerOf(ctx, id); err != nil {
			return nil, err
		}
	}
	for {
		h := g.inMemory(owner, id)
		if h == nil {
			return g.openStored(ctx, owner, id)
		}
		if err := h.acquire(ctx); err != nil {
			return nil, err
		}
		if g.inMemory(owner, id) == h {
			return g.openHeld(ctx, h), nil
		}
		h.release() // dropped, or rewritten by its client, meanwhile
	}
}

// inMemory returns what memory holds of a conversation; nil when it holds none.
func (g *Gateway) inMemory(owner, id string) *held {
	return heldOf(g.table.Line(owner, id))
}

// heldOf returns what is held of a line; nil when no turn of it was seen.
func heldOf(l *lineage.Line) *held {
	if l == nil {
		return nil
	}
	h, ok := l.State.(*held)
	if !ok || h.recordNow().Updated.IsZero() {
		return nil
	}
	return h
}

// openHeld makes the subject of a conversation in memory, which is locked. Its
// transcript may grow meanwhile; the subject's does not.
func (g *Gateway) openHeld(ctx context.Context, h *held) *subject {
	s := &subject{g: g, owner: h.owner, held: h, rec: h.recordNow(), mgr: g.policy.Load().manager.With(g.store(h.owner))}
	s.stale = g.catchUp(ctx, h, s.mgr)
	if h.meter == nil {
		h.meter = s.mgr.NewMeter()
	}
	s.meter = h.meter
	conv := *h.conv
	conv.Transcript = h.conv.Transcript.Prefix(h.conv.Transcript.Len())
	conv.Edits, conv.Title = slices.Clip(h.conv.Edits), s.rec.Title
	s.conv = &conv
	return s
}

// catchUp brings the edits in memory and those in the store together. The
// conversation is locked.
func (g *Gateway) catchUp(ctx context.Context, h *held, mgr *precis.Manager) error {
	st := g.store(h.owner)
	if st == nil {
		return nil
	}
	if h.unsaved {
		_, err := mgr.Save(ctx, h.conv)
		h.unsaved = err != nil
		return err
	}
	edits, ok := g.latest(ctx, st, h.conv.Transcript)
	if ok && lastID(edits) != lastID(h.conv.Edits) && len(edits) >= len(h.conv.Edits) {
		h.conv.Edits = edits
	}
	return nil
}

// openStored makes the subject of a conversation that only the store knows.
func (g *Gateway) openStored(ctx context.Context, owner, id string) (*subject, error) {
	cat := g.catalog(owner)
	if cat == nil {
		return nil, notFound(id)
	}
	rec, err := cat.Conversation(ctx, id)
	if precis.CodeOf(err) == precis.CodeNotFound {
		return nil, notFound(id)
	} else if err != nil {
		return nil, err
	}
	st := g.store(owner)
	t, edits, err := st.Load(ctx, rec.Head)
	if err != nil {
		return nil, err
	}
	mgr := g.policy.Load().manager.With(st)
	conv := &precis.Conversation{ID: id, Title: rec.Title, Model: rec.Model, Transcript: t, Edits: edits}
	return &subject{g: g, owner: owner, rec: rec, conv: conv, mgr: mgr, meter: mgr.NewMeter()}, nil
}

func notFound(id string) error {
	return precis.Errorf(precis.CodeNotFound, "find conversation", "there is no conversation %.80q", id)
}

// close unlocks the conversation.
func (s *subject) close() {
	if s.held != nil {
		s.held.release()
	}
}

// catalog returns the catalog of an owner; nil when the store has none, or cannot
// tell owners apart.
func (g *Gateway) catalog(owner string) precis.Catalog {
	if _, ok := g.o.Store.(precis.Scoper); !ok && owner != "" {
		return nil
	}
	cat, _ := g.store(owner).(precis.Catalog)
	return cat
}

// Owners returns everybody who has a conversation in memory or anything in the
// store, sorted.
func (g *Gateway) Owners(ctx context.Context) ([]string, error) {
	var owners []string
	if sc, ok := g.o.Store.(precis.Scoper); ok {
		var err error
		if owners, err = sc.Scopes(ctx); err != nil {
			return nil, err
		}
	} else if g.o.Store != nil {
		owners = []string{""}
	}
	for _, l := range g.table.Lines() {
		owners = append(owners, l.Owner)
	}
	slices.Sort(owners)
	return slices.Compact(owners), nil
}

// owners returns those that an operation is about.
func (g *Gateway) owners(ctx context.Context, owner string) ([]string, error) {
	if owner != AllOwners {
		return []string{owner}, nil
	}
	return g.Owners(ctx)
}

// OwnerOf returns whose a conversation is. IDs are made from the owner, too, so
// that two owners do not have the same.
func (g *Gateway) OwnerOf(ctx context.Context, id string) (string, error) {
	for _, l := range g.table.Lines() {
		if l.ID == id && heldOf(l) != nil {
			return l.Owner, nil
		}
	}
	owners, err := g.Owners(ctx)
	if err != nil {
		return "", err
	}
	for _, owner := range owners {
		cat := g.catalog(owner)
		if cat == nil {
			continue
		}
		_, err := cat.Conversation(ctx, id)
		switch precis.CodeOf(err) {
		case "":
			return owner, nil
		case precis.CodeNotFound:
		default:
			return "", err
		}
	}
	return "", notFound(id)
}

// request asks a manager about the conversation as the gateway does.
func (s *subject) request(ctx context.Context) precis.Request {
	d := dialectNamed(s.rec.Dialect)
	r := precis.Request{
		Conversation: s.conv, Window: s.window(ctx), OutputLimit: s.g.o.OutputLimit(s.conv.Model), Profile: s.conv.Model,
		Meter: s.meter, Dialect: d, Reasoning: precis.ReasoningStays,
	}
	if s.held != nil {
		if reserve := s.held.status.Decision.Reserve; reserve.Source == precis.SourceConfigured {
			r.MaxOutput = reserve.Tokens
		}
	}
	if d.Name() == anthropic.Format && binds(s.conv.Model) {
		r.Reasoning = precis.ReasoningLoop
	}
	return r
}

// window returns the context window of the conversation's model: as its newest
// request had it, else as the next one would have it.
func (s *subject) window(ctx context.Context) precis.Window {
	if s.held != nil {
		if w := s.held.status.Decision.Window; w.Tokens > 0 {
			return w
		}
	}
	if up := s.g.upstreamFor(dialectNamed(s.rec.Dialect).Name()); up != nil {
		return s.g.windowOf(ctx, windowKey{upstream: up.Name, model: s.conv.Model, owner: s.owner})
	}
	return s.g.o.Window(ctx, s.conv.Model)
}

// dialectNamed returns a dialect; of an unknown name that of Anthropic, which
// every message can be written in.
func dialectNamed(name string) wire.Dialect {
	switch name {
	case chat.Format:
		return chat.Dialect{}
	case responses.Format:
		return responses.Dialect{}
	}
	return anthropic.Dialect{}
}
