package gateway

import (
	"cmp"
	"context"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/shelf"
	"github.com/precis-dev/precis/gateway/reasoning"
	"github.com/precis-dev/precis/gateway/registry"
	"github.com/precis-dev/precis/gateway/windows"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/wire/anthropic"
)

// AllOwners, as an owner, selects all owners.
const AllOwners = conversation.AllOwners

// Home returns the conversations of an owner, or of [AllOwners], in memory and in the store. A
// conversation is locked while it is edited, as by requests; an edit is in force for the client's
// next request. Conversations of other owners are reported as not found.
func (g *Gateway) Home(owner string) conversation.Home { return home{g, owner, g.conversations} }

type home struct {
	g             *Gateway
	owner         string
	conversations *registry.Registry
}

// Owners returns all owners with a conversation in memory or data in the store, or the one owner of
// the home.
func (h home) Owners(ctx context.Context) ([]string, error) {
	if h.owner != AllOwners {
		return []string{h.owner}, nil
	}
	return h.conversations.Owners(ctx)
}

// OwnerOf returns the owner of a conversation. A home of one owner returns that owner unchecked.
func (h home) OwnerOf(ctx context.Context, id string) (string, error) {
	if h.owner != AllOwners {
		return h.owner, nil
	}
	return h.conversations.OwnerOf(ctx, id)
}

// Store returns the part of the store that belongs to an owner, after writing the owner's pending
// data.
func (h home) Store(ctx context.Context, owner string) (precis.Store, error) {
	err := h.conversations.Settle(ctx, owner, "")
	if h.g.o.Store != nil && err == nil {
		err = h.conversations.SettleLedger(ctx, owner)
	}
	if err != nil {
		return nil, err
	}
	return h.conversations.Store(owner), nil
}

// find returns a conversation, open or read from the store.
func (h home) find(ctx context.Context, id string) (*registry.Conversation, error) {
	owner, err := h.OwnerOf(ctx, id)
	if err != nil {
		return nil, err
	}
	return h.conversations.Open(ctx, owner, id)
}

// Look calls f with a conversation as it was when its lock was last released.
func (h home) Look(ctx context.Context, id string, f func(*conversation.Subject) error) error {
	c, err := h.find(ctx, id)
	if err != nil {
		return err
	}
	h.g.reloadCalibration(ctx)
	snap := c.Look(ctx)
	arm, m := h.g.profiles.Of(c.Info())
	s := h.subject(ctx, c, m, &snap.Conversation, snap.Last)
	s.Failed = snap.Failed
	s.Pending = snap.Stored < len(snap.Conversation.Edits) && h.g.o.Store != nil
	return c.Looking(arm, m, func(meter *measure.Meter) error {
		s.Ask.Meter = meter
		return f(s)
	})
}

// Edit locks a conversation while f works on it, and stores the edits that f made.
func (h home) Edit(ctx context.Context, id string, f func(*conversation.Subject) error) error {
	c, err := h.find(ctx, id)
	if err != nil {
		return err
	}
	var s *conversation.Subject
	was := 0
	err = c.Edit(ctx, func(conv *precis.Conversation) error {
		arm, m := h.g.profiles.Of(c.Info())
		s = h.subject(ctx, c, m, conv, c.Last)
		s.Ask.Meter = c.Meter(arm, m)
		was = s.Record.Tokens
		return f(s)
	})
	if s != nil && s.Record.Tokens != was && precis.CodeOf(err) != precis.CodeConflict {
		c.SetInfo(func(rec *store.Record) { rec.Tokens = s.Record.Tokens })
		c.Save()
	}
	return err
}

// Renew adopts edits of a conversation that the store has and memory lacks.
func (h home) Renew(ctx context.Context, id string) error {
	c, err := h.find(ctx, id)
	if err != nil {
		return err
	}
	return c.EditRenewed(ctx, func(*precis.Conversation) error { return nil })
}

// subject describes a conversation of the registry to the verbs.
func (h home) subject(ctx context.Context, c *registry.Conversation, m *policy.Manager,
	conv *precis.Conversation, last policy.Report) *conversation.Subject {
	return &conversation.Subject{
		Conversation: conv, Record: c.Info(), Owner: c.Owner(), Open: c.Open(), Last: last,
		Manager: h.g.ownManager(m, c.Owner()), Ask: h.request(ctx, c, conv.Model, last), Lease: c.Lease,
		Profile: func(name string) (*policy.Manager, error) {
			own, err := h.g.profiles.Manager(name)
			if err != nil {
				return nil, err
			}
			return h.g.ownManager(own, c.Owner()), nil
		},
		Earlier: func(ctx context.Context) ([]*precis.Transcript, error) { return h.g.earlier(ctx, c) },
	}
}

// request returns the request that a conversation passes to its manager.
func (h home) request(ctx context.Context, c *registry.Conversation, model string,
	last policy.Report) policy.Request {
	dialect := cmp.Or(c.Info().Dialect, anthropic.Format)
	r := policy.Request{Window: h.windowOf(ctx, c.Owner(), c.Info(), model, last.Decision.Window),
		MaxOutput: c.Info().MaxOutput, OutputLimit: h.g.o.outputLimit(model), Profile: model,
		Reasoning: precis.ReasoningStays}
	if dialect == anthropic.Format && reasoning.Binds(model) {
		r.Reasoning = precis.ReasoningLoop
	}
	return r
}

// windowOf returns the window for inspecting a conversation with a record: its profile's, else the
// one of its newest request, else the one its next request would have.
func (h home) windowOf(ctx context.Context, owner string, rec store.Record, model string,
	last precis.Window) precis.Window {
	key := windows.Key{Model: model, Owner: owner}
	if up := h.g.upstreams.For(cmp.Or(rec.Dialect, anthropic.Format)); up != nil {
		key.Upstream = up.Name
	}
	k := h.g.windows.Of(ctx, key, cmp.Or(rec.Profile, rec.Arm))
	if last.Tokens > 0 && k.Set == 0 {
		return last
	}
	return k.Window()
}

// earlier returns the transcripts that a conversation had before its client cleared old results, as
// far as memory or the store has them.
func (g *Gateway) earlier(ctx context.Context, c *registry.Conversation) ([]*precis.Transcript, error) {
	var out []*precis.Transcript
	for _, head := range c.Info().Earlier {
		t, err := g.conversations.Earlier(ctx, c.Owner(), c.ID(), head)
		if err != nil {
			return nil, err
		}
		if t != nil {
			out = append(out, t)
		}
	}
	return out, nil
}

// List lists the conversations in memory and those in the store.
func (h home) List(ctx context.Context,
	q conversation.Listing) (conversation.Page[conversation.Listed], error) {
	owners, err := h.Owners(ctx)
	if err != nil {
		return conversation.Page[conversation.Listed]{}, err
	}
	h.g.reloadCalibration(ctx)
	page, err := shelf.List(ctx, h.shelves(ctx, owners), q)
	for i := range page.Items {
		page.Items[i] = h.sized(ctx, page.Items[i], i < mostSized)
	}
	return page, err
}

// mostSized bounds how many listed conversations are counted by their messages when replicas share
// the store; others are counted by their records.
const mostSized = 50

// sized returns a listed conversation with the size that its own status would report: in the window
// of its next request, and with the current calibration. Where replicas share the store, all of
// them count the same way, whether the conversation is in memory or not.
func (h home) sized(ctx context.Context, l conversation.Listed, few bool) conversation.Listed {
	if h.g.o.Shared && few || l.InMemory && !h.g.o.Shared {
		if now, err := conversation.SizedOf(ctx, h, l); err == nil {
			return now
		}
		return l // it was removed meanwhile
	}
	_, m := h.g.profiles.Of(l.Record)
	m = h.g.ownManager(m, l.Owner)
	l.Window = h.windowOf(ctx, l.Owner, l.Record, l.Model, precis.Window{}).Tokens
	l.Tokens = m.Calibrated(l.Model, m.Counted(l.Model, l.Tokens))
	return conversation.NewListed(l.Owner, l.Record, false)
}

// CountAll counts the conversations in memory and those in the store.
func (h home) CountAll(ctx context.Context) (n int, known bool, err error) {
	owners, err := h.Owners(ctx)
	if err != nil {
		return 0, false, err
	}
	return shelf.Count(ctx, h.shelves(ctx, owners))
}

// Search finds messages: with the store's index if it has one, else by reading the conversations in
// memory.
func (h home) Search(ctx context.Context, q store.SearchQuery) (conversation.FoundList, error) {
	owners, err := h.searched(ctx, q.Conversation)
	if err == nil {
		err = h.conversations.Settle(ctx, h.owner, q.Conversation)
	}
	if err != nil {
		return conversation.FoundList{}, err
	}
	return shelf.Search(ctx, h.shelves(ctx, owners), q)
}

// searched returns the owners that a search covers.
func (h home) searched(ctx context.Context, id string) ([]string, error) {
	if id == "" {
		return h.Owners(ctx)
	}
	owner, err := h.OwnerOf(ctx, id)
	return []string{owner}, err
}

func (h home) shelves(ctx context.Context, owners []string) []shelf.Shelf {
	var out []shelf.Shelf
	for _, owner := range owners {
		sh := shelf.Shelf{Owner: owner, Catalog: h.conversations.Catalog(owner)}
		for _, c := range h.conversations.Newest(ctx, owner) {
			sh.Open = append(sh.Open, shelf.Open{Record: c.Info(),
				Transcript: c.Snapshot().Conversation.Transcript})
		}
		out = append(out, sh)
	}
	return out
}

// Purge forgets conversations, in memory and in the store.
func (h home) Purge(ctx context.Context, o conversation.PurgeOptions) (store.PurgeResult, error) {
	return h.purge(ctx, registry.Purge{IDs: o.IDs, Before: o.Before, All: o.All})
}

func (h home) purge(ctx context.Context, p registry.Purge) (store.PurgeResult, error) {
	res, err := conversation.PurgeOwners(ctx, h, func(owner string) (store.PurgeResult, error) {
		return h.conversations.Purge(ctx, owner, p)
	})
	return res, cmp.Or(err, h.conversations.Wipe(ctx))
}

// Forget purges the conversations of all owners that were last updated before a time. Each replica
// should call it once per period. One of the replicas that share a store purges it, and keeps that
// role until it has not called for a period; the others only clear their memory.
func (g *Gateway) Forget(ctx context.Context, before time.Time,
	period time.Duration) (store.PurgeResult, error) {
	all := home{g, AllOwners, g.conversations}
	leaser, ok := g.o.Store.(store.Leaser)
	if !ok || !g.o.Shared {
		return all.purge(ctx, registry.Purge{Before: before})
	}
	release, ours, err := leaser.Lease(ctx, "forget", g.o.Replica, period)
	if err != nil {
		return store.PurgeResult{}, err
	}
	res, err := all.purge(ctx, registry.Purge{Before: before, Memory: !ours})
	if err != nil {
		release() // another replica may succeed
	}
	return res, err
}

// countingFor is how long a loaded calibration is used before it is loaded again.
const countingFor = 250 * time.Millisecond

// reloadCalibration loads the calibration that replicas have put in the shared store, so that all of
// them show the same counts.
func (g *Gateway) reloadCalibration(ctx context.Context) {
	now := time.Now().UnixNano()
	last := g.counted.Load()
	if !g.o.Shared || now-last < int64(countingFor) || !g.counted.CompareAndSwap(last, now) {
		return
	}
	if err := g.profiles.Default().With(g.o.Store).LoadCalibration(ctx); err != nil {
		// memory has an older one
		g.o.Logger.WarnContext(ctx, "what replicas have learned about counting is not known", "error", err)
	}
}
