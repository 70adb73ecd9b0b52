// Package windows answers: how large is the context window of a model at an upstream? A [Book]
// records what requests showed and what servers state, asks a [Server] when that is due, and keeps
// the records in a store that replicas share. The package internal/window evaluates the evidence.
package windows

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/internal/window"
	"github.com/precis-dev/precis/store"
)

// Key identifies a window: accounts of one upstream have different windows, and betas change them.
type Key struct{ Upstream, Model, Owner, Betas string }

// servedKey identifies a window that a server states.
type servedKey struct{ upstream, model string }

// Options are the parts of a [Book]. Store may be nil; the others are required.
type Options struct {
	Table      func(ctx context.Context, model string) precis.Window // the window without evidence
	Profile    func(name string) int                                 // the window that a profile sets
	Background func(func(context.Context)) bool                      // false: no more work is accepted
	Now        func() time.Time
	Store      store.Windows // nil: windows are not kept beyond the process
	Shared     bool          // other replicas write there, too
	Patience   time.Duration // time limit for the store
	Logger     *slog.Logger
}

// Book records the evidence on the windows of models: the sizes of accepted and refused requests,
// and the statements of servers. Make one with [New]. It is safe for concurrent use.
type Book struct {
	o          Options
	closing    context.Context // canceled when no more questions may be asked
	stopAsking context.CancelFunc
	kept       keptWindows

	mu     sync.RWMutex // guards the following fields, and the books of kept
	shown  map[Key]window.Evidence
	served map[servedKey]window.Served
	asking map[servedKey]*Question
	sent   map[string]bool // upstreams that were sent a request, by name
}

// New returns a book without evidence; [Book.Sync] loads it.
func New(o Options) *Book {
	w := &Book{o: o}
	w.closing, w.stopAsking = context.WithCancel(context.Background())
	return w
}

// StopAsking ends the questions to servers and asks no more.
func (w *Book) StopAsking() { w.stopAsking() }

// mostWindows bounds the remembered windows, because clients choose the names of models.
const mostWindows = 4096

// Of returns the evidence on the context window of a model at an upstream, for requests with a
// profile; "": without one.
func (w *Book) Of(ctx context.Context, key Key, profile string) window.Known {
	w.readDue()
	w.mu.RLock()
	k := window.Known{Model: key.Model, Served: w.served[servedKey{key.Upstream, key.Model}],
		Evidence: w.shown[key], Upstream: key.Upstream, Now: w.o.Now()}
	w.mu.RUnlock()
	k.Table = func(model string) precis.Window { return w.o.Table(ctx, model) }
	if profile != "" {
		k.Set, k.By = w.o.Profile(profile), "the profile "+profile
	}
	return k
}

// RecordRefused records that a request was refused as too long.
func (w *Book) RecordRefused(key Key, o window.Overflow) {
	w.change(key, true, func(e window.Evidence) window.Evidence { return e.Refuse(o, w.o.Now()) })
}

// RecordAccepted records that a request was answered: its input in tokens, as the provider counted it and
// as we counted it.
func (w *Book) RecordAccepted(key Key, input, counted int) {
	w.change(key, false, func(e window.Evidence) window.Evidence {
		return e.Accept(input, counted,
			w.o.Now())
	})
}

// change changes the evidence about a window. With soon it is stored at once, else together with
// later changes.
func (w *Book) change(key Key, soon bool, f func(window.Evidence) window.Evidence) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.shown[key]
	next := f(was)
	if next == was {
		return
	}
	if _, known := w.shown[key]; !known {
		if w.shown == nil {
			w.shown = map[Key]window.Evidence{}
		}
		w.roomForShown()
	}
	w.shown[key] = next
	w.changed(key.row(), soon)
}

func (w *Book) roomForShown() {
	for _, key := range makeRoom(w.shown, func(e window.Evidence) bool { return e.Idle(w.o.Now()) }) {
		w.changed(key.row(), false)
	}
}

func (w *Book) roomForServed() {
	for _, key := range makeRoom(w.served, func(window.Served) bool { return false }) {
		w.changed(key.row(), false)
	}
}

// makeRoom deletes useless entries from a full map, or any entry if all are useful. It returns the
// deleted keys.
func makeRoom[K comparable, V any](m map[K]V, useless func(V) bool) (gone []K) {
	if len(m) < mostWindows {
		return nil
	}
	for k, v := range m {
		if useless(v) {
			delete(m, k)
			gone = append(gone, k)
		}
	}
	for k := range m {
		if len(m) < mostWindows {
			break
		}
		delete(m, k)
		gone = append(gone, k)
	}
	return gone
}

// Entry is the context window assumed for a model, with its evidence.
type Entry struct {
	Upstream string        `json:"upstream"`
	Model    string        `json:"model"`
	Betas    string        `json:"betas,omitempty"` // of the requests it applies to
	Owner    string        `json:"owner,omitempty"` // of the account it applies to; "" for all
	Window   precis.Window `json:"window"`
	// The evidence, in tokens; 0: no evidence. Times are of the last confirmation.
	Configured bool      `json:"configured,omitempty"` // the user set the window, which takes precedence
	Server     int       `json:"server,omitempty"`     // the server states it
	Answer     string    `json:"answer,omitempty"`     // where the server states it, or why it does not
	Asked      time.Time `json:"asked,omitzero"`
	Stated     int       `json:"stated,omitempty"` // an error states it
	StatedAt   time.Time `json:"stated_at,omitzero"`
	Refused    int       `json:"refused,omitempty"` // larger requests were refused without a number
	RefusedAt  time.Time `json:"refused_at,omitzero"`
	Accepted   int       `json:"accepted,omitempty"` // a request of this size was answered
	AcceptedAt time.Time `json:"accepted_at,omitzero"`
	// Doubts are why the window may be wrong: "contradicted", the evidence is inconsistent, or
	// conflicts with the user's setting; "assumed", no source states it; "unconfirmed", it is
	// derived from refusals without a number; "old", it was last confirmed more than a month ago.
	Doubts []string `json:"doubts,omitempty"`
}

// List returns the known windows of the models of an owner, or of [conversation.AllOwners], sorted by
// upstream and model.
func (w *Book) List(ctx context.Context, owner string) []Entry {
	if w.o.Shared {
		w.Sync(ctx) // a failed read is retried later
	}
	w.mu.RLock()
	out, has := []Entry{}, map[servedKey]bool{}
	for key, e := range w.shown {
		if owner != conversation.AllOwners && owner != key.Owner {
			continue
		}
		at := servedKey{key.Upstream, key.Model}
		has[at] = true
		k := known(at, w.served[at], e)
		k.Betas, k.Owner = key.Betas, key.Owner
		out = append(out, k)
	}
	if owner == conversation.AllOwners { // who asked for a model is private
		for at, s := range w.served {
			if !has[at] {
				out = append(out, known(at, s, window.Evidence{}))
			}
		}
	}
	w.mu.RUnlock()
	for i, k := range out {
		now := w.Of(ctx, Key{k.Upstream, k.Model, k.Owner, k.Betas}, "")
		out[i].Window = now.Window()
		out[i].Configured = out[i].Window.Source == precis.SourceConfigured
		for _, d := range now.Doubts() {
			out[i].Doubts = append(out[i].Doubts, string(d))
		}
	}
	slices.SortFunc(out, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Upstream, b.Upstream), cmp.Compare(a.Model, b.Model),
			cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Betas, b.Betas))
	})
	return out
}

func known(at servedKey, s window.Served, e window.Evidence) Entry {
	return Entry{
		Upstream: at.upstream, Model: at.model, Server: s.Tokens, Answer: s.Detail, Asked: s.Asked,
		Stated: e.Stated.Tokens, StatedAt: e.Stated.Time, Refused: e.Refused.Tokens,
		RefusedAt: e.Refused.Time,
		Accepted:  e.Accepted.Tokens, AcceptedAt: e.Accepted.Time,
	}
}

// Forget deletes the evidence from requests and servers on the windows of an owner's models, limited
// to one upstream and one model if these are not "". Configured windows and the catalog's windows
// stay. It returns the number of deleted windows. Statements of servers concern all owners, so only
// [conversation.AllOwners] deletes them; the next request then asks again. Other replicas with the
// same store delete them at their next sync, within half a minute. The error is
// [precis.CodeInternal] when writing to the store fails: the write is retried, and until then only
// this replica has deleted them.
func (w *Book) Forget(ctx context.Context, owner, upstream, model string) (int, error) {
	if w.o.Shared || !w.kept.read.Load() {
		w.Sync(ctx) // also deletes windows that other replicas know
	}
	n := w.forgetHere(owner, upstream, model)
	return n, w.Sync(ctx)
}

func (w *Book) forgetHere(owner, upstream, model string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	is := func(u, m string) bool { return (upstream == "" || u == upstream) && (model == "" || m == model) }
	for key := range w.shown {
		if (owner == conversation.AllOwners || owner == key.Owner) && is(key.Upstream, key.Model) {
			delete(w.shown, key)
			w.note(key.row())
			n++
		}
	}
	if owner == conversation.AllOwners {
		for key := range w.served {
			if is(key.upstream, key.model) {
				delete(w.served, key)
				delete(w.asking, key) // drop the pending question, too
				w.note(key.row())
				n++
			}
		}
	}
	return n
}
