package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/window"
)

const (
	askFor    = 10 * time.Second // for all questions to one server about one model
	questFor  = 3 * time.Second  // for one question
	waitFor   = time.Second      // how long turns wait for the answer, from the first question about a model
	askLimit  = 4 << 20          // bytes read of an answer
	worthWait = 8 << 10          // requests with fewer bytes fit every window
	// requests with fewer bytes to a model of the catalog do not need the window yet
	worthAsk = 2 << 10
)

// windowQuestion is a pending question about the window of a model.
type windowQuestion struct {
	done  chan struct{} // closed when all questions were asked
	until time.Time     // until when turns wait
}

// ask starts asking the upstream for the window of a model if that is due. It returns the model's
// first question while it is pending, because a turn may wait for it; nil when there is no such
// question. It does not ask for a window that the user configured.
func (w *windows) ask(ctx context.Context, c Credentials, model string) *windowQuestion {
	if model == "" || w.table(ctx, model).Source == precis.SourceConfigured {
		return nil
	}
	key := servedKey{c.Upstream.Name, model}
	w.mu.RLock()
	was, known := w.served[key]
	a := w.asking[key]
	w.mu.RUnlock()
	switch {
	case a != nil && !known:
		return a
	case a != nil || known && !was.NeedsQuery(w.now()):
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asking[key] != nil || len(w.asking) >= mostWindows {
		return nil // another request has started it
	}
	if w.asking == nil {
		w.asking = map[servedKey]*windowQuestion{}
	}
	a = &windowQuestion{done: make(chan struct{}), until: time.Now().Add(waitFor)}
	w.asking[key] = a
	if !w.background(func(context.Context) { w.askNow(c, key, a) }) {
		delete(w.asking, key)
		return nil
	}
	if known {
		return nil
	}
	return a
}

// askNow asks for the window and records the answer.
func (w *windows) askNow(c Credentials, key servedKey, a *windowQuestion) {
	defer close(a.done)
	ctx, cancel := context.WithTimeout(w.closing, askFor)
	defer cancel()
	answer := w.answer(ctx, c, key.model)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asking[key] != a {
		return // the question was dropped meanwhile
	}
	delete(w.asking, key)
	if w.served == nil {
		w.served = map[servedKey]window.Served{}
	}
	if _, known := w.served[key]; !known {
		w.roomForServed()
	}
	w.served[key] = w.served[key].After(answer)
	w.changed(key.row(), true)
}

// answer tries each kind of question until the server answers one.
func (w *windows) answer(ctx context.Context, c Credentials, model string) window.Served {
	out := window.Served{Fault: window.Silent}
	for _, q := range window.Questions(model, NativeOf(c.Upstream.URL.Host) != nil) {
		at := c.Upstream.Name + q.Path
		body, status, err := w.fetch(ctx, c, q)
		switch {
		case err != nil || status >= 500 || status == http.StatusTooManyRequests:
			out = window.Served{Fault: window.Failing, Detail: faultDetail(at, status, err)}
		case status == http.StatusUnauthorized || status == http.StatusForbidden:
			if out.Fault == window.Silent {
				out = window.Served{Fault: window.Refusal, Detail: faultDetail(at, status, nil)}
			}
		case status == http.StatusOK:
			n, loading := q.Read(body, model)
			if n > 0 {
				return window.Served{Tokens: n, Detail: at, Since: w.now(), Asked: w.now()}
			}
			if loading {
				out.Fault, out.Detail = window.Loading, at+" states a window when the model is loaded"
			}
		}
		if ctx.Err() != nil {
			break
		}
	}
	if out.Detail == "" {
		out.Detail = c.Upstream.Name + " states no window"
	}
	out.Asked = w.now()
	return out
}

// fetch sends a question and returns the body and the status of the response. It reads the body
// only when the status is 200.
func (w *windows) fetch(ctx context.Context, c Credentials,
	q window.Question) (body []byte, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, questFor)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, q.Method, c.Upstream.join(q.Path, c.query).String(),
		strings.NewReader(string(q.Body)))
	if err != nil {
		return nil, 0, err
	}
	req.Header = c.Header.Clone()
	if q.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := w.transport.RoundTrip(req)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, res.StatusCode, nil
	}
	body, err = io.ReadAll(io.LimitReader(res.Body, askLimit))
	return body, res.StatusCode, err
}

// askWindow asks for the window of the request's model when the request may be too large, and waits
// briefly for the first answer. It does not ask an upstream that has received no request yet, so
// that the first requests do not look like a scan, see [exchange.recordReached].
func (p *placed) askWindow() {
	if !p.g.windows.isReached(p.upstream.Name) {
		return
	}
	a := p.ask()
	if a == nil || len(p.body) < worthWait || p.work != workTurn {
		return
	}
	timer := time.NewTimer(time.Until(a.until))
	defer timer.Stop()
	select {
	case <-a.done:
	case <-timer.C:
	case <-p.r.Context().Done():
	}
}

// ask asks for the window of the request's model with the headers and the query of the request.
func (p *placed) ask() *windowQuestion {
	if !p.g.o.Probe || p.assembly != nil || p.direct != nil {
		return nil
	}
	if len(p.body) < worthAsk && !p.window(p.r.Context()).Window().Guessed() {
		return nil
	}
	c := p.credentialsOf()
	c.Header, c.query = p.r.Header.Clone(), p.r.URL.RawQuery
	stripHops(c.Header)
	stripOwn(c.Header)
	stripForwarded(c.Header)
	p.poly.RemoveBetas(c.Header)
	for _, name := range ofBody {
		c.Header.Del(name)
	}
	return p.g.windows.ask(p.r.Context(), c, p.found.Prompt.Model)
}

// ofBody are headers that describe the body of a request or of its answer.
var ofBody = []string{
	"Content-Length", "Content-Type", "Content-Encoding", "Accept", "Accept-Encoding", "Expect", "Range",
	"Idempotency-Key",
	"Cache-Control", "Pragma", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
	"If-Range",
}

// recordReached records that the upstream has answered, and the first time asks for the window of the
// request's model.
func (x *exchange) recordReached() {
	if first := x.g.windows.reach(x.upstream.Name); first && x.managed() && x.placed != nil {
		x.placed.ask()
	}
}

// reach records that a request was sent to an upstream, and reports whether it is the first.
func (w *windows) reach(upstream string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.sent[upstream]
	if w.sent == nil {
		w.sent = map[string]bool{}
	}
	w.sent[upstream] = true
	return !was
}

// isReached reports whether a request was sent to an upstream, by this process or by one that has
// stored the answers.
func (w *windows) isReached(upstream string) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.sent[upstream] {
		return true
	}
	for key := range w.served {
		if key.upstream == upstream {
			return true
		}
	}
	return false
}

// faultDetail describes why a server states no window.
func faultDetail(at string, status int, err error) string {
	if err != nil {
		return at + " could not be asked: " + plainError(err)
	}
	return fmt.Sprintf("%s answered %d", at, status)
}
