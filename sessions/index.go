package sessions

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/privatefile"
	"github.com/precis-dev/precis/internal/words"
)

//go:embed schema.sql
var schema string

// version changes with the data stored for a session and with the readers of recordings. An index
// of another version is rebuilt.
const version = "12/" + words.Version

// index is a file that caches the content of recordings. It can be rebuilt from them, so writes do
// not wait for the disk.
type index struct {
	db      *sql.DB
	version string // its version: of this package and of the token counter
}

// stamp is the size and time of a file when it was read.
type stamp struct{ size, modified int64 }

// entry is a file that was read, or the reason why it could not be.
type entry struct {
	found
	session *Session // nil: not a session
	unread  Unread
}

// openIndex opens the index at path, or in memory for "". An index with another version than made
// is rebuilt.
func openIndex(ctx context.Context, path, made string) (*index, error) {
	if path != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, indexError(err)
		}
	}
	x, err := tryIndex(ctx, path, made)
	for range busyTries {
		// processes may create it concurrently; SQLite's own busy timeout does not cover that
		if !isBusy(err) || ctx.Err() != nil {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(busyPause):
		}
		x, err = tryIndex(ctx, path, made)
	}
	if err == nil || path == "" || !unusable(err) {
		return x, err
	}
	for _, end := range []string{"", "-wal", "-shm"} { // a cache may be deleted
		if err := os.Remove(path + end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, indexError(err)
		}
	}
	return tryIndex(ctx, path, made)
}

// How long to wait while another process creates the index.
const (
	busyTries = 50
	busyPause = 100 * time.Millisecond
)

// isBusy reports whether another process has the index locked.
func isBusy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == lib.SQLITE_BUSY
}

// errVersion reports an index made by another version of this package.
var errVersion = errors.New("another version made it")

// unusable reports whether an index must be rebuilt: it is damaged, of another version, or not an
// index. A busy index is usable.
func unusable(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return errors.Is(err, errVersion)
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_NOTADB, lib.SQLITE_CORRUPT, lib.SQLITE_ERROR: // the last: its tables differ
		return true
	}
	return false
}

func tryIndex(ctx context.Context, path, made string) (*index, error) {
	const pragmas = "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&_pragma=cache_size(-16000)&_txlock=immediate"
	name := "file::memory:" + pragmas
	if path != "" {
		if err := privatefile.Make(path); err != nil {
			return nil, indexError(err)
		}
		name = (&url.URL{Scheme: "file",
			Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()}).String() + pragmas
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, indexError(err)
	}
	if path == "" {
		db.SetMaxOpenConns(1) // each connection in memory is a database of its own
	}
	x := &index{db: db, version: made}
	if err := x.prepare(ctx); err != nil {
		_ = db.Close()
		return nil, indexError(err)
	}
	return x, nil
}

// prepare creates the tables if they do not exist.
func (x *index) prepare(ctx context.Context) error {
	made, err := x.isMade(ctx, x.db)
	if made || err != nil {
		return err
	}
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()                                    //nolint:errcheck // it is committed
	if made, err = x.isMade(ctx, tx); made || err != nil { // another process was faster
		return err
	}
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO made (version) VALUES (?)`,
		x.version); err != nil {
		return err
	}
	return tx.Commit()
}

// isMade reports whether the tables exist; tables of another version are an error.
func (x *index) isMade(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (bool, error) {
	var have string
	err := db.QueryRowContext(ctx, `SELECT version FROM made`).Scan(&have)
	switch {
	case err == nil && have == x.version:
		return true, nil
	case err == nil, errors.Is(err, sql.ErrNoRows):
		return false, errVersion
	case strings.Contains(err.Error(), "no such table"):
		return false, nil
	}
	return false, err
}

func (x *index) close() error { return x.db.Close() }

func indexError(err error) error {
	if err == nil {
		return nil
	}
	var own *precis.Error
	if errors.As(err, &own) {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return precis.Errorf(precis.CodeCanceled, "find sessions", "%w", err)
	}
	return &precis.Error{Code: precis.CodeInternal, Op: "keep the index of sessions", Err: err,
		Hint: "name another file with sessions.index, or remove it: it is made anew"}
}

// stamps returns the stamps of the indexed files, including files that are no recordings.
func (x *index) stamps(ctx context.Context) (map[string]stamp, error) {
	rows, err := x.db.QueryContext(ctx, `SELECT path, size, modified FROM files`)
	if err != nil {
		return nil, indexError(err)
	}
	defer rows.Close()
	out := map[string]stamp{}
	for rows.Next() {
		var path string
		var s stamp
		if err := rows.Scan(&path, &s.size, &s.modified); err != nil {
			return nil, indexError(err)
		}
		out[path] = s
	}
	return out, indexError(rows.Err())
}

// count returns the number of sessions.
func (x *index) count(ctx context.Context) (n int, err error) {
	err = x.db.QueryRowContext(ctx, `SELECT count(*) FROM sessions`).Scan(&n)
	return n, indexError(err)
}

// change runs f in a transaction.
func (x *index) change(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return indexError(err)
	}
	defer tx.Rollback() //nolint:errcheck // it is committed
	if err := f(tx); err != nil {
		return indexError(err)
	}
	return indexError(tx.Commit())
}

// put stores entries.
func (x *index) put(ctx context.Context, entries []entry) error {
	return x.change(ctx, func(tx *sql.Tx) error {
		for _, e := range entries {
			if err := putOne(ctx, tx, e); err != nil {
				return err
			}
		}
		return nil
	})
}

func putOne(ctx context.Context, tx *sql.Tx, e entry) error {
	var have stamp
	err := tx.QueryRowContext(ctx, `SELECT size, modified FROM files WHERE path = ?`, e.path).Scan(&have.size,
		&have.modified)
	if err == nil && have == (stamp{e.size, e.stamp()}) {
		return nil // another process has stored it meanwhile
	}
	if err := forgetOne(ctx, tx, e.path); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO files (path, size, modified, program, why, reason) VALUES (?, ?, ?, ?, ?, ?)`,
		e.path, e.size, e.stamp(), e.agent, e.unread.Why, e.unread.Text)
	if err != nil || e.session == nil {
		return err
	}
	facts, err := json.Marshal(e.session)
	if err != nil {
		return err
	}
	s := e.session
	_, err = tx.ExecContext(ctx, `INSERT INTO sessions (file, id, agent, project, title, model, parent, state, used, messages, tokens, cost, condensations, facts)
		VALUES ((SELECT rowid FROM files WHERE path = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.path, s.ID, s.Agent, s.Project, s.Title, s.Model, s.Parent, string(s.State), s.used().UnixMicro(),
		s.Messages, s.Tokens, s.Cost, s.Condensations, facts)
	if err != nil || len(s.requests) == 0 {
		return err
	}
	list, err := json.Marshal(s.requests)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO requests (file, first, list) VALUES ((SELECT rowid FROM files WHERE path = ?), ?, ?)`, e.path, s.requests[0].ID, list)
	return err
}

// forget removes files from the index and returns how many of them were sessions.
func (x *index) forget(ctx context.Context, paths []string) (n int, err error) {
	if len(paths) == 0 {
		return 0, nil
	}
	err = x.change(ctx, func(tx *sql.Tx) error {
		for _, path := range paths {
			var is int
			if err := tx.QueryRowContext(ctx,
				`SELECT count(*) FROM sessions JOIN files ON files.rowid = sessions.file WHERE path = ?`,
				path).Scan(&is); err != nil {
				return err
			}
			n += is
			if err := forgetOne(ctx, tx, path); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

// forgetOne removes a file and the words of its messages.
func forgetOne(ctx context.Context, tx *sql.Tx, path string) error {
	for _, q := range []string{
		`DELETE FROM text WHERE rowid IN (SELECT t.rowid FROM texts t JOIN files f ON f.rowid = t.file WHERE f.path = ?)`,
		`DELETE FROM texts WHERE file = (SELECT rowid FROM files WHERE path = ?)`,
		`DELETE FROM requests WHERE file = (SELECT rowid FROM files WHERE path = ?)`,
		`DELETE FROM sessions WHERE file = (SELECT rowid FROM files WHERE path = ?)`,
		`DELETE FROM files WHERE path = ?`,
	} {
		if _, err := tx.ExecContext(ctx, q, path); err != nil {
			return err
		}
	}
	return nil
}
