package gateway

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"precis"
	"precis/internal/window"
)

// windowKey is what a window depends on: accounts of one upstream have different
// ones, and betas change them.
type windowKey struct{ upstream, model, owner, betas string }

// servedKey is what the window that a server states depends on.
type servedKey struct{ upstream, model string }

// windows keeps what is known of the windows of models: what requests have shown, and
// what servers state. What follows from it package window says.
type windows struct {
	configured func(ctx context.Context, model string) precis.Window
	transport  http.RoundTripper
	background func(func(context.Context)) bool
	now        func() time.Time
	closing    context.Context // ends when nothing is to be asked any more

	kept keptWindows

	mu     sync.RWMutex // guards what follows, and the books of kept
	shown  map[windowKey]window.Evidence
	served map[servedKey]window.Served
	asking map[servedKey]*asking
	sent   map[string]bool // upstreams by their names
}

// mostWindows is how many windows are remembered, for names of models are the
// clients' to choose.
const mostWindows = 4096

// of returns the context window of a model at an upstream.
func (w *windows) of(ctx context.Context, key windowKey) precis.Window {
	base := w.configured(ctx, key.model)
	w.mu.RLock()
	shown, served := w.shown[key], w.served[servedKey{key.upstream, key.model}]
	w.mu.RUnlock()
	w.readDue()
	return window.Of(base, served, shown, key.upstream, w.now())
}

// doubted reports whether a window that of returned may follow from odd errors, see
// [window.Evidence.Doubted].
func (w *windows) doubted(key windowKey, now precis.Window) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.shown[key].Doubted(now, w.now())
}

// refused remembers that a request was refused as too long.
func (w *windows) refused(key windowKey, o window.Overflow) {
	w.change(key, true, func(e window.Evidence) window.Evidence { return e.Refuse(o, w.now()) })
}

// accepted remembers that a request was answered: its input as the provider counted it,
// and as it was counted here.
func (w *windows) accepted(key windowKey, input, counted int) {
	w.change(key, false, func(e window.Evidence) window.Evidence { return e.Accept(input, counted, w.now()) })
}

// change changes the evidence about a window. Soon: it is stored at once, and not with
// what comes later.
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

// makeRoom deletes what has no use any more from a full map, and else anything. It
// returns what it deleted.
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

// learned returns the windows that errors led to, of an owner, as far as they count now.
func (w *windows) learned(owner string) []LearnedWindow {
	out := []LearnedWindow{}
	for _, known := range w.list(context.Background(), owner) {
		if known.Window.Source == precis.SourceLearned {
			out = append(out, LearnedWindow{known.Upstream, known.Model, known.Window.Tokens})
		}
	}
	return out
}

// KnownWindow is the context window that a model is taken to have, and what that
// follows from.
type KnownWindow struct {
	Upstream string        `json:"upstream"`
	Model    string        `json:"model"`
	Betas    string        `json:"betas,omitempty"` // of the requests it is for
	Owner    string        `json:"owner,omitempty"` // of the account it is for; "" for all
	Window   precis.Window `json:"window"`
	// The evidence, in tokens; 0 for none. Times say when it was last confirmed.
	Configured bool      `json:"configured,omitempty"` // the user set the window, which wins
	Server     int       `json:"server,omitempty"`     // the server states it
	Answer     string    `json:"answer,omitempty"`     // where the server states it, or why it does not
	Asked      time.Time `json:"asked,omitzero"`
	Stated     int       `json:"stated,omitempty"` // an error states it
	StatedAt   time.Time `json:"stated_at,omitzero"`
	Refused    int       `json:"refused,omitempty"` // larger requests were refused without a number
	RefusedAt  time.Time `json:"refused_at,omitzero"`
	Accepted   int       `json:"accepted,omitempty"` // a request of this size was answered
	AcceptedAt time.Time `json:"accepted_at,omitzero"`
	// Doubts are why the window may be wrong: "contradicted", the evidence does not agree with
	// itself or with what the user set; "assumed", nobody states it; "unconfirmed", it follows
	// from refusals without a number; "old", it was not confirmed for a month.
	Doubts []string `json:"doubts,omitempty"`
}

// list returns what is known of the windows of an owner's models.
func (w *windows) list(ctx context.Context, owner string) []KnownWindow {
	if w.kept.shared {
		w.sync(ctx) // what it cannot read now, it reads later
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
	if owner == AllOwners { // who asked for a model is not for others to see
		for at, s := range w.served {
			if !has[at] {
				out = append(out, known(at, s, window.Evidence{}))
			}
		}
	}
	w.mu.RUnlock()
	for i, k := range out {
		out[i].Window = w.of(ctx, windowKey{k.Upstream, k.Model, k.Owner, k.Betas})
		out[i].Configured = out[i].Window.Source == precis.SourceConfigured
		w.mu.RLock()
		shown, served := w.shown[windowKey{k.Upstream, k.Model, k.Owner, k.Betas}], w.served[servedKey{k.Upstream, k.Model}]
		w.mu.RUnlock()
		for _, d := range window.Doubts(out[i].Window, served, shown, w.now()) {
			out[i].Doubts = append(out[i].Doubts, string(d))
		}
	}
	slices.SortFunc(out, func(a, b KnownWindow) int {
		return cmp.Or(cmp.Compare(a.Upstream, b.Upstream), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Betas, b.Betas))
	})
	return out
}

func known(at servedKey, s window.Served, e window.Evidence) KnownWindow {
	return KnownWindow{
		Upstream: at.upstream, Model: at.model, Server: s.Tokens, Answer: s.Detail, Asked: s.Asked,
		Stated: e.Stated.Tokens, StatedAt: e.Stated.Time, Refused: e.Refused.Tokens, RefusedAt: e.Refused.Time,
		Accepted: e.Accepted.Tokens, AcceptedAt: e.Accepted.Time,
	}
}

// forget forgets what is known of the windows of an owner's models: of one upstream and
// of one model where these are not "". What servers state concerns all owners; it is
// asked again at the next request when all is forgotten. It returns how many were
// known. The error is that the store still has it; it is told again later.
func (w *windows) forget(ctx context.Context, owner, upstream, model string) (int, error) {
	if w.kept.shared || !w.kept.read.Load() {
		w.sync(ctx) // what others know is forgotten, too
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
				delete(w.asking, key) // what is under way belongs to what was forgotten
				w.kept.note(key.row())
				n++
			}
		}
	}
	return n
}

// Windows returns what is known of the context windows of an owner's models, or of
// [AllOwners], sorted by upstream and model.
func (g *Gateway) Windows(ctx context.Context, owner string) []KnownWindow {
	return g.windows.list(ctx, owner)
}

// ForgetWindows forgets what requests and servers have shown of the windows of an
// owner's models: of one upstream and of one model where these are not "". What the user
// set and what the catalog has stays. It returns how many were known. What servers
// state is forgotten for [AllOwners] only. Other replicas over the same store forget it
// when they look there next, within half a minute. The error is [precis.CodeInternal]
// when the store cannot be told: it is told later, and until then only this replica has
// forgotten.
func (g *Gateway) ForgetWindows(ctx context.Context, owner, upstream, model string) (int, error) {
	return g.windows.forget(ctx, owner, upstream, model)
}
