package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/internal/form"
)

func message(i int) precis.Message {
	return precis.NewText(precis.RoleUser, fmt.Sprint("message ", i, strings.Repeat(" and so on", 90)))
}

// TestFullDisk lets the file grow no further. What fails is stored in no part;
// what was there stays readable.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.write.Exec("PRAGMA max_page_count = 40"); err != nil {
		t.Fatal(err)
	}
	var at precis.Fingerprint
	n := 0
	for ; ; n++ {
		next, err := s.Append(t.Context(), at, message(n), message(-n))
		if err != nil {
			var e *precis.Error
			if !errors.As(err, &e) || e.Code != precis.CodeInternal || e.Place != path || !strings.Contains(e.Hint, "full") {
				t.Errorf("error %#v", err)
			}
			break
		}
		if at = next; n > 1000 {
			t.Fatal("the disk does not fill up")
		}
	}
	if n == 0 {
		t.Fatal("nothing fits")
	}
	tr, _, err := s.Load(t.Context(), at)
	if err != nil || tr.Len() != 2*n {
		t.Errorf("%d messages, %v, want %d", tr.Len(), err, 2*n)
	}
	var orphans int
	if err := s.read.QueryRow(`SELECT count(*) FROM bodies WHERE id NOT IN (SELECT body FROM nodes)`).Scan(&orphans); err != nil || orphans != 0 {
		t.Errorf("%d bodies without a node, %v", orphans, err)
	}
	if _, err := s.write.Exec("PRAGMA max_page_count = 100000"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), at, message(n)); err != nil {
		t.Errorf("with space again: %v", err)
	}
}

// TestPragmas: each connection is as the documentation says.
func TestPragmas(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "p.db"), Options{Readers: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for pragma, want := range map[string]int{"foreign_keys": 1, "synchronous": 2, "busy_timeout": 0} {
		var got int
		if err := s.write.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %d, %v, want %d", pragma, got, err, want)
		}
	}
	if _, err := s.read.Exec("DELETE FROM nodes"); err == nil {
		t.Error("a reader may write")
	}
	if got := s.read.Stats().MaxOpenConnections; got != 3 {
		t.Errorf("%d readers", got)
	}
	if got := s.write.Stats().MaxOpenConnections; got != 1 {
		t.Errorf("%d writers", got)
	}
}

// TestStorageIsShared: what is known is not stored again, and a conversation
// without a fork is one branch.
func TestStorageIsShared(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "p.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	count := func(table string) (n int) {
		if err := s.read.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	var all []precis.Message
	var at, half precis.Fingerprint
	for i := range 20 {
		all = append(all, message(i))
		if at, err = s.Append(t.Context(), at, message(i)); err != nil {
			t.Fatal(err)
		}
		if i == 9 {
			half = at
		}
	}
	if _, err := s.Append(t.Context(), precis.Fingerprint{}, all...); err != nil {
		t.Fatal(err)
	}
	if b, n, m := count("branches"), count("nodes"), count("bodies"); b != 1 || n != 20 || m != 20 {
		t.Errorf("%d branches, %d nodes, %d bodies, want 1, 20, 20", b, n, m)
	}
	if _, err := s.Append(t.Context(), half, message(5), message(6)); err != nil { // said before, elsewhere
		t.Fatal(err)
	}
	if b, n, m := count("branches"), count("nodes"), count("bodies"); b != 2 || n != 22 || m != 20 {
		t.Errorf("with a fork: %d branches, %d nodes, %d bodies, want 2, 22, 20", b, n, m)
	}
}

// forms returns the stored forms of a conversation's messages.
func forms(t *testing.T, msgs ...precis.Message) []form.Message {
	t.Helper()
	out, err := form.Messages("test", msgs, form.Chain(precis.Fingerprint{}, msgs), 0)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestFailedCallStoresNothing: what a call wrote before it failed is gone.
func TestFailedCallStoresNothing(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "p.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	adds := forms(t, message(1))
	failed := errors.New("failed")
	err = s.update(t.Context(), "test", func(tx call) error {
		if err := insert(t.Context(), tx, precis.Fingerprint{}, adds); err != nil {
			t.Error(err)
		}
		return failed
	})
	if !errors.Is(err, failed) {
		t.Error(err)
	}
	if _, _, err := s.Load(t.Context(), adds[0].Node); precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("Load: %v", err)
	}
}

// TestOvertaken: between looking and writing another process has stored some of
// the messages.
func TestOvertaken(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "p.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all := precis.NewTranscript(message(0), message(1), message(2), message(3))
	adds := forms(t, all.Messages()...)
	for _, known := range []int{2, 4, 4} {
		err = s.update(t.Context(), "test", func(tx call) error {
			return insert(t.Context(), tx, precis.Fingerprint{}, adds[:known])
		})
		if err != nil {
			t.Fatal(err)
		}
		if tr, _, err := s.Load(t.Context(), all.Fingerprint(known)); err != nil || tr.Fingerprint(known) != all.Fingerprint(known) {
			t.Errorf("%d known: %v", known, err)
		}
	}
}

// TestCloseWaits: when Close returns, no connection is left: the last one takes
// the log away.
func TestCloseWaits(t *testing.T) {
	for range 10 {
		dir := t.TempDir()
		s, err := Open(t.Context(), filepath.Join(dir, "p.db"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		busy := make(chan bool, 4)
		for i := range cap(busy) {
			wg.Go(func() {
				for n := 0; ; n++ {
					if _, err := s.Append(t.Context(), precis.Fingerprint{}, message(n*cap(busy)+i)); err != nil {
						return
					}
					if n == 1 {
						busy <- true
					}
				}
			})
		}
		for range cap(busy) {
			<-busy
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
			t.Errorf("after Close there are %v, %v", files, err)
		}
		wg.Wait()
	}
}

// TestOpenTogether: processes that start and end at the same time make one
// schema, and none fails.
func TestOpenTogether(t *testing.T) {
	for round := range 10 {
		path := filepath.Join(t.TempDir(), fmt.Sprint(round, ".db"))
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				s, err := Open(t.Context(), path, Options{})
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
	}
}

func BenchmarkAppendEdit(b *testing.B) {
	for _, depth := range []int{1, 200, 2000} {
		b.Run(fmt.Sprint("depth=", depth), func(b *testing.B) {
			s, at, t := filled(b, depth)
			after := ""
			b.ResetTimer()
			for i := 0; b.Loop(); i++ {
				m := message(depth + i)
				next, err := s.Append(b.Context(), at, m)
				if err != nil {
					b.Fatal(err)
				}
				t.Append(m)
				e := precis.Edit{Kind: precis.KindPruning, Replace: []precis.Replacement{precis.ReplaceBlock(t, 0, 0, precis.Text{Text: fmt.Sprint(i)})}}
				if err := e.Identify(t); err != nil {
					b.Fatal(err)
				}
				if err := s.AddEdit(b.Context(), after, e); err != nil {
					b.Fatal(err)
				}
				at, after = next, e.ID
			}
			b.ReportMetric(2*float64(b.N)/b.Elapsed().Seconds(), "tx/s")
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, depth := range []int{1, 200, 2000} {
		b.Run(fmt.Sprint("depth=", depth), func(b *testing.B) {
			s, at, _ := filled(b, depth)
			for i := 0; b.Loop(); i++ { // siblings, so that the depth stays
				if _, err := s.Append(b.Context(), at, message(depth+i)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tx/s")
		})
	}
}

// BenchmarkAppendWhole is a gateway's request: all of it again, and one more.
func BenchmarkAppendWhole(b *testing.B) {
	s, _, t := filled(b, 2000)
	for i := 0; b.Loop(); i++ {
		if _, err := s.Append(b.Context(), precis.Fingerprint{}, append(t.Messages(), message(2000+i))...); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAddEdit(b *testing.B) {
	for _, depth := range []int{1, 2000} {
		b.Run(fmt.Sprint("depth=", depth), func(b *testing.B) {
			s, at, _ := filled(b, depth)
			after := ""
			for i := 0; b.Loop(); i++ {
				e := precis.Edit{ID: fmt.Sprint(i), Kind: precis.KindPin, At: at, Seen: depth}
				if err := s.AddEdit(b.Context(), after, e); err != nil {
					b.Fatal(err)
				}
				after = e.ID
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tx/s")
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{20, 200, 2000} {
		b.Run(fmt.Sprint("messages=", n), func(b *testing.B) {
			s, at, _ := filled(b, n)
			for b.Loop() {
				if t, _, err := s.Load(b.Context(), at); err != nil || t.Len() != n {
					b.Fatal(err)
				}
			}
		})
	}
}

func filled(b *testing.B, n int) (*Store, precis.Fingerprint, *precis.Transcript) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "p.db"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	msgs := make([]precis.Message, n)
	for i := range msgs {
		msgs[i] = message(i)
	}
	at, err := s.Append(b.Context(), precis.Fingerprint{}, msgs...)
	if err != nil {
		b.Fatal(err)
	}
	return s, at, precis.NewTranscript(msgs...)
}

// TestWritersShareATransaction: one that fails is undone by itself; one whose
// transaction was lost is written again.
func TestWritersShareATransaction(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "p.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	keep := func(model string, then func(tx call) error) func(call) error {
		return func(tx call) error {
			if _, err := tx.ExecContext(t.Context(), `INSERT INTO calibrations (model, state) VALUES (?, x'')`, model); err != nil {
				return err
			}
			return then(tx)
		}
	}
	fine := func(call) error { return nil }
	refused := errors.New("refused")
	losing := func(lose bool) func(tx call) error {
		return func(tx call) error {
			if lose {
				lose = false
				_, _ = tx.ExecContext(t.Context(), `ROLLBACK`) // as a full disk does it
			}
			return nil
		}
	}
	for _, lose := range []bool{false, true} {
		name := fmt.Sprint(lose)
		changes := []func(call) error{keep(name+" first", fine), keep(name+" refused", func(call) error { return refused }), keep(name+" third", losing(lose)), keep(name+" last", fine)}
		s.writers.turn <- struct{}{} // somebody writes
		errs := make([]error, len(changes))
		var wg sync.WaitGroup
		for i, f := range changes {
			wg.Go(func() { errs[i] = s.update(t.Context(), "test", f) })
		}
		awaitWriters(s, len(changes))
		<-s.writers.turn
		wg.Wait()
		for i, err := range errs {
			if (i == 1) != errors.Is(err, refused) || i != 1 && err != nil {
				t.Errorf("change %d, lost %v: %v", i, lose, err)
			}
		}
		all, err := s.LoadCalibrations(t.Context())
		if _, there := all[name+" refused"]; err != nil || there || len(all) != 3*(1+map[bool]int{true: 1}[lose]) {
			t.Errorf("lost %v: stored are %v, %v", lose, all, err)
		}
	}
}

// awaitWriters waits until n calls wait to write.
func awaitWriters(s *Store, n int) {
	waiting := func() int {
		s.writers.mu.Lock()
		defer s.writers.mu.Unlock()
		return len(s.writers.waiting)
	}
	for waiting() < n {
		runtime.Gosched()
	}
}

// TestAnUpdateIsWithdrawn: a call whose context ends while others write has stored
// nothing.
func TestAnUpdateIsWithdrawn(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "p.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.writers.turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan error)
	go func() { got <- s.SaveCalibration(ctx, "m", nil) }()
	awaitWriters(s, 1)
	cancel()
	if err := <-got; precis.CodeOf(err) != precis.CodeCanceled {
		t.Error(err)
	}
	<-s.writers.turn
	if all, err := s.LoadCalibrations(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("stored are %v, %v", all, err)
	}
}

// TestAFullDiskCanBeSearchedAndPurged: what is stored is found, and what is to be
// forgotten goes.
func TestAFullDiskCanBeSearchedAndPurged(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "p.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := t.Context()
	for i := range 3 {
		node, err := s.Append(ctx, precis.Fingerprint{}, message(i), precis.NewText(precis.RoleAssistant, fmt.Sprint("needle", i)))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.PutConversation(ctx, store.Record{ID: fmt.Sprint("c", i), Head: node, Updated: time.Unix(int64(i), 0)}); err != nil {
			t.Fatal(err)
		}
	}
	if hits, err := s.Search(ctx, store.SearchQuery{Text: "needle1"}); err != nil || len(hits) != 1 {
		t.Fatal(hits, err)
	}
	var at precis.Fingerprint
	for n := range 60 { // are still to be indexed
		var words strings.Builder
		for i := range 500 {
			fmt.Fprintf(&words, "word%dx%d ", n, i)
		}
		if at, err = s.Append(ctx, at, precis.NewText(precis.RoleUser, words.String())); err != nil {
			t.Fatal(err)
		}
	}
	var pages int
	if err := s.write.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if _, err := s.write.Exec(fmt.Sprint("PRAGMA max_page_count = ", pages)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.indexSome(ctx); err == nil {
		t.Fatal("the index has room")
	}
	for n := range 1000 {
		if at, err = s.Append(ctx, at, message(n+1000)); err != nil {
			break
		}
	}
	if err == nil {
		t.Fatal("the disk does not fill up")
	}
	if hits, err := s.Search(ctx, store.SearchQuery{Text: "needle1"}); err != nil || len(hits) != 1 {
		t.Errorf("a search: %v, %v", hits, err)
	}
	if r, err := s.Purge(ctx, store.PurgeQuery{IDs: []string{"c1"}}); err != nil || r.Conversations != 1 {
		t.Errorf("a purge: %v, %v", r, err)
	}
	if hits, err := s.Search(ctx, store.SearchQuery{Text: "needle1"}); err != nil || len(hits) != 0 {
		t.Errorf("a search for what was purged: %v, %v", hits, err)
	}
}

// TestTheFileIsGone is noticed, whoever took it away.
func TestTheFileIsGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be deleted")
	}
	path := filepath.Join(t.TempDir(), "p.db")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "deleted") {
		t.Error(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "replaced") {
		t.Error(err)
	}
}
