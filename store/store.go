// Package store names the optional powers of a [precis.Store]: telling owners
// apart ([Scoper]), listing conversations ([Lister]), searching ([Searcher]),
// forgetting ([Purger], [Wiper]), leases for replicas ([Leaser]), cached summaries
// ([Summaries]), ledgers ([Booker], [Spender], [Summer]), what is known of context windows
// ([Windows]) and noticing that what is stored is gone ([Checker]). A caller finds them
// by type assertion and does without those that a store lacks.
//
// The stores themselves are precis/store/memory, precis/store/sqlite and
// precis/store/postgres; precis/store/storetest checks any other.
package store

import (
	"context"
	"time"

	"precis"
)

// Scoper is a [precis.Store] that keeps apart what belongs to different owners.
type Scoper interface {
	// Scope returns the part of the store that belongs to owner; that of "" is
	// the store itself. What is in one scope cannot be found, read or changed
	// through another, and equal content is stored once for each. Calibrations
	// are shared by all scopes. Closing a scope does nothing. A scope has every
	// optional interface the store has, [Leaser] included, whose leases are
	// shared by all scopes.
	Scope(owner string) precis.Store
	// Scopes returns the owners that have anything in the store, sorted; "" is
	// among them when the store itself holds something.
	Scopes(ctx context.Context) ([]string, error)
}

// Leaser is a [precis.Store] that replicas share and that settles which of them does
// something that should be done once, such as condensing a node.
type Leaser interface {
	// Lease takes the lease called name for the time ttl, if nobody has it. Ok
	// says whether the holder has it now. A holder that has it already gets it
	// for ttl from now on: calling again, well before ttl is over, renews it. A
	// holder is one piece of work, say a replica's name and a number: two calls
	// with the same holder share the lease.
	//
	// Release gives the lease back; it is never nil, may be called more than
	// once and by any goroutine, also after ctx has ended, and does nothing when
	// the holder does not have the lease any more. A lease that is not released,
	// since its holder was killed or cannot reach the store, runs out after ttl.
	//
	// A lease saves work, it does not protect data: a holder that is held up for
	// longer than ttl may go on while another one has begun. What they record
	// must be such that the second is refused, as by AddEdit.
	Lease(ctx context.Context, name, holder string, ttl time.Duration) (release func(), ok bool, err error)
}

// Finder is a [precis.Store] that finds out which positions of a conversation it knows.
type Finder interface {
	// Deepest returns the index of the last of nodes that the store knows, -1
	// when it knows none.
	Deepest(ctx context.Context, nodes []precis.Fingerprint) (int, error)
}

// EditLog is a [precis.Store] that gives the edits of a node without its messages.
type EditLog interface {
	// Edits returns the edits that Load would; [precis.CodeNotFound] when the node is
	// unknown.
	Edits(ctx context.Context, node precis.Fingerprint) ([]precis.Edit, error)
}

// Summaries is a [precis.Store] that keeps summaries by the hash of what they were
// made of, so that none is paid twice.
type Summaries interface {
	// KeepSummary stores a text under key; one that is there already stays.
	KeepSummary(ctx context.Context, key precis.Fingerprint, text string) error
	// Summary returns the text stored under key; [precis.CodeNotFound] when there is
	// none.
	Summary(ctx context.Context, key precis.Fingerprint) (string, error)
}

// Windows is a [precis.Store] that keeps what a gateway has found out about the context
// windows of models, so that a restart does not forget it and replicas share it. Keys
// and states are the gateway's; states are shared by all scopes, as calibrations are,
// and no purge removes them.
type Windows interface {
	// SaveWindows replaces the states stored under the given keys, all or none. A nil
	// state removes what is stored under its key.
	SaveWindows(ctx context.Context, states map[string][]byte) error
	// LoadWindows returns all states by key.
	LoadWindows(ctx context.Context) (map[string][]byte, error)
}

// Checker is a [precis.Store] that may lose what it stores without an error of any
// call, such as a file that somebody deletes while it is open.
type Checker interface {
	// Check returns an error when what is stored now will not be found again. It is
	// quick.
	Check(ctx context.Context) error
}
