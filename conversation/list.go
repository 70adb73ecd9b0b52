package conversation

import (
	"cmp"
	"context"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/store"
)

// ListQuery selects conversations. The zero value selects the newest 50.
type ListQuery struct {
	Text   string    // only conversations with this text in title, model, client or ID, in any case
	Since  time.Time // only conversations updated at or after
	Before time.Time // only conversations updated before
	Limit  int       // at most this number; 0: 50; at most 500
	Cursor string    // the end of an earlier page; "": start with the newest
}

// Page is part of a list. Next is the cursor of the next page; "": this is the last one.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next_cursor,omitempty"`
}

// ListItem is a conversation in a list.
type ListItem struct {
	store.Record
	Owner    string  `json:"owner"`
	InMemory bool    `json:"in_memory"` // a client uses it now or did so lately
	Percent  float64 `json:"percent"`   // share of the window that the newest view uses
}

// List lists conversations, the last updated first.
func List(ctx context.Context, h Home, q ListQuery) (Page[ListItem], error) {
	if _, err := PageSize(q.Limit); err != nil {
		return Page[ListItem]{}, err
	}
	return h.List(ctx, q)
}

// Count returns the number of conversations of a home; known is false if that needs a listing, see
// [Counted].
func Count(ctx context.Context, h Home) (n int, known bool, err error) {
	if c, ok := h.(Counted); ok {
		return c.CountAll(ctx)
	}
	return 0, false, nil
}

// RecordOf returns the record of a conversation in the store of a home; [precis.CodeNotFound] when
// there is no record or no store.
func RecordOf(ctx context.Context, h Home, owner, id string) (store.Record, error) {
	home, ok := h.(Stored)
	if !ok {
		return store.Record{}, NotFound(id)
	}
	st, err := home.Store(ctx, owner)
	if err != nil {
		return store.Record{}, err
	}
	l, ok := st.(store.Lister)
	if !ok {
		return store.Record{}, NotFound(id)
	}
	return l.Conversation(ctx, id)
}

// NewListItem describes a conversation in a list; inMemory: a client uses it now or did so lately.
func NewListItem(owner string, r store.Record, inMemory bool) ListItem {
	return ListItem{Record: r, Owner: owner, InMemory: inMemory,
		Percent: precis.Window{Tokens: r.Window}.Percent(r.Tokens)}
}

// WithSize returns a listed conversation with the tokens and the window of its status.
func WithSize(ctx context.Context, h Home, l ListItem) (ListItem, error) {
	return look(ctx, h, l.ID, func(s *Subject) (ListItem, error) {
		st, err := s.status()
		if err != nil {
			return l, err
		}
		return l.sized(st), nil
	})
}

// sized returns a listed conversation with the numbers of a status.
func (l ListItem) sized(st policy.Status) ListItem {
	l.Tokens, l.Window, l.Percent, l.Messages = st.Tokens, st.Window, st.Percent, st.Messages
	return l
}

// MaxListed is the most conversations in a page of a list.
const MaxListed = 500

// PageSize returns the length of a page for a limit: 50 for 0. The error is [precis.CodeInvalid]
// for more than [MaxListed].
func PageSize(limit int) (int, error) {
	if limit < 0 || limit > MaxListed {
		return 0, precis.Errorf(precis.CodeInvalid, "read limit", "limit is %d, want 1 to %d", limit,
			MaxListed)
	}
	return cmp.Or(limit, 50), nil
}

// BadCursor is the error for a cursor that no list has returned.
func BadCursor() error {
	return &precis.Error{Code: precis.CodeInvalid, Op: "read cursor", Place: "cursor",
		Hint: "use next_cursor of an earlier answer as it is"}
}

// Family are the relatives of a conversation.
type Family struct {
	// the conversation that began it or that it left; nil: none, or it is not here
	Parent *ListItem `json:"parent,omitempty"`
	// the conversations that it began, last used first, at most fifty
	Children []ListItem `json:"children"`
}

// Related is a [Home] that knows the parents and children of conversations: sub-agents, sub-tasks,
// forks.
type Related interface {
	// Family returns the relatives of a conversation.
	Family(ctx context.Context, id string) (Family, error)
}

// FamilyOf returns the relatives of a conversation. For a home that is not [Related] these are only
// the parent that the record names.
func FamilyOf(ctx context.Context, h Home, id string) (Family, error) {
	if r, ok := h.(Related); ok {
		return r.Family(ctx, id)
	}
	out := Family{Children: []ListItem{}}
	left, err := look(ctx, h, id,
		func(s *Subject) (string, error) { return cmp.Or(s.Record.Branched, s.Record.Continues), nil })
	if err != nil || left == "" {
		return out, err
	}
	parent, err := look(ctx, h, left,
		func(s *Subject) (ListItem, error) { return NewListItem(s.Owner, s.Record, s.Open), nil })
	switch {
	case err == nil:
		out.Parent = &parent
	case precis.CodeOf(err) != precis.CodeNotFound:
		return out, err
	}
	return out, nil
}
