package gateway

import (
	"context"
	"io"
	"net/http"
	"runtime/debug"
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

type nameKey struct{}

// direct is a transport through the gateway.
type direct struct {
	g    *Gateway
	base http.RoundTripper
}

// RoundTrip sends a request and returns the response when its header has arrived.
func (d *direct) RoundTrip(r *http.Request) (*http.Response, error) {
	rt, ok := upstream.RouteByURL(r)
	if !ok || upgrades(r) {
		return d.base.RoundTrip(r)
	}
	return d.g.calls.Do(r, func(w http.ResponseWriter, in *http.Request) error {
		if name, _ := in.Context().Value(nameKey{}).(string); name != "" {
			in.Header.Set(headerConv, name)
		}
		x := &exchange{Route: rt, direct: d, g: d.g, conversations: d.g.conversations, r: in,
			out: responder{w: w, dialect: rt.Dialect, start: time.Now()}}
		return x.run()
	})
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
