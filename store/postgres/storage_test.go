//go:build unix

package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
)

// TestStorageIsShared: what is known is not stored again, and a conversation
// without a fork is one branch.
func TestStorageIsShared(t *testing.T) {
	t.Parallel()
	url := database(t)
	s := open(t, url)
	count := func() string {
		return with(t, url, `SELECT concat((SELECT count(*) FROM branches), ' ', (SELECT count(*) FROM nodes), ' ', (SELECT count(*) FROM bodies))`)
	}
	var all []precis.Message
	var at, half precis.Fingerprint
	for i := range 20 {
		all = append(all, message(i))
		at = add(t, s, at, message(i))
		if i == 9 {
			half = at
		}
	}
	add(t, s, precis.Fingerprint{}, all...)
	if got := count(); got != "1 20 20" {
		t.Errorf("branches, nodes, bodies: %s, want 1 20 20", got)
	}
	all[2] = message(99) // now it is another conversation from there on, all of it known elsewhere
	for range 2 {
		add(t, s, precis.Fingerprint{}, all...)
	}
	if got := count(); got != "2 38 21" {
		t.Errorf("branches, nodes, bodies: %s, want 2 38 21", got)
	}
	add(t, s, half, message(5), message(6)) // said before, elsewhere
	if got := count(); got != "3 40 21" {
		t.Errorf("branches, nodes, bodies: %s, want 3 40 21", got)
	}
}

// TestOddIdentifiers: identifiers may hold zero bytes and what is not UTF-8.
func TestOddIdentifiers(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	node := add(t, s, precis.Fingerprint{}, message(0))
	record(t, s, node, "", "a\x00b")
	record(t, s, node, "a\x00b", "c\xff")
	wantError(t, s.AddEdit(t.Context(), "c\xff", pin(node, "a\x00b")), precis.CodeConflict)
	odd := precis.LedgerEntry{Conversation: "z\x00\xff", Time: time.Unix(1, 2)}
	if err := s.Book(t.Context(), odd); err != nil {
		t.Error(err)
	}
	if all, err := s.Entries(t.Context(), odd.Conversation, time.Time{}); err != nil || len(all) != 1 {
		t.Errorf("%d entries, %v", len(all), err)
	}
	if err := s.SaveCalibration(t.Context(), "m\x00\xff", nil); err != nil {
		t.Error(err)
	}
	if all, err := s.LoadCalibrations(t.Context()); err != nil || all["m\x00\xff"] == nil {
		t.Errorf("%q, %v", all, err)
	}
	long := make([]byte, 1<<16) // what does not compress
	for i := range long {
		long[i] = byte(i*i>>3 ^ i>>8*7 ^ i*31>>2)
	}
	if err := s.AddEdit(t.Context(), "c\xff", pin(node, string(long))); err != nil {
		wantError(t, err, precis.CodeInvalid)
	}
}

// TestLargeMessages: more than one statement carries.
func TestLargeMessages(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	var msgs []precis.Message
	for i := range 3 {
		msgs = append(msgs, precis.NewText(precis.RoleUser, fmt.Sprint(i, strings.Repeat("large ", 700_000))))
	}
	node := add(t, s, precis.Fingerprint{}, msgs...)
	if tr, _, err := s.Load(t.Context(), node); err != nil || tr.Fingerprint(3) != node {
		t.Error(err)
	}
}

// TestStoredMessageIsDamaged: the error tells where, and no content.
func TestStoredMessageIsDamaged(t *testing.T) {
	t.Parallel()
	url := database(t)
	s := open(t, url)
	node := add(t, s, precis.Fingerprint{}, precis.NewText(precis.RoleUser, "secret words"), precis.NewText(precis.RoleUser, "more"))
	for _, change := range []string{
		`DELETE FROM nodes WHERE depth = 1`,
		`UPDATE bodies SET data = '{"role":"user","content":[{"type":"secret words"'`,
		`UPDATE bodies SET data = NULL`,
		`DELETE FROM nodes; DROP TABLE bodies CASCADE`,
	} {
		with(t, url, change)
		_, _, err := s.Load(t.Context(), node)
		wantError(t, err, precis.CodeInternal, "schema precis")
		if strings.Contains(fmt.Sprint(err), "secret words") {
			t.Errorf("the error tells content: %v", err)
		}
	}
}

// TestManyForks: a path of many short ranges reads as one.
func TestManyForks(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	var at precis.Fingerprint
	after := ""
	for i := range 30 { // each other message starts a branch
		side := add(t, s, at, message(-i-1))
		at = add(t, s, at, message(i))
		record(t, s, at, after, fmt.Sprint("edit ", i))
		record(t, s, side, after, "aside")
		after = fmt.Sprint("edit ", i)
	}
	tr, edits, err := s.Load(t.Context(), at)
	if err != nil || tr.Len() != 30 || tr.Fingerprint(30) != at || len(edits) != 30 {
		t.Fatalf("%d messages, %d edits, %v", tr.Len(), len(edits), err)
	}
}
