package registry_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/lineage"
	"github.com/precis-dev/precis/gateway/registry"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
	"github.com/precis-dev/precis/wire/anthropic"
)

// slow is a store in memory whose calls fail or wait when told to.
type slow struct {
	*memory.Store
	down atomic.Bool
	hang atomic.Pointer[chan struct{}] // calls wait for it to be closed; nil: they do not
	took atomic.Int64                  // how long the last call waited
}

func (s *slow) wait(ctx context.Context) error {
	if s.down.Load() {
		return precis.Errorf(precis.CodeInternal, "write", "the disk is full")
	}
	if hang := s.hang.Load(); hang != nil {
		began := time.Now()
		defer func() { s.took.Store(int64(time.Since(began))) }()
		select {
		case <-*hang:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (s *slow) Append(ctx context.Context, parent precis.Fingerprint, msgs ...precis.Message) (precis.Fingerprint, error) {
	if err := s.wait(ctx); err != nil {
		return precis.Fingerprint{}, err
	}
	return s.Store.Append(ctx, parent, msgs...)
}

func (s *slow) AddEdit(ctx context.Context, after string, e precis.Edit) error {
	if err := s.wait(ctx); err != nil {
		return err
	}
	return s.Store.AddEdit(ctx, after, e)
}

func (s *slow) Deepest(ctx context.Context, nodes []precis.Fingerprint) (int, error) {
	if err := s.wait(ctx); err != nil {
		return -1, err
	}
	return s.Store.Deepest(ctx, nodes)
}

func (s *slow) Scope(string) precis.Store { return s }

func manager(t *testing.T) *policy.Manager {
	t.Helper()
	m, err := preset.New(preset.Options{Estimate: "chars4"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func clientMessages(n int) string {
	var list []string
	for i := range n {
		role := []string{"user", "assistant"}[i%2]
		list = append(list, fmt.Sprintf(`{"role":%q,"content":"message %d"}`, role, i))
	}
	return `{"model":"m","messages":[` + strings.Join(list, ",") + `],"tools":[]}`
}

// place places a request of n messages and has it be a turn.
func place(t *testing.T, r *registry.Registry, n int) *registry.Conversation {
	t.Helper()
	f, err := r.Place(t.Context(), lineage.Request{Owner: "o", Dialect: anthropic.Dialect{}, Body: []byte(clientMessages(n))})
	if err != nil {
		t.Fatal(err)
	}
	c := f.Line.State
	c.SetInfo(func(rec *store.Record) { rec.Head, rec.Messages, rec.Updated = f.Node, f.Len, time.Now() })
	return c
}

func lock(t *testing.T, c *registry.Conversation, n int) {
	t.Helper()
	if err := c.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Grow(n)
}

func pin(t *testing.T, c *registry.Conversation, m *policy.Manager, message int) error {
	t.Helper()
	return c.Edit(t.Context(), func(conv *precis.Conversation) error {
		_, err := m.WithStore(nil).Pin(t.Context(), conv, precis.MessageHandle(message))
		return err
	})
}

func stored(t *testing.T, st precis.Store, c *registry.Conversation) int {
	t.Helper()
	tr := c.Snapshot().Conversation.Transcript
	edits, err := store.StoredEdits(t.Context(), st, tr.Fingerprint(tr.Len()))
	if err != nil && precis.CodeOf(err) != precis.CodeNotFound {
		t.Fatal(err)
	}
	return len(edits)
}

func TestLookingWaitsForNobodyAndNobodyWaitsForIt(t *testing.T) {
	st := &slow{Store: memory.New()}
	r := registry.New(registry.Options{Store: st, Shared: true, Patience: time.Hour})
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	c := place(t, r, 3)
	lock(t, c, 3) // a turn is under way
	if n := c.Look(t.Context()).Conversation.Transcript.Len(); n != 3 {
		t.Errorf("%d messages", n)
	}
	c.Unlock()
	goOn := make(chan struct{})
	st.hang.Store(&goOn)
	looked := make(chan struct{})
	go func() { c.Look(context.Background()); close(looked) }()
	lock(t, c, 3) // although the look still asks the store
	c.Unlock()
	select {
	case <-looked:
		t.Error("the store did not hang")
	default:
	}
	st.hang.Store(nil)
	close(goOn)
	<-looked
}

func TestEditsInMemoryOutliveTheStoresFault(t *testing.T) {
	st, m := &slow{Store: memory.New()}, manager(t)
	r := registry.New(registry.Options{Store: st})
	c := place(t, r, 3)
	st.down.Store(true)
	if err := pin(t, c, m, 0); err != nil {
		t.Fatal(err)
	}
	if s := c.Snapshot(); len(s.Conversation.Edits) != 1 || s.Stored != 0 {
		t.Errorf("%d edits in force, %d stored", len(s.Conversation.Edits), s.Stored)
	}
	st.down.Store(false)
	if err := r.Close(t.Context()); err != nil { // the last chance
		t.Fatal(err)
	}
	if n := stored(t, st, c); n != 1 {
		t.Errorf("%d edits are stored", n)
	}
}

func TestCloseSaysWhatCouldNotBeStored(t *testing.T) {
	st := &slow{Store: memory.New()}
	r := registry.New(registry.Options{Store: st})
	c := place(t, r, 3)
	st.down.Store(true)
	_ = pin(t, c, manager(t), 0)
	if err := r.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Error(err)
	}
}

func TestAnotherReplicasEditsWin(t *testing.T) {
	st, m := &slow{Store: memory.New()}, manager(t)
	r := registry.New(registry.Options{Store: st})
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	other := registry.New(registry.Options{Store: st})
	t.Cleanup(func() { _ = other.Close(context.Background()) })
	a, b := place(t, r, 3), place(t, other, 3)
	if err := pin(t, a, m, 0); err != nil {
		t.Fatal(err)
	}
	if err := pin(t, b, m, 2); precis.CodeOf(err) != precis.CodeConflict {
		t.Errorf("recording what another has not seen: %v", err)
	}
	if theirs, ours := a.Snapshot().Conversation.Edits, b.Snapshot().Conversation.Edits; len(ours) != 1 || ours[0].ID != theirs[0].ID {
		t.Errorf("in force are %v", ours)
	}
	if err := pin(t, b, m, 2); err != nil || stored(t, st, b) != 2 {
		t.Errorf("once it is seen: %v, %d stored", err, stored(t, st, b))
	}
}

func TestAStoreThatHangsIsWaitedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, m := &slow{Store: memory.New()}, manager(t)
		r := registry.New(registry.Options{Store: st})
		c := place(t, r, 3)
		never := make(chan struct{})
		st.hang.Store(&never)
		var took []time.Duration
		for n := range 3 {
			began := time.Now()
			if err := pin(t, c, m, n); err != nil {
				t.Fatal(err)
			}
			took = append(took, time.Since(began))
		}
		if took[0] < 3*time.Second || took[0] > 7*time.Second || took[1] > time.Second || took[2] > time.Second {
			t.Errorf("three edits waited %v", took)
		}
		st.hang.Store(nil)
		close(never)
		if err := r.Close(t.Context()); err != nil || stored(t, st, c) != 3 {
			t.Errorf("%v, %d stored", err, stored(t, st, c))
		}
	})
}

// leaser is a store with leases that counts renewals.
type leaser struct {
	*slow
	mu     sync.Mutex
	holder string
	until  time.Time
	calls  int
}

func (l *leaser) Scope(string) precis.Store { return l }

func (l *leaser) Lease(_ context.Context, _, holder string, ttl time.Duration) (func(), bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	if l.holder != "" && l.holder != holder && time.Now().Before(l.until) {
		return func() {}, false, nil
	}
	l.holder, l.until = holder, time.Now().Add(ttl)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.holder == holder {
			l.holder = ""
		}
	}, true, nil
}

func TestEachPieceOfWorkHasALeaseOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &leaser{slow: &slow{Store: memory.New()}}
		r := registry.New(registry.Options{Store: st, Replica: "r1"})
		c := place(t, r, 3)
		background, ok := c.Lease(t.Context())
		if !ok {
			t.Fatal("nobody has the lease")
		}
		if release, ok := c.Lease(t.Context()); ok {
			release()
			t.Error("a turn shares the lease of the background")
		}
		time.Sleep(2 * time.Minute) // longer than a lease holds by itself
		if _, ok := c.Lease(t.Context()); ok {
			t.Error("the lease was not renewed")
		}
		background()
		st.mu.Lock()
		calls := st.calls
		st.mu.Unlock()
		time.Sleep(2 * time.Minute)
		if st.calls != calls || st.holder != "" {
			t.Error("the lease was renewed after its release")
		}
		release, ok := c.Lease(t.Context())
		release()
		if !ok {
			t.Error("the lease was not given back")
		}
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestWhatIsPurgedDoesNotComeBack(t *testing.T) {
	st, m := &slow{Store: memory.New()}, manager(t)
	r := registry.New(registry.Options{Store: st})
	c := place(t, r, 3)
	c.Save()
	lock(t, c, 3) // a turn is under way
	if _, err := r.Purge(t.Context(), "o", registry.Purge{All: true}); err != nil {
		t.Fatal(err)
	}
	c.Unlock()
	if err := pin(t, c, m, 0); err != nil {
		t.Fatal(err)
	}
	c.Save()
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	tr := c.Snapshot().Conversation.Transcript
	if _, _, err := st.Load(context.Background(), tr.Fingerprint(1)); precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("it was stored again: %v", err)
	}
}

func TestRecordsAreChangedOneAfterTheOther(t *testing.T) {
	r := registry.New(registry.Options{})
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	c := place(t, r, 3)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				c.SetInfo(func(rec *store.Record) { rec.Requests++ })
			}
		})
	}
	wg.Wait()
	if n := c.Info().Requests; n != 4000 {
		t.Errorf("%d of 4000 requests are counted", n)
	}
}

func TestManagersCountByThemselves(t *testing.T) {
	r := registry.New(registry.Options{})
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	c := place(t, r, 3)
	exact, err := preset.New(preset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lock(t, c, 3)
	defer c.Unlock()
	text := precis.NewText(precis.RoleUser, strings.Repeat("antidisestablishmentarianism ", 40))
	if a, b := c.Meter("", manager(t)).Message(text), c.Meter("exact", exact).Message(text); a == b {
		t.Error("two profiles share a meter")
	}
	if first := c.Meter("exact", exact); c.Meter("exact", exact) != first {
		t.Error("the meter forgets")
	}
}

// A store without a ledger has none here either, so that managers keep account of
// what is spent by themselves.
func TestNoLedgerIsMadeUp(t *testing.T) {
	r := registry.New(registry.Options{Store: bare{memory.New()}})
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	if l := r.Ledger(""); l != nil {
		t.Errorf("%T keeps nothing", l)
	}
}

type bare struct{ precis.Store }

// What another replica may go on without is not reported as done.
func TestASharedStoreTakesEditsOrNothingIsChanged(t *testing.T) {
	st, m := &slow{Store: memory.New()}, manager(t)
	r := registry.New(registry.Options{Store: st, Shared: true})
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	c := place(t, r, 3)
	if err := pin(t, c, m, 0); err != nil {
		t.Fatal(err)
	}
	st.down.Store(true)
	if err := pin(t, c, m, 2); precis.CodeOf(err) != precis.CodeInternal || len(c.Snapshot().Conversation.Edits) != 1 {
		t.Errorf("%v, %d edits in force", err, len(c.Snapshot().Conversation.Edits))
	}
	st.down.Store(false)
	if err := pin(t, c, m, 2); err != nil || stored(t, st, c) != 2 {
		t.Errorf("%v, %d stored", err, stored(t, st, c))
	}
}
