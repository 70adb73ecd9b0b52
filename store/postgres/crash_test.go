//go:build unix

package postgres_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/pgtest"
	"github.com/precis-dev/precis/internal/sample"
	"github.com/precis-dev/precis/store/postgres"
)

// childEnv holds the URL of the database that a copy of the test binary is to
// write to until it is killed.
const childEnv = "PRECIS_POSTGRES_CRASH_CHILD"

// writeForever appends and edits, and says what was acknowledged, one line each.
func writeForever(url string) error {
	ctx := context.Background()
	s, err := postgres.Open(ctx, url, postgres.Options{})
	if err != nil {
		return err
	}
	at, err := s.Append(ctx, precis.Fingerprint{}, precis.NewText(precis.RoleUser, fmt.Sprint("process ", os.Getpid())))
	if err != nil {
		return err
	}
	after := ""
	for i := 0; ; i++ {
		msgs := []precis.Message{
			precis.NewText(precis.RoleUser, fmt.Sprint("request ", i)),
			precis.NewText(precis.RoleAssistant, strings.Repeat("answer ", 300)),
		}
		if at, err = s.Append(ctx, at, msgs...); err != nil {
			return err
		}
		fmt.Println("node", at)
		id := fmt.Sprintf("edit-%d-%d", os.Getpid(), i)
		if err := s.AddEdit(ctx, after, pin(at, id)); err != nil {
			return err
		}
		after = id
		fmt.Println("edit", id)
	}
}

// TestKilled kills a process that writes, several times over one database. All
// that it was told is stored must be there afterwards.
func TestKilled(t *testing.T) {
	t.Parallel()
	url := database(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	runs := sample.OneIn(t, 2, 1)
	for i, lines := range []int{1, 2, 7, 40, 151} {
		if !runs(i) {
			continue
		}
		child := exec.CommandContext(t.Context(), self)
		child.Env = append(os.Environ(), childEnv+"="+url)
		checkStored(t, url, follow(t, child, lines, func() error { return child.Process.Kill() }))
	}
}

// TestServerCrash lets the server die under a process that writes: what it was
// told is stored is there when the server is back.
func TestServerCrash(t *testing.T) {
	t.Parallel()
	c, url := ownCluster(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, lines := range []int{3, 60} {
		child := exec.CommandContext(t.Context(), self)
		child.Env = append(os.Environ(), childEnv+"="+url)
		told := follow(t, child, lines, c.Down)
		if err := c.Up(); err != nil {
			t.Fatal(err)
		}
		checkStored(t, url, told)
	}
}

// ownCluster returns a server for a test that stops it, and a database there.
func ownCluster(t *testing.T) (*pgtest.Cluster, string) {
	t.Helper()
	if testing.Short() {
		t.Skip("short: a server of its own is started")
	}
	pgtest.SkipOrFail(t, noServer)
	c, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c, c.URL("postgres")
}

// acknowledged is what a child said is stored.
type acknowledged struct {
	node  precis.Fingerprint
	edits []string
}

// follow runs a child, ends it by stop when it has acknowledged so many things,
// and returns all it had acknowledged.
func follow(t *testing.T, child *exec.Cmd, lines int, stop func() error) (told acknowledged) {
	t.Helper()
	var stderr strings.Builder
	child.Stderr = &stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for in := bufio.NewScanner(out); in.Scan(); { // to the end: it goes on meanwhile
		kind, what, ok := strings.Cut(in.Text(), " ")
		switch {
		case !ok:
		case kind == "edit":
			told.edits = append(told.edits, what)
		case kind == "node" && len(what) == 2*len(told.node):
			if err := told.node.UnmarshalText([]byte(what)); err != nil {
				t.Fatal(err)
			}
		}
		if n++; n == lines {
			if err := stop(); err != nil {
				t.Fatal(err)
			}
		}
	}
	err = child.Wait()
	if n < lines {
		t.Fatalf("the child ended by itself after %d lines: %v\n%s", n, err, stderr.String())
	}
	return told
}

func checkStored(t *testing.T, url string, told acknowledged) {
	t.Helper()
	s := open(t, url)
	defer s.Close()
	tr, stored, err := s.Load(t.Context(), told.node)
	if err != nil {
		t.Fatalf("the last node that was acknowledged: %v", err)
	}
	if tr.Fingerprint(tr.Len()) != told.node || tr.Len()%2 != 1 {
		t.Errorf("%d messages at %s", tr.Len(), told.node.Short())
	}
	there := map[string]bool{}
	for _, e := range stored {
		there[e.ID] = true
	}
	for _, id := range told.edits {
		if !there[id] {
			t.Errorf("%s was acknowledged and is gone", id)
		}
	}
	add(t, s, told.node, precis.NewText(precis.RoleUser, "go on")) // where the other was stopped
	if got := with(t, url, `SELECT count(*) FROM branches WHERE id NOT IN (SELECT branch FROM nodes)`); got != "0" {
		t.Errorf("%s branches without a node: a call was stored in part", got)
	}
	if got := with(t, url, `SELECT count(*) FROM bodies WHERE id NOT IN (SELECT body FROM nodes)`); got != "0" {
		t.Errorf("%s bodies without a node: a call was stored in part", got)
	}
}

// TestServerComesBack: a store outlives its server.
func TestServerComesBack(t *testing.T) {
	t.Parallel()
	c, url := ownCluster(t)
	s := open(t, url)
	node := add(t, s, precis.Fingerprint{}, message(0))
	if err := c.Down(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, _, err := s.Load(t.Context(), node)
		wantError(t, err, precis.CodeInternal, "schema precis")
		_, err = s.Append(t.Context(), node, message(1))
		wantError(t, err, precis.CodeInternal)
	}
	if err := c.Up(); err != nil {
		t.Fatal(err)
	}
	if tr, _, err := s.Load(t.Context(), node); err != nil || tr.Len() != 1 {
		t.Errorf("with the server back: %v", err)
	}
	add(t, s, node, message(1))
}

// TestConnectionsAreCut: one call may fail for all the connections that were
// open, the next one works.
func TestConnectionsAreCut(t *testing.T) {
	t.Parallel()
	url := database(t)
	s := open(t, url)
	node := add(t, s, precis.Fingerprint{}, message(0))
	busy := make(chan error, 5)
	for range cap(busy) { // several connections
		go func() {
			_, _, err := s.Load(t.Context(), node)
			busy <- err
		}()
	}
	for range cap(busy) {
		if err := <-busy; err != nil {
			t.Error(err)
		}
	}
	with(t, url, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	if _, _, err := s.Load(t.Context(), node); err != nil {
		wantError(t, err, precis.CodeInternal)
	}
	for range 10 {
		if _, _, err := s.Load(t.Context(), node); err != nil {
			t.Errorf("the call after the one that failed: %v", err)
		}
	}
}

// TestCanceledInTheMiddle: a call that waits in the server ends with its
// context.
func TestCanceledInTheMiddle(t *testing.T) {
	t.Parallel()
	url := database(t)
	s := open(t, url)
	node := add(t, s, precis.Fingerprint{}, message(0))
	unlock := lockBranches(t, url)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	wantError(t, s.AddEdit(ctx, "", pin(node, "a")), precis.CodeCanceled)
	unlock()
	record(t, s, node, "", "b")
}
