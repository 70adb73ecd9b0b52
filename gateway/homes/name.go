package homes

import (
	"context"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/lineage"
	"github.com/precis-dev/precis/gateway/registry"
	"github.com/precis-dev/precis/store"
)

// Scope returns the scope for the name of a conversation: the name itself or, for an ID, the
// scope under which that conversation was stored.
func (a *Homes) Scope(ctx context.Context, owner, name string) (string, error) {
	if !lineage.IsID(name) {
		return name, nil
	}
	if c := a.Conversations.Get(owner, name); c != nil {
		return c.Info().Hints[registry.ScopeHint], nil
	}
	cat := a.Conversations.Catalog(owner)
	if cat == nil {
		return "", nil
	}
	rec, err := cat.Conversation(ctx, name)
	if err != nil && precis.CodeOf(err) != precis.CodeNotFound {
		return "", err
	}
	return rec.Hints[registry.ScopeHint], nil
}

// Named returns the ID of the conversation of an owner, or of [conversation.AllOwners], that has the
// ID name, or that gateway.Assembly.Name or a header last called by this name. It searches memory
// and, for each owner, the thousand conversations updated last. The error is [precis.CodeNotFound]
// when none matches.
func (a *Homes) Named(ctx context.Context, owner, name string) (string, error) {
	owners, err := a.Of(owner).Owners(ctx)
	if err != nil {
		return "", err
	}
	const most = 1000
	var best store.Record
	better := func(rec store.Record) {
		if (rec.ID == name || rec.Hints[registry.ScopeHint] == name || rec.Hints[registry.NameHint] == name) &&
			(best.ID != name || rec.ID == name) && rec.Updated.After(best.Updated) {
			best = rec
		}
	}
	for _, c := range a.Conversations.All(owner) {
		better(c.Info())
	}
	if best.ID != "" {
		return best.ID, nil
	}
	for _, one := range owners {
		cat := a.Conversations.Catalog(one)
		if cat == nil {
			continue
		}
		if rec, err := cat.Conversation(ctx, name); err == nil {
			return rec.ID, nil
		} else if precis.CodeOf(err) != precis.CodeNotFound {
			return "", err
		}
		recs, err := cat.Conversations(ctx, store.Query{Limit: most})
		if err != nil {
			return "", err
		}
		for _, rec := range recs {
			better(rec)
		}
	}
	if best.ID == "" {
		return "", precis.Errorf(precis.CodeNotFound, "find conversation", "there is no conversation %.80q",
			name)
	}
	return best.ID, nil
}
