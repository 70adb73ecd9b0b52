//go:build unix

package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store/postgres"
)

// TestReplicasSeeEachOther: what one has written the other reads at once.
func TestReplicasSeeEachOther(t *testing.T) {
	t.Parallel()
	url := database(t)
	a, b := open(t, url), open(t, url)
	node := add(t, a, precis.Fingerprint{}, message(0))
	record(t, a, node, "", "a")
	wantError(t, b.AddEdit(t.Context(), "", pin(node, "b")), precis.CodeConflict)
	record(t, b, node, "a", "b")
	next := add(t, b, node, message(1))
	if tr, edits, err := a.Load(t.Context(), next); err != nil || tr.Len() != 2 || len(edits) != 2 {
		t.Errorf("%d messages, %d edits, %v", tr.Len(), len(edits), err)
	}
}

// TestReplicasRace: of callers in two replicas with the same knowledge one wins,
// and the others hear of a conflict. They edit different nodes of one path.
func TestReplicasRace(t *testing.T) {
	t.Parallel()
	url := database(t)
	replicas := []*postgres.Store{open(t, url), open(t, url)}
	root := add(t, replicas[0], precis.Fingerprint{}, message(0))
	add(t, replicas[0], root, message(1), message(2))
	fork := add(t, replicas[1], root, message(3)) // another branch
	after := ""
	for round := range 30 {
		var wg sync.WaitGroup
		var won atomic.Pointer[string]
		for i := range 8 {
			wg.Go(func() {
				node := root // in force at the fork as well
				if i == 0 {
					node = fork
				}
				id := fmt.Sprint("round ", round, " racer ", i)
				err := replicas[i%2].AddEdit(t.Context(), after, pin(node, id))
				switch {
				case err == nil && i > 0 && !won.CompareAndSwap(nil, &id):
					t.Errorf("%s won as well", id)
				case err != nil && precis.CodeOf(err) != precis.CodeConflict:
					t.Errorf("%s: %v", id, err)
				}
			})
		}
		wg.Wait()
		if won.Load() == nil {
			t.Fatal("nobody won")
		}
		after = *won.Load()
		if _, edits, err := replicas[0].Load(t.Context(), root); err != nil || len(edits) != round+1 {
			t.Fatalf("round %d: %d edits, %v", round, len(edits), err)
		}
		checkFork(t, replicas[1], fork, fmt.Sprint("round ", round, " racer 0"))
	}
}

// checkFork: an edit at the fork was seen against the newest edit of the root,
// so it comes before the one that won there, or was refused. Here it is the last
// one only if it came after, which its "after" forbids.
func checkFork(t *testing.T, s *postgres.Store, fork precis.Fingerprint, id string) {
	t.Helper()
	_, edits, err := s.Load(t.Context(), fork)
	if err != nil {
		t.Fatal(err)
	}
	if last := edits[len(edits)-1]; last.ID == id {
		t.Errorf("%s was recorded after an edit it has not seen", id)
	}
}

// TestForksDoNotWait: while one branch is locked by the check of an edit, edits
// of another branch of the conversation, and appends, go on.
func TestForksDoNotWait(t *testing.T) {
	t.Parallel()
	url := database(t)
	s := open(t, url)
	root := add(t, s, precis.Fingerprint{}, message(0))
	trunk := add(t, s, root, message(1))
	left, right := add(t, s, root, message(2)), add(t, s, root, message(3))
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	// As AddEdit at left does.
	for _, text := range []string{
		`BEGIN`, `SET LOCAL search_path = precis`,
		`SELECT 1 FROM branches WHERE parent IS NULL FOR SHARE`,
		`SELECT 1 FROM branches WHERE id = (SELECT min(id) FROM branches WHERE parent IS NOT NULL) FOR NO KEY UPDATE`,
	} {
		if _, err := conn.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	record(t, s, right, "", "r")
	for _, node := range []precis.Fingerprint{root, trunk, left, right} {
		add(t, s, node, message(9))
	}
	if _, err := conn.Exec(t.Context(), `ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	record(t, s, left, "", "l")
}

// lockBranches locks all branches as the check of an edit does, until the
// function it returns is called.
func lockBranches(t *testing.T, url string) (unlock func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `BEGIN; SELECT 1 FROM precis.branches FOR NO KEY UPDATE`); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// TestReplicasAppend: replicas that say the same, and different things after
// the same node, make one tree, and no branch is without a node.
func TestReplicasAppend(t *testing.T) {
	t.Parallel()
	url := database(t)
	replicas := []*postgres.Store{open(t, url), open(t, url)}
	var at precis.Fingerprint
	for round := range 15 {
		next := make([]precis.Fingerprint, 8)
		var wg sync.WaitGroup
		for i := range next {
			wg.Go(func() {
				own := message(1000*round + i/4) // four say the same
				var err error
				if next[i], err = replicas[i%2].Append(t.Context(), at, own, message(round), message(-round)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if next[0] != next[3] || next[0] == next[4] {
			t.Fatalf("nodes %v", next)
		}
		for _, node := range next {
			if tr, _, err := replicas[0].Load(t.Context(), node); err != nil || tr.Len() != 3*(round+1) {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		at = next[0]
	}
	if got := with(t, url, `SELECT count(*) FROM branches WHERE id NOT IN (SELECT branch FROM nodes)`); got != "0" {
		t.Errorf("%s branches are empty", got)
	}
	if got := with(t, url, `SELECT count(*) FROM nodes`); got != fmt.Sprint(15*2*3) {
		t.Errorf("%s nodes, want %d", got, 15*2*3)
	}
}

// TestDeadlockIsRetried: a call that the server ends to break a deadlock is made
// again. AddEdit locks parents first; the other one does it the wrong way round.
func TestDeadlockIsRetried(t *testing.T) {
	t.Parallel()
	url := database(t)
	s := open(t, url)
	root := add(t, s, precis.Fingerprint{}, message(0))
	add(t, s, root, message(1))
	fork := add(t, s, root, message(2))
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	// The other one looks for deadlocks later, so the call is the victim.
	text := `SET deadlock_timeout = '1min'; BEGIN; SELECT 1 FROM precis.branches WHERE parent IS NOT NULL FOR NO KEY UPDATE`
	if _, err := conn.Exec(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.AddEdit(t.Context(), "", pin(fork, "a")) }()
	waitFor(t, func() bool { return with(t, url, `SELECT count(*) FROM pg_locks WHERE NOT granted`) != "0" })
	if _, err := conn.Exec(t.Context(), `SELECT 1 FROM precis.branches WHERE parent IS NULL FOR NO KEY UPDATE`); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := with(t, url, `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`); got == "0" {
		t.Log("the server counts no deadlock yet")
	}
}
