// Package conversation answers: what can a user see of a conversation, and what can they change? It
// shows ([List], [Status], [CompositionOf], [Messages], [View], [Edits], [Loss], [Work], [Search],
// [ReadOriginals], [Read], [Digest], [Verify], [Handoff], [Preview]) and changes ([Condense], [Pin],
// [Unpin], [Restore], [Undo], [Rewind], [Branch], [Purge]). Command line, control API and other faces
// only call these verbs and compute no results themselves.
//
// A verb is a function over a [Home]: the open conversations of a gateway, a store alone
// (conversation/shelf), or a recording. The verbs of conversation/find and conversation/ledger are,
// too. A home provides a [Subject]: one conversation with its record and the manager that reads and
// edits it. Further powers of homes are optional interfaces, found by type assertion: [Owned],
// [Stored], [Counted], [Placed], [Related], [Purger]. A verb returns [precis.CodeInvalid] when the home
// lacks the power it needs.
//
// Every error is a [precis.Error]; [precis.CodeNotFound] names a conversation, message or edit that
// does not exist. The package conversation/conversationtest checks any home.
package conversation

import (
	"context"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// AllOwners is the owner of a home that holds the conversations of all owners.
const AllOwners = "*"

// Home is where conversations live. Implementations are safe for concurrent use.
type Home interface {
	// Look calls f with a snapshot of a conversation. It neither holds nor waits for a lock that a
	// client's turn or an edit needs. F must not change the subject. After f has returned, the
	// parts of the subject except its meter may still be used.
	Look(ctx context.Context, id string, f func(*Subject) error) error
	// Edit calls f with the conversation locked against other edits. F appends edits through the
	// subject's manager and may set Record.Tokens; the home records both, even if f fails after its
	// first edit. Edit returns the error of f, or [precis.CodeConflict] if another writer was
	// faster: then its edits are in force and those by f are not.
	Edit(ctx context.Context, id string, f func(*Subject) error) error
	// List returns a page of conversations, the last updated first.
	List(ctx context.Context, q ListQuery) (Page[ListItem], error)
	// Search finds messages by their words, the best first.
	Search(ctx context.Context, q store.SearchQuery) (SearchResults, error)
}

// Owned is a [Home] that knows the owners of its conversations.
type Owned interface {
	// OwnerOf returns the owner of a conversation.
	OwnerOf(ctx context.Context, id string) (string, error)
	// Owners returns all owners with a conversation, sorted.
	Owners(ctx context.Context) ([]string, error)
}

// Stored is a [Home] that has a store.
type Stored interface {
	Owned
	// Store first writes pending records and then returns the owner's part of the store; nil: there
	// is no store.
	Store(ctx context.Context, owner string) (precis.Store, error)
}

// Counted is a [Home] that counts its conversations without listing them.
type Counted interface {
	// CountAll returns the number of conversations; known is false if it cannot be determined
	// without listing them.
	CountAll(ctx context.Context) (n int, known bool, err error)
}

// Placed is a [Home] that knows which folder each conversation is about.
type Placed interface {
	// Folder returns the absolute path of the working folder of a conversation's agent; "":
	// unknown.
	Folder(ctx context.Context, id string) (string, error)
}

// Purger is a [Home] that can delete conversations.
type Purger interface {
	// Purge deletes conversations. The options are valid.
	Purge(ctx context.Context, o PurgeOptions) (store.PurgeResult, error)
}

// NotFound is the error for a conversation that a home does not have.
func NotFound(id string) error {
	return precis.Errorf(precis.CodeNotFound, "find conversation", "there is no conversation %.80q", id)
}

// look calls f with a snapshot and returns its result.
func look[T any](ctx context.Context, h Home, id string, f func(*Subject) (T, error)) (out T, err error) {
	err = h.Look(ctx, id, func(s *Subject) error {
		out, err = f(s)
		return err
	})
	return out, err
}
