package gateway

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/precis-dev/precis/gateway/intent"
	"github.com/precis-dev/precis/gateway/upstream"
	"github.com/precis-dev/precis/gateway/windows"
	"github.com/precis-dev/precis/internal/window"
)

const (
	questFor  = 3 * time.Second // for one question about a window
	askLimit  = 4 << 20         // bytes read of an answer
	worthWait = 8 << 10         // requests with fewer bytes fit every window
	worthAsk  = 2 << 10         // requests with fewer bytes to a model of the catalog do not need the window yet
)

// windowServer asks the upstream of a request for windows, with its headers and its query. It is a
// [windows.Server].
type windowServer struct {
	Credentials
	transport http.RoundTripper
}

// Name returns the name of the upstream.
func (s windowServer) Name() string { return s.Upstream.Name }

// Native reports whether the upstream is the API of the company that makes its models.
func (s windowServer) Native() bool { return upstream.NativeOf(s.Upstream.URL.Host) != nil }

// Answer sends a question and returns the body and the status of the response. It reads the body
// only when the status is 200.
func (s windowServer) Answer(ctx context.Context, q window.Question) (body []byte, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, questFor)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, q.Method, s.Upstream.Join(q.Path, s.query).String(),
		strings.NewReader(string(q.Body)))
	if err != nil {
		return nil, 0, err
	}
	req.Header = s.Header.Clone()
	if q.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := s.transport.RoundTrip(req)
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
	if !p.g.windows.IsReached(p.Upstream.Name) {
		return
	}
	if q := p.ask(); len(p.body) >= worthWait && p.Work == intent.Turn {
		q.Wait(p.r.Context())
	}
}

// ask asks for the window of the request's model with the headers and the query of the request.
func (p *placed) ask() *windows.Question {
	if !p.g.o.Probe || p.assembly != nil || p.direct != nil {
		return nil
	}
	if len(p.body) < worthAsk && !p.window(p.r.Context()).Window().Guessed() {
		return nil
	}
	c := p.credentialsOf()
	c.Header, c.query = p.r.Header.Clone(), p.r.URL.RawQuery
	upstream.StripHeader(c.Header)
	upstream.StripBody(c.Header)
	p.poly.RemoveBetas(c.Header)
	return p.g.windows.Ask(p.r.Context(), windowServer{c, p.g.o.Transport}, p.found.Prompt.Model)
}

// recordReached records that the upstream has answered, and the first time asks for the window of the
// request's model.
func (x *exchange) recordReached() {
	if first := x.g.windows.RecordReached(x.Upstream.Name); first && x.managed() && x.placed != nil {
		x.placed.ask()
	}
}
