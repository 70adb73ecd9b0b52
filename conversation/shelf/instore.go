package shelf

import (
	"cmp"
	"context"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/internal/window"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/store"
)

// StoreOptions are the parts of a home in a store. Store is required. Manager is required for all
// verbs except listing, searching, the ledger and purging.
type StoreOptions struct {
	Store   precis.Store
	Owner   string          // the owner of the conversations; [conversation.AllOwners]: all of them
	Manager *policy.Manager // its store is not used
	// Window returns the context window of a model; nil: 128,000 tokens, assumed.
	Window func(model string) precis.Window
	// OutputLimit returns the output limit of a model in tokens; 0, or nil: unknown.
	OutputLimit func(model string) int
}

// InStore returns the conversations that a store lists; it keeps none in memory. If several
// processes edit a conversation at once, one is recorded and the others get [precis.CodeConflict].
func InStore(o StoreOptions) interface {
	conversation.Home
	conversation.Stored
	conversation.Purger
} {
	if o.Window == nil {
		o.Window = func(string) precis.Window { return window.Known{}.Window() }
	}
	if o.OutputLimit == nil {
		o.OutputLimit = func(string) int { return 0 }
	}
	return inStore{o}
}

type inStore struct{ o StoreOptions }

// scope returns the part of the store that belongs to an owner; nil: the store cannot separate
// owners.
func (h inStore) scope(owner string) precis.Store {
	if sc, ok := h.o.Store.(store.Scoper); ok {
		return sc.Scope(owner)
	}
	if owner != "" {
		return nil
	}
	return h.o.Store
}

func (h inStore) catalog(owner string) store.Lister {
	cat, _ := h.scope(owner).(store.Lister)
	return cat
}

// Owners returns all owners with data in the store.
func (h inStore) Owners(ctx context.Context) ([]string, error) {
	if h.o.Owner != conversation.AllOwners {
		return []string{h.o.Owner}, nil
	}
	if sc, ok := h.o.Store.(store.Scoper); ok {
		return sc.Scopes(ctx)
	}
	return []string{""}, nil
}

// OwnerOf returns the owner of a conversation.
func (h inStore) OwnerOf(ctx context.Context, id string) (string, error) {
	owner, _, err := h.find(ctx, id)
	return owner, err
}

func (h inStore) find(ctx context.Context, id string) (owner string, rec store.Record, err error) {
	owners, err := h.Owners(ctx)
	if err != nil {
		return "", rec, err
	}
	for _, owner := range owners {
		cat := h.catalog(owner)
		if cat == nil {
			continue
		}
		rec, err := cat.Conversation(ctx, id)
		if precis.CodeOf(err) != precis.CodeNotFound {
			return owner, rec, err
		}
	}
	return "", rec, conversation.NotFound(id)
}

// Store returns the part of the store that belongs to an owner.
func (h inStore) Store(_ context.Context, owner string) (precis.Store, error) {
	return h.scope(owner), nil
}

// Look reads a conversation.
func (h inStore) Look(ctx context.Context, id string, f func(*conversation.Subject) error) error {
	s, err := h.subject(ctx, id)
	if err != nil {
		return err
	}
	return f(s)
}

func (h inStore) subject(ctx context.Context, id string) (*conversation.Subject, error) {
	owner, rec, err := h.find(ctx, id)
	if err != nil {
		return nil, err
	}
	st := h.scope(owner)
	t, edits, err := st.Load(ctx, rec.Head)
	if err != nil {
		return nil, err
	}
	s := &conversation.Subject{
		Conversation: &precis.Conversation{ID: id, Title: rec.Title, Model: rec.Model, Unstored: rec.Overhead,
			Transcript: t, Edits: edits}, Record: rec, Owner: owner,
		Template: policy.Request{Window: h.o.Window(rec.Model), MaxOutput: rec.MaxOutput,
			OutputLimit: h.o.OutputLimit(rec.Model), Profile: rec.Model},
	}
	s.Earlier = func(ctx context.Context) ([]*precis.Transcript, error) {
		return loadEarlier(ctx, st,
			rec.Earlier)
	}
	if h.o.Manager != nil {
		ledger, _ := st.(precis.Ledger)
		s.Manager = h.o.Manager.WithStore(nil).WithLedger(ledger)
	}
	return s, nil
}

// loadEarlier loads the transcripts that end at nodes and skips purged ones.
func loadEarlier(ctx context.Context, st precis.Store,
	nodes []precis.Fingerprint) ([]*precis.Transcript, error) {
	var out []*precis.Transcript
	for _, node := range nodes {
		t, _, err := st.Load(ctx, node)
		switch precis.CodeOf(err) {
		case "":
			out = append(out, t)
		case precis.CodeNotFound:
		default:
			return nil, err
		}
	}
	return out, nil
}

// Edit reads a conversation, calls f, and stores the new edits unless another writer has stored
// edits meanwhile.
func (h inStore) Edit(ctx context.Context, id string, f func(*conversation.Subject) error) error {
	s, err := h.subject(ctx, id)
	if err != nil {
		return err
	}
	had, tokens := len(s.Conversation.Edits), s.Record.Tokens
	failed := f(s)
	edits := s.Conversation.Edits
	if len(edits) == had {
		return failed
	}
	t := s.Conversation.Transcript
	now, err := store.Reconcile(ctx, h.scope(s.Owner), t, edits,
		&store.Progress{Messages: t.Len(), Edits: had})
	if err != nil {
		return err
	}
	if len(now) < len(edits) || now[len(edits)-1].ID != edits[len(edits)-1].ID {
		return precis.Errorf(precis.CodeConflict, "record edits",
			"somebody else has recorded others meanwhile")
	}
	if s.Record.Tokens != tokens {
		err = h.catalog(s.Owner).PutConversation(ctx, s.Record)
	}
	if failed != nil {
		return failed
	}
	return err
}

func (h inStore) shelves(ctx context.Context) ([]Shelf, error) {
	owners, err := h.Owners(ctx)
	if err != nil {
		return nil, err
	}
	var out []Shelf
	for _, owner := range owners {
		out = append(out, Shelf{Owner: owner, Catalog: h.catalog(owner)})
	}
	return out, nil
}

// List lists the conversations of the store.
func (h inStore) List(ctx context.Context,
	q conversation.ListQuery) (conversation.Page[conversation.ListItem], error) {
	shelves, err := h.shelves(ctx)
	if err != nil {
		return conversation.Page[conversation.ListItem]{}, err
	}
	page, err := List(ctx, shelves, q)
	for i, l := range page.Items {
		if h.o.Manager != nil {
			l.Tokens = h.o.Manager.Calibrated(l.Model, h.o.Manager.Counted(l.Model, l.Tokens))
		}
		l.Window = h.o.Window(l.Model).Tokens
		page.Items[i] = conversation.NewListItem(l.Owner, l.Record, l.InMemory)
	}
	return page, err
}

// CountAll counts the conversations of the store.
func (h inStore) CountAll(ctx context.Context) (n int, known bool, err error) {
	shelves, err := h.shelves(ctx)
	if err != nil {
		return 0, false, err
	}
	return Count(ctx, shelves)
}

// Search finds messages by the index of the store; without an index it finds none.
func (h inStore) Search(ctx context.Context, q store.SearchQuery) (conversation.SearchResults, error) {
	shelves, err := h.shelves(ctx)
	if err != nil {
		return conversation.SearchResults{}, err
	}
	return Search(ctx, shelves, q)
}

// Purge deletes conversations of every owner of the home.
func (h inStore) Purge(ctx context.Context, o conversation.PurgeOptions) (store.PurgeResult, error) {
	res, err := conversation.PurgeOwners(ctx, h, func(owner string) (store.PurgeResult, error) {
		p, ok := h.scope(owner).(store.Purger)
		if !ok {
			return store.PurgeResult{}, precis.Errorf(precis.CodeInvalid, "purge", "this store cannot forget")
		}
		return store.Remove(ctx, p, store.PurgeQuery{IDs: o.IDs, Before: o.Before, All: o.All})
	})
	if w, ok := h.o.Store.(store.Wiper); ok {
		err = cmp.Or(err, w.Wipe(ctx))
	}
	return res, err
}
