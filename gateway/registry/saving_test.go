package registry_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/lineage"
	"github.com/precis-dev/precis/gateway/registry"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
	"github.com/precis-dev/precis/wire/anthropic"
)

// busy is a store whose writes take a second and are counted. Its scopes are one.
type busy struct {
	*memory.Store
	takes    time.Duration
	down     *atomic.Bool
	appended *atomic.Int64 // messages
	most     *atomic.Int64 // of them in one call
	lists    *atomic.Int64 // of ledger lines
}

func newBusy(takes time.Duration) busy {
	return busy{memory.New(), takes, &atomic.Bool{}, &atomic.Int64{}, &atomic.Int64{}, &atomic.Int64{}}
}

func (b busy) write(ctx context.Context) error {
	if b.down.Load() {
		return precis.Errorf(precis.CodeInternal, "write", "the disk is full")
	}
	select {
	case <-time.After(b.takes):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b busy) Scope(string) precis.Store { return b }

func (b busy) Append(ctx context.Context, parent precis.Fingerprint, msgs ...precis.Message) (precis.Fingerprint, error) {
	b.appended.Add(int64(len(msgs)))
	b.most.Store(max(b.most.Load(), int64(len(msgs))))
	if err := b.write(ctx); err != nil {
		return precis.Fingerprint{}, err
	}
	return b.Store.Append(ctx, parent, msgs...)
}

func (b busy) AddEdit(ctx context.Context, after string, e precis.Edit) error {
	if err := b.write(ctx); err != nil {
		return err
	}
	return b.Store.AddEdit(ctx, after, e)
}

func (b busy) BookAll(ctx context.Context, entries []store.OwnedEntry) error {
	b.lists.Add(1)
	if err := b.write(ctx); err != nil {
		return err
	}
	entries = slices.Clone(entries)
	for i := range entries {
		entries[i].Owner = "" // all scopes are one
	}
	return b.Store.BookAll(ctx, entries)
}

func (b busy) Book(ctx context.Context, e precis.LedgerEntry) error {
	return b.BookAll(ctx, []store.OwnedEntry{{LedgerEntry: e}})
}

// placeOf places a request of n messages of the conversation with a number.
func placeOf(t *testing.T, r *registry.Registry, owner string, number, n int) *registry.Conversation {
	t.Helper()
	body := strings.ReplaceAll(clientMessages(n), `"content":"`, fmt.Sprintf(`"content":"%s conversation %d, `, owner, number))
	f, err := r.Place(t.Context(), lineage.Request{Owner: owner, Dialect: anthropic.Dialect{}, Body: []byte(body)})
	if err != nil {
		t.Fatal(err)
	}
	c := f.Line.State
	c.SetInfo(func(rec *store.Record) { rec.Head, rec.Messages, rec.Updated = f.Node, f.Len, time.Now() })
	return c
}

// Many conversations are edited at once over a store that is too slow for the
// patience of their turns. No edit is lost, and what a later round writes is what is
// new.
func TestASlowStoreGetsEveryEditAndNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const conversations, first, more = 64, 401, 2
		st, m := newBusy(4*time.Second), manager(t)
		r := registry.New(registry.Options{Store: st})
		round := func(n int) {
			var wg sync.WaitGroup
			for i := range conversations {
				wg.Go(func() {
					c := placeOf(t, r, "o", i, n)
					began := time.Now()
					lock(t, c, n)
					c.Unlock()
					if err := pin(t, c, m, n-1); err != nil {
						t.Error(err)
					}
					if waited := time.Since(began); waited > 4*time.Second {
						t.Errorf("a turn waited for %v", waited)
					}
					c.Save()
				})
			}
			wg.Wait()
		}
		drained := func() {
			for r.Stats().Waiting > 0 {
				time.Sleep(time.Second)
			}
		}
		round(first)
		if r.Stats().Unrecorded == 0 {
			t.Fatal("the store is not slow")
		}
		drained()
		if n := st.appended.Load(); n != conversations*first || st.most.Load() == first {
			t.Errorf("%d messages were written for %d, at most %d at once", n, conversations*first, st.most.Load())
		}
		round(first + more)
		drained()
		if n := st.appended.Load(); n != conversations*(first+more) {
			t.Errorf("%d messages were written for %d", n, conversations*(first+more))
		}
		for i := range conversations {
			if n := stored(t, st, placeOf(t, r, "o", i, first+more)); n != 2 {
				t.Errorf("conversation %d: %d edits are stored", i, n)
			}
		}
		if s := r.Stats(); s.Unrecorded != 0 || s.WaitingBytes != 0 {
			t.Errorf("%+v", s)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// What is read waits for its own conversation or owner, and not for what others have
// waiting.
func TestSettlingIsForOneOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newBusy(100 * time.Millisecond)
		r := registry.New(registry.Options{Store: st, Patience: 500 * time.Millisecond})
		for i := range 200 {
			placeOf(t, r, "busy", i, 3).Save()
		}
		own := placeOf(t, r, "quiet", 0, 3)
		own.Save()
		if err := r.Settle(t.Context(), "quiet", ""); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Conversation(t.Context(), own.ID()); err != nil {
			t.Error(err)
		}
		if n := st.appended.Load(); n > 400 {
			t.Errorf("%d messages of 600 others were written meanwhile", n)
		}
		began := time.Now()
		if err := r.Settle(t.Context(), "busy", ""); err != nil || time.Since(began) > time.Second {
			t.Errorf("%v after %v", err, time.Since(began)) // the rest comes later
		}
		if err := r.Close(t.Context()); err != nil || r.Stats().Waiting > 0 {
			t.Error(err, r.Stats().Waiting)
		}
	})
}

// A turn that another replica may continue is in the store before its answer begins, as long as
// the store takes no longer than a turn waits for it; while it hangs, no turn waits for long.
func TestAConversationIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newBusy(time.Second)
		r := registry.New(registry.Options{Store: st, Shared: true, Patience: 30 * time.Second})
		c := placeOf(t, r, "o", 0, 3)
		c.Save()
		r.Share(t.Context(), c)
		if _, err := st.Conversation(t.Context(), c.ID()); err != nil {
			t.Error(err)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}

		st = newBusy(time.Hour)
		r = registry.New(registry.Options{Store: st, Shared: true, Patience: 3 * time.Second})
		for i, most := range []time.Duration{3 * time.Second, time.Second} {
			c := placeOf(t, r, "o", i, 3)
			c.Save()
			began := time.Now()
			if r.Share(t.Context(), c); time.Since(began) > most {
				t.Errorf("%v, at most %v", time.Since(began), most)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = r.Close(ctx)
	})
}

func TestLedgerLinesAreWrittenInLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newBusy(time.Second)
		r := registry.New(registry.Options{Store: st})
		l := r.Ledger("o")
		const lines = 5000
		for i := range lines {
			if err := l.Book(t.Context(), precis.LedgerEntry{Time: time.Unix(int64(i), 0), Kind: "request", Conversation: "c"}); err != nil {
				t.Fatal(err)
			}
		}
		for r.Stats().WaitingLines > 0 {
			time.Sleep(time.Second)
		}
		if n := st.lists.Load(); n > 6 {
			t.Errorf("%d lists for %d lines", n, lines)
		}
		if entries, err := l.Entries(t.Context(), "c", time.Time{}); err != nil || len(entries) != lines {
			t.Errorf("%d lines, %v", len(entries), err)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A line that has no stored form does not keep others from being stored.
func TestALineThatCannotBeStoredIsLeftOut(t *testing.T) {
	st := memory.New()
	var log bytes.Buffer
	r := registry.New(registry.Options{Store: st, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	l := r.Ledger("o")
	nan := 0.0
	for i, usd := range []float64{1, nan / nan, 2} {
		if err := l.Book(t.Context(), precis.LedgerEntry{Time: time.Unix(int64(i), 0), Kind: "call", CostUSD: usd}); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := l.Entries(t.Context(), "", time.Time{})
	if err != nil || len(entries) != 2 || r.Stats().Lost != 1 {
		t.Errorf("%d lines, %v, %d lost", len(entries), err, r.Stats().Lost)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// An outage is logged when it begins and when it ends, however much fails meanwhile.
func TestAnOutageIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, m := newBusy(0), manager(t)
		var log bytes.Buffer
		r := registry.New(registry.Options{Store: st, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err := r.Check(t.Context()); err != nil || !r.Stats().Outage.Last.IsZero() {
			t.Error(err)
		}
		st.down.Store(true)
		const lines = 100_010 // more than may wait
		for i := range 20 {
			if err := pin(t, placeOf(t, r, "o", i, 3), m, 0); err != nil {
				t.Fatal(err)
			}
		}
		for range lines {
			_ = r.Ledger("o").Book(t.Context(), precis.LedgerEntry{Kind: "request"})
		}
		time.Sleep(time.Minute)
		s := r.Stats()
		if err := r.Check(t.Context()); err == nil || s.Outage.Since.IsZero() || s.Unrecorded != 20 || s.Waiting != 20 || s.Lost != 10 || s.WaitingLines != lines-10 {
			t.Errorf("%v %+v", err, s)
		}
		st.down.Store(false)
		time.Sleep(time.Minute)
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if s := r.Stats(); !s.Outage.Since.IsZero() || s.Outage.Last.IsZero() || s.Unrecorded+s.Waiting+s.WaitingLines != 0 {
			t.Errorf("%+v", s)
		}
		text := log.String()
		for _, want := range []string{"does not keep what is new", "keeps what is new again", "ledger lines are lost"} {
			if strings.Count(text, want) != 1 {
				t.Errorf("%q is logged %d times", want, strings.Count(text, want))
			}
		}
		if n := strings.Count(text, "\n"); n != 3 {
			t.Errorf("%d lines are logged:\n%s", n, text)
		}
	})
}

// gone is a store whose file somebody took away.
type gone struct {
	*memory.Store
	gone *atomic.Bool
}

func (g gone) Check(context.Context) error {
	if g.gone.Load() {
		return precis.Errorf(precis.CodeInternal, "check store", "the file was deleted")
	}
	return nil
}

func TestAStoreThatIsGoneIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := gone{memory.New(), &atomic.Bool{}}
		var log bytes.Buffer
		r := registry.New(registry.Options{Store: st, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		time.Sleep(time.Minute)
		if log.Len() > 0 {
			t.Error(log.String())
		}
		st.gone.Store(true)
		for i := range 60 {
			placeOf(t, r, "o", i, 3).Save() // which works, and helps nobody
			time.Sleep(time.Second)
		}
		if strings.Count(log.String(), "the file was deleted") != 1 || r.Stats().Outage.Since.IsZero() {
			t.Errorf("logged is %s", log.String())
		}
		if err := r.Check(t.Context()); err == nil {
			t.Error("it is not reported")
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// What waits to be stored counts as memory, and is bounded with it: what is stored
// goes first, and what is too much is given up.
func TestWhatWaitsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 1 << 20
		st := newBusy(0)
		r := registry.New(registry.Options{Store: st, Bytes: limit})
		clean := placeOf(t, r, "o", 0, 3)
		clean.Save()
		time.Sleep(time.Second)
		st.down.Store(true)
		waiting := placeOf(t, r, "o", 1, 3)
		waiting.Save()
		const others = 20
		for i := range others {
			placeOf(t, r, "clean", i, 3)
		}
		turns := 0
		for i := 2; r.Stats().Unsaved == 0; i++ {
			if turns++; turns > 10_000 {
				t.Fatal("nothing is given up")
			}
			placeOf(t, r, "o", i, 3).Save()
			s := r.Stats()
			if s.Bytes > limit*5/4 {
				t.Fatalf("%d bytes are used", s.Bytes)
			}
			if s.Dropped <= others && r.Get("o", waiting.ID()) == nil {
				t.Fatal("what is not stored went before what is")
			}
		}
		if r.Get("o", clean.ID()) != nil {
			t.Error("what is stored stays in memory")
		}
		st.down.Store(false)
		time.Sleep(time.Minute)
		if _, err := st.Conversation(t.Context(), waiting.ID()); err != nil {
			t.Errorf("what waited longest: %v", err)
		}
		if s := r.Stats(); s.Waiting != 0 || s.Bytes > limit {
			t.Errorf("%+v", s)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A turn stores an edit while the saver, which was there first, ends its work on the
// conversation.
func TestTheEndOfASavingDoesNotEndATurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const takes = time.Second
		st, m := newBusy(takes), manager(t)
		r := registry.New(registry.Options{Store: st, Shared: true})
		c := placeOf(t, r, "o", 1, 5)
		lock(t, c, 5)
		c.Unlock()
		c.Save()
		time.Sleep(takes / 2) // its messages are being written
		if err := pin(t, c, m, 0); err != nil {
			t.Error(err)
		}
		if n := stored(t, st, c); n != 1 || len(c.Snapshot().Conversation.Edits) != 1 {
			t.Errorf("%d edits are stored, %d in force", n, len(c.Snapshot().Conversation.Edits))
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// between is a store during whose writing a turn comes, once.
type between struct {
	*memory.Store
	comes *func()
	heads func(rec store.Record, known bool)
}

func (b between) Scope(string) precis.Store { return b }

func (b between) Append(ctx context.Context, parent precis.Fingerprint, msgs ...precis.Message) (precis.Fingerprint, error) {
	node, err := b.Store.Append(ctx, parent, msgs...)
	if f := *b.comes; f != nil {
		*b.comes = nil
		f()
	}
	return node, err
}

func (b between) PutConversation(ctx context.Context, rec store.Record) error {
	_, _, err := b.Load(ctx, rec.Head)
	b.heads(rec, err == nil)
	return b.Store.PutConversation(ctx, rec)
}

// A turn that comes while the one before it is stored is not in the record yet: a process that is killed then leaves none that
// names what is not there, and the conversation goes on under its ID.
func TestARecordNamesOnlyWhatIsStored(t *testing.T) {
	var mu sync.Mutex
	var lengths []int
	var comes func()
	st := between{memory.New(), &comes, func(rec store.Record, known bool) {
		mu.Lock()
		defer mu.Unlock()
		lengths = append(lengths, rec.Messages)
		if !known {
			t.Errorf("the record of %d messages is stored before them", rec.Messages)
		}
	}}
	r := registry.New(registry.Options{Store: st})
	comes = func() { placeOf(t, r, "", 1, 5).Save() }
	placeOf(t, r, "", 1, 3).Save()
	for range 1000 {
		mu.Lock()
		n := len(lengths)
		mu.Unlock()
		if n > 1 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(lengths) != 2 || lengths[0] != 3 || lengths[1] != 5 {
		t.Errorf("records of %v messages", lengths)
	}
}

// That edits come into force which are found by their messages is logged.
func TestEditsOfTheSameMessagesAreLogged(t *testing.T) {
	st, m := memory.New(), manager(t)
	for _, known := range []bool{false, true} {
		var log bytes.Buffer
		r := registry.New(registry.Options{Store: st, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		f, err := r.Place(t.Context(), lineage.Request{Owner: "o", Dialect: anthropic.Dialect{}, Body: []byte(clientMessages(4))})
		if err != nil {
			t.Fatal(err)
		}
		lock(t, f.Line.State, 4)
		f.Line.State.Unlock()
		if edits := len(f.Line.State.Snapshot().Conversation.Edits); known != (edits == 1) || known != strings.Contains(log.String(), "edits that the store has for the same messages are in force") {
			t.Errorf("%d edits, log: %s", edits, log.String())
		}
		if !known {
			if err := pin(t, f.Line.State, m, 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Edits that another conversation makes over the messages that both begin with come into force when they are read, and that is logged.
func TestEditsOfABeginningThatIsSharedAreLogged(t *testing.T) {
	var log bytes.Buffer
	st, m := memory.New(), manager(t)
	r := registry.New(registry.Options{Store: st, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	one := place(t, r, 2)
	lock(t, one, 2)
	one.Unlock()
	if err := pin(t, one, m, 0); err != nil {
		t.Fatal(err)
	}
	if err := r.Settle(t.Context(), "o", one.ID()); err != nil {
		t.Fatal(err)
	}
	body := strings.Replace(clientMessages(2), `],"tools"`, `,{"role":"user","content":"another way"}],"tools"`, 1)
	place := func(body string) *registry.Conversation {
		f, err := r.Place(t.Context(), lineage.Request{Owner: "o", Dialect: anthropic.Dialect{}, Body: []byte(body), Scope: "another"})
		if err != nil {
			t.Fatal(err)
		}
		return f.Line.State
	}
	other := place(body)
	if err := other.Edit(t.Context(), func(*precis.Conversation) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if n := len(other.Snapshot().Conversation.Edits); n != 1 || other.ID() == one.ID() || strings.Count(log.String(), "edits that the store has for the same messages are in force") != 1 {
		t.Errorf("%d edits in %s beside %s; log: %s", n, other.ID(), one.ID(), log.String())
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
