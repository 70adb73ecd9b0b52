package store

import (
	"context"
	"time"
)

// PurgeQuery says what is to be forgotten. The zero value selects nothing.
type PurgeQuery struct {
	IDs    []string  // the conversations with these IDs
	Before time.Time // all that were last updated before; zero: none
	All    bool      // everything in the scope but calibrations and the ledger
}

// PurgeResult says what was forgotten.
type PurgeResult struct {
	Conversations int   `json:"conversations"`
	Messages      int   `json:"messages"` // stored messages that are gone
	Bytes         int64 `json:"bytes"`    // of these; 0 when unknown
}

// Purger is a [Lister] that can forget.
type Purger interface {
	// Purge removes conversations: their records, and the messages, edits and
	// search entries that no other conversation in the catalog needs. Ledger
	// entries stay, for they hold no content. Kept summaries, and nodes that
	// belong to no conversation, are removed when they were stored before Before,
	// or with All. IDs that do not exist are ignored. What is removed cannot be
	// read any more, not even in the file.
	Purge(ctx context.Context, q PurgeQuery) (PurgeResult, error)
}

// Wiper is a [Purger] that can do in two steps what Purge does in one, so that
// what several scopes have lost is wiped at once.
type Wiper interface {
	Purger
	// Remove is Purge without its last step: no call finds any more what it removes,
	// but the file may still hold it until Wipe is called.
	Remove(ctx context.Context, q PurgeQuery) (PurgeResult, error)
	// Wipe makes what was removed from any scope unreadable. It costs little when
	// nothing was removed since it was last called.
	Wipe(ctx context.Context) error
}

// Remove is the first step of a purge where a store has two, see [Wiper], and all
// of it where it has one.
func Remove(ctx context.Context, p Purger, q PurgeQuery) (PurgeResult, error) {
	if w, ok := p.(Wiper); ok {
		return w.Remove(ctx, q)
	}
	return p.Purge(ctx, q)
}
