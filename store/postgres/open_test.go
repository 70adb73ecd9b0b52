//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	neturl "net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/postgres"
)

// TestOpenTogether: replicas that start at the same time make one schema, each
// migration applied once, and none fails.
func TestOpenTogether(t *testing.T) {
	t.Parallel()
	url := database(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := postgres.Open(t.Context(), url, postgres.Options{MaxConns: 2})
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	want := "1 0001_conversations.sql, 2 0002_leases.sql, 3 0003_owners.sql, 4 0004_costs.sql, 5 0005_sums.sql, 6 0006_saved.sql, 7 0007_windows.sql, 8 0008_words.sql"
	if got := with(t, url, `SELECT string_agg(version || ' ' || name, ', ' ORDER BY version) FROM precis_migrations`); got != want {
		t.Errorf("applied: %s, want %s", got, want)
	}
}

// TestOpenBringsUpToDate: a schema of version 2 gets what it lacks and keeps what
// it has.
func TestOpenBringsUpToDate(t *testing.T) {
	t.Parallel()
	url := database(t)
	s := open(t, url)
	node := add(t, s, precis.Fingerprint{}, message(0), message(1))
	side := add(t, s, precis.Fingerprint{}, message(0), message(2))
	record(t, s, node, "", "a")
	if err := s.KeepSummary(t.Context(), precis.Fingerprint{7}, "a summary"); err != nil {
		t.Fatal(err)
	}
	if err := s.Book(t.Context(), precis.LedgerEntry{Conversation: "c"}); err != nil {
		t.Fatal(err)
	}
	for kind, cost := range map[string]float64{"condensation": 0.5, "request": 9} {
		if err := s.Book(t.Context(), precis.LedgerEntry{Conversation: "d", Kind: kind, CostUSD: cost}); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	// The same rows in the tables of version 2.
	text := `ALTER SCHEMA precis RENAME TO newer; CREATE SCHEMA precis;
		CREATE TABLE precis_migrations (version integer PRIMARY KEY, name text NOT NULL, applied timestamptz NOT NULL DEFAULT now());
		INSERT INTO precis_migrations (version, name) VALUES (1, '0001_conversations.sql'), (2, '0002_leases.sql');`
	for _, name := range []string{"0001_conversations.sql", "0002_leases.sql"} {
		migration, err := os.ReadFile(filepath.Join("migrations", name))
		if err != nil {
			t.Fatal(err)
		}
		text += string(migration)
	}
	for _, table := range []string{"branches (id, parent, depth)", "bodies (id, key, hash, data)", "nodes (branch, depth, fingerprint, body)",
		"edits (branch, seq, depth, id, data)", "summaries (key, text)", "ledger (id, conversation, seconds, nanos, data)"} {
		name, columns, _ := strings.Cut(table, " ")
		text += fmt.Sprintf("INSERT INTO %s OVERRIDING SYSTEM VALUE SELECT %s FROM newer.%s;", table, strings.Trim(columns, "()"), name)
	}
	with(t, url, text+`SELECT setval('bodies_id_seq', 100), setval('branches_id_seq', 100), setval('edits_seq_seq', 100)`)
	s = open(t, url)
	take(t, s, "a", time.Minute, true)
	if tr, edits, err := s.Load(t.Context(), node); err != nil || tr.Len() != 2 || len(edits) != 1 {
		t.Errorf("%v, %v", edits, err)
	}
	if text, err := s.Summary(t.Context(), precis.Fingerprint{7}); err != nil || text != "a summary" {
		t.Errorf("summary %q, %v", text, err)
	}
	if all, err := s.Entries(t.Context(), "c", time.Time{}); err != nil || len(all) != 1 {
		t.Errorf("ledger %v, %v", all, err)
	}
	if sum, err := s.Spent(t.Context(), time.Time{}); err != nil || sum != 0.5 {
		t.Errorf("spent %g, %v", sum, err)
	}
	if err := s.SaveWindows(t.Context(), map[string][]byte{"k": []byte("state")}); err != nil {
		t.Error(err)
	}
	if all, err := s.LoadWindows(t.Context()); err != nil || string(all["k"]) != "state" {
		t.Errorf("windows %q, %v", all, err)
	}
	if r, err := s.Purge(t.Context(), store.PurgeQuery{Before: time.Now().Add(-time.Hour)}); err != nil || r.Messages != 0 {
		t.Errorf("purged %+v, %v: what was there is as young as the migration", r, err)
	}
	if err := s.PutConversation(t.Context(), store.Record{ID: "c", Head: side}); err != nil {
		t.Fatal(err)
	}
	if found, err := s.Search(t.Context(), store.SearchQuery{Text: "message"}); err != nil || len(found) != 2 {
		t.Errorf("found %v, %v", found, err)
	}
	add(t, s, node, message(3))
}

// TestOpenSumsUpOldEntries: entries of version 4, which kept no sums, add up to what they
// do when they are booked now.
func TestOpenSumsUpOldEntries(t *testing.T) {
	t.Parallel()
	url := database(t)
	s := open(t, url)
	day := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	usage := precis.Usage{Input: 1, Output: 2, CacheRead: 4, CacheWrite: 8}
	kinds := []precis.LedgerEntry{
		{Kind: "request", Before: 90, After: 40, Usage: usage, CostUSD: 16},
		{Kind: "request", Before: 5, After: 9},      // more was sent than said
		{Kind: "call", Usage: usage, CostUSD: 0.25}, // which is no edit
		{Kind: "condensation", Before: 90, After: 9, CostUSD: 0.5},
		{}, // of no kind
	}
	for i, at := range []time.Time{day.Add(-1), day, day.Add(24*time.Hour - 1), day.Add(30 * time.Hour), time.Unix(-1, 0), time.Unix(-86400, 0), time.Unix(-86401, 5), time.Unix(0, 0)} {
		for k, e := range kinds {
			e.Time, e.Conversation = at, []string{"a", "b\x00'\x00\x00", `c\u0000\\\u0000`}[(i+k)%3]
			if err := s.Book(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
	}
	sums := func() (days []store.DaySums, each []store.ConversationSums) {
		t.Helper()
		days, err := s.SumsByDay(t.Context(), "", time.Time{})
		if err == nil {
			each, _, err = s.SumsByConversation(t.Context(), "", time.Time{}, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		return days, each
	}
	days, each := sums()
	if len(days) != 6 || len(each) != 3 {
		t.Fatalf("%d days, %d conversations", len(days), len(each))
	}
	s.Close()
	// The same entries in a table of version 4.
	with(t, url, `SET search_path = precis;
		ALTER TABLE ledger DROP COLUMN day, DROP COLUMN requests, DROP COLUMN input, DROP COLUMN output, DROP COLUMN cache_read, DROP COLUMN cache_write,
			DROP COLUMN price, DROP COLUMN sent, DROP COLUMN saved, DROP COLUMN edits, DROP COLUMN saved_usd;
		DROP TABLE windows; DELETE FROM precis_migrations WHERE version > 4; SELECT count(*) FROM ledger`)
	s = open(t, url)
	gotDays, gotEach := sums()
	if !slices.Equal(gotDays, days) {
		t.Errorf("days\n got %+v\nwant %+v", gotDays, days)
	}
	if !slices.Equal(gotEach, each) {
		t.Errorf("conversations\n got %+v\nwant %+v", gotEach, each)
	}
}

// TestOpenIndexesAnew: messages that were indexed with other words are found by
// those of today.
func TestOpenIndexesAnew(t *testing.T) {
	t.Parallel()
	url := database(t)
	s := open(t, url)
	find := func() int {
		hits, err := s.Search(t.Context(), store.SearchQuery{Text: "실패"})
		if err != nil {
			t.Fatal(err)
		}
		return len(hits)
	}
	node := add(t, s, precis.Fingerprint{}, precis.NewText(precis.RoleUser, "연결에 실패했습니다"))
	if err := s.PutConversation(t.Context(), store.Record{ID: "a", Head: node, Messages: 1}); err != nil {
		t.Fatal(err)
	}
	if find() != 1 {
		t.Fatal("not found")
	}
	s.Close()
	// The index of version 7, which has each word whole.
	with(t, url, `SET search_path = precis; UPDATE search SET words = array_to_tsvector(ARRAY[chr(57344) || (SELECT owner FROM bodies), '연결에', '실패했습니다']);
		DELETE FROM precis_migrations WHERE version > 7; SELECT count(*) FROM search`)
	s = open(t, url)
	if find() != 1 {
		t.Error("not found in a schema that was brought up to date")
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	url := database(t)
	open(t, url).Close()
	with(t, url, `INSERT INTO precis_migrations (version, name) VALUES (99, 'x')`)
	_, err := postgres.Open(t.Context(), url, postgres.Options{})
	wantError(t, err, precis.CodeInvalid, "schema version 99", "schema precis")
	var e *precis.Error
	if !errors.As(err, &e) || e.Hint == "" {
		t.Errorf("no hint: %v", err)
	}
	with(t, url, `CREATE SCHEMA other; CREATE TABLE other.nodes (cookies integer)`)
	_, err = postgres.Open(t.Context(), url, postgres.Options{Schema: "other"})
	wantError(t, err, precis.CodeInvalid, "another program", "schema other")
	if got := with(t, url, `SELECT string_agg(relname, ' ') FROM pg_class WHERE relnamespace = 'other'::regnamespace`); got != "nodes" {
		t.Errorf("another program's schema has %s", got)
	}
	_, err = postgres.Open(t.Context(), cluster.URL("nothing"), postgres.Options{})
	wantError(t, err, precis.CodeInternal, "nothing")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = postgres.Open(canceled, url, postgres.Options{})
	wantError(t, err, precis.CodeCanceled)
}

// TestSchemas: two schemas of one database have nothing in common, also one
// that was made before and one with a reserved word for a name.
func TestSchemas(t *testing.T) {
	t.Parallel()
	url := database(t)
	with(t, url, `CREATE SCHEMA "select"`)
	var stores []*postgres.Store
	for _, schema := range []string{"select", "user", ""} {
		s, err := postgres.Open(t.Context(), url, postgres.Options{Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		stores = append(stores, s)
	}
	node := add(t, stores[0], precis.Fingerprint{}, message(0))
	for _, s := range stores[1:] {
		_, _, err := s.Load(t.Context(), node)
		wantError(t, err, precis.CodeNotFound)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	const url = "postgres://localhost/precis"
	for field, o := range map[string]postgres.Options{
		"Options.MaxConns": {MaxConns: -1}, "Options.ConnectTimeout": {ConnectTimeout: -1},
		`Options.Schema is "A"`: {Schema: "A"}, "Options.Schema is \"a\\\"; DROP": {Schema: `a"; DROP`},
		`Options.Schema is "pg_x"`: {Schema: "pg_x"}, "Options.Schema is \"xx": {Schema: strings.Repeat("x", 64)},
	} {
		_, err := postgres.Open(t.Context(), url, o)
		wantError(t, err, precis.CodeInvalid, field)
	}
}

// TestPasswordIsNotTold: whatever is wrong with the URL, or with the server.
func TestPasswordIsNotTold(t *testing.T) {
	t.Parallel()
	const secret = "s3cretWord"
	dir := neturl.QueryEscape(t.TempDir()) // nobody listens there
	refused := []string{
		"postgres://u:SECRET@:x/db", "postgres://u:a@SECRET@/db?host=" + dir, "postgres://u:12/SECRET@/db?host=" + dir,
		"postgres://u:12?SECRET@/db", "postgres://u:#SECRET@h/db", "postgres://u:%zzSECRET@h/db", "postgres://u:SECRET", "u:SECRET@h/db",
		"host=h password=SECRET user=u", "postgres://u@h/db?password=SECRET&sslmode=wrong", "postgres://u@h/db?x=@SECRET", "mysql://u:SECRET@h/db",
	}
	for _, form := range refused {
		wantNoSecret(t, strings.Replace(form, "SECRET", secret, 1), secret, precis.CodeInvalid)
	}
	wantNoSecret(t, "", secret, precis.CodeInvalid)
	for _, form := range []string{"postgres://u:SECRET@/db?host=" + dir, "postgres://u@/db?password=SECRET&host=" + dir} {
		wantNoSecret(t, strings.Replace(form, "SECRET", secret, 1), secret, precis.CodeInternal)
	}
	database(t) // or skip
	url := strings.Replace(cluster.URL("nothing"), "postgres@", "postgres:"+secret+"@", 1)
	wantNoSecret(t, url, secret, precis.CodeInternal)
}

func wantNoSecret(t *testing.T, url, secret string, code precis.Code) {
	t.Helper()
	_, err := postgres.Open(t.Context(), url, postgres.Options{ConnectTimeout: time.Second})
	wantError(t, err, code)
	var settings *pgconn.ConnectError // holds them in a field
	if errors.As(err, &settings) {
		t.Errorf("the error %v holds the settings", err)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if text := fmt.Sprintf("%v %+v %#v", e, e, e); strings.Contains(text, secret) {
			t.Errorf("%s: the error tells the password: %s", url, text)
		}
	}
}

// TestConnectTimeout: a server that takes the connection and says nothing.
func TestConnectTimeout(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "precis") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	silent, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	url := "postgres://u@/db?host=" + neturl.QueryEscape(dir)
	_, err = postgres.Open(t.Context(), url, postgres.Options{ConnectTimeout: 50 * time.Millisecond})
	wantError(t, err, precis.CodeInternal)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = postgres.Open(ctx, url, postgres.Options{ConnectTimeout: time.Second})
	wantError(t, err, precis.CodeCanceled)
}
