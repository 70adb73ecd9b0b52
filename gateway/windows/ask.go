package windows

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/upstream"
	"github.com/precis-dev/precis/internal/window"
)

const (
	askFor  = 10 * time.Second // for all questions to one server about one model
	waitFor = time.Second      // how long turns wait for the answer, from the first question about a model
)

// Server is a model API that is asked for windows.
type Server interface {
	Name() string // of the upstream
	Native() bool // it is the API of the company that makes its models
	// Answer sends a question and returns the body and the status of the response; the body may be
	// nil if the status is not 200.
	Answer(ctx context.Context, q window.Question) (body []byte, status int, err error)
}

// Question is a pending question about the window of a model.
type Question struct {
	done  chan struct{} // closed when all questions were asked
	until time.Time     // until when turns wait
}

// Ask starts asking the upstream for the window of a model if that is due. It returns the model's
// first question while it is pending, because a turn may wait for it; nil when there is no such
// question. It does not ask for a window that the user configured.
func (w *Book) Ask(ctx context.Context, s Server, model string) *Question {
	if model == "" || w.o.Table(ctx, model).Source == precis.SourceConfigured {
		return nil
	}
	key := servedKey{s.Name(), model}
	w.mu.RLock()
	was, known := w.served[key]
	a := w.asking[key]
	w.mu.RUnlock()
	switch {
	case a != nil && !known:
		return a
	case a != nil || known && !was.NeedsQuery(w.o.Now()):
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asking[key] != nil || len(w.asking) >= mostWindows {
		return nil // another request has started it
	}
	if w.asking == nil {
		w.asking = map[servedKey]*Question{}
	}
	a = &Question{done: make(chan struct{}), until: time.Now().Add(waitFor)}
	w.asking[key] = a
	if !w.o.Background(func(context.Context) { w.askNow(s, key, a) }) {
		delete(w.asking, key)
		return nil
	}
	if known {
		return nil
	}
	return a
}

// Wait waits for the answer, for at most a second from the question on or until ctx ends. It returns
// at once for nil.
func (a *Question) Wait(ctx context.Context) {
	if a == nil {
		return
	}
	timer := time.NewTimer(time.Until(a.until))
	defer timer.Stop()
	select {
	case <-a.done:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// askNow asks for the window and records the answer.
func (w *Book) askNow(s Server, key servedKey, a *Question) {
	defer close(a.done)
	ctx, cancel := context.WithTimeout(w.closing, askFor)
	defer cancel()
	answer := w.answer(ctx, s, key.model)
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
func (w *Book) answer(ctx context.Context, s Server, model string) window.Served {
	out := window.Served{Fault: window.Silent}
	for _, q := range window.Questions(model, s.Native()) {
		at := s.Name() + q.Path
		body, status, err := s.Answer(ctx, q)
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
				return window.Served{Tokens: n, Detail: at, Since: w.o.Now(), Asked: w.o.Now()}
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
		out.Detail = s.Name() + " states no window"
	}
	out.Asked = w.o.Now()
	return out
}

// RecordReached records that a request was sent to an upstream, and reports whether it is the first.
func (w *Book) RecordReached(upstream string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.sent[upstream]
	if w.sent == nil {
		w.sent = map[string]bool{}
	}
	w.sent[upstream] = true
	return !was
}

// IsReached reports whether a request was sent to an upstream, by this process or by one that has
// stored the answers.
func (w *Book) IsReached(upstream string) bool {
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
		return at + " could not be asked: " + upstream.PlainError(err)
	}
	return fmt.Sprintf("%s answered %d", at, status)
}
