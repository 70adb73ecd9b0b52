package sqlite_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/sqlite"
)

// mentions counts how often the store's files hold a text, in any case.
func mentions(t *testing.T, path, text string) (n int) {
	t.Helper()
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n += bytes.Count(bytes.ToLower(data), []byte(text))
	}
	return n
}

// TestPurgedIsNotInTheFile looks at the bytes, while the store is open.
func TestPurgedIsNotInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	s := open(t, path)
	var heads []precis.Fingerprint
	for i := range 40 {
		var msgs []precis.Message
		for k := range 10 {
			msgs = append(msgs, precis.NewText(precis.RoleUser, fmt.Sprintf("Qzsecret%dx in conversation %d %s", k, i, strings.Repeat(fmt.Sprint("Vwfiller", i*k, " "), 50*k))))
		}
		node, err := s.Append(t.Context(), precis.Fingerprint{}, msgs...)
		if err != nil {
			t.Fatal(err)
		}
		e := precis.Edit{ID: fmt.Sprint(i), Kind: precis.KindCondensation, At: node, Seen: 10, Replace: []precis.Replacement{{From: 0, To: 5, With: []precis.Message{precis.NewText(precis.RoleUser, "Kjsummary")}}}}
		if err := s.AddEdit(t.Context(), "", e); err != nil {
			t.Fatal(err)
		}
		if err := s.PutConversation(t.Context(), store.Record{ID: fmt.Sprint("conversation ", i), Title: "Xytitle", Head: node}); err != nil {
			t.Fatal(err)
		}
		if err := s.KeepSummary(t.Context(), node, "Jqkept"); err != nil {
			t.Fatal(err)
		}
		heads = append(heads, node)
	}
	if found, err := s.Search(t.Context(), store.SearchQuery{Text: "qzsecret3x"}); err != nil || len(found) != 20 {
		t.Fatalf("%d hits, %v", len(found), err)
	}
	secrets := []string{"qzsecret", "vwfiller", "kjsummary", "xytitle"}
	for _, text := range append(secrets, "jqkept") {
		if mentions(t, path, text) == 0 {
			t.Fatalf("%s is not in the file at all", text)
		}
	}
	for i := range 39 {
		if _, err := s.Purge(t.Context(), store.PurgeQuery{IDs: []string{fmt.Sprint("conversation ", i)}}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Load(t.Context(), heads[i]); precis.CodeOf(err) != precis.CodeNotFound {
			t.Errorf("Load: %v", err)
		}
	}
	if found, err := s.Search(t.Context(), store.SearchQuery{Text: "qzsecret3x"}); err != nil || len(found) != 1 || found[0].Conversation != "conversation 39" {
		t.Errorf("found %v, %v", found, err)
	}
	if n := mentions(t, path, "in conversation 7 "); n != 0 {
		t.Errorf("a purged message is in the file %d times", n)
	}
	if _, err := s.Purge(t.Context(), store.PurgeQuery{IDs: []string{"conversation 39"}}); err != nil {
		t.Fatal(err)
	}
	for _, text := range secrets {
		if n := mentions(t, path, text); n != 0 {
			t.Errorf("%s is in the files %d times", text, n)
		}
	}
	if _, err := s.Purge(t.Context(), store.PurgeQuery{Before: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if n := mentions(t, path, "jqkept"); n != 0 {
		t.Errorf("summaries are in the files %d times", n)
	}
	for check, want := range map[string]string{"PRAGMA integrity_check": "ok", `SELECT count(*) FROM pragma_foreign_key_check`: "0"} {
		if got := with(t, path, check); got != want {
			t.Errorf("%s: %s", check, got)
		}
	}
	with(t, path, `INSERT INTO search (search) VALUES ('integrity-check')`)
}

// TestPurgeWaitsForReaders: as long as another process reads an older state the
// log cannot be emptied. That is said, and purging again does it.
func TestPurgeWaitsForReaders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{BusyTimeout: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	node, err := s.Append(t.Context(), precis.Fingerprint{}, precis.NewText(precis.RoleUser, "qzsecret"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.PutConversation(t.Context(), store.Record{ID: "a", Head: node}); err != nil {
		t.Fatal(err)
	}
	db := raw(t, path)
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRow(`SELECT count(*) FROM nodes`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	r, err := s.Purge(t.Context(), store.PurgeQuery{IDs: []string{"a"}})
	wantError(t, err, precis.CodeInternal, path)
	if r.Conversations != 1 || r.Messages != 1 {
		t.Errorf("purged %+v", r)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Purge(t.Context(), store.PurgeQuery{IDs: []string{"a"}}); err != nil {
		t.Error(err)
	}
	if n := mentions(t, path, "qzsecret"); n != 0 {
		t.Errorf("it is in the files %d times", n)
	}
}

// TestIndexOfAnotherVersion: an index whose words are not today's is made anew,
// by a search as by a purge.
func TestIndexOfAnotherVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	s := open(t, path)
	node, err := s.Append(t.Context(), precis.Fingerprint{}, precis.NewText(precis.RoleUser, "first words"), precis.NewText(precis.RoleUser, "latter qzwords words"))
	if err != nil {
		t.Fatal(err)
	}
	put := func(id string) {
		t.Helper()
		if err := s.PutConversation(t.Context(), store.Record{ID: id, Head: node}); err != nil {
			t.Fatal(err)
		}
	}
	want := func(n int) {
		t.Helper()
		if found, err := s.Search(t.Context(), store.SearchQuery{Text: "words"}); err != nil || len(found) != n {
			t.Errorf("%v, %v, want %d", found, err, n)
		}
	}
	put("a")
	want(2)
	with(t, path, `UPDATE searched SET version = 'older'`)
	want(2)
	with(t, path, `UPDATE searched SET version = 'older'`)
	if _, err := s.Purge(t.Context(), store.PurgeQuery{All: true}); err != nil {
		t.Fatal(err)
	}
	put("b")
	want(0)
	if n := mentions(t, path, "qzwords"); n != 0 {
		t.Errorf("it is in the files %d times", n)
	}
}

// TestIndexedWhileQuiet: the index is brought up to date without a search, also
// by a store that appends nothing.
func TestIndexedWhileQuiet(t *testing.T) {
	if testing.Short() {
		t.Skip("waits")
	}
	path := filepath.Join(t.TempDir(), "p.db")
	s := open(t, path)
	var at precis.Fingerprint
	for i := range 200 {
		var err error
		if at, err = s.Append(t.Context(), at, precis.NewText(precis.RoleUser, fmt.Sprint("message ", i))); err != nil {
			t.Fatal(err)
		}
	}
	for start := time.Now(); with(t, path, `SELECT upto FROM searched`) != "200"; time.Sleep(50 * time.Millisecond) {
		if time.Since(start) > 20*time.Second {
			t.Fatal("nothing is indexed")
		}
	}
}

// TestDamagedMessageIsNotFound: it does not stop others from being found.
func TestDamagedMessageIsNotFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	s := open(t, path)
	node, err := s.Append(t.Context(), precis.Fingerprint{}, precis.NewText(precis.RoleUser, "first words"), precis.NewText(precis.RoleUser, "latter qzwords words"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.PutConversation(t.Context(), store.Record{ID: "a", Head: node}); err != nil {
		t.Fatal(err)
	}
	with(t, path, `UPDATE bodies SET data = CAST('{"role":' AS BLOB) WHERE id = 1`)
	if found, err := s.Search(t.Context(), store.SearchQuery{Text: "words"}); err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
	if r, err := s.Purge(t.Context(), store.PurgeQuery{All: true}); err != nil || r.Messages != 2 {
		t.Errorf("%v, %v", r, err)
	}
}

// TestLeasesOfTwoHandles: another process that has the file respects a lease.
func TestLeasesOfTwoHandles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	a, b := open(t, path), open(t, path)
	release, ok, err := a.Lease(t.Context(), "n", "a", time.Minute)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, ok, err := b.Lease(t.Context(), "n", "b", time.Minute); ok || err != nil {
		t.Error(ok, err)
	}
	release()
	if _, ok, err := b.Lease(t.Context(), "n", "b", time.Minute); !ok || err != nil {
		t.Error(ok, err)
	}
	if _, _, err := a.Lease(t.Context(), "of a dead one", "dead", time.Millisecond); err != nil {
		t.Fatal(err)
	}
	again, _, err := b.Lease(t.Context(), "n", "b", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); time.Since(start) < 5*time.Millisecond; time.Sleep(time.Millisecond) {
	}
	again()
	if got := with(t, path, `SELECT count(*) FROM leases`); got != "0" {
		t.Errorf("%s leases are left", got)
	}
}
