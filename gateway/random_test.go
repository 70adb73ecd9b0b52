package gateway_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/internal/sample"
	"github.com/precis-dev/precis/store/memory"
	"github.com/precis-dev/precis/store/sqlite"
)

// walker is the naive model of a client: the messages it has said, and those of
// the branches it may go back to.
type walker struct {
	*bench
	rng      *rand.Rand
	branches [][]string // message lists it has sent
	steps    map[string]int
	files    int
}

func newWalker(t *testing.T, st everything, seed uint64) *walker {
	w := &walker{bench: newBench(t, st, false, false), rng: rand.New(rand.NewPCG(seed, 1)), steps: map[string]int{}}
	w.agent = newAgent("anthropic", fmt.Sprintf("Task %d: read the files. Never write to the disk.", seed))
	return w
}

// say adds an exchange of a random size.
func (w *walker) say(a *agent) {
	w.files++
	a.read(w.files, words(1+w.rng.IntN(40), w.files))
	if w.rng.IntN(6) == 0 {
		a.messages = append(a.messages, `{"role":"assistant","content":"Done with this."}`, `{"role":"user","content":`+quote(fmt.Sprintf("Go on with part %d.", w.files))+`}`)
	}
}

// send sends a request and checks that it was answered, and the upstream saw it
// once, valid and within its window.
func (w *walker) send(a *agent, stream bool) {
	w.t.Helper()
	res, out := post(w.t, w.bases[w.rng.IntN(len(w.bases))]+"/v1/messages", a.body(stream))
	if res.StatusCode != 200 || res.Header.Get("X-Precis-Retries") != "" {
		w.t.Fatalf("after %v: %d after %q retries, %s %v", w.steps, res.StatusCode, res.Header.Get("X-Precis-Retries"), out, w.up.Problems())
	}
	w.id = res.Header.Get("X-Precis-Conversation")
	w.branches = append(w.branches, slices.Clone(a.messages))
	if len(w.branches) > 12 {
		w.branches = slices.Delete(w.branches, 0, 1)
	}
}

// step does one thing.
func (w *walker) step() {
	w.t.Helper()
	kind := "go on"
	switch n := w.rng.IntN(100); {
	case n < 50:
		w.say(w.agent)
		w.send(w.agent, n%2 == 0)
	case n < 56:
		kind = "retry"
		w.send(w.agent, false)
	case n < 62:
		kind = "branch"
		w.agent = &agent{dialect: "anthropic", messages: slices.Clone(w.branches[w.rng.IntN(len(w.branches))])}
		w.say(w.agent)
		w.send(w.agent, false)
	case n < 68:
		kind = "rewind"
		if cut := 1 + 2*w.rng.IntN(1+len(w.agent.messages)/4); cut < len(w.agent.messages) {
			w.agent = &agent{dialect: "anthropic", messages: slices.Clone(w.agent.messages[:len(w.agent.messages)-(cut-1)])}
		}
		w.say(w.agent)
		w.send(w.agent, false)
	case n < 72:
		kind = "at once"
		w.atOnce()
	case n < 86:
		kind = w.operation()
	case n < 92:
		kind = "store fails"
		w.store.set(fails)
	case n < 98:
		kind = "store works"
		w.store.set(works)
	default:
		kind = "restart"
		w.store.set(works) // what a killed process loses is another test's subject
		w.restart()
	}
	w.steps[kind]++
}

// atOnce goes on in two ways at the same time, and the one before once more.
func (w *walker) atOnce() {
	var wg sync.WaitGroup
	same := &agent{dialect: "anthropic", messages: slices.Clone(w.agent.messages)}
	other := &agent{dialect: "anthropic", messages: slices.Clone(w.agent.messages)}
	w.say(w.agent)
	w.say(other)
	base := w.bases[0]
	for _, a := range []*agent{same, other, w.agent} {
		body := a.body(false)
		wg.Go(func() {
			if res, out := post(w.t, base+"/v1/messages", body); res.StatusCode != 200 {
				w.t.Errorf("at once: %d %s", res.StatusCode, out)
			}
		})
	}
	wg.Wait()
	w.send(w.agent, false)
}

// operation changes the conversation as a dashboard does.
func (w *walker) operation() string {
	if w.id == "" {
		w.send(w.agent, false)
	}
	home, ctx := w.gates[0].Home(gateway.AllOwners), w.t.Context()
	at := precis.MessageHandle(w.rng.IntN(len(w.agent.messages)))
	kinds := []string{"look", "condense", "undo", "pin", "restore", "rewind"}
	kind := kinds[w.rng.IntN(len(kinds))]
	var err error
	var made conversation.Change
	switch kind {
	case "look":
		_, err = conversation.View(ctx, home, w.id)
	case "condense":
		_, err = conversation.Condense(ctx, home, w.id, conversation.CondenseOptions{})
	case "undo":
		made, err = conversation.Undo(ctx, home, w.id)
	case "pin":
		if len(w.agent.messages) < 40 || w.steps[kind] < 3 { // pins are kept: many do not fit
			made, err = conversation.Pin(ctx, home, w.id, precis.MessageHandle(0))
		}
	case "restore":
		made, err = conversation.Restore(ctx, home, w.id, at)
	case "rewind":
		made, err = conversation.Rewind(ctx, home, w.id, 1+w.rng.IntN(len(w.agent.messages)))
	}
	if err == nil && made.Edit.ID != "" {
		w.has(made.Edit.ID)
	}
	switch precis.CodeOf(err) {
	case "", precis.CodeNotFound, precis.CodeConflict, precis.CodeInvalid, precis.CodeOverBudget:
	case precis.CodeInternal: // the store fails, and it was needed to find the conversation
		if w.store.mode.Load() == works {
			w.t.Errorf("%s: %v", kind, err)
		}
	default:
		w.t.Errorf("%s: %v", kind, err)
	}
	return kind
}

// has checks that an edit that was reported as made is there.
func (w *walker) has(edit string) {
	w.t.Helper()
	list, err := conversation.Edits(w.t.Context(), w.gates[0].Home(gateway.AllOwners), w.id)
	if err != nil && w.store.mode.Load() != works {
		return // only the store has the conversation
	}
	if err != nil || !slices.ContainsFunc(list.Items, func(e conversation.EditInfo) bool { return e.ID == edit }) {
		w.t.Errorf("after %v: edit %s is lost: %v", w.steps, edit, err)
	}
}

// TestRandomClients has clients go on, branch, rewind, retry and run at once,
// operations change what they see, and the store fail and gateways end, at random.
// PRECIS_STEPS is how many steps to take.
func TestRandomClients(t *testing.T) {
	t.Parallel()
	steps := sample.Of(150, 1500, 1500)
	if n, err := strconv.Atoi(os.Getenv("PRECIS_STEPS")); err == nil {
		steps = n
	}
	const each = 150 // steps of one client
	for seed := range uint64((steps + each - 1) / each) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			var st everything = memory.New()
			if seed%4 == 0 {
				db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), sqlite.Options{})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = db.Close() })
				st = db
			}
			w := newWalker(t, st, seed)
			w.send(w.agent, false)
			for range each {
				w.step()
				if len(w.agent.messages) > 120 {
					w.agent.messages = w.agent.messages[:1:1]
					w.send(w.agent, false)
				}
			}
			w.store.set(works)
			w.say(w.agent)
			w.send(w.agent, false)
			w.converged()
			if p := w.up.Problems(); len(p) > 0 {
				t.Error(p)
			}
		})
	}
}
