package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"precis"
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

// TestFailedCallStoresNothing: what a call wrote before it failed is gone.
func TestFailedCallStoresNothing(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "p.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a, err := encode(message(1))
	if err != nil {
		t.Fatal(err)
	}
	a.node = precis.NewTranscript(message(1)).Fingerprint(1)
	failed := errors.New("failed")
	err = s.update(t.Context(), "test", func(tx call) error {
		if err := insert(t.Context(), tx, precis.Fingerprint{}, []addition{a}); err != nil {
			t.Error(err)
		}
		return failed
	})
	if !errors.Is(err, failed) {
		t.Error(err)
	}
	if _, _, err := s.Load(t.Context(), a.node); precis.CodeOf(err) != precis.CodeNotFound {
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
	var adds []addition
	for i, m := range all.Messages() {
		a, err := encode(m)
		if err != nil {
			t.Fatal(err)
		}
		a.node = all.Fingerprint(i + 1)
		adds = append(adds, a)
	}
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
