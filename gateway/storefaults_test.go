package gateway_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/internal/sample"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/store/memory"
	"github.com/precis-dev/precis/store/postgres"
	"github.com/precis-dev/precis/store/sqlite"
)

// bench is one or two replicas over a store that can fail, and a client.
type bench struct {
	t      *testing.T
	store  *faulty
	shared bool
	model  bool // summaries are written by a model, in the background
	up     *providertest.Server
	gates  []*gateway.Gateway
	bases  []string
	stops  []func()
	agent  *agent
	id     string
	turns  int
	pinned []string // handles whose pinning was reported as done
}

const benchWindow = 6000

func newBench(t *testing.T, st everything, shared, model bool) *bench {
	b := &bench{t: t, store: newFaulty(st), shared: shared, model: model, up: providertest.New(t, providertest.Options{Window: benchWindow})}
	for range 1 + map[bool]int{true: 1}[shared] {
		b.open()
	}
	b.agent = newAgent("anthropic", "Read the files one by one. Never write to the disk.")
	t.Cleanup(func() {
		b.store.set(works)
		for _, stop := range b.stops {
			stop()
		}
	})
	return b
}

// open starts a replica.
func (b *bench) open() {
	o := gateway.Options{Store: b.store, Shared: b.shared, Patience: 300 * time.Millisecond}
	window(benchWindow)(&o)
	if b.model {
		writer := newSlowWriter()
		close(writer.goOn) // it answers at once
		o.Manager = writer.manager(b.t)
	} else {
		o.Manager = frugal(b.t)
	}
	u, err := url.Parse(b.up.URL)
	if err != nil {
		b.t.Fatal(err)
	}
	o.Upstreams = []gateway.Upstream{{Name: "up", URL: u}}
	g, err := gateway.New(o)
	if err != nil {
		b.t.Fatal(err)
	}
	s := httptest.NewServer(g)
	b.gates, b.bases = append(b.gates, g), append(b.bases, s.URL)
	b.stops = append(b.stops, func() {
		s.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = g.Close(ctx) // a store that fails may fail to the end
	})
}

// restart ends all replicas and starts others.
func (b *bench) restart() {
	n := len(b.gates)
	for _, stop := range b.stops {
		stop()
	}
	b.gates, b.bases, b.stops = nil, nil, nil
	for range n {
		b.open()
	}
}

// turn has the client read one more file, at one replica after the other.
func (b *bench) turn() {
	b.t.Helper()
	b.turns++
	b.agent.read(b.turns, words(30, b.turns))
	res, out := post(b.t, b.bases[b.turns%len(b.bases)]+"/v1/messages", b.agent.body(b.turns%2 == 0))
	if res.StatusCode != 200 || res.Header.Get("X-Precis-Retries") != "" {
		b.t.Fatalf("turn %d: %d after %q retries, %s %v", b.turns, res.StatusCode, res.Header.Get("X-Precis-Retries"), out, b.up.Problems())
	}
	b.id = res.Header.Get("X-Precis-Conversation")
}

func (b *bench) read(turns int) {
	b.t.Helper()
	for range turns {
		b.turn()
	}
}

// operate pins, and condenses.
func (b *bench) operate() {
	b.t.Helper()
	home, ctx := b.gates[0].Home(gateway.AllOwners), b.t.Context()
	handle := precis.MessageHandle(2)
	if _, err := conversation.Pin(ctx, home, b.id, handle); err == nil {
		b.pinned = append(b.pinned, handle.String())
	} else if code := precis.CodeOf(err); code != precis.CodeConflict && code != precis.CodeInternal {
		b.t.Errorf("pin: %v", err)
	}
	if _, err := conversation.Condense(ctx, home, b.id, conversation.CondenseOptions{Summarizer: conversation.ByDigest}); err != nil {
		if code := precis.CodeOf(err); code != precis.CodeConflict && code != precis.CodeInternal && code != precis.CodeOverBudget {
			b.t.Errorf("condense: %v", err)
		}
	}
}

// branch has the client go back and go on differently.
func (b *bench) branch() {
	a := *b.agent
	a.messages = slices.Clone(a.messages[:len(a.messages)-2])
	b.agent = &a
	b.pinned = nil // what was pinned may be gone
}

// look looks at the conversation until it is told to stop, as a dashboard does.
func (b *bench) look() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	home, id := b.gates[0].Home(gateway.AllOwners), b.id
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				_, _ = conversation.Status(context.Background(), home, id)
			}
		}
	}()
	return func() { close(done); <-ended }
}

// converged waits until every replica and the store have the same edits, and all
// that was said is stored.
func (b *bench) converged() {
	b.t.Helper()
	nodes := nodesOf(b.t, b.agent)
	head := nodes[len(nodes)-1]
	var state string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		owners, err := b.store.Scopes(b.t.Context())
		if err != nil || len(owners) == 0 {
			state = fmt.Sprint("owners ", owners, err)
			continue
		}
		tr, stored, err := b.store.Scope(owners[len(owners)-1]).Load(b.t.Context(), head)
		if err != nil || tr.Len() != len(nodes) {
			state = fmt.Sprint("the newest message is not stored: ", err)
			continue
		}
		if state = b.differs(stored); state == "" {
			return
		}
	}
	b.t.Fatal(state)
}

func (b *bench) differs(stored []precis.Edit) string {
	for i, g := range b.gates {
		list, err := conversation.Edits(b.t.Context(), g.Home(gateway.AllOwners), b.id)
		if err != nil {
			return err.Error()
		}
		newest := i == b.turns%len(b.gates) // the others do not know the newest messages, and edits made of them
		known := stored[:min(len(stored), len(list.Items))]
		same := slices.EqualFunc(list.Items, known, func(a conversation.EditInfo, e precis.Edit) bool { return a.ID == e.ID })
		if !same || newest && len(known) < len(stored) {
			return fmt.Sprintf("replica %d has %d edits, the store %d", i, len(list.Items), len(stored))
		}
	}
	for _, handle := range b.pinned {
		if !slices.ContainsFunc(precis.Pinned(stored), func(h precis.Handle) bool { return h.String() == handle }) {
			return handle + " was reported as pinned and is not"
		}
	}
	return ""
}

// What can be wrong between memory and the store, before and while the client or
// somebody else does something.
var disagreements = []struct {
	name          string
	before, after func(*bench)
}{
	{"fails", func(b *bench) { b.store.set(fails) }, func(b *bench) { b.store.set(works) }},
	{"hangs", func(b *bench) { b.store.set(hangs) }, func(b *bench) { b.store.set(works) }},
	{"is behind", func(b *bench) { b.store.set(fails); b.read(6); b.store.set(works) }, func(*bench) {}},
	{"is ahead", func(b *bench) { b.elsewhere(func(o *bench) { o.operate() }) }, func(*bench) {}},
	{"was purged by another", func(b *bench) {
		b.elsewhere(func(o *bench) {
			if _, err := conversation.Purge(b.t.Context(), o.gates[0].Home(gateway.AllOwners), conversation.PurgeOptions{All: true}); err != nil {
				b.t.Fatal(err)
			}
		})
	}, func(*bench) {}},
}

// elsewhere does something at another process over the same store.
func (b *bench) elsewhere(f func(*bench)) {
	b.converged()
	other := newBench(b.t, b.store.everything, b.shared, false)
	other.id, other.agent = b.id, b.agent
	f(other)
}

var happenings = []struct {
	name string
	do   func(*bench)
}{
	{"turn", func(b *bench) { b.read(6) }},
	{"operation", func(b *bench) { b.operate(); b.read(3) }},
	{"background", func(b *bench) { b.read(6) }}, // a model is configured
	{"branch", func(b *bench) { b.branch(); b.read(6) }},
	{"restart", func(b *bench) { b.restart(); b.read(6) }},
}

// TestMemoryAndStoreDisagree is the table of everything that can be wrong between
// memory and the store while something happens. In each case requests are answered
// and sent within the window without a retry, looks do not hold up turns, nothing
// said is lost, and edits converge.
func TestMemoryAndStoreDisagree(t *testing.T) {
	t.Parallel()
	kinds := []struct {
		name string
		open func(t *testing.T) everything
	}{
		{"SQLite", func(t *testing.T) everything {
			st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = st.Close() })
			return st
		}},
		{"two replicas over PostgreSQL", func(t *testing.T) everything {
			st, err := postgres.Open(t.Context(), newDatabase(t), postgres.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = st.Close() })
			return st
		}},
	}
	runs, n := sample.OneIn(t, 2, 1), 0
	for k, kind := range kinds {
		for _, wrong := range disagreements {
			for _, h := range happenings {
				// In short: every disagreement with a turn, and in one process with an
				// operation; everything else that happens once.
				if testing.Short() && h.name != "turn" && (k == 1 || h.name != "operation" && wrong.name != "fails") {
					continue
				}
				if n++; !runs(n) {
					continue
				}
				t.Run(strings.Join([]string{kind.name, wrong.name, h.name}, "/"), func(t *testing.T) {
					t.Parallel()
					b := newBench(t, kind.open(t), k == 1, h.name == "background")
					b.read(12)
					wrong.before(b)
					stop := b.look()
					h.do(b)
					stop()
					wrong.after(b)
					b.read(4)
					b.converged()
					if p := b.up.Problems(); len(p) > 0 {
						t.Error(p)
					}
				})
			}
		}
	}
}

// A gateway that begins while the store fails finds out later what is stored.
func TestTheStoreFailsWhenAGatewayBegins(t *testing.T) {
	t.Parallel()
	b := newBench(t, memory.New(), false, false)
	b.read(14)
	b.converged()
	b.restart()
	b.store.set(fails)
	b.turn()
	if _, err := conversation.Pin(t.Context(), b.gates[0].Home(gateway.AllOwners), b.id, precis.MessageHandle(0)); precis.CodeOf(err) != precis.CodeInternal {
		t.Errorf("an edit of a conversation of which nobody knows what is stored: %v", err)
	}
	b.store.set(works)
	b.turn()
	b.converged()
}

// After a rewind a client may send the same request once more.
func TestARewoundRequestIsAnswered(t *testing.T) {
	t.Parallel()
	b := newBench(t, memory.New(), false, false)
	b.read(4)
	if _, err := conversation.Rewind(t.Context(), b.gates[0].Home(gateway.AllOwners), b.id, 4); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		res, out := post(t, b.bases[0]+"/v1/messages", b.agent.body(false))
		if res.StatusCode != 200 {
			t.Fatalf("%d %s", res.StatusCode, out)
		}
		requests := b.up.Requests()
		if sent := string(requests[len(requests)-1].Body); !strings.Contains(sent, "f04.txt") || strings.Contains(sent, "f03.txt") {
			t.Errorf("sent %s", sent)
		}
	}
	b.turn()
}

// TestEditAtASharedNode makes an edit of a conversation that ends where another has
// gone on: it is in force in both, in memory as in the store.
func TestEditAtASharedNode(t *testing.T) {
	t.Parallel()
	b := newBench(t, memory.New(), false, false)
	b.read(4)
	trunk := slices.Clone(b.agent.messages)
	b.read(2)
	went, long := b.id, slices.Clone(b.agent.messages)

	b.agent.messages = trunk
	res, out := post(t, b.bases[0]+"/v1/messages", b.agent.body(false))
	if res.StatusCode != 200 {
		t.Fatalf("%d %s", res.StatusCode, out)
	}
	if b.id = res.Header.Get("X-Precis-Conversation"); b.id == went {
		t.Fatal("the request that ends on the way did not begin a line of its own")
	}
	made, err := conversation.Pin(t.Context(), b.gates[0].Home(gateway.AllOwners), b.id, precis.MessageHandle(2))
	if err != nil {
		t.Fatal(err)
	}
	b.id, b.agent.messages = went, long
	b.converged()
	b.turn() // the store can fail from here on: memory knows
	b.store.set(fails)
	list, err := conversation.Edits(t.Context(), b.gates[0].Home(gateway.AllOwners), b.id)
	if err != nil || len(list.Items) == 0 || list.Items[len(list.Items)-1].ID != made.Edit.ID {
		t.Errorf("edits %+v, %v, want %s last", list.Items, err, made.Edit.ID)
	}
}

// TestVolatileEnds has clients put something at the end of each request that they send
// only once: a note, or a note in the last message. It is one conversation, and not
// condensed anew for each request.
func TestVolatileEnds(t *testing.T) {
	sequential(t)
	t.Parallel()
	const turns = 40
	plain := 0
	for _, tail := range []string{"nothing", "a message", "in the last message"} {
		b := newBench(t, memory.New(), false, false)
		ids := map[string]bool{}
		for n := range turns {
			b.agent.read(n, words(30, n))
			said := b.agent.messages
			sent := slices.Clone(said)
			note := fmt.Sprintf("Reminder: %d files are left.", turns-n)
			switch tail {
			case "a message":
				sent = append(sent, `{"role":"user","content":`+quote(note)+`}`)
			case "in the last message":
				last := len(sent) - 1
				sent[last] = strings.TrimSuffix(sent[last], "]}") + `,{"type":"text","text":` + quote(note) + `}]}`
			}
			b.agent.messages = sent
			res, out := post(t, b.bases[0]+"/v1/messages", b.agent.body(false))
			b.agent.messages = said
			if res.StatusCode != 200 {
				t.Fatalf("%s: turn %d: %d %s %v", tail, n, res.StatusCode, out, b.up.Problems())
			}
			b.id = res.Header.Get("X-Precis-Conversation")
			ids[b.id] = true
		}
		list, err := conversation.Edits(t.Context(), b.gates[0].Home(gateway.AllOwners), b.id)
		if err != nil {
			t.Fatal(err)
		}
		if tail == "nothing" {
			plain = len(list.Items)
		}
		if len(ids) > 2 || len(list.Items) > plain*3/2 || len(list.Items) == 0 { // the first request has no answer yet to be known by
			t.Errorf("%s: %d conversations, %d edits, %d without", tail, len(ids), len(list.Items), plain)
		}
		if p := b.up.Problems(); len(p) > 0 {
			t.Errorf("%s: %v", tail, p)
		}
	}
}

// TestPinOfAVolatileEnd pins a note that its client sends only once: the pin goes with
// it, and does not come to name what stands in its place. Other pins stay.
func TestPinOfAVolatileEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t, memory.New(), false, false)
	b.read(3)
	said := b.agent.messages
	b.agent.messages = append(slices.Clone(said), `{"role":"user","content":"Reminder: be brief."}`)
	if res, out := post(t, b.bases[0]+"/v1/messages", b.agent.body(false)); res.StatusCode != 200 {
		t.Fatalf("%d %s", res.StatusCode, out)
	}
	home := b.gates[0].Home(gateway.AllOwners)
	for _, at := range []int{2, len(said)} {
		if _, err := conversation.Pin(t.Context(), home, b.id, precis.MessageHandle(at)); err != nil {
			t.Fatal(err)
		}
	}
	b.agent.messages = said
	was := b.id
	b.turn()
	list, err := conversation.Edits(t.Context(), home, b.id)
	if err != nil || b.id != was || len(list.Items) != 1 || list.Items[0].Pins[0].From != 2 {
		t.Errorf("%s, then %s: %+v, %v", was, b.id, list.Items, err)
	}
}
