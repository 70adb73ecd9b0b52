package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/policy"
)

// WebhookOptions are the parts of a [Webhook]. URL is required.
type WebhookOptions struct {
	URL    string
	Client *http.Client  // nil: one with a timeout of 10 seconds
	Logger *slog.Logger  // nil: silent
	Queue  int           // most pending posts; 0 means 256
	Tries  uint          // attempts per post; 0 means 5
	Pause  time.Duration // before the second attempt; 0 means half a second
}

// Note is the body of a post. Only the fields of its type are set.
type Note struct {
	Type         string    `json:"type"` // "condensation", "overflow", "spend" or "error"
	Time         time.Time `json:"time"`
	Conversation string    `json:"conversation,omitempty"`
	Owner        string    `json:"owner,omitempty"`
	Model        string    `json:"model,omitempty"`
	Upstream     string    `json:"upstream,omitempty"`

	// Fields of a condensation.
	Trigger string   `json:"triggered_by,omitempty"`
	Rungs   []string `json:"rungs,omitempty"`
	Before  int      `json:"tokens_before,omitempty"`
	After   int      `json:"tokens_after,omitempty"`
	Window  int      `json:"window,omitempty"`
	CostUSD float64  `json:"cost_usd,omitempty"`

	Retries int `json:"retries,omitempty"` // after an overflow

	// Fields about spending.
	Kind     string  `json:"kind,omitempty"`
	Scope    string  `json:"scope,omitempty"`
	SpentUSD float64 `json:"spent_usd,omitempty"`
	LimitUSD float64 `json:"limit_usd,omitempty"`

	// Fields of an error, of the gateway itself or of an upstream.
	Code   precis.Code `json:"code,omitempty"`
	Status int         `json:"status,omitempty"`
}

// Webhook posts notes to a URL, one after the other. Make it with [NewWebhook] and end it with
// [Webhook.Close]. Methods of a nil Webhook do not post. It is safe for concurrent use.
type Webhook struct {
	o      WebhookOptions
	queue  chan Note
	done   chan struct{}
	cancel context.CancelFunc

	mu     sync.RWMutex // held for writing while the queue is closed
	closed bool

	sent, failed, dropped atomic.Int64
}

// Counts are the numbers of notes by outcome.
type Counts struct{ Waiting, Sent, Failed, Dropped int }

// NewWebhook returns a running webhook.
func NewWebhook(o WebhookOptions) *Webhook {
	if o.Client == nil {
		o.Client = &http.Client{Timeout: 10 * time.Second}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Queue <= 0 {
		o.Queue = 256
	}
	if o.Tries == 0 {
		o.Tries = 5
	}
	if o.Pause <= 0 {
		o.Pause = 500 * time.Millisecond
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &Webhook{o: o, queue: make(chan Note, o.Queue), done: make(chan struct{}), cancel: cancel}
	go w.run(ctx)
	return w
}

func (w *Webhook) run(ctx context.Context) {
	defer close(w.done)
	for n := range w.queue {
		if err := w.post(ctx, n); err != nil {
			w.failed.Add(1)
			w.o.Logger.WarnContext(ctx, "a webhook post was given up", "type", n.Type, "error", err)
			continue
		}
		w.sent.Add(1)
	}
}

// post sends a note, and retries while that may help.
func (w *Webhook) post(ctx context.Context, n Note) error {
	body, err := json.Marshal(n)
	if err != nil {
		return err
	}
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval = w.o.Pause
	_, err = backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, w.try(ctx, body) },
		backoff.WithBackOff(pause), backoff.WithMaxTries(w.o.Tries))
	return err
}

func (w *Webhook) try(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.o.URL, bytes.NewReader(body))
	if err != nil {
		return backoff.Permanent(fmt.Errorf("the URL cannot be used"))
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := w.o.Client.Do(req)
	if err != nil {
		return fmt.Errorf("no answer") // the cause names the URL, which may hold a secret
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // lets the connection be reused
	switch code := res.StatusCode; {
	case code/100 == 2:
		return nil
	case code/100 == 4 && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests:
		return backoff.Permanent(fmt.Errorf("status %d", code))
	default:
		return fmt.Errorf("status %d", code)
	}
}

// put queues a note. It drops and counts the note when the queue is full.
func (w *Webhook) put(n Note) {
	n.Time = time.Now().UTC()
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		w.dropped.Add(1)
		return
	}
	select {
	case w.queue <- n:
	default:
		w.dropped.Add(1)
	}
}

// Turn reports overflows and errors.
func (w *Webhook) Turn(_ context.Context, t gateway.Turn) {
	if w == nil {
		return
	}
	note := Note{Conversation: t.Conversation, Owner: t.Owner, Model: t.Model, Upstream: t.Upstream,
		Status: t.Status}
	if t.Retries > 0 {
		over := note
		over.Type, over.Retries = "overflow", t.Retries
		w.put(over)
	}
	code := precis.CodeOf(t.Err)
	if code == "" && t.Status >= 500 {
		code = precis.CodeUpstream
	}
	if code != "" && code != precis.CodeCanceled && code != precis.CodeInvalid {
		note.Type, note.Code = "error", code
		w.put(note)
	}
}

// Report reports condensations.
func (w *Webhook) Report(_ context.Context, r policy.Report) {
	if w == nil || len(r.Edits) == 0 {
		return
	}
	n := Note{Type: "condensation", Conversation: r.Conversation, Model: r.Model,
		Trigger: string(r.TriggeredBy),
		Before:  r.Before.Tokens, After: r.After.Tokens, Window: r.Decision.Window.Tokens,
		CostUSD: r.CostUSD()}
	for _, e := range r.Edits {
		n.Rungs = append(n.Rungs, e.Rung)
	}
	w.put(n)
}

// Alert reports spending.
func (w *Webhook) Alert(_ context.Context, a policy.Alert) {
	if w != nil {
		w.put(Note{Type: "spend", Conversation: a.Conversation, Kind: a.Kind, Scope: a.Scope,
			SpentUSD: a.SpentUSD, LimitUSD: a.LimitUSD})
	}
}

// Counts returns the numbers of notes by outcome.
func (w *Webhook) Counts() Counts {
	return Counts{len(w.queue), int(w.sent.Load()), int(w.failed.Load()), int(w.dropped.Load())}
}

// Close posts the pending notes, at most until ctx ends.
func (w *Webhook) Close(ctx context.Context) {
	if w == nil {
		return
	}
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.queue)
	}
	w.mu.Unlock()
	select {
	case <-w.done:
	case <-ctx.Done():
	}
	w.cancel()
	<-w.done
}
