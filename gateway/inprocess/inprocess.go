// Package inprocess answers HTTP requests of a program in its own process, without a port. A response
// is streamed: its body yields what the handler writes, as it is written.
package inprocess

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/precis-dev/precis"
)

// Calls are the requests in progress. The zero value is ready to use, and safe for concurrent use.
type Calls struct {
	mu     sync.Mutex
	closed bool
	open   map[*context.CancelFunc]struct{}
	work   sync.WaitGroup
}

// Do answers a request by serve, and returns the response when its header has arrived. The context of
// serve's request ends when the response is closed. The error of serve is why the response is
// incomplete; nil: it is complete. The error of Do is [precis.CodeCanceled] after [Calls.End].
func (c *Calls) Do(r *http.Request,
	serve func(w http.ResponseWriter, in *http.Request) error) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	leave, ok := c.enter(cancel)
	if !ok {
		cancel()
		closeBody(r)
		return nil, precis.Errorf(precis.CodeCanceled, "send request", "the gateway is closed")
	}
	in := r.Clone(ctx)
	if in.Body == nil {
		in.Body = http.NoBody
	}
	a := newAnswer()
	// unblocks readers of the body
	stop := context.AfterFunc(ctx, func() { _ = a.to.CloseWithError(context.Cause(ctx)) })
	go func() {
		defer leave()
		defer cancel()
		defer closeBody(in)
		a.end(serve(a, in))
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

// enter registers a request. Ok is false when no more requests are accepted.
func (c *Calls) enter(cancel context.CancelFunc) (leave func(), ok bool) {
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

// End cancels the requests in progress, waits until they have ended, and accepts no more.
func (c *Calls) End() {
	c.mu.Lock()
	c.closed = true
	for cancel := range c.open {
		(*cancel)()
	}
	c.mu.Unlock()
	c.work.Wait()
}

// answer is the [http.ResponseWriter] of a request. Written bytes go directly to the reader of the
// response body, without a buffer.
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
		Header: a.sent, Body: &body{a.body, cancel}, ContentLength: size, Request: r,
	}
}

// body is the body of a response in process.
type body struct {
	*io.PipeReader
	cancel context.CancelFunc
}

var errBodyClosed = errors.New("read of a closed response body")

// Close ends the request if it has not ended. It may be called more than once.
func (b *body) Close() error {
	err := b.PipeReader.CloseWithError(errBodyClosed)
	b.cancel()
	return err
}
