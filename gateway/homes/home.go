package homes

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

// Home is the home of one owner, or of [conversation.AllOwners]. It is a [conversation.Home].
type Home struct {
	all           *Homes
	owner         string
	conversations *registry.Registry
}

// Owners returns all owners with a conversation in memory or data in the store, or the one owner of
// the home.
func (h Home) Owners(ctx context.Context) ([]string, error) {
	if h.owner != conversation.AllOwners {
		return []string{h.owner}, nil
	}
	return h.conversations.Owners(ctx)
}

// OwnerOf returns the owner of a conversation. A home of one owner returns that owner unchecked.
func (h Home) OwnerOf(ctx context.Context, id string) (string, error) {
	if h.owner != conversation.AllOwners {
		return h.owner, nil
	}
	return h.conversations.OwnerOf(ctx, id)
}

// Store returns the part of the store that belongs to an owner, after writing the owner's pending
// data.
func (h Home) Store(ctx context.Context, owner string) (precis.Store, error) {
	err := h.conversations.Settle(ctx, owner, "")
	if h.all.Store != nil && err == nil {
		err = h.conversations.SettleLedger(ctx, owner)
	}
	if err != nil {
		return nil, err
	}
	return h.conversations.Store(owner), nil
}

// find returns a conversation, open or read from the store.
func (h Home) find(ctx context.Context, id string) (*registry.Conversation, error) {
	owner, err := h.OwnerOf(ctx, id)
	if err != nil {
		return nil, err
	}
	return h.conversations.Open(ctx, owner, id)
}

// Look calls f with a conversation as it was when its lock was last released.
func (h Home) Look(ctx context.Context, id string, f func(*conversation.Subject) error) error {
	c, err := h.find(ctx, id)
	if err != nil {
		return err
	}
	h.all.reloadCalibration(ctx)
	snap := c.Look(ctx)
	arm, m := h.all.Profiles.ForRecord(c.Info())
	s := h.subject(ctx, c, m, &snap.Conversation, snap.Last)
	s.CondenseError = snap.Failed
	s.Pending = snap.Stored < len(snap.Conversation.Edits) && h.all.Store != nil
	return c.Looking(arm, m, func(meter *measure.Meter) error {
		s.Template.Meter = meter
		return f(s)
	})
}

// Edit locks a conversation while f works on it, and stores the edits that f made.
func (h Home) Edit(ctx context.Context, id string, f func(*conversation.Subject) error) error {
	c, err := h.find(ctx, id)
	if err != nil {
		return err
	}
	var s *conversation.Subject
	was := 0
	err = c.Edit(ctx, func(conv *precis.Conversation) error {
		arm, m := h.all.Profiles.ForRecord(c.Info())
		s = h.subject(ctx, c, m, conv, c.Last)
		s.Template.Meter = c.Meter(arm, m)
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
func (h Home) Renew(ctx context.Context, id string) error {
	c, err := h.find(ctx, id)
	if err != nil {
		return err
	}
	return c.EditRenewed(ctx, func(*precis.Conversation) error { return nil })
}

// subject describes a conversation of the registry to the verbs.
func (h Home) subject(ctx context.Context, c *registry.Conversation, m *policy.Manager,
	conv *precis.Conversation, last policy.Report) *conversation.Subject {
	return &conversation.Subject{
		Conversation: conv, Record: c.Info(), Owner: c.Owner(), Open: c.Open(), Last: last,
		Manager:  h.all.Conversations.Manager(m, c.Owner()),
		Template: h.request(ctx, c, conv.Model, last), Lease: c.Lease,
		Profile: func(name string) (*policy.Manager, error) {
			own, err := h.all.Profiles.Manager(name)
			if err != nil {
				return nil, err
			}
			return h.all.Conversations.Manager(own, c.Owner()), nil
		},
		Earlier: func(ctx context.Context) ([]*precis.Transcript, error) { return h.all.earlier(ctx, c) },
	}
}

// request returns the request that a conversation passes to its manager.
func (h Home) request(ctx context.Context, c *registry.Conversation, model string,
	last policy.Report) policy.Request {
	dialect := cmp.Or(c.Info().Dialect, anthropic.Format)
	r := policy.Request{Window: h.windowOf(ctx, c.Owner(), c.Info(), model, last.Decision.Window),
		MaxOutput: c.Info().MaxOutput, OutputLimit: h.all.OutputLimit(model), Profile: model,
		Reasoning: precis.ReasoningStays}
	if dialect == anthropic.Format && reasoning.Binds(model) {
		r.Reasoning = precis.ReasoningLoop
	}
	return r
}

// windowOf returns the window for inspecting a conversation with a record: its profile's, else the
// one of its newest request, else the one its next request would have.
func (h Home) windowOf(ctx context.Context, owner string, rec store.Record, model string,
	last precis.Window) precis.Window {
	key := windows.Key{Model: model, Owner: owner}
	if up := h.all.Upstreams.For(cmp.Or(rec.Dialect, anthropic.Format)); up != nil {
		key.Upstream = up.Name
	}
	k := h.all.Windows.Of(ctx, key, cmp.Or(rec.Profile, rec.Arm))
	if last.Tokens > 0 && k.Set == 0 {
		return last
	}
	return k.Window()
}

// List lists the conversations in memory and those in the store.
func (h Home) List(ctx context.Context,
	q conversation.ListQuery) (conversation.Page[conversation.ListItem], error) {
	owners, err := h.Owners(ctx)
	if err != nil {
		return conversation.Page[conversation.ListItem]{}, err
	}
	h.all.reloadCalibration(ctx)
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
func (h Home) sized(ctx context.Context, l conversation.ListItem, few bool) conversation.ListItem {
	if h.all.Shared && few || l.InMemory && !h.all.Shared {
		if now, err := conversation.WithSize(ctx, h, l); err == nil {
			return now
		}
		return l // it was removed meanwhile
	}
	_, m := h.all.Profiles.ForRecord(l.Record)
	m = h.all.Conversations.Manager(m, l.Owner)
	l.Window = h.windowOf(ctx, l.Owner, l.Record, l.Model, precis.Window{}).Tokens
	l.Tokens = m.Calibrated(l.Model, m.Counted(l.Model, l.Tokens))
	return conversation.NewListItem(l.Owner, l.Record, false)
}

// CountAll counts the conversations in memory and those in the store.
func (h Home) CountAll(ctx context.Context) (n int, known bool, err error) {
	owners, err := h.Owners(ctx)
	if err != nil {
		return 0, false, err
	}
	return shelf.Count(ctx, h.shelves(ctx, owners))
}

// Search finds messages: with the store's index if it has one, else by reading the conversations in
// memory.
func (h Home) Search(ctx context.Context, q store.SearchQuery) (conversation.SearchResults, error) {
	owners, err := h.searched(ctx, q.Conversation)
	if err == nil {
		err = h.conversations.Settle(ctx, h.owner, q.Conversation)
	}
	if err != nil {
		return conversation.SearchResults{}, err
	}
	return shelf.Search(ctx, h.shelves(ctx, owners), q)
}

// searched returns the owners that a search covers.
func (h Home) searched(ctx context.Context, id string) ([]string, error) {
	if id == "" {
		return h.Owners(ctx)
	}
	owner, err := h.OwnerOf(ctx, id)
	return []string{owner}, err
}

func (h Home) shelves(ctx context.Context, owners []string) []shelf.Shelf {
	var out []shelf.Shelf
	for _, owner := range owners {
		sh := shelf.Shelf{Owner: owner, Catalog: h.conversations.Catalog(owner)}
		for _, c := range h.conversations.Newest(ctx, owner) {
			sh.Open = append(sh.Open, shelf.OpenConversation{Record: c.Info(),
				Transcript: c.Snapshot().Conversation.Transcript})
		}
		out = append(out, sh)
	}
	return out
}

// Purge forgets conversations, in memory and in the store.
func (h Home) Purge(ctx context.Context, o conversation.PurgeOptions) (store.PurgeResult, error) {
	return h.purge(ctx, registry.Purge{IDs: o.IDs, Before: o.Before, All: o.All})
}

func (h Home) purge(ctx context.Context, p registry.Purge) (store.PurgeResult, error) {
	res, err := conversation.PurgeOwners(ctx, h, func(owner string) (store.PurgeResult, error) {
		return h.conversations.Purge(ctx, owner, p)
	})
	return res, cmp.Or(err, h.conversations.Wipe(ctx))
}

// earlier returns the transcripts that a conversation had before its client cleared old results, as
// far as memory or the store has them.
func (a *Homes) earlier(ctx context.Context, c *registry.Conversation) ([]*precis.Transcript, error) {
	var out []*precis.Transcript
	for _, head := range c.Info().Earlier {
		t, err := a.Conversations.Earlier(ctx, c.Owner(), c.ID(), head)
		if err != nil {
			return nil, err
		}
		if t != nil {
			out = append(out, t)
		}
	}
	return out, nil
}

// Hold holds the next request of a conversation, see [conversation.Holder].
func (h Home) Hold(ctx context.Context, id string, limit time.Duration) error {
	c, err := h.find(ctx, id)
	if err != nil {
		return err
	}
	return h.all.Holds.Hold(c.Owner(), c.ID(), limit)
}

// LetGo lets a request go, see [conversation.Holder].
func (h Home) LetGo(ctx context.Context, id string, again bool) error {
	c, err := h.find(ctx, id)
	if err != nil {
		return err
	}
	h.all.Holds.Release(c.Owner(), c.ID(), again)
	return nil
}

// Holding reports the order for a conversation, see [conversation.Holder].
func (h Home) Holding(_ context.Context, id string) (conversation.Holding, error) {
	return h.all.Holds.State(h.owner, id), nil
}
