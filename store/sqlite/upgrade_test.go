package sqlite_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// TestOpenBringsUpToDate: a file of version 2, as it was written by the precis of
// that time, loses nothing.
func TestOpenBringsUpToDate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	text, err := os.ReadFile(filepath.Join("testdata", "version2.sql"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(text)); err != nil {
		t.Fatal(err)
	}
	for i, data := range []string{`{"conversation":"d","kind":"condensation","cost_usd":0.5}`, `{"conversation":"d","kind":"request","tokens_before":70,"tokens_after":30,"usage":{"input":5,"output":6,"cache_read":7,"cache_write":8},"cost_usd":9}`, `{"conversation":"d","kind":"call","cost_usd":0.25}`} {
		if _, err := db.Exec(`INSERT INTO ledger VALUES (?, 'd', 5, 0, CAST(? AS BLOB))`, 10+i, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	tr := precis.NewTranscript()
	for i := range 5 {
		tr.Append(precis.NewText(precis.RoleUser, fmt.Sprint("message ", i)))
	}
	got, edits, err := s.Load(t.Context(), tr.Fingerprint(5))
	if err != nil || got.Fingerprint(5) != tr.Fingerprint(5) || len(edits) != 2 || edits[1].ID != "end" {
		t.Errorf("%v, %v", edits, err)
	}
	side := tr.Prefix(2)
	side.Append(precis.NewText(precis.RoleUser, "another way"), tr.At(4))
	if _, edits, err := s.Load(t.Context(), side.Fingerprint(4)); err != nil || len(edits) != 2 || edits[1].ID != "side" {
		t.Errorf("the branch: %v, %v", edits, err)
	}
	if all, err := s.Entries(t.Context(), "c", time.Time{}); err != nil || len(all) != 1 || !all[0].Time.Equal(time.Unix(1, 2)) {
		t.Errorf("ledger %v, %v", all, err)
	}
	if sum, err := s.Spent(t.Context(), time.Unix(5, 0)); err != nil || sum != 0.75 {
		t.Errorf("spent %g, %v", sum, err)
	}
	wantSums := store.Sums{Requests: 1, Usage: precis.Usage{Input: 5, Output: 6, CacheRead: 7, CacheWrite: 8}, CostUSD: 9, Sent: 30, Saved: 40, Edits: 1, Condensing: 0.75}
	if all, err := s.SumsByDay(t.Context(), "d", time.Time{}); err != nil || len(all) != 1 || all[0].Sums != wantSums || !all[0].Day.Equal(time.Unix(0, 0)) {
		t.Errorf("sums %+v, %v", all, err)
	}
	if text, err := s.Summary(t.Context(), precis.Fingerprint{7}); err != nil || text != "a summary" {
		t.Errorf("summary %q, %v", text, err)
	}
	if all, err := s.LoadCalibrations(t.Context()); err != nil || string(all["m"]) != "state" {
		t.Errorf("calibrations %q, %v", all, err)
	}
	if err := s.SaveWindows(t.Context(), map[string][]byte{"k": []byte("state")}); err != nil {
		t.Error(err)
	}
	if all, err := s.LoadWindows(t.Context()); err != nil || string(all["k"]) != "state" {
		t.Errorf("windows %q, %v", all, err)
	}
	if owners, err := s.Scopes(t.Context()); err != nil || len(owners) != 1 || owners[0] != "" {
		t.Errorf("scopes %q, %v", owners, err)
	}
	// What was there before is as young as the migration, and is found.
	if r, err := s.Purge(t.Context(), store.PurgeQuery{Before: time.Now().Add(-time.Hour)}); err != nil || r.Messages != 0 {
		t.Errorf("purged %+v, %v", r, err)
	}
	if err := s.PutConversation(t.Context(), store.Record{ID: "c", Head: side.Fingerprint(4)}); err != nil {
		t.Fatal(err)
	}
	if found, err := s.Search(t.Context(), store.SearchQuery{Text: "another way"}); err != nil || len(found) != 1 || found[0].Message != 2 {
		t.Errorf("found %v, %v", found, err)
	}
	if r, err := s.Purge(t.Context(), store.PurgeQuery{All: true}); err != nil || r.Messages != 6 {
		t.Errorf("purged %+v, %v", r, err)
	}
}
