//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/pgtest"
	"github.com/precis-dev/precis/store/postgres"
)

// cluster is the server of all tests of this process, or why there is none.
var (
	cluster  *pgtest.Cluster
	noServer error
)

func TestMain(m *testing.M) {
	if url := os.Getenv(childEnv); url != "" {
		fmt.Fprintln(os.Stderr, writeForever(url))
		os.Exit(1)
	}
	cluster, noServer = pgtest.Start()
	code := m.Run()
	if err := cluster.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// database returns the URL of a new database.
func database(t testing.TB) string {
	t.Helper()
	pgtest.SkipOrFail(t, noServer)
	return cluster.Database(t)
}

func open(t testing.TB, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// with runs SQL behind the store's back and returns the first value as text.
func with(t testing.TB, url, query string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	results, err := conn.PgConn().Exec(t.Context(), "SET search_path = precis; "+query).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	if rows := results[len(results)-1].Rows; len(rows) > 0 {
		return string(rows[0][0])
	}
	return ""
}

// wantError checks the code, and that the text has all parts.
func wantError(t testing.TB, err error, code precis.Code, parts ...string) {
	t.Helper()
	var e *precis.Error
	if !errors.As(err, &e) || e.Code != code || e.Op == "" {
		t.Errorf("error %v (code %q), want code %q", err, precis.CodeOf(err), code)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

func message(i int) precis.Message {
	return precis.NewText(precis.RoleUser, fmt.Sprint("message ", i, strings.Repeat(" and so on", 90)))
}

// pin returns a small edit at a node.
func pin(node precis.Fingerprint, id string) precis.Edit {
	return precis.Edit{ID: id, Kind: precis.KindPin, At: node, Seen: 1, Pins: []precis.Handle{precis.MessageHandle(0)}}
}

func add(t testing.TB, s *postgres.Store, parent precis.Fingerprint, msgs ...precis.Message) precis.Fingerprint {
	t.Helper()
	node, err := s.Append(t.Context(), parent, msgs...)
	if err != nil {
		t.Fatal(err)
	}
	return node
}

func record(t testing.TB, s *postgres.Store, node precis.Fingerprint, after, id string) {
	t.Helper()
	if err := s.AddEdit(t.Context(), after, pin(node, id)); err != nil {
		t.Fatal(err)
	}
}
