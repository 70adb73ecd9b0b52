package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/upstream"
)

// RoundTripper returns a transport that runs the gateway's chain in this process, without a port. A
// request to a model goes to the URL it names, with its own credentials and with a view in place of
// its messages. Every other request goes to base unchanged. All conversations belong to the owner
// "". When an upstream cannot be reached, the error is the one of base.
//
// A response is streamed: its body yields the model's output as it arrives. Closing the body, or
// canceling the request's context, ends the request upstream. [Gateway.Close] ends the requests in
// progress; later ones fail with [precis.CodeCanceled]. Base sends all requests, retries included;
// nil means [http.DefaultTransport].
func (g *Gateway) RoundTripper(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return &direct{g: g, base: base}
}

// WithName returns a context that names the conversation of requests through
// [Gateway.RoundTripper], like the header X-Precis-Conversation. The name serves only to find the
// conversation. Names of more than 200 bytes are dropped.
func WithName(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, nameKey{}, name)
}

// NameHint is the hint of a catalog record that holds the name of a conversation, see [WithName].
const NameHint = headerConv

type nameKey struct{}

// direct is a transport through the gateway.
type direct struct {
	g    *Gateway
	base http.RoundTripper
}

// RoundTrip sends a request and returns the response when its header has arrived.
func (d *direct) RoundTrip(r *http.Request) (*http.Response, error) {
	rt, ok := upstream.Named(r)
	if !ok || upgrades(r) {
		return d.base.RoundTrip(r)
	}
	ctx, cancel := context.WithCancel(r.Context())
	leave, ok := d.g.calls.enter(cancel)
	if !ok {
		cancel()
		closeBody(r)
		return nil, precis.Errorf(precis.CodeCanceled, "send request", "the gateway is closed")
	}
	in := r.Clone(ctx)
	if in.Body == nil {
		in.Body = http.NoBody
	}
	if name, _ := ctx.Value(nameKey{}).(string); name != "" {
		in.Header.Set(headerConv, name)
	}
	a := newAnswer()
	x := &exchange{Route: rt, direct: d, g: d.g, conversations: d.g.conversations, r: in,
		out: responder{w: a, dialect: rt.Dialect, start: time.Now()}}
	// unblocks readers of the body
	stop := context.AfterFunc(ctx, func() { _ = a.to.CloseWithError(context.Cause(ctx)) })
	go func() {
		defer leave()
		defer cancel()
		defer closeBody(in)
		a.end(x.run())
		stop()
	}()
	select {
	case <-a.begun:
	case <-r.Context().Done():
		a.end(context.Cause(r.Context())) // the first cause counts
		<-a.begun
	}
	if a.failed != nil {
		return nil, a.failed
	}
	return a.response(r, cancel), nil
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close() // it was read, or no caller needs it
	}
}

// run serves the request. The error states why the response is incomplete.
func (x *exchange) run() (err error) {
	defer func() {
		switch v := recover(); {
		case v == nil:
		case v == http.ErrAbortHandler:
			err = x.broke()
		default:
			x.g.o.Logger.ErrorContext(x.r.Context(), "panic", "where", string(debug.Stack()))
			err = precis.Errorf(precis.CodeInternal, "answer", "%w", errPanic)
		}
	}()
	x.serve()
	if x.out.status == 499 { // no answer was sent
		return x.broke()
	}
	return nil
}

// broke returns why the response ended early.
func (x *exchange) broke() error {
	if err := context.Cause(x.r.Context()); err != nil {
		return err
	}
	if x.err != nil {
		return x.err
	}
	return io.ErrUnexpectedEOF
}

// answer is the [http.ResponseWriter] of an in-process request. Written bytes go directly to the
// reader of the response body, without a buffer.
type answer struct {
	header http.Header
	body   *io.PipeReader
	to     *io.PipeWriter

	once   sync.Once
	begun  chan struct{} // closed when the header is written, or never will be
	status int           // fixed when begun is closed
	sent   http.Header   // fixed when begun is closed
	failed error         // why there is no response; fixed when begun is closed
}

func newAnswer() *answer {
	a := &answer{header: http.Header{}, begun: make(chan struct{})}
	a.body, a.to = io.Pipe()
	return a
}

// Header returns the header of the response.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader begins the response.
func (a *answer) WriteHeader(code int) {
	a.once.Do(func() {
		a.status, a.sent = code, a.header.Clone()
		close(a.begun)
	})
}

// Write waits until its bytes are read.
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.to.Write(p)
}

// FlushError does not need to flush: Write returns after its bytes were read.
func (a *answer) FlushError() error { return nil }

// end ends the response; err is why it is incomplete, nil if it is complete.
func (a *answer) end(err error) {
	a.once.Do(func() {
		if a.failed = err; err == nil {
			a.failed = io.ErrUnexpectedEOF
		}
		close(a.begun)
	})
	_ = a.to.CloseWithError(err) // never fails
}

// response returns the response to r. Cancel ends its request.
func (a *answer) response(r *http.Request, cancel context.CancelFunc) *http.Response {
	size, err := strconv.ParseInt(a.sent.Get("Content-Length"), 10, 64)
	if err != nil {
		size = -1
	}
	return &http.Response{
		Status: strconv.Itoa(a.status) + " " + http.StatusText(a.status), StatusCode: a.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.sent, Body: &directBody{a.body, cancel}, ContentLength: size, Request: r,
	}
}

// directBody is the body of a response in process.
type directBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

var errBodyClosed = errors.New("read of a closed response body")

// Close ends the request if it has not ended. It may be called more than once.
func (b *directBody) Close() error {
	err := b.PipeReader.CloseWithError(errBodyClosed)
	b.cancel()
	return err
}

// calls are the in-process requests in progress. The zero value is ready to use.
type calls struct {
	mu     sync.Mutex
	closed bool
	open   map[*context.CancelFunc]struct{}
	work   sync.WaitGroup
}

// enter registers a request. Ok is false when no more requests are accepted.
func (c *calls) enter(cancel context.CancelFunc) (leave func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, false
	}
	if c.open == nil {
		c.open = map[*context.CancelFunc]struct{}{}
	}
	key := &cancel
	c.open[key] = struct{}{}
	c.work.Add(1)
	return func() {
		c.mu.Lock()
		delete(c.open, key)
		c.mu.Unlock()
		c.work.Done()
	}, true
}

// end cancels the requests in progress, waits until they have ended, and accepts no more.
func (c *calls) end() {
	c.mu.Lock()
	c.closed = true
	for cancel := range c.open {
		(*cancel)()
	}
	c.mu.Unlock()
	c.work.Wait()
}
