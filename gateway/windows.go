package gateway

import (
	"context"
	"strings"
	"sync"

	"precis"
)

// windowKey is what a window depends on: accounts of one upstream have different
// ones, and betas change them.
type windowKey struct{ upstream, model, owner, betas string }

func (t *turn) windowKey() windowKey {
	return windowKey{t.upstream.Name, t.found.Prompt.Model, t.owner, strings.Join(t.r.Header.Values(headerBeta), ",")}
}

// windows are the context windows that overflow errors told.
type windows struct {
	mu    sync.RWMutex
	known map[windowKey]int           // what errors told
	asked map[[2]string]precis.Window // what servers say; no tokens: nothing, or not yet
}

// window returns the context window of a model at an upstream: what an error
// told, unless the user set a smaller one; what the server says where nobody
// else knows.
func (t *turn) window(ctx context.Context) precis.Window { return t.g.windowOf(ctx, t.windowKey()) }

func (g *Gateway) windowOf(ctx context.Context, key windowKey) precis.Window {
	w := g.o.Window(ctx, key.model)
	g.windows.mu.RLock()
	told, asked := g.windows.known[key], g.windows.asked[[2]string{key.upstream, key.model}]
	g.windows.mu.RUnlock()
	if asked.Tokens > 0 && w.Source == precis.SourceAssumed {
		w = asked
	}
	if told > 0 && (told < w.Tokens || w.Source == precis.SourceAssumed) {
		return precis.Window{Tokens: told, Source: precis.SourceLearned, Detail: "an error of " + key.upstream}
	}
	return w
}

// learnBelow remembers that a model refused a request of so many tokens, as
// counted here, without saying what it takes.
func (w *windows) learnBelow(key windowKey, tokens int) {
	const margin = 0.97
	tokens = int(float64(tokens) * margin)
	w.mu.RLock()
	known := w.known[key]
	w.mu.RUnlock()
	if known == 0 || tokens < known {
		w.learn(key, tokens)
	}
}

// mostWindows is how many windows are remembered, for names of models are the
// clients' to choose.
const mostWindows = 4096

// learn remembers the window that an overflow error told. What is too small to
// be one is not believed.
func (w *windows) learn(key windowKey, tokens int) {
	const least = 1000
	if tokens < least {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == nil || len(w.known) >= mostWindows {
		w.known = map[windowKey]int{}
	}
	w.known[key] = tokens
}

// taken forgets a window that a request larger than it disproves.
func (w *windows) taken(key windowKey, tokens int) {
	w.mu.RLock()
	known := w.known[key]
	w.mu.RUnlock()
	if known == 0 || tokens <= known {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.known, key)
}
