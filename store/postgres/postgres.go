// Package postgres keeps conversations in a PostgreSQL database that several
// replicas share; it is tested with PostgreSQL 15. [Open] returns a [Store], a
// [precis.Store] that has every optional interface: it is also a
// [precis.CalibrationStore], a [store.Summaries], a [precis.Ledger], a
// [store.Scoper], a [store.Finder], a [store.Leaser], a [store.Lister], a
// [store.Census], a [store.Searcher] and a [store.Wiper].
//
// # Layout
//
// All is in one schema of the database. A conversation tree is stored as
// branches, as in package precis/store/sqlite: runs of messages without a fork.
// A branch says where it leaves its parent; a node is a position in a branch
// and is found by its fingerprint. The path to a node is therefore a few ranges
// of one index, one for each fork on the way, and one query reads it however
// long the conversation is. Keys:
//
//	owners    (id) → name (unique)
//	branches  (id) → owner, parent branch, depth at which it leaves
//	nodes     (branch, depth) → fingerprint (unique for an owner), body
//	bodies    (id) → key (unique for an owner: SHA-256 of the stored form), hash, stored form
//	edits     (branch, seq) → (branch, id, depth) (unique), stored form
//	catalog   (owner, id) → head, last update, record
//	search    (body) → its words
//	leases    (name) → holder, expiry
//
// Every look-up begins with the owner: no scope finds what is another's.
//
// # Search
//
// Appending only notes what is new. It gets into the full-text index before a
// search, and when a replica has appended nothing for two seconds. While much is
// appended a search misses the newest messages. A query
// without a conversation looks at the newest thousand messages of the scope that
// hold all words.
//
// # Forgetting
//
// What [Store.Purge] removes is vacuumed away at once, unless a transaction that
// began before can still see it. The server does not overwrite the space before
// it is used again, and what it keeps elsewhere (write-ahead log, backups) is out
// of reach.
//
// # What is kept
//
// The rules are those of package precis/store/sqlite: a node keeps the message
// it was first appended with, bodies are shared only between messages whose
// stored bytes are identical, [Store.Body] returns the one stored first, and a
// message that would read back with another fingerprint is refused with
// [precis.CodeInvalid].
//
// # Replicas
//
// Nodes and branches are never changed, and deleted only by [Store.Purge], which
// locks the branches of the scope. So appending waits for nothing else: unique
// indexes tell a writer that another one was faster, and it looks again.
// [Store.AddEdit] locks the branches of the path for the time of its check.
// Calls that lose against others in the server (serialization failures,
// deadlocks) are repeated inside.
//
// # Promises
//
// A call that returned nil is committed, as durably as the server is set to
// commit. A call that failed has stored nothing, but for one case: when the
// connection was lost during the commit ([precis.CodeInternal]) or the context
// ended during it ([precis.CodeCanceled]), it may have been stored. All calls
// but [Store.Book] may then simply be made again. After a connection was lost,
// calls fail until the server is back and then work again.
//
// Message content is never logged and is in no error text, and neither is the
// password of the URL. A server that is set to log parameters does log content.
// The schema is set as search_path when a connection starts, so a pooler between
// must keep sessions apart.
package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"precis"
	"precis/internal/lazyregexp"
	"precis/store"
	"precis/store/internal/index"
)

// Options are the settings of [Open]. The zero value is a good default.
type Options struct {
	// MaxConns is the number of connections that are open at the same time; 0
	// means 10. Calls wait while all are busy.
	MaxConns int
	// Schema is the schema of the database that holds the tables; "" means
	// "precis". It is made when it is missing. Lower-case letters, digits and
	// underscores, not longer than 63.
	Schema string
	// ConnectTimeout is how long a new connection may take; 0 means 10 seconds.
	ConnectTimeout time.Duration
}

var identifier = lazyregexp.New(`^[a-z_][a-z0-9_]{0,62}$`)

func (o Options) withDefaults() (Options, error) {
	if o.MaxConns == 0 {
		o.MaxConns = 10
	}
	if o.Schema == "" {
		o.Schema = "precis"
	}
	if o.ConnectTimeout == 0 {
		o.ConnectTimeout = 10 * time.Second
	}
	switch {
	case o.MaxConns < 0 || o.MaxConns > 1<<16:
		return o, precis.Errorf(precis.CodeInvalid, opOpen, "Options.MaxConns is %d", o.MaxConns)
	case !identifier.MatchString(o.Schema) || strings.HasPrefix(o.Schema, "pg_"):
		return o, precis.Errorf(precis.CodeInvalid, opOpen, "Options.Schema is %q", o.Schema)
	case o.ConnectTimeout < 0:
		return o, precis.Errorf(precis.CodeInvalid, opOpen, "Options.ConnectTimeout is %v", o.ConnectTimeout)
	}
	return o, nil
}

// Store is a [precis.Store] in a database, or one scope of it. It is safe for
// concurrent use. Errors name the server, the database and the schema.
type Store struct {
	*part
	books
	catalog
	purger
	whole bool // not made by Scope, for which Close does nothing
}

// part is what belongs to one owner. The types below have the methods of the store
// that are about one thing.
type part struct {
	*database
	owner string
}

type (
	books   struct{ *part } // the ledger, calibrations and windows
	catalog struct{ *part } // records
	purger  struct{ *part } // forgetting
)

// newStore returns the scope of an owner.
func newStore(d *database, owner string) *Store {
	p := &part{d, owner}
	return &Store{part: p, books: books{p}, catalog: catalog{p}, purger: purger{p}}
}

// database is what all scopes of a store have in common.
type database struct {
	place   string
	schema  string
	pool    *pgxpool.Pool
	owners  sync.Map // IDs of those that are stored, by name
	indexer *index.Worker

	unvacuumed atomic.Bool // rows were removed since the last vacuum

	mu     sync.RWMutex // held for reading by each call
	closed bool
}

var (
	_ precis.Store            = (*Store)(nil)
	_ precis.CalibrationStore = (*Store)(nil)
	_ store.Summaries         = (*Store)(nil)
	_ precis.Ledger           = (*Store)(nil)
	_ store.Scoper            = (*Store)(nil)
	_ store.Booker            = (*Store)(nil)
	_ store.Spender           = (*Store)(nil)
	_ store.Windows           = (*Store)(nil)
	_ store.Summer            = (*Store)(nil)
	_ store.Finder            = (*Store)(nil)
	_ store.Leaser            = (*Store)(nil)
	_ store.Lister            = (*Store)(nil)
	_ store.Census            = (*Store)(nil)
	_ store.Searcher          = (*Store)(nil)
	_ store.Wiper             = (*Store)(nil)
)

const opOpen = "open store"

// Open opens the store in the database that the URL names, such as
// postgres://user:password@host:5432/database, and brings its schema up to
// date. The database must exist. What the URL does not say is taken from the
// environment variables and files of libpq. Several replicas may open it at once.
//
// The error is [precis.CodeInvalid] when the URL cannot be understood, or the
// schema is another program's or one of a newer precis, and
// [precis.CodeInternal] when the server cannot be reached or refuses.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	config, err := parse(url, o)
	if err != nil {
		return nil, err
	}
	s := newStore(&database{place: placeOf(config, o.Schema), schema: o.Schema}, "")
	s.whole = true
	if err := ctx.Err(); err != nil {
		return nil, s.fail(ctx, opOpen, err)
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, s.fail(ctx, opOpen, err)
	}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.indexer = index.Start(s.indexSome)
	return s, nil
}

// Close waits for the calls under way and closes the connections. Calls after it
// fail; closing again does nothing. Closing a scope does nothing.
func (s *Store) Close() error {
	if !s.whole {
		return nil
	}
	s.indexer.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		s.pool.Close()
	}
	return nil
}

// do makes one call: f is run again as long as it loses against other writers.
func (s *database) do(ctx context.Context, op string, f func() error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return s.fail(ctx, op, errClosed)
	}
	if err := ctx.Err(); err != nil {
		return s.fail(ctx, op, err)
	}
	for try := 1; ; try++ {
		err := f()
		if err == nil {
			return nil
		}
		if !lost(err) || try == maxTries || pause(ctx, try) != nil {
			if ctx.Err() == nil && disconnected(err) {
				s.pool.Reset() // the others are lost as well, or made anew at little cost
			}
			return s.fail(ctx, op, err)
		}
	}
}

// update is do with a transaction. Each of its statements sees what was
// committed before it: that is what a check behind a lock needs.
func (s *database) update(ctx context.Context, op string, f func(pgx.Tx) error) error {
	return s.do(ctx, op, func() error { return s.transact(ctx, f) })
}

func (s *database) transact(ctx context.Context, f func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, f)
}
