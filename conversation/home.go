package conversation

import (
	"context"

	"precis"
	"precis/store"
)

// AllOwners, as the owner of a home, is everybody.
const AllOwners = "*"

// Home is where conversations live. Implementations are safe for concurrent use.
type Home interface {
	// Look calls f with a snapshot of a conversation. It holds no lock that a
	// client's turn or an edit needs, and waits for none. F must not change the
	// subject; what the subject holds, but for its meter, may be used after f has
	// returned.
	Look(ctx context.Context, id string, f func(*Subject) error) error
	// Edit calls f with the conversation locked against other edits. F appends
	// edits through the subject's manager and may set Record.Tokens; the home
	// records both, also when f fails after its first edit. The error is that of
	// f, or [precis.CodeConflict] when somebody else was faster: the other edits
	// are then in force, and those of f are not.
	Edit(ctx context.Context, id string, f func(*Subject) error) error
	// List returns a page of conversations, the last updated first.
	List(ctx context.Context, q Listing) (Page[Listed], error)
	// Search finds messages by their words, the best first.
	Search(ctx context.Context, q store.SearchQuery) (FoundList, error)
}

// Owned is a [Home] that knows whose its conversations are.
type Owned interface {
	// OwnerOf returns whose a conversation is.
	OwnerOf(ctx context.Context, id string) (string, error)
	// Owners returns everybody who has a conversation, sorted.
	Owners(ctx context.Context) ([]string, error)
}

// Stored is a [Home] with a store behind it.
type Stored interface {
	Owned
	// Store returns the part of the store that belongs to an owner, after what
	// waits to be stored has been written; nil when there is none.
	Store(ctx context.Context, owner string) (precis.Store, error)
}

// Purger is a [Home] that can forget.
type Purger interface {
	// Purge forgets conversations. The options are valid.
	Purge(ctx context.Context, o PurgeOptions) (store.PurgeResult, error)
}

func notFound(id string) error {
	return precis.Errorf(precis.CodeNotFound, "find conversation", "there is no conversation %.80q", id)
}

// look calls f with a snapshot and returns what f does.
func look[T any](ctx context.Context, h Home, id string, f func(*Subject) (T, error)) (out T, err error) {
	err = h.Look(ctx, id, func(s *Subject) error {
		out, err = f(s)
		return err
	})
	return out, err
}
