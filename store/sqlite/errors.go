package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/precis-dev/precis"
)

var errClosed = errors.New("the store is closed")

// fail wraps err with its code and the file. Errors of precis pass unchanged.
func (s *file) fail(op string, err error) error {
	var own *precis.Error
	if errors.As(err, &own) {
		return err
	}
	e := &precis.Error{Code: precis.CodeInternal, Op: op, Place: s.path, Err: err}
	var db *driver.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, sql.ErrTxDone):
		// only a context ends a transaction before the store does
		e.Code, e.Place = precis.CodeCanceled, ""
	case errors.Is(err, fs.ErrNotExist):
		e.Hint = "make the directory first"
	case errors.As(err, &db):
		classify(e, db.Code()&0xff)
	}
	return e
}

// classify sets code and hint for a primary result code of SQLite; see
// https://www.sqlite.org/rescode.html.
func classify(e *precis.Error, code int) {
	switch code {
	case lib.SQLITE_INTERRUPT: // only a context interrupts
		e.Code, e.Place = precis.CodeCanceled, ""
	case lib.SQLITE_NOTADB:
		e.Code, e.Hint = precis.CodeInvalid, "this is not a store of precis, or it is damaged: restore a copy, or name another file"
	case lib.SQLITE_CORRUPT:
		e.Hint = "the file is damaged: restore a copy"
	case lib.SQLITE_FULL:
		e.Hint = "the disk is full; nothing was stored"
	case lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN, lib.SQLITE_PERM:
		e.Hint = "the file and its directory must be writable"
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		e.Hint = "another process holds the file"
	}
}

func isBusy(err error) bool {
	var db *driver.Error
	return errors.As(err, &db) && db.Code()&0xff == lib.SQLITE_BUSY
}

func notFound(op string, f precis.Fingerprint) error {
	return precis.Errorf(precis.CodeNotFound, op, "node %s is unknown", f.Short())
}
