package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/precis-dev/precis"
)

var (
	errClosed = errors.New("the store is closed")
	// errOvertaken: another writer was faster. A new lookup shows its work.
	errOvertaken = errors.New("another writer stores the same")
)

// fail wraps err with its code and the place of the database. Errors of precis pass unchanged.
func (s *database) fail(ctx context.Context, op string, err error) error {
	var own *precis.Error
	if errors.As(err, &own) {
		return err
	}
	if ended := ctx.Err(); ended != nil && !errors.Is(err, errClosed) {
		return &precis.Error{Code: precis.CodeCanceled, Op: op, Err: ended}
	}
	// The driver's error holds the settings, including the password, in a field.
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		err = fmt.Errorf("cannot connect: %w", connect.Unwrap())
	}
	e := &precis.Error{Code: precis.CodeInternal, Op: op, Place: s.place, Err: err}
	var db *pgconn.PgError
	if errors.As(err, &db) {
		classify(e, db.Code)
	}
	return e
}

// classify sets code and hint for a PostgreSQL error code; see
// https://www.postgresql.org/docs/current/errcodes-appendix.html.
func classify(e *precis.Error, code string) {
	switch code {
	case "54000": // an index does not accept keys of this length
		e.Code, e.Hint = precis.CodeInvalid, "an identifier is too long to be stored"
	case "28000", "28P01":
		e.Hint = "check the user and the password of the URL"
	case "3D000":
		e.Hint = "make the database first"
	case "42501":
		e.Hint = "the user needs the right to make a schema in the database, or to use the one that is there"
	case "53100":
		e.Hint = "the server's disk is full; nothing was stored"
	case "53300":
		e.Hint = "the server allows no more connections: lower Options.MaxConns, or raise max_connections"
	case "25006":
		e.Hint = "the server only reads: name the primary"
	case "57P03":
		e.Hint = "the server is starting or stopping: try again"
	}
}

// maxTries bounds the attempts of a call that keeps losing against concurrent ones.
const maxTries = 50

// isRetryable reports whether a call lost against a concurrent one and can be retried, because it stored
// no data.
func isRetryable(err error) bool {
	if errors.Is(err, errOvertaken) {
		return true
	}
	var db *pgconn.PgError
	if !errors.As(err, &db) {
		return false
	}
	switch db.Code {
	case "40001", "40P01": // serialization_failure, deadlock_detected
		return true
	case "23503": // foreign_key_violation: the referenced row was purged, or a purge met a new row
		return true
	}
	return false
}

// waitBeforeRetry waits before a retry, longer each time and with random jitter.
func waitBeforeRetry(ctx context.Context, try int) error {
	longest := min(time.Millisecond<<min(try, 10), 50*time.Millisecond)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rand.N(longest)):
		return nil
	}
}

// disconnected reports whether the connection broke. Class 08 are connection exceptions, 57P means
// that the server is shutting down.
func disconnected(err error) bool {
	var db *pgconn.PgError
	if errors.As(err, &db) {
		return strings.HasPrefix(db.Code, "08") || strings.HasPrefix(db.Code, "57P")
	}
	var network net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, pgconn.ErrConnClosed) || errors.As(err, &network)
}

func notFound(op string, f precis.Fingerprint) error {
	return precis.Errorf(precis.CodeNotFound, op, "node %s is unknown", f.Short())
}
