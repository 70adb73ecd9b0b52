package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/store/memory"
	"github.com/precis-dev/precis/tokens"
)

// What is reported to be in memory is what is there, within the bounds that the
// runtime and the maps allow; also when the store takes nothing, so that all of it
// waits to be stored.
func TestMemoryIsCountedAsItIsHeld(t *testing.T) {
	for _, c := range []struct {
		name                 string
		conversations, turns int
		lines                int // of a result
		window               int
		memory               int
		hangs                bool
	}{
		{name: "few large ones", conversations: 8, turns: 12, lines: 4000},
		{name: "many small ones", conversations: 400, turns: 12, lines: 3},
		{name: "middling ones", conversations: 100, turns: 20, lines: 100},
		{name: "condensed ones", conversations: 16, turns: 25, lines: 400, window: 20_000},
		{name: "more than there is room for", conversations: 200, turns: 3, lines: 2000, memory: 8 << 20},
		{name: "more than there is room for, and nothing is stored", conversations: 200, turns: 3, lines: 2000, memory: 8 << 20, hangs: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && (c.name == "middling ones" || c.name == "more than there is room for") {
				t.Skip("the cases beside it are harder")
			}
			if testing.Short() {
				c.conversations /= 2
			}
			st := newFaulty(memory.New())
			base, g := start(t, handler(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				streaming(w, twoEvents)
			}), func(o *gateway.Options) {
				window(max(c.window, 10_000_000*map[bool]int{true: 1}[c.window == 0]))(o)
				o.Memory = max(c.memory, 1<<30*map[bool]int{true: 1}[c.memory == 0])
				if c.hangs {
					o.Store, o.Patience = st, time.Millisecond
					st.set(hangs)
				}
			})
			t.Cleanup(func() { st.set(works) })
			turn := func(a *agent) {
				t.Helper()
				if code, out, err := send(t, base, strings.NewReader(a.body(true))); code != 200 || err != nil {
					t.Fatal(code, out, err)
				}
			}
			turn(newAgent("anthropic", "warm up"))
			before, was := live(), g.Status(gateway.AllOwners).Memory.Bytes
			for i := range c.conversations {
				a := newAgent("anthropic", fmt.Sprint("Task ", i))
				for n := range c.turns {
					a.read(n, strings.Repeat(fmt.Sprintf("line %d of task %d\n", n, i), c.lines))
					turn(a)
				}
			}
			grown := float64(live()) - float64(before)
			counted := float64(g.Status(gateway.AllOwners).Memory.Bytes - was)
			if ratio := counted / grown; ratio < 0.6 || ratio > 1.5 {
				t.Errorf("%.1f MB are counted, %.1f MB are held: %.2f", counted/1e6, grown/1e6, ratio)
			}
			t.Logf("%.1f MB are counted, %.1f MB are held", counted/1e6, grown/1e6)
			if c.memory > 0 && grown > 1.5*float64(c.memory) {
				t.Errorf("%.1f MB are held, %.1f MB are allowed", grown/1e6, float64(c.memory)/1e6)
			}
		})
	}
}

// live returns the bytes of the heap that are in use.
func live() uint64 {
	runtime.GC()
	runtime.GC() // what pools held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// working is a rung that counts how many conversations it works on at once.
type working struct{ now, most *atomic.Int64 }

func (working) Name() string { return "working" }
func (w working) Propose(context.Context, *policy.Situation) (precis.Edit, error) {
	n := w.now.Add(1)
	defer w.now.Add(-1)
	for range 10_000 {
		w.most.Store(max(w.most.Load(), n))
		runtime.Gosched()
	}
	return precis.Edit{}, nil
}

// Many conversations that come at once are reduced one after the other, as far as
// there are no more processors.
func TestNoMoreAreReducedThanThereAreProcessors(t *testing.T) {
	t.Parallel()
	counter, err := tokens.New(tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rung := working{&atomic.Int64{}, &atomic.Int64{}}
	m, err := policy.NewManager(policy.Options{Counter: counter, Settings: policy.DefaultSettings(), Strategies: []policy.Strategy{rung, hideOnce{}}})
	if err != nil {
		t.Fatal(err)
	}
	base, _ := start(t, handler(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		streaming(w, twoEvents)
	}), func(o *gateway.Options) {
		window(12_000)(o)
		o.Manager = m
	})
	_, a := full("anthropic")
	var wg sync.WaitGroup
	for i := range 24 {
		b := *a
		b.messages = append([]string{fmt.Sprintf(`{"role":"user","content":"Task %d."}`, i), `{"role":"assistant","content":"Yes."}`}, a.messages...)
		wg.Go(func() {
			if code, out, err := send(t, base, strings.NewReader(b.body(true))); code != 200 || err != nil {
				t.Error(code, out, err)
			}
		})
	}
	wg.Wait()
	if n := rung.most.Load(); n < 1 || n > int64(runtime.GOMAXPROCS(0)) {
		t.Errorf("%d were reduced at once", n)
	}
}
