package launch

import (
	"context"
	"sync"

	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/policy"
)

// Tally counts the requests through a gateway. The zero value is empty. It is safe for concurrent
// use.
type Tally struct {
	mu                          sync.Mutex
	requests                    int
	conversations               map[string]bool
	unreducedTokens, sentTokens int // tokens
	condensations               int
	avoided                     int
	cost, own                   float64
	failed                      int
}

// Turn counts a request.
func (t *Tally) Turn(_ context.Context, turn gateway.Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests++
	t.cost += turn.CostUSD
	if turn.Err != nil || turn.Status >= 400 {
		t.failed++
	}
	if turn.Conversation != "" {
		if t.conversations == nil {
			t.conversations = map[string]bool{}
		}
		t.conversations[turn.Conversation] = true
	}
	r := turn.Report
	if r == nil {
		t.unreducedTokens, t.sentTokens = t.unreducedTokens+turn.Input, t.sentTokens+turn.Input
		return
	}
	said := max(r.Unreduced, r.Before.Tokens)
	t.unreducedTokens, t.sentTokens = t.unreducedTokens+said, t.sentTokens+r.After.Tokens
	allowed := r.Decision.Allowed
	fitted := allowed > 0 && float64(said) > allowed && float64(r.After.Tokens) <= allowed
	if turn.Status < 400 && (turn.Retries > 0 || fitted) {
		t.avoided++
	}
}

// Report counts the passes that made edits, also in the background.
func (t *Tally) Report(_ context.Context, r policy.Report) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(r.Edits) > 0 {
		t.condensations++
	}
	t.own += r.CostUSD()
}

// Requests returns the number of requests to models.
func (t *Tally) Requests() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.requests
}

// Summary returns a summary of a few lines; "" without requests.
func (t *Tally) Summary(w *console.Words) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.requests == 0 {
		return ""
	}
	passed := w.Text("precis: %s in %s", w.Count(t.requests, "request"),
		w.Count(len(t.conversations), "conversation"))
	if t.failed > 0 {
		passed += w.Text(", %s failed", w.Number(t.failed))
	}
	sent := w.Text("precis: the client sent %s tokens, %s were forwarded", w.Number(t.unreducedTokens),
		w.Number(t.sentTokens))
	if t.unreducedTokens > t.sentTokens {
		sent += w.Text(" (%.0f %% less)",
			100*float64(t.unreducedTokens-t.sentTokens)/float64(t.unreducedTokens))
	}
	did := w.Text("precis: %s, %s avoided", w.Count(t.condensations, "condensation"),
		w.Count(t.avoided, "overflow"))
	if t.cost > 0 {
		did += w.Text(", the requests cost %s", w.Amount(t.cost, 4))
	}
	if t.own > 0 {
		did += w.Text(", condensing %s", w.Amount(t.own, 4))
	}
	return passed + "\n" + sent + "\n" + did + "\n"
}
