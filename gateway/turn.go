package gateway

import (
	"errors"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"precis"
	"precis/gateway/lineage"
	"precis/wire"
)

// turn is one request on its way through the gateway.
type turn struct {
	route
	g     *Gateway
	w     http.ResponseWriter
	r     *http.Request
	owner string
	start time.Time

	body     []byte // as the client sent it, without compression
	unpacked bool   // it came compressed
	composed []byte // what is sent upstream first
	found    *lineage.Found
	held     *held
	mgr      *precis.Manager
	kind     string
	plain    bool   // reasoning is switched off, see thinking.go
	beta     string // a beta that the request needs beside the client's own
	poly     emulation

	recall recalling

	action   string
	result   precis.Result
	report   precis.Report
	managed  bool
	before   int // tokens of what the client sent
	retries  int
	overhead time.Duration

	out    sync.Mutex // guards w while a stream is kept alive
	begun  bool       // the response has begun
	answer wire.Response
	status int
	first  time.Duration
	err    error
}

// serve answers the request.
func (t *turn) serve() {
	defer t.finish()
	if t.work == workPass {
		t.passThrough()
		return
	}
	body, plain, err := readBody(t.r, t.g.o.Limits.Body)
	t.body, t.unpacked = body, plain && t.r.Header.Get("Content-Encoding") != ""
	if err != nil {
		t.refuse(err)
		return
	}
	if !plain || t.r.Header.Get(headerBypass) == "true" {
		t.kind, t.action = "bypass", actionBypass
		t.forwardOpen()
		return
	}
	t.protect()
}

// protect prepares the request and forwards it; a panic on the way forwards what
// the client sent.
func (t *turn) protect() {
	ready := false
	func() {
		defer func() {
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				t.g.o.Logger.ErrorContext(t.r.Context(), "panic", "where", string(debug.Stack()))
				t.kind = "panic"
			}
		}()
		if ready = t.prepare(); ready {
			t.composed = t.compose(t.result)
		}
	}()
	switch {
	case ready && t.kind != "panic":
		t.forward()
	case t.err != nil:
		t.refuse(t.err)
	case t.kind == "panic":
		t.action = actionOpen
		t.forwardOpen()
	}
}

// prepare places the request and makes its view. It reports whether the request
// is ready to be forwarded; t.err says why it is not.
func (t *turn) prepare() bool {
	if t.mgr, t.err = t.g.manager(t.r); t.err != nil {
		return false
	}
	found, err := t.g.table.Place(t.r.Context(), lineage.Request{Owner: t.owner, Dialect: t.dialect, Body: t.body, Passing: t.side, Ending: t.compacts})
	if found == nil {
		t.err = err
		return false
	}
	if err != nil {
		t.g.o.Logger.WarnContext(t.r.Context(), "the store did not answer", "error", err)
	}
	t.found, t.kind = found, string(found.Kind)
	t.held = found.Line.State.(*held)
	if t.err = t.emulated(); t.err != nil {
		return false
	}
	if why := t.passing(); why != "" && !t.poly.manages(why) {
		t.kind, t.action = why, actionPass
		return t.asIs() && !t.answered()
	}
	if err := t.manage(); err != nil {
		if precis.CodeOf(err) == precis.CodeCanceled {
			t.err = err
			return false
		}
		// The best view there is, and the upstream decides.
		t.g.o.Logger.WarnContext(t.r.Context(), "not managed", "conversation", t.held.conv.ID, "code", string(precis.CodeOf(err)), "error", err)
	}
	return !t.answered()
}

// asIs forwards the request without managing it.
func (t *turn) asIs() bool {
	t.result = precis.Result{Units: precis.Units(precis.NewTranscript(t.found.Messages...), nil)}
	return true
}

func (t *turn) refuse(err error) {
	if t.err = err; t.refuseField(err) {
		return
	}
	code, kind := status[precis.CodeOf(err)], "invalid_request_error"
	var large errTooLarge
	switch {
	case errors.As(err, &large):
		code, kind = http.StatusRequestEntityTooLarge, "request_too_large"
	case precis.CodeOf(err) == precis.CodeCanceled:
		t.status = code
		return // nobody listens
	case code >= 500:
		kind = "api_error"
	}
	t.status = code
	if t.begun {
		t.failStream(errorBody(t.route, kind, err.Error()))
		return
	}
	t.g.refuse(t.w, t.route, code, kind, err)
}

// finish tells what became of the request.
func (t *turn) finish() {
	took := time.Since(t.start)
	out := Turn{
		Owner: t.owner, Upstream: t.upstream.Name, Kind: t.kind, Action: t.action, Status: t.status, Usage: t.answer.Usage, Input: t.answer.Input,
		Retries: t.retries, Overhead: t.overhead, FirstByte: t.first, Took: took, Err: t.err,
	}
	if t.dialect != nil {
		out.Dialect = t.dialect.Name()
	}
	if t.found != nil {
		out.Model, out.Stream = t.found.Prompt.Model, t.found.Prompt.Stream
		out.Conversation = t.found.Line.ID
		out.CostUSD = t.g.o.Cost(out.Dialect, out.Model, t.answer.Usage)
	}
	if t.managed {
		out.Report = &t.report
	}
	t.g.o.OnTurn(t.r.Context(), out)
}

// describe sets the headers that tell what was done.
func (t *turn) describe(h http.Header) {
	h.Set(headerAction, t.action)
	if t.found == nil {
		return
	}
	if id := t.found.Line.ID; id != "" {
		h.Set(headerConv, id)
	}
	h.Set(headerMatch, t.kind)
	h.Set(headerNode, t.found.Node.String())
	if !t.found.Parent.IsZero() {
		h.Set(headerParent, t.found.Parent.String())
	}
	h.Set(headerOverhead, strconv.FormatFloat(float64(t.overhead.Microseconds())/1000, 'f', 2, 64))
	if !t.managed {
		return
	}
	h.Set(headerBefore, strconv.Itoa(t.before))
	h.Set(headerAfter, strconv.Itoa(t.report.After.Tokens))
	h.Set(headerWindow, strconv.Itoa(t.report.Decision.Window.Tokens)+" "+string(t.report.Decision.Window.Source))
	if t.retries > 0 {
		h.Set(headerRetries, strconv.Itoa(t.retries))
	}
}
