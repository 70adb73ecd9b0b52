// Package conversation holds the verbs over a conversation: what can be seen of it
// ([List], [Status], [Compose], [Messages], [View], [Edits], [Loss], [Work], [Search],
// [Find], [Show], [Read], [Digest], [Verify], [Handoff], [Preview], [Ledger]) and what can be
// changed ([Condense], [Pin], [Unpin], [Restore], [Undo], [Rewind], [Branch], [Purge]).
// Command line, control API and other faces call them and compute nothing themselves.
//
// A verb is a function over a [Home], the place where conversations live: the
// open conversations of a gateway, a store alone ([InStore]), or a recording. A home hands
// out a [Subject]: one conversation with its record and the manager that reads and
// edits it. What some homes can do and others cannot are further interfaces, found by
// type assertion: [Owned], [Stored], [Counted], [Placed], [Related], [Purger]. A verb that needs one
// returns [precis.CodeInvalid] where it is missing.
//
// Every error is a [precis.Error]; [precis.CodeNotFound] names a conversation,
// message or edit that does not exist. The package conversation/conversationtest
// checks any home.
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

// Counted is a [Home] that counts its conversations without listing them.
type Counted interface {
	// CountAll returns how many conversations there are; known is false when that can
	// not be said without listing them.
	CountAll(ctx context.Context) (n int, known bool, err error)
}

// Placed is a [Home] that knows which folder each conversation is about.
type Placed interface {
	// Folder returns the absolute path of the folder that the agent of a conversation
	// works in; "" when nobody knows.
	Folder(ctx context.Context, id string) (string, error)
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
