package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store/sqlite"
)

// childEnv holds the file that a copy of the test binary is to write to until
// it is killed.
const childEnv = "PRECIS_CRASH_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		fmt.Fprintln(os.Stderr, writeForever(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeForever appends and edits, and says what was acknowledged, one line each.
func writeForever(path string) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
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
		e := precis.Edit{ID: fmt.Sprintf("edit-%d-%d", os.Getpid(), i), Kind: precis.KindCondensation, At: at, Seen: 2*i + 3, Replace: []precis.Replacement{
			{From: 0, To: 1, With: []precis.Message{precis.NewText(precis.RoleUser, strings.Repeat("summary ", 500))}},
		}}
		if err := s.AddEdit(ctx, after, e); err != nil {
			return err
		}
		after = e.ID
		fmt.Println("edit", e.ID)
	}
}

// TestKilled kills a process that writes, several times over one file. All that
// it was told is stored must be there afterwards.
func TestKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "p.db")
	for round, lines := range []int{1, 2, 7, 40, 151, 300} {
		node, edits := killAfter(t, self, path, lines)
		if got := with(t, path, "PRAGMA integrity_check"); got != "ok" {
			t.Fatalf("round %d: %s", round, got)
		}
		if got := with(t, path, `SELECT "table" FROM pragma_foreign_key_check`); got != "" {
			t.Fatalf("round %d: a row of %s points nowhere", round, got)
		}
		checkStored(t, path, node, edits)
	}
}

// killAfter lets a child write until it has acknowledged so many things, kills
// it, and returns the last node and all edits it had acknowledged.
func killAfter(t *testing.T, self, path string, lines int) (node precis.Fingerprint, edits []string) {
	t.Helper()
	child := exec.CommandContext(t.Context(), self)
	child.Env = append(os.Environ(), childEnv+"="+path)
	var stderr strings.Builder
	child.Stderr = &stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	n := 0
	for in.Scan() { // to the end: it goes on while the signal is under way
		kind, what, ok := strings.Cut(in.Text(), " ")
		switch {
		case !ok:
		case kind == "edit":
			edits = append(edits, what)
		case kind == "node" && len(what) == 2*len(node):
			if err := node.UnmarshalText([]byte(what)); err != nil {
				t.Fatal(err)
			}
		}
		if n++; n == lines {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	err = child.Wait()
	if n < lines {
		t.Fatalf("the child ended by itself after %d lines: %v\n%s", n, err, stderr.String())
	}
	return node, edits
}

func checkStored(t *testing.T, path string, node precis.Fingerprint, edits []string) {
	t.Helper()
	s := open(t, path)
	defer s.Close()
	tr, stored, err := s.Load(t.Context(), node)
	if err != nil {
		t.Fatalf("the last node that was acknowledged: %v", err)
	}
	if tr.Fingerprint(tr.Len()) != node || tr.Len()%2 != 1 {
		t.Errorf("%d messages at %s", tr.Len(), node.Short())
	}
	there := map[string]bool{}
	for _, e := range stored {
		there[e.ID] = true
		if len(e.Replace) != 1 || len(e.Replace[0].With) != 1 {
			t.Errorf("%s is stored in part", e.ID)
		}
	}
	for _, id := range edits {
		if !there[id] {
			t.Errorf("%s was acknowledged and is gone", id)
		}
	}
	// The next writer goes on where this one was stopped.
	if _, err := s.Append(t.Context(), node, precis.NewText(precis.RoleUser, "go on")); err != nil {
		t.Error(err)
	}
	t.Logf("%d messages, %d edits acknowledged, %d stored", tr.Len(), len(edits), len(stored))
}
