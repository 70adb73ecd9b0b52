// Package postgres keeps conversations in a PostgreSQL database that several replicas share; it is
// tested with PostgreSQL 15. [Open] returns a [Store], a [precis.Store] that also implements
// [precis.CalibrationStore], [precis.Ledger] and all optional interfaces of package store except
// [store.Checker].
//
// # Layout
//
// All tables are in one schema of the database. A conversation tree is stored as branches, as in
// package precis/store/sqlite: runs of messages without a fork. A branch records where it leaves
// its parent; a node is a position in a branch and is found by its fingerprint. The path to a node
// is therefore a few ranges of one index, one for each fork on the path, and one query reads it
// however long the conversation is. Keys:
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
// Every lookup begins with the owner, so a scope never finds another owner's data.
//
// # Search
//
// Appending only queues new messages for the full-text index. They are indexed before a search, and
// when a replica has appended no message for two seconds. During heavy appending, a search misses
// the newest messages. A query without a conversation covers the newest thousand messages of the
// scope that contain all words.
//
// # Forgetting
//
// Data removed by [Store.Purge] is vacuumed at once, unless an older transaction can still see it.
// The server overwrites the space only when it reuses it, and its other copies (write-ahead log,
// backups) are out of reach.
//
// # Stored forms
//
// The rules of package precis/store/sqlite apply: a node keeps the message it was first appended
// with, only messages with identical stored bytes share a body, [Store.Body] returns the first one
// stored, and a message that would read back with another fingerprint is refused with
// [precis.CodeInvalid].
//
// # Replicas
//
// Nodes and branches never change. Only [Store.Purge] deletes them, and it locks the branches of
// the scope. So appending waits for no other call: unique indexes show a writer that another one
// was faster, and it looks again. [Store.AddEdit] locks the branches of the path during its check.
// Calls that the server aborts (serialization failures, deadlocks) are retried internally.
//
// # Promises
//
// A call that returned nil is committed, as durably as the server is configured to commit. A call
// that failed has stored no data, with one exception: if the connection was lost during the commit
// ([precis.CodeInternal]) or the context ended during it ([precis.CodeCanceled]), the data may be
// stored. All calls except [Store.Book] may then be repeated. After a lost connection, calls fail
// until the server is back and then work again.
//
// Message content and the password of the URL are never logged and never part of an error text. A
// server that is configured to log parameters does log content. The schema is set as search_path
// when a connection starts, so a connection pooler must keep sessions separate.
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

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/internal/index"
)

// Options are the settings of [Open]. The zero value is a good default.
type Options struct {
	// MaxConns is the number of connections open at the same time; 0 means 10. Calls wait while all
	// are busy.
	MaxConns int
	// Schema is the database schema with the tables; "" means "precis". It is created if missing.
	// Lower-case letters, digits and underscores, at most 63.
	Schema string
	// ConnectTimeout is the time limit for a new connection; 0 means 10 seconds.
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
	whole bool // made by Open; Close of a scope has no effect
}

// part is the store of one owner. The types below group its methods by subject.
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

// database is the state shared by all scopes of a store.
type database struct {
	place   string
	schema  string
	pool    *pgxpool.Pool
	owners  sync.Map // IDs of the stored owners, by name
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

// Open opens the store in the database of the URL, such as
// postgres://user:password@host:5432/database, and migrates its schema. The database must exist.
// Settings missing in the URL come from the environment variables and files of libpq. Several
// replicas may open it at once.
//
// The error is [precis.CodeInvalid] when the URL is malformed, or the schema belongs to another
// program or a newer precis, and [precis.CodeInternal] when the server cannot be reached or
// refuses.
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

// Close waits for the calls in progress and closes the connections. Later calls fail; closing
// again, or closing a scope, has no effect.
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

// do makes one call: it runs f again while it loses against concurrent writers.
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
		if !isRetryable(err) || try == maxTries || waitBeforeRetry(ctx, try) != nil {
			if ctx.Err() == nil && disconnected(err) {
				s.pool.Reset() // the others are lost as well, or cheap to make again
			}
			return s.fail(ctx, op, err)
		}
	}
}

// update is do with a transaction. Each of its statements sees everything committed before it, as a
// check after a lock requires.
func (s *database) update(ctx context.Context, op string, f func(pgx.Tx) error) error {
	return s.do(ctx, op, func() error { return s.transact(ctx, f) })
}

func (s *database) transact(ctx context.Context, f func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, f)
}
