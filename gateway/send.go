package gateway

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/accounts"
	"github.com/precis-dev/precis/gateway/admission"
	"github.com/precis-dev/precis/gateway/intent"
	"github.com/precis-dev/precis/gateway/polyfill"
	"github.com/precis-dev/precis/gateway/reasoning"
	"github.com/precis-dev/precis/gateway/splice"
	"github.com/precis-dev/precis/gateway/upstream"
	"github.com/precis-dev/precis/internal/contentcoding"
	"github.com/precis-dev/precis/internal/window"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/overflow"
	"github.com/precis-dev/precis/wire/responses"
)

// forward sends the request upstream, retries with a smaller view while the upstream reports that
// it is too long, and relays the response.
func (x *exchange) forward(p *plan, out composed) {
	for {
		x.overhead = x.timeBeforeForward()
		res, err := x.send(x.r.Context(), p, out)
		if err != nil {
			x.failed(err)
			return
		}
		in := x.receiveFirst(res)
		next, smaller, ok := p.retryRequest(out, in)
		if !ok {
			x.storeTurn(p, in)
			x.relay(p, out, in)
			return
		}
		_ = in.close()
		x.retries++
		x.answer = wire.Response{Keep: x.answer.Keep}
		p, out, x.plan = next, smaller, next
	}
}

// storeTurn stores the turn before its answer begins, if replicas share the store, because the next
// turn may reach another one. The time it takes is charged to the upstream.
func (x *exchange) storeTurn(p *plan, in *reply) {
	if !x.g.o.Shared || !x.managed() || !p.remembered() || in.res.StatusCode >= 400 {
		return
	}
	p.conv.Save()
	x.conversations.Share(x.r.Context(), p.conv)
}

// forwardUnchanged forwards the client's request byte for byte.
func (x *exchange) forwardUnchanged(q *request) {
	x.overhead = x.timeBeforeForward()
	res, err := x.send(x.r.Context(),
		&plan{placed: &placed{exchange: x, request: q, poly: &polyfill.Request{}}}, composed{body: q.body})
	if err != nil {
		x.failed(err)
		return
	}
	x.relay(nil, composed{}, &reply{res: res, events: &wire.Events{}})
}

// passThrough proxies a request without reading it.
func (x *exchange) passThrough() {
	x.kind, x.action, x.reason = "other", actionPass, x.Unknown
	leave, err := x.g.gate.Enter(admission.Passing, x.owner)
	if err != nil {
		x.refuse(err)
		return
	}
	defer leave()
	x.out.note(x.reason)
	x.out.w.Header().Set(headerAction, x.action)
	x.r.Body = admission.Pace(x.out.w, x.r.Body)
	x.g.proxy.ServeHTTP(&statusWriter{ResponseWriter: x.out.w, status: &x.out.status}, x.r)
}

// statusWriter records the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status *int
}

func (w *statusWriter) WriteHeader(code int) {
	*w.status = code
	w.ResponseWriter.WriteHeader(code)
}

// Unwrap lets [http.ResponseController] find the writer.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// staleAfter is how quickly a request fails on a kept connection that the upstream has closed: at
// once, or after one round trip.
const staleAfter = 300 * time.Millisecond

// send sends a request upstream, and again if a kept connection turns out to be closed.
func (x *exchange) send(ctx context.Context, p *plan, out composed) (*http.Response, error) {
	var kept bool
	var since time.Time
	traced := httptrace.WithClientTrace(ctx,
		&httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { kept, since = c.Reused, time.Now() }})
	res, err := x.sendOnce(traced, p, out)
	if err != nil && kept && time.Since(since) < staleAfter && ctx.Err() == nil {
		res, err = x.sendOnce(ctx, p, out)
	}
	if err == nil { // some servers compress although they were asked not to
		contentcoding.Unpack(res)
	}
	return res, err
}

func (x *exchange) sendOnce(ctx context.Context, p *plan, out composed) (*http.Response, error) {
	u := x.URL(x.r.URL.RawQuery)
	if x.direct != nil {
		u = x.r.URL
	}
	req, err := http.NewRequestWithContext(ctx, x.r.Method, u.String(), bytes.NewReader(out.body))
	if err != nil {
		return nil, err
	}
	req.Header = x.r.Header.Clone()
	upstream.StripHeader(req.Header)
	req.Header.Del("Content-Length")
	if p.compressed {
		req.Header.Del("Content-Encoding")
	}
	req.Header.Set("Accept-Encoding", "identity") // the response is parsed on its way
	if out.beta != "" {
		req.Header[headerBeta] = betas(x.r.Header, out.beta)
	}
	p.poly.RemoveBetas(req.Header)
	if x.direct != nil {
		req.Host = x.r.Host
		return x.direct.base.RoundTrip(req)
	}
	res, err := x.g.o.Transport.RoundTrip(req)
	if err == nil {
		x.recordReached()
		x.g.accounts.RecordStatus(x.r, x.Upstream, res.StatusCode)
		x.updateProof(res.StatusCode)
	}
	return res, err
}

// updateProof updates an unproven credential from the status of an answer. A conversation is stored only
// after a success; a refusal discards a conversation that the request began.
func (x *exchange) updateProof(status int) {
	switch {
	case x.placed == nil:
	case status < 300:
		x.doubted = false
		x.placed.conv.Confirm()
	case x.doubted && accounts.IsRefusal(status) && x.placed.conv.Info().Requests == 0:
		x.conversations.Discard(x.placed.conv)
	}
}

// failed answers when the upstream cannot be reached.
func (x *exchange) failed(err error) {
	if x.r.Context().Err() != nil {
		x.err, x.out.status = precis.Errorf(precis.CodeCanceled, "forward request",
			"the client has gone"), 499
		return
	}
	x.g.o.Logger.WarnContext(x.r.Context(), "upstream failed", "upstream", x.Upstream.Name,
		"host", x.Upstream.URL.Host, "error", upstream.PlainError(err))
	if x.direct != nil { // the program gets the error it would get without precis
		x.err, x.out.status = err, http.StatusBadGateway
		panic(http.ErrAbortHandler)
	}
	why := upstream.PlainError(err)
	if hint := upstream.HintOf(err); hint != "" {
		why += "; " + hint
	}
	x.refuse(precis.Errorf(precis.CodeUpstream, "forward request", "%s: %s", x.Upstream.Name, why))
}

// reply is a response, possibly with its beginning read.
type reply struct {
	res     *http.Response
	head    []byte // bytes that were read
	whole   bool   // head is the whole response
	err     error  // why reading ended
	stream  bool
	problem []byte // the error that the response is or begins with; nil: no error
	full    bool   // it is empty because the window was full
	events  *wire.Events
}

func (in *reply) close() error { return in.res.Body.Close() }

// wholeLimit is the longest answer, in bytes, that is read before it is relayed. A stream is read
// only up to its first word.
const wholeLimit = 64 << 10

// receive reads enough of a response to see whether it is an error. A response that is neither a
// stream nor longer than limit is read whole.
func (x *exchange) receive(res *http.Response, limit int64) *reply {
	return x.receiveAs(res, limit, false)
}

// receiveFirst is receive for the first response to a request, before any byte was relayed.
func (x *exchange) receiveFirst(res *http.Response) *reply { return x.receiveAs(res, wholeLimit, true) }

func (x *exchange) receiveAs(res *http.Response, limit int64, first bool) *reply {
	in := &reply{res: res, events: &wire.Events{Each: x.event}}
	in.stream = strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
	switch {
	case res.StatusCode >= 400:
		in.read(x.g.o.Limits.Error)
		in.problem = in.head
	case in.stream:
		in.hold(x, first)
	case limit > wholeLimit || res.ContentLength <= limit && strings.Contains(res.Header.Get("Content-Type"),
		"json"):
		in.read(limit)
		if in.whole || limit > wholeLimit {
			x.Dialect.Observe(&x.answer, in.head)
			in.problem = x.answer.Error
			in.full = in.whole && x.managed() && x.answer.Full()
		}
	}
	return in
}

// read reads up to limit bytes.
func (in *reply) read(limit int64) {
	in.head, in.err = io.ReadAll(io.LimitReader(in.res.Body, limit+1))
	in.whole = int64(len(in.head)) <= limit
}

// readMore continues reading a response, up to limit bytes in all.
func (in *reply) readMore(limit int) {
	rest, err := io.ReadAll(io.LimitReader(in.res.Body, int64(limit-len(in.head)+1)))
	in.head = append(in.head, rest...)
	in.err, in.whole = err, len(in.head) <= limit && err == nil
}

// hold reads the beginning of a stream while it may still turn out to be an error: up to the first
// word of the answer, past all announcements. The stream of a follow-up is read that far only where
// an overflow is likely, because its client gets no keep-alive bytes meanwhile.
func (in *reply) hold(x *exchange, first bool) {
	if !x.managed() {
		return
	}
	if first {
		defer x.keepHeld(in)()
	}
	buf := make([]byte, 8<<10)
	for x.answer.Error == nil && !x.answer.Spoken && !x.answer.Done {
		n, err := in.res.Body.Read(buf)
		_, _ = in.events.Write(buf[:n])
		in.head = append(in.head, buf[:n]...)
		if err != nil {
			in.err, in.whole = err, true
			break
		}
		if !first && !x.plan.overflowsLate() || len(in.head) > wholeLimit {
			break
		}
	}
	if in.whole {
		in.events.Flush()
	}
	if !x.answer.Spoken {
		in.problem = x.answer.Error
		in.full = (x.answer.Done || in.whole) && x.answer.Full()
	}
}

// keepHeld keeps the client's stream alive while the beginning of an answer is held.
func (x *exchange) keepHeld(in *reply) (stop func()) {
	if x.assembly != nil || x.direct != nil { // no client connection waits
		return func() {}
	}
	x.out.hold(in, x.describe)
	quiet := x.out.keepAlive(x.r.Context().Done(), x.g.o.KeepAlive, x.placed.found.Line.ID)
	return func() { quiet(); x.out.hold(nil, nil) }
}

// overflowsLate reports whether the upstream may refuse the request after it has announced an
// answer, as the Responses API does, and whether the request is large enough for the known window
// to overflow.
func (p *plan) overflowsLate() bool {
	if p.Dialect.Name() != responses.Format {
		return false
	}
	report := p.result.Report
	w, used := report.Decision.Window, report.After.Tokens
	if w.Guessed() {
		return used > 4000
	}
	return used > w.Tokens/2
}

// event observes an event of the answer.
func (x *exchange) event(name string, data []byte) {
	if name == "error" && x.answer.Error == nil { // in any form
		x.answer.Error = bytes.Clone(data)
	}
	if x.answer.Keep == 0 && x.answer.Spoken && !bytes.Contains(data, []byte(`"usage"`)) &&
		!bytes.Contains(data, []byte("error")) && len(data) > 6 &&
		!bytes.Contains(data, []byte("stop")) && !bytes.Contains(data, []byte("finish_reason\":\"")) {
		return // it repeats known content
	}
	x.Dialect.Observe(&x.answer, data)
}

// retryRequest returns the request to send instead when the response reports that the view was too long,
// that reasoning in it is no longer valid, or that the client's messages are invalid and can be
// repaired.
func (p *plan) retryRequest(out composed, in *reply) (*plan, composed, bool) {
	if p.mending && in.problem == nil {
		p.mendsFromNow()
	}
	if in.problem == nil && !in.full || !p.managed && p.passing() != passSide || p.Work != intent.Turn ||
		p.r.Context().Err() != nil {
		return nil, composed{}, false
	}
	code := in.res.StatusCode
	if in.full {
		return p.smaller(overflow.Overflow{})
	}
	if out.beta != "" && reasoning.IsControlError(code, in.problem) {
		p.g.freeModels.Store([2]string{p.Upstream.Name, p.found.Prompt.Model}, true)
		return p, p.compose(), true
	}
	if reasoning.IsReasoningError(code, in.problem) && !p.reasoningOff && p.found.Prompt.Thinking &&
		(splice.Edited(p.result) || len(out.tools) > 0) {
		p = p.withoutReasoning()
		return p, p.compose(), true
	}
	over, is := overflow.Classify(code, in.problem)
	if !is && (code == http.StatusBadRequest || code == http.StatusUnprocessableEntity) {
		if next, ok := p.repaired(); ok {
			return next, next.compose(), true
		}
	}
	if !is {
		if limit, is := overflow.Limits(code, in.problem); is {
			if next, ok := p.withinLimit(limit); ok {
				return next, next.compose(), true
			}
		}
		return nil, composed{}, false
	}
	return p.smaller(over)
}

// leastBytes is the smallest body that servers refuse for its size in bytes. It is below the limits
// of all known APIs and of proxies in front of them.
const leastBytes = 512 << 10

// smaller returns the request to send instead of one that was too long.
func (p *plan) smaller(over overflow.Overflow) (*plan, composed, bool) {
	p.recordRefusal(over)
	if p.retries >= policy.MaxForced {
		return nil, composed{}, false
	}
	next, ok := p.smallerPlan()
	if !ok {
		return nil, composed{}, false
	}
	return next, next.compose(), true
}

// recordRefusal records an overflow that refused the request, and whether its smaller view is for this
// request only.
func (p *plan) recordRefusal(over overflow.Overflow) {
	p.recordOverflow(over, false)
	p.thisRequestOnly = p.managed && (!over.Bytes || len(p.body) < leastBytes) &&
		p.window(p.r.Context()).Uncertain(p.overflow(over))
}

// counted returns the size of the request in tokens by our own count.
func (p *plan) counted() int {
	if !p.managed {
		return len(p.body) / 4
	}
	return p.result.Report.After.Tokens + p.result.Report.After.Guessed
}

// overflow describes an overflow as evidence about the request's window.
func (p *plan) overflow(over overflow.Overflow) window.Overflow {
	return window.Overflow{Limit: over.Limit, Used: over.Used, Counted: p.counted(), Known: p.known}
}

// recordOverflow records an overflow: its evidence about the window, and the tokens the provider counted.
// Seen: the client received the error after the beginning of the answer.
func (p *plan) recordOverflow(over overflow.Overflow, seen bool) {
	if p.known == 0 {
		p.known = p.window(p.r.Context()).Window().Tokens
	}
	if over.Bytes {
		return
	}
	report := p.result.Report
	o := p.overflow(over)
	o.Seen = seen
	p.g.windows.RecordRefused(p.windowKey(), o)
	if ceiling := o.Ceiling(p.retries); ceiling > 0 && (p.ceiling == 0 || ceiling < p.ceiling) {
		p.ceiling = ceiling
	}
	if over.Used > 0 && over.Used >= over.Limit {
		// cannot fail without a store
		_ = p.g.conversations.Manager(p.manager, p.owner).Observe(context.Background(), report, over.Used)
	}
	p.g.o.Logger.InfoContext(p.r.Context(), "overflow", "conversation", p.found.Line.ID, "upstream",
		p.Upstream.Name, "model", p.found.Prompt.Model,
		"limit", over.Limit, "used", over.Used, "counted", o.Counted)
}

// recordLateOverflow records an overflow that arrived after part of the answer was relayed, so that the next
// turn is smaller.
func (p *plan) recordLateOverflow(in *reply) {
	if !p.managed || p.Work != intent.Turn || in.problem != nil || in.full || p.answer.Error == nil {
		return
	}
	over, is := overflow.Classify(in.res.StatusCode, p.answer.Error)
	if !is {
		return
	}
	p.recordOverflow(over, true)
	if !over.Bytes && p.remembered() {
		p.conv.TooLong.Store(int64(p.result.Report.After.Tokens))
	}
}
