package gateway

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/window"
)

// windowKey identifies a window: accounts of one upstream have different windows, and betas change
// them.
type windowKey struct{ upstream, model, owner, betas string }

// servedKey identifies a window that a server states.
type servedKey struct{ upstream, model string }

// windows records the evidence on the windows of models: the sizes of accepted and refused
// requests, and the statements of servers. Package window evaluates the evidence.
type windows struct {
	table      func(ctx context.Context, model string) precis.Window
	profile    func(name string) int // the window that a profile sets
	transport  http.RoundTripper
	background func(func(context.Context)) bool
	now        func() time.Time
	closing    context.Context // canceled when no more questions may be asked

	kept keptWindows

	mu     sync.RWMutex // guards the following fields, and the books of kept
	shown  map[windowKey]window.Evidence
	served map[servedKey]window.Served
	asking map[servedKey]*windowQuestion
	sent   map[string]bool // upstreams that were sent a request, by name
}

// mostWindows bounds the remembered windows, because clients choose the names of models.
const mostWindows = 4096

// of returns the evidence on the context window of a model at an upstream, for requests with a
// profile; "": without one.
func (w *windows) of(ctx context.Context, key windowKey, profile string) window.Known {
	w.readDue()
	w.mu.RLock()
	k := window.Known{Model: key.model, Served: w.served[servedKey{key.upstream, key.model}],
		Evidence: w.shown[key], Upstream: key.upstream, Now: w.now()}
	w.mu.RUnlock()
	k.Table = func(model string) precis.Window { return w.table(ctx, model) }
	if profile != "" {
		k.Set, k.By = w.profile(profile), "the profile "+profile
	}
	return k
}

// refused records that a request was refused as too long.
func (w *windows) refused(key windowKey, o window.Overflow) {
	w.change(key, true, func(e window.Evidence) window.Evidence { return e.Refuse(o, w.now()) })
}

// accepted records that a request was answered: its input in tokens, as the provider counted it and
// as we counted it.
func (w *windows) accepted(key windowKey, input, counted int) {
	w.change(key, false, func(e window.Evidence) window.Evidence { return e.Accept(input, counted, w.now()) })
}

// change changes the evidence about a window. With soon it is stored at once, else together with
// later changes.
func (w *windows) change(key windowKey, soon bool, f func(window.Evidence) window.Evidence) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.shown[key]
	next := f(was)
	if next == was {
		return
	}
	if _, known := w.shown[key]; !known {
		if w.shown == nil {
			w.shown = map[windowKey]window.Evidence{}
		}
		w.roomForShown()
	}
	w.shown[key] = next
	w.changed(key.row(), soon)
}

func (w *windows) roomForShown() {
	for _, key := range makeRoom(w.shown, func(e window.Evidence) bool { return e.Idle(w.now()) }) {
		w.changed(key.row(), false)
	}
}

func (w *windows) roomForServed() {
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

// learned returns an owner's windows that were derived from errors which are still valid evidence.
func (w *windows) learned(owner string) []LearnedWindow {
	out := []LearnedWindow{}
	for _, known := range w.list(context.Background(), owner) {
		if known.Window.Source == precis.SourceLearned {
			out = append(out, LearnedWindow{known.Upstream, known.Model, known.Window.Tokens})
		}
	}
	return out
}

// KnownWindow is the context window assumed for a model, with its evidence.
type KnownWindow struct {
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

// list returns the known windows of an owner's models.
func (w *windows) list(ctx context.Context, owner string) []KnownWindow {
	if w.kept.shared {
		w.sync(ctx) // a failed read is retried later
	}
	w.mu.RLock()
	out, has := []KnownWindow{}, map[servedKey]bool{}
	for key, e := range w.shown {
		if owner != AllOwners && owner != key.owner {
			continue
		}
		at := servedKey{key.upstream, key.model}
		has[at] = true
		k := known(at, w.served[at], e)
		k.Betas, k.Owner = key.betas, key.owner
		out = append(out, k)
	}
	if owner == AllOwners { // who asked for a model is private
		for at, s := range w.served {
			if !has[at] {
				out = append(out, known(at, s, window.Evidence{}))
			}
		}
	}
	w.mu.RUnlock()
	for i, k := range out {
		now := w.of(ctx, windowKey{k.Upstream, k.Model, k.Owner, k.Betas}, "")
		out[i].Window = now.Window()
		out[i].Configured = out[i].Window.Source == precis.SourceConfigured
		for _, d := range now.Doubts() {
			out[i].Doubts = append(out[i].Doubts, string(d))
		}
	}
	slices.SortFunc(out, func(a, b KnownWindow) int {
		return cmp.Or(cmp.Compare(a.Upstream, b.Upstream), cmp.Compare(a.Model, b.Model),
			cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Betas, b.Betas))
	})
	return out
}

func known(at servedKey, s window.Served, e window.Evidence) KnownWindow {
	return KnownWindow{
		Upstream: at.upstream, Model: at.model, Server: s.Tokens, Answer: s.Detail, Asked: s.Asked,
		Stated: e.Stated.Tokens, StatedAt: e.Stated.Time, Refused: e.Refused.Tokens,
		RefusedAt: e.Refused.Time,
		Accepted:  e.Accepted.Tokens, AcceptedAt: e.Accepted.Time,
	}
}

// forget deletes the evidence on the windows of an owner's models, limited to one upstream and one
// model if these are not "". Statements of servers concern all owners, so only [AllOwners] deletes
// them; the next request then asks again. It returns the number of deleted windows. An error means
// that the store still has them; the deletion is retried.
func (w *windows) forget(ctx context.Context, owner, upstream, model string) (int, error) {
	if w.kept.shared || !w.kept.read.Load() {
		w.sync(ctx) // also deletes windows that other replicas know
	}
	n := w.forgetHere(owner, upstream, model)
	return n, w.sync(ctx)
}

func (w *windows) forgetHere(owner, upstream, model string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	is := func(u, m string) bool { return (upstream == "" || u == upstream) && (model == "" || m == model) }
	for key := range w.shown {
		if (owner == AllOwners || owner == key.owner) && is(key.upstream, key.model) {
			delete(w.shown, key)
			w.kept.note(key.row())
			n++
		}
	}
	if owner == AllOwners {
		for key := range w.served {
			if is(key.upstream, key.model) {
				delete(w.served, key)
				delete(w.asking, key) // drop the pending question, too
				w.kept.note(key.row())
				n++
			}
		}
	}
	return n
}

// Windows returns the known context windows of the models of an owner, or of [AllOwners], sorted by
// upstream and model.
func (g *Gateway) Windows(ctx context.Context, owner string) []KnownWindow {
	return g.windows.list(ctx, owner)
}

// ForgetWindows deletes the evidence from requests and servers on the windows of an owner's models,
// limited to one upstream and one model if these are not "". Configured windows and the catalog's
// windows stay. It returns the number of deleted windows. Statements of servers are deleted only
// for [AllOwners]. Other replicas with the same store delete them at their next sync, within half a
// minute. The error is [precis.CodeInternal] when writing to the store fails: the write is retried,
// and until then only this replica has deleted them.
func (g *Gateway) ForgetWindows(ctx context.Context, owner, upstream, model string) (int, error) {
	return g.windows.forget(ctx, owner, upstream, model)
}
