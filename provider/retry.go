package provider

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/textproto"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/precis-dev/precis/model"
)

// sendWithRetries sends the request until it is answered, fails permanently, or has no attempt left. limit
// is the name of the output limit in body.
func (c *Client) sendWithRetries(ctx context.Context, r model.Request, body []byte,
	limit string) (model.Response, error) {
	var sum model.Response
	try := func() (*answer, error) {
		a, err := c.attempt(ctx, body, r.Header)
		c.addUsage(&sum, a)
		return a, err
	}
	a, err := backoff.Retry(ctx, func() (*answer, error) {
		a, err := try()
		var f *failure
		if errors.As(err, &f) {
			if other, ok := c.rewrite(r, body, limit, f.err); ok {
				body = other
				a, err = try()
			}
		}
		return a, c.retryVerdict(ctx, err)
	}, backoff.WithBackOff(c.pauses()), backoff.WithMaxTries(uint(c.config.Retries)+1),
		backoff.WithMaxElapsedTime(0))
	if err != nil {
		return sum, callerError(ctx, err)
	}
	resp := a.response()
	resp.Usage, resp.CostUSD, resp.Attempts = sum.Usage, sum.CostUSD, sum.Attempts
	return resp, nil
}

// attempt sends the request once. The answer is never nil: an incomplete one
// may have been billed.
func (c *Client) attempt(parent context.Context, body []byte, live http.Header) (*answer, error) {
	ctx, cancel := context.WithTimeoutCause(parent, c.config.Timeout, errTimeout)
	defer cancel()
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	x := &exchange{
		body:    body,
		headers: c.headers(live),
		idle:    time.AfterFunc(c.config.Idle, func() { abort(errIdle) }),
		wait:    c.config.Idle,
	}
	defer x.idle.Stop()
	a := newAnswer()
	err := c.ask(ctx, x, a)
	if failed := x.wholeError(); failed != nil {
		a.failed = failed
	}
	err = attemptError(parent, ctx, x, a, err)
	var f *failure
	if errors.As(err, &f) {
		f.err.Body = c.withoutKey(f.err.Body)
	}
	return a, err
}

// headers returns the configured headers plus the headers of the live request that this one
// extends, without headers that hold keys or belong to the connection.
func (c *Client) headers(live http.Header) http.Header {
	if len(live) == 0 {
		return c.config.Headers
	}
	out := c.config.Headers.Clone()
	if out == nil {
		out = http.Header{}
	}
	for name, values := range live {
		name = textproto.CanonicalMIMEHeaderKey(name)
		if out[name] == nil && !slices.Contains(ownHeaders, name) && !slices.Contains(keyHeaders, name) {
			out[name] = values
		}
	}
	return out
}

// keyHeaders hold keys.
var keyHeaders = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie",
	"Proxy-Authorization"}

// withoutKey removes the key from the body of an error that quotes it. Keys too
// short to be secret are not removed.
func (c *Client) withoutKey(body []byte) []byte {
	if len(c.config.Key) < 8 {
		return body
	}
	return bytes.ReplaceAll(body, []byte(c.config.Key), []byte("***"))
}

// addUsage adds the usage of an attempt to the sums.
func (c *Client) addUsage(sum *model.Response, a *answer) {
	sum.Attempts++
	sum.Usage.Add(a.Usage)
	sum.CostUSD += c.Price(a.Usage)
	if a.Model != "" {
		sum.Model = a.Model
	}
}

// retryVerdict returns the error that makes the retry loop stop or continue.
func (c *Client) retryVerdict(ctx context.Context, err error) error {
	var f *failure
	if err == nil || !errors.As(err, &f) {
		return backoff.Permanent(err)
	}
	wait := f.err.RetryAfter
	deadline, bounded := ctx.Deadline()
	switch {
	case f.final || !f.err.Retryable(), wait > c.config.MaxWait, bounded && time.Until(deadline) < wait:
		return backoff.Permanent(err)
	case wait > 0:
		return errors.Join(err, &backoff.RetryAfterError{Duration: wait})
	}
	return err
}

// pauses returns the pauses between attempts if the API states none: each about twice the previous
// one, with random jitter so that many clients do not retry at the same time.
func (c *Client) pauses() backoff.BackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval = c.config.Pause
	b.Multiplier = 2
	b.MaxInterval = 30 * time.Second
	return b
}

// callerError returns the error that callers see for the one that ended the loop.
func callerError(ctx context.Context, err error) error {
	var e *model.Error
	switch {
	case errors.As(err, &e):
		return e
	case ctx.Err() != nil:
		return canceled(ctx)
	}
	return err
}
