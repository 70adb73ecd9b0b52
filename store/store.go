// Package store defines the optional interfaces of a [precis.Store]: separating owners ([Scoper]),
// listing conversations ([Lister]), searching ([Searcher]), forgetting ([Purger], [Wiper]), leases
// for replicas ([Leaser]), cached summaries ([Summaries]), ledgers ([Booker], [Spender], [Summer]),
// evidence on context windows ([Windows]) and detecting the loss of the storage ([Checker]).
// Callers use type assertions, and do without the interfaces that a store lacks. [Reconcile] brings a
// conversation in memory and a store together.
//
// The stores are precis/store/memory, precis/store/sqlite and precis/store/postgres;
// precis/store/storetest checks any other.
package store

import (
	"context"
	"time"

	"github.com/precis-dev/precis"
)

// Scoper is a [precis.Store] that separates the data of different owners.
type Scoper interface {
	// Scope returns the part of the store that belongs to owner; "" gives the store itself. Data in
	// one scope cannot be found, read or changed through another, and equal content is stored once
	// per scope. Calibrations are shared by all scopes. Closing a scope has no effect. A scope has
	// every optional interface of the store, including [Leaser], with leases that all scopes share.
	Scope(owner string) precis.Store
	// Scopes returns the owners with data in the store, sorted; "" is included when the store
	// itself holds data.
	Scopes(ctx context.Context) ([]string, error)
}

// Leaser is a [precis.Store] shared by replicas. It decides which of them does work that should be
// done once, such as condensing a node.
type Leaser interface {
	// Lease takes the lease called name for the time ttl, unless another holder has it. Ok reports
	// whether the holder has it now. A holder that already has it renews it for ttl from now on, so
	// call again well before ttl is over. A holder is one piece of work, say a replica's name and a
	// number: two calls with the same holder share the lease.
	//
	// Release releases the lease. It is never nil, may be called more than once and by any
	// goroutine, also after ctx has ended, and has no effect when the holder has lost the lease. A
	// lease that is not released, because its holder was killed or cannot reach the store, expires
	// after ttl.
	//
	// A lease saves work, it does not protect data: a holder that is delayed for longer than ttl
	// may continue while another one has begun. Their writes must be such that the second one is
	// refused, as by AddEdit.
	Lease(ctx context.Context, name, holder string, ttl time.Duration) (release func(), ok bool, err error)
}

// Finder is a [precis.Store] that looks up which positions of a conversation it knows.
type Finder interface {
	// Deepest returns the index of the last of nodes that the store knows, -1 if it knows none.
	Deepest(ctx context.Context, nodes []precis.Fingerprint) (int, error)
}

// EditLog is a [precis.Store] that returns the edits of a node without its messages.
type EditLog interface {
	// Edits returns the same edits as Load; [precis.CodeNotFound] when the node is unknown.
	Edits(ctx context.Context, node precis.Fingerprint) ([]precis.Edit, error)
}

// Summaries is a [precis.Store] that caches summaries by the hash of their source, so that no
// summary is paid for twice.
type Summaries interface {
	// KeepSummary stores a text under key, unless the key has one already.
	KeepSummary(ctx context.Context, key precis.Fingerprint, text string) error
	// Summary returns the text stored under key; [precis.CodeNotFound] if there is no such text.
	Summary(ctx context.Context, key precis.Fingerprint) (string, error)
}

// Windows is a [precis.Store] that keeps a gateway's evidence on the context windows of models
// across restarts and for all replicas. The gateway defines keys and states. Like calibrations,
// states are shared by all scopes and no purge removes them.
type Windows interface {
	// SaveWindows replaces the states stored under the given keys, all or none. A nil state removes
	// the stored state of its key.
	SaveWindows(ctx context.Context, states map[string][]byte) error
	// LoadWindows returns all states by key.
	LoadWindows(ctx context.Context) (map[string][]byte, error)
}

// Checker is a [precis.Store] that may lose its data without an error from any call, such as a file
// that is deleted while it is open.
type Checker interface {
	// Check returns an error when newly stored data would be lost. It is quick.
	Check(ctx context.Context) error
}
