package gateway

import (
	"context"
	"sync"

	"precis"
)

// windows are the context windows that overflow errors told.
type windows struct {
	mu    sync.RWMutex
	known map[[2]string]int           // by upstream and model
	asked map[[2]string]precis.Window // what servers say; no tokens: nothing, or not yet
}

// window returns the context window of a model at an upstream: what an error
// told, unless the user set a smaller one; what the server says where nobody
// else knows.
func (g *Gateway) window(ctx context.Context, up *Upstream, model string) precis.Window {
	w := g.o.Window(ctx, model)
	key := [2]string{up.Name, model}
	g.windows.mu.RLock()
	told, asked := g.windows.known[key], g.windows.asked[key]
	g.windows.mu.RUnlock()
	if asked.Tokens > 0 && w.Source == precis.SourceAssumed {
		w = asked
	}
	if told > 0 && (told < w.Tokens || w.Source == precis.SourceAssumed) {
		return precis.Window{Tokens: told, Source: precis.SourceLearned, Detail: "an error of " + up.Name}
	}
	return w
}

// learnBelow remembers that a model refused a request of so many tokens, as
// counted here, without saying what it takes.
func (w *windows) learnBelow(up *Upstream, model string, tokens int) {
	const margin = 0.97
	tokens = int(float64(tokens) * margin)
	w.mu.RLock()
	known := w.known[[2]string{up.Name, model}]
	w.mu.RUnlock()
	if known == 0 || tokens < known {
		w.learn(up, model, tokens)
	}
}

// learn remembers the window that an overflow error told. What is too small to
// be one is not believed.
func (w *windows) learn(up *Upstream, model string, tokens int) {
	const least = 1000
	if tokens < least {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == nil {
		w.known = map[[2]string]int{}
	}
	w.known[[2]string{up.Name, model}] = tokens
}
