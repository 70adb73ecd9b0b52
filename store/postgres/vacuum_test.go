//go:build unix

package postgres_test

import (
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/sample"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/postgres"
)

// vacuums returns how many tables were vacuumed by a statement so far.
func vacuums(t *testing.T, url string) string {
	t.Helper()
	return with(t, url, `SELECT sum(vacuum_count) FROM pg_stat_user_tables WHERE schemaname = 'precis'`)
}

// TestPurgeVacuumsWhatItRemoved: whatever went, and nothing else, makes a vacuum.
func TestPurgeVacuumsWhatItRemoved(t *testing.T) {
	t.Parallel()
	runs, i := sample.OneIn(t, 3, 1), 0
	late := store.PurgeQuery{Before: time.Now().Add(time.Hour)}
	for name, c := range map[string]struct {
		fill   func(*postgres.Store) error
		query  store.PurgeQuery
		vacuum bool
	}{
		"nothing is there":          {func(*postgres.Store) error { return nil }, late, false},
		"everything of nothing":     {func(*postgres.Store) error { return nil }, store.PurgeQuery{All: true}, false},
		"an ID that does not exist": {func(*postgres.Store) error { return nil }, store.PurgeQuery{IDs: []string{"x"}}, false},
		"a summary that is too new": {func(s *postgres.Store) error {
			return s.KeepSummary(t.Context(), precis.Fingerprint{1}, "text")
		}, store.PurgeQuery{Before: time.Now().Add(-time.Hour)}, false},
		"a summary": {func(s *postgres.Store) error {
			return s.KeepSummary(t.Context(), precis.Fingerprint{1}, "text")
		}, late, true},
		"a node of no conversation": {func(s *postgres.Store) error {
			_, err := s.Append(t.Context(), precis.Fingerprint{}, message(1))
			return err
		}, late, true},
		"a record without messages": {func(s *postgres.Store) error {
			return s.PutConversation(t.Context(), store.Record{ID: "c", Updated: time.Unix(1, 0)})
		}, store.PurgeQuery{IDs: []string{"c"}}, true},
	} {
		if i++; !runs(i) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			url := database(t)
			s := open(t, url)
			if err := c.fill(s); err != nil {
				t.Fatal(err)
			}
			want := "0"
			if c.vacuum {
				want = "8"
			}
			for range 2 { // nothing is left for the second one
				if _, err := s.Purge(t.Context(), c.query); err != nil {
					t.Fatal(err)
				}
				if got := vacuums(t, url); got != want {
					t.Fatalf("%s tables were vacuumed, want %s", got, want)
				}
			}
		})
	}
}

// TestWipeVacuumsOnce: however many scopes have lost something.
func TestWipeVacuumsOnce(t *testing.T) {
	t.Parallel()
	url := database(t)
	s := open(t, url)
	var scopes []*postgres.Store
	for _, owner := range []string{"", "a", "b"} {
		scope := s.Scope(owner).(*postgres.Store)
		add(t, scope, precis.Fingerprint{}, message(1))
		scopes = append(scopes, scope)
	}
	for _, scope := range scopes {
		if r, err := scope.Remove(t.Context(), store.PurgeQuery{All: true}); err != nil || r.Messages != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if got := vacuums(t, url); got != "0" {
		t.Errorf("%s tables were vacuumed before Wipe", got)
	}
	for range 2 {
		if err := scopes[1].Wipe(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := vacuums(t, url); got != "8" {
		t.Errorf("%s tables were vacuumed, want 8", got)
	}
}

// TestFailedWipeIsMadeGood: the next one vacuums.
func TestFailedWipeIsMadeGood(t *testing.T) {
	t.Parallel()
	url := database(t)
	s := open(t, url)
	add(t, s, precis.Fingerprint{}, message(1))
	if _, err := s.Remove(t.Context(), store.PurgeQuery{All: true}); err != nil {
		t.Fatal(err)
	}
	with(t, url, `ALTER TABLE edits RENAME TO away`)
	wantError(t, s.Wipe(t.Context()), precis.CodeInternal)
	with(t, url, `ALTER TABLE away RENAME TO edits`)
	if err := s.Wipe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := vacuums(t, url); got != "8" {
		t.Errorf("%s tables were vacuumed, want 8", got)
	}
}
