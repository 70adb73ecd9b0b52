// Package sqlite keeps conversations in one SQLite file. [Open] returns a [Store], a [precis.Store]
// that also implements [precis.CalibrationStore], [precis.Ledger] and all optional interfaces of
// package store. Several processes of one machine may share the file.
//
// # Layout
//
// A conversation tree is stored as branches: runs of messages without a fork. A branch records
// where it leaves its parent; a node is a position in a branch and is found by its fingerprint. The
// path to a node is therefore a few ranges of one clustered table, one for each fork on the path,
// however long the conversation is. Keys:
//
//	owners    (id) → name (unique)
//	branches  (id) → owner, parent branch, depth at which it leaves
//	nodes     (branch, depth) → fingerprint (unique for an owner), body
//	bodies    (id) → key (unique for an owner: SHA-256 of the stored form), hash, stored form
//	edits     (seq) → (branch, depth, id) (unique), stored form
//	catalog   (owner, id) → head, last update, record
//	search    (body) → its words
//
// Every lookup begins with the owner, so a scope never finds another owner's data.
//
// # Search
//
// The full-text index is updated before a search, and after two seconds without an append;
// appending never waits for it. During heavy appending, a search does not wait for a complete index
// and misses the newest messages. A query without a conversation covers the newest thousand
// messages of the scope that contain all words.
//
// # Forgetting
//
// Data removed by [Store.Purge] is overwritten with zeros in the file and deleted from the
// full-text index, and the write-ahead log is emptied. Copies of the file, and remnants on the
// disk itself, are out of reach.
//
// # Stored forms
//
// A node keeps the message it was first appended with. Messages that differ only in fields ignored
// by [precis.HashMessage] (identifiers, times, white space, cache markers) make the same node, and
// later ones are not stored. Only messages with identical stored bytes share a body, so two nodes
// of the same hash may have different bodies, and each returns its own. [Store.Body] returns the
// first one stored. A message that would read back with another fingerprint (invalid UTF-8) is
// refused with [precis.CodeInvalid].
//
// # Writing
//
// Calls that write at the same time share one transaction, and so one write to the disk; a failing
// call is rolled back alone.
//
// # Promises
//
// The data of a call that returned nil is on the disk (synchronous=FULL), even if the process is
// killed or the power fails. A call that failed has stored no data. Message content is never logged
// and never part of an error text.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	driver "modernc.org/sqlite"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/privatefile"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/internal/index"
)

// Options are the settings of [Open]. The zero value is a good default.
type Options struct {
	// Readers is the number of connections that read at the same time; 0 means 4. One further
	// connection writes.
	Readers int
	// BusyTimeout is how long a call waits while another process locks the file, in whole
	// milliseconds; 0 means 5 seconds.
	BusyTimeout time.Duration
}

func (o Options) withDefaults() (Options, error) {
	if o.Readers == 0 {
		o.Readers = 4
	}
	if o.BusyTimeout == 0 {
		o.BusyTimeout = 5 * time.Second
	}
	if o.Readers < 0 {
		return o, precis.Errorf(precis.CodeInvalid, opOpen, "Options.Readers is %d", o.Readers)
	}
	if o.BusyTimeout < time.Millisecond {
		return o, precis.Errorf(precis.CodeInvalid, opOpen,
			"Options.BusyTimeout is %v, at least 1ms is needed", o.BusyTimeout)
	}
	return o, nil
}

// Store is a [precis.Store] in a file, or one scope of it. It is safe for
// concurrent use. Errors name the file.
type Store struct {
	*part
	books
	catalog
	finder
	purger
	summaries
	whole bool // made by Open; Close of a scope has no effect
}

// part is the store of one owner. The types below group its methods by subject.
type part struct {
	*file
	owner string
}

type (
	books     struct{ *part } // the ledger, calibrations and windows
	catalog   struct{ *part } // records
	finder    struct{ *part } // searching
	purger    struct{ *part } // forgetting
	summaries struct{ *part }
)

// newStore returns the scope of an owner.
func newStore(f *file, owner string) *Store {
	p := &part{f, owner}
	return &Store{part: p, books: books{p}, catalog: catalog{p}, finder: finder{p}, purger: purger{p},
		summaries: summaries{p}}
}

// file is the state shared by all scopes of a store.
type file struct {
	path     string
	abs      string      // absolute, so that it does not depend on the working directory
	opened   os.FileInfo // identity of the file at path when it was opened
	patience time.Duration
	write    *sql.DB // one connection; its transactions are immediate
	writers  writers
	read     *sql.DB
	owners   sync.Map // IDs of the stored owners, by name
	indexer  *index.Worker

	mu     sync.RWMutex // held for reading by eachRow call
	closed bool
}

var (
	_ precis.Store            = (*Store)(nil)
	_ precis.CalibrationStore = (*Store)(nil)
	_ store.Summaries         = (*Store)(nil)
	_ precis.Ledger           = (*Store)(nil)
	_ store.Scoper            = (*Store)(nil)
	_ store.Booker            = (*Store)(nil)
	_ store.Windows           = (*Store)(nil)
	_ store.Checker           = (*Store)(nil)
	_ store.Spender           = (*Store)(nil)
	_ store.Summer            = (*Store)(nil)
	_ store.Finder            = (*Store)(nil)
	_ store.Leaser            = (*Store)(nil)
	_ store.Lister            = (*Store)(nil)
	_ store.Census            = (*Store)(nil)
	_ store.Searcher          = (*Store)(nil)
	_ store.Wiper             = (*Store)(nil)
)

const opOpen = "open store"

// Open opens the store in the file at path and migrates its schema. A missing file is created,
// accessible only to its owner; an existing one keeps its mode. The directory must exist. The error
// is [precis.CodeInvalid] when the file is not a store, or belongs to a newer precis, and
// [precis.CodeInternal] when it cannot be read or written.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if path == "" || path == ":memory:" {
		return nil, &precis.Error{
			Code: precis.CodeInvalid, Op: opOpen, Err: fmt.Errorf("%q is not the name of a file", path),
			Hint: "use store/memory for a store without a file",
		}
	}
	s := newStore(&file{path: path, patience: o.BusyTimeout, writers: newWriters()}, "")
	s.whole = true
	if err := ctx.Err(); err != nil {
		return nil, s.fail(opOpen, err)
	}
	abs, err := s.create()
	if err != nil {
		return nil, s.fail(opOpen, err)
	}
	if err := s.connect(abs, o); err != nil {
		return nil, s.fail(opOpen, err)
	}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(s.fail(opOpen, err), s.Close())
	}
	s.indexer = index.Start(s.indexSome)
	return s, nil
}

// create creates the file if it is missing, records its identity, and returns its absolute path.
// SQLite gives the files it creates next to it the same mode.
func (s *file) create() (string, error) {
	abs, err := filepath.Abs(s.path)
	if err != nil {
		return "", err
	}
	if err := privatefile.Make(abs); err != nil {
		return "", err
	}
	s.abs = abs
	s.opened, err = os.Stat(abs)
	return abs, err
}

// Check returns an error when the file was deleted or replaced since it was opened: later data is
// then lost when the store is closed.
func (s *Store) Check(context.Context) error {
	now, err := os.Stat(s.abs)
	if err == nil && os.SameFile(now, s.opened) {
		return nil
	}
	how := "replaced"
	if err != nil {
		how = "deleted"
	}
	return &precis.Error{
		Code: precis.CodeInternal, Op: "check store", Place: s.path,
		Err:  fmt.Errorf("the file was %s; what is stored now is lost when it is closed", how),
		Hint: "the file was " + how + " while it was open: start again",
	}
}

func (s *file) connect(abs string, o Options) error {
	pool := func(conns int, more url.Values) (*sql.DB, error) {
		u := url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: more.Encode()}
		connector, err := driver.NewConnector(u.String())
		if err != nil {
			return nil, err
		}
		db := sql.OpenDB(connector)
		db.SetMaxOpenConns(conns)
		db.SetMaxIdleConns(conns)
		return db, nil
	}
	var err error
	s.write, err = pool(1, url.Values{"_txlock": {"immediate"}, "_pragma": {
		// begin waits
		"busy_timeout(0)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "secure_delete(1)",
	}})
	if err != nil {
		return err
	}
	s.read, err = pool(o.Readers, url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", o.BusyTimeout.Milliseconds()), "query_only(1)",
	}})
	return err
}

// Close waits for the calls in progress and closes the file. Later calls fail; closing again, or
// closing a scope, has no effect.
func (s *Store) Close() error {
	if !s.whole {
		return nil
	}
	s.indexer.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	// Readers first: the last connection to close cleans up the write-ahead log, and only the
	// writer may do that.
	if err := errors.Join(s.read.Close(), s.write.Close()); err != nil {
		return s.fail("close store", err)
	}
	return nil
}

// call is a transaction of one scope.
type call struct {
	*sql.Tx
	owner int64 // ID; noOwner for an owner without stored data
}

// view runs f on one snapshot of the file.
func (s *part) view(ctx context.Context, op string, f func(call) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return s.fail(op, errClosed)
	}
	return s.transact(ctx, op, s.read, &sql.TxOptions{ReadOnly: true}, f)
}

// transact runs f in a transaction of its own. The store must stay open meanwhile.
func (s *part) transact(ctx context.Context, op string, db *sql.DB, o *sql.TxOptions,
	f func(call) error) error {
	tx, err := s.begin(ctx, db, o)
	if err != nil {
		return s.fail(op, err)
	}
	owner, err := s.ownerOf(ctx, tx, s.owner, o == nil)
	if err == nil {
		err = f(call{Tx: tx, owner: owner})
	}
	if err != nil {
		// A failed rollback closes the connection, which rolls back as well.
		_ = tx.Rollback()
		return s.fail(op, err)
	}
	if err := tx.Commit(); err != nil {
		return s.fail(op, err)
	}
	if owner != noOwner {
		s.owners.Store(s.owner, owner)
	}
	return nil
}

// begin starts a transaction and waits while another process writes. SQLite's own waiting would not
// end with ctx, and does not cover processes that are opening or closing the file.
func (s *file) begin(ctx context.Context, db *sql.DB, o *sql.TxOptions) (*sql.Tx, error) {
	start, pause := time.Now(), time.Millisecond
	for {
		tx, err := db.BeginTx(ctx, o)
		if !isBusy(err) || time.Since(start) > s.patience {
			return tx, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
			pause = min(2*pause, 20*time.Millisecond)
		}
	}
}
