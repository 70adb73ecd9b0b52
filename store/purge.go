package store

import (
	"context"
	"time"
)

// PurgeQuery selects data to forget. The zero value selects no data.
type PurgeQuery struct {
	IDs    []string  // the conversations with these IDs
	Before time.Time // all that were last updated before; zero: no limit
	All    bool      // everything in the scope except calibrations and the ledger
}

// PurgeResult reports what was forgotten.
type PurgeResult struct {
	Conversations int   `json:"conversations"`
	Messages      int   `json:"messages"` // number of deleted messages
	Bytes         int64 `json:"bytes"`    // their bytes; 0 when unknown
}

// Purger is a [Lister] that can forget.
type Purger interface {
	// Purge removes conversations: their records, and the messages, edits and search entries that
	// no other conversation in the catalog needs. Ledger entries stay, because they hold no
	// content. Kept summaries, and nodes that belong to no conversation, are removed if stored
	// before Before, or with All. IDs that do not exist are ignored. Removed data cannot be read
	// any more, not even in the file.
	Purge(ctx context.Context, q PurgeQuery) (PurgeResult, error)
}

// Wiper is a [Purger] that splits Purge into two steps, so that the removed data of several scopes
// is wiped at once.
type Wiper interface {
	Purger
	// Remove is Purge without its last step: calls no longer find the removed data, but the file
	// may contain it until Wipe is called.
	Remove(ctx context.Context, q PurgeQuery) (PurgeResult, error)
	// Wipe makes the removed data of all scopes unreadable. It is cheap if no data was removed
	// since the last call.
	Wipe(ctx context.Context) error
}

// Remove performs the first step of a purge on a [Wiper], and a whole purge on any other store.
func Remove(ctx context.Context, p Purger, q PurgeQuery) (PurgeResult, error) {
	if w, ok := p.(Wiper); ok {
		return w.Remove(ctx, q)
	}
	return p.Purge(ctx, q)
}
