package gateway

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"time"

	"precis"
	"precis/gateway/polyfill"
	"precis/gateway/recall"
	"precis/wire"
	"precis/wire/overflow"
	"precis/wire/responses"
)

// forward sends the request upstream, again with a smaller view when the
// upstream says that it is too long, and passes the answer on.
func (t *turn) forward() {
	body := t.composed
	for {
		t.overhead, t.recall.sent = t.spent(), body
		res, err := t.send(t.r.Context(), body)
		if err != nil {
			t.failed(err)
			return
		}
		in := t.receive(res)
		again, ok := t.retry(in)
		if !ok {
			t.passOn(in)
			return
		}
		_ = in.close()
		t.retries++
		body = again
	}
}

// spent is the time since the request came, before it was first sent.
func (t *turn) spent() time.Duration {
	if t.overhead > 0 {
		return t.overhead
	}
	return time.Since(t.start)
}

// forwardOpen forwards what the client sent, byte for byte.
func (t *turn) forwardOpen() {
	t.overhead = t.spent()
	res, err := t.send(t.r.Context(), t.body)
	if err != nil {
		t.failed(err)
		return
	}
	t.passOn(&incoming{res: res, events: &wire.Events{}})
}

// passThrough forwards a request that is not looked at.
func (t *turn) passThrough() {
	t.kind, t.action = "other", actionPass
	t.g.proxy.ServeHTTP(&watched{ResponseWriter: t.w, status: &t.status}, t.r)
}

// watched notes the status of a response.
type watched struct {
	http.ResponseWriter
	status *int
}

func (w *watched) WriteHeader(code int) {
	*w.status = code
	w.ResponseWriter.WriteHeader(code)
}

// Unwrap lets [http.ResponseController] find the writer.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// stale is how soon after it was taken a kept connection fails that the upstream
// had closed: at once, or after the way there and back.
const stale = 300 * time.Millisecond

// send sends a body upstream, and once again when a connection that was kept open
// turns out to be closed.
func (t *turn) send(ctx context.Context, body []byte) (*http.Response, error) {
	var kept bool
	var since time.Time
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { kept, since = c.Reused, time.Now() }})
	res, err := t.sendOnce(traced, body)
	if err != nil && kept && time.Since(since) < stale && ctx.Err() == nil {
		return t.sendOnce(ctx, body)
	}
	return res, err
}

func (t *turn) sendOnce(ctx context.Context, body []byte) (*http.Response, error) {
	u := t.upstream.join(t.path, t.r.URL.RawQuery)
	req, err := http.NewRequestWithContext(ctx, t.r.Method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = t.r.Header.Clone()
	stripHops(req.Header)
	stripOwn(req.Header)
	req.Header.Del("Content-Length")
	if t.unpacked {
		req.Header.Del("Content-Encoding")
	}
	req.Header.Set("Accept-Encoding", "identity") // what is said is read on the way
	if t.beta != "" {
		req.Header[headerBeta] = t.betas()
	}
	t.stripBetas(req.Header)
	return t.g.o.Transport.RoundTrip(req)
}

// betas returns the betas of the request, the one it needs beside them included.
func (t *turn) betas() []string {
	list := strings.Join(t.r.Header.Values(headerBeta), ",")
	if strings.Contains(list, t.beta) {
		return []string{list}
	}
	return []string{strings.TrimPrefix(list+","+t.beta, ",")}
}

// failed answers for an upstream that could not be reached.
func (t *turn) failed(err error) {
	if t.r.Context().Err() != nil {
		t.err, t.status = precis.Errorf(precis.CodeCanceled, "forward request", "the client has gone"), 499
		return
	}
	t.g.o.Logger.WarnContext(t.r.Context(), "upstream failed", "upstream", t.upstream.Name, "error", plainError(err))
	t.refuse(precis.Errorf(precis.CodeUpstream, "forward request", "%s: %s", t.upstream.Name, plainError(err)))
}

// incoming is a response whose beginning may have been read.
type incoming struct {
	res    *http.Response
	head   []byte // what was read
	whole  bool   // that is all
	err    error  // why reading ended
	stream bool
	told   []byte // the error that it is or begins with; nil: none
	events *wire.Events

	to       io.Writer          // what it is written to
	rewriter *polyfill.Rewriter // behind to; nil: none
	merger   *recall.Merger     // before it; nil: none
}

func (in *incoming) close() error { return in.res.Body.Close() }

// wholeLimit is the longest answer that is read before it is passed on. Streams
// are not: only what comes before the first word.
const wholeLimit = 64 << 10

// receive reads as much of a response as tells whether it is an error.
func (t *turn) receive(res *http.Response) *incoming {
	in := &incoming{res: res, events: &wire.Events{Each: t.event}}
	in.stream = strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
	switch {
	case res.StatusCode >= 400:
		in.read(t.g.o.Limits.Error)
		in.told = in.head
	case in.stream:
		t.hold(in)
	case res.ContentLength <= wholeLimit && strings.Contains(res.Header.Get("Content-Type"), "json"):
		in.read(wholeLimit)
		if in.whole {
			t.dialect.Observe(&t.answer, in.head)
			in.told = t.answer.Error
		}
	}
	t.recallWhole(in)
	t.retell(in)
	return in
}

// read reads up to limit bytes.
func (in *incoming) read(limit int64) {
	in.head, in.err = io.ReadAll(io.LimitReader(in.res.Body, limit+1))
	in.whole = int64(len(in.head)) <= limit
}

// hold reads the beginning of a stream as long as it may turn out to be an
// error: one that says so at once, and, while an overflow is possible, one that
// only announces an answer.
func (t *turn) hold(in *incoming) {
	if !t.managed {
		return
	}
	buf := make([]byte, 8<<10)
	for t.answer.Error == nil && !t.answer.Spoken && !t.answer.Done {
		n, err := in.res.Body.Read(buf)
		_, _ = in.events.Write(buf[:n])
		in.head = append(in.head, buf[:n]...)
		if err != nil {
			in.err, in.whole = err, true
			break
		}
		if !t.mayOverflow() || len(in.head) > wholeLimit {
			break
		}
	}
	if in.whole {
		in.events.Flush()
	}
	if !t.answer.Spoken {
		in.told = t.answer.Error
	}
}

// mayOverflow reports whether the upstream may still refuse a request after it
// has announced an answer, as the Responses API does, and the request is large
// enough for that, next to what is known of the window.
func (t *turn) mayOverflow() bool {
	if t.dialect.Name() != responses.Format {
		return false
	}
	w := t.report.Decision.Window
	used := t.report.After.Tokens
	if w.Source == precis.SourceAssumed {
		return used > 4000
	}
	return used > w.Tokens/2
}

// event takes in an event of the answer.
func (t *turn) event(_ string, data []byte) {
	if t.answer.Spoken && !bytes.Contains(data, []byte(`"usage"`)) && !bytes.Contains(data, []byte("error")) && len(data) > 6 &&
		!bytes.Contains(data, []byte("stop")) && !bytes.Contains(data, []byte("finish_reason\":\"")) {
		return // more of the same
	}
	t.dialect.Observe(&t.answer, data)
}

// retry returns the body to send instead, when the response says that the view
// was too long, or that reasoning in it no longer fits.
func (t *turn) retry(in *incoming) (body []byte, ok bool) {
	if in.told == nil || !t.managed || t.work != workTurn || t.r.Context().Err() != nil {
		return nil, false
	}
	code := in.res.StatusCode
	if t.beta != "" && aboutControl(code, in.told) {
		t.g.freeModels.Store([2]string{t.upstream.Name, t.found.Prompt.Model}, true)
		t.beta, t.answer = "", wire.Response{}
		return t.compose(t.result), true
	}
	if aboutThinking(code, in.told) && !t.plain && t.found.Prompt.Thinking && (t.edited(t.result) || t.recall.offered) {
		return t.withoutReasoning(), true
	}
	over, is := overflow.Classify(code, in.told)
	if !is || t.retries >= precis.MaxForced {
		return nil, false
	}
	t.g.learned(t, over)
	ctx := t.credentials(t.r.Context())
	if t.held.acquire(ctx) != nil {
		return nil, false
	}
	defer t.held.release()
	sent := t.report.After.Tokens
	m := t.manager()
	err := m.force(ctx, t.retries)
	if err != nil && precis.CodeOf(err) != precis.CodeOverBudget || m.res.Report.After.Tokens >= sent {
		return nil, false
	}
	t.before = max(t.before, m.res.Report.Said)
	t.settled(m)
	t.answer = wire.Response{}
	return t.compose(t.result), true
}

// learned takes in what an overflow told: the window, and how much the provider
// counted.
func (g *Gateway) learned(t *turn, over overflow.Overflow) {
	if over.Bytes {
		return
	}
	g.windows.learn(t.windowKey(), over.Limit)
	if over.Limit == 0 {
		g.windows.learnBelow(t.windowKey(), t.report.After.Tokens)
	}
	if over.Used > 0 && over.Used >= over.Limit {
		_ = t.mgr.With(nil).Observe(context.Background(), t.report, over.Used) // without a store nothing fails
	}
	g.o.Logger.InfoContext(t.r.Context(), "overflow", "conversation", t.found.Line.ID, "upstream", t.upstream.Name, "model", t.found.Prompt.Model,
		"limit", over.Limit, "used", over.Used, "counted", t.report.After.Tokens)
}

// withoutReasoning switches reasoning off for the rest of the turn that is being
// worked on, and leaves all of it out.
func (t *turn) withoutReasoning() []byte {
	if t.held.acquire(t.r.Context()) == nil {
		t.held.plain = lastTurn(t.found.Messages, t.found.Line.Transcript)
		t.held.release()
	}
	t.plain, t.beta = true, ""
	t.answer = wire.Response{}
	return t.compose(t.result)
}

// lastTurn returns the node of the last message in which the user speaks.
func lastTurn(msgs []precis.Message, tr *precis.Transcript) precis.Fingerprint {
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].IsUserTurn() && !msgs[i].HasToolResult() {
			return tr.Fingerprint(i + 1)
		}
	}
	return tr.Fingerprint(1)
}

// isPlain reports whether reasoning is still switched off.
func (m *job) isPlain() bool {
	h := m.held
	if h.plain.IsZero() {
		return false
	}
	if lastTurn(m.found.Messages, m.conv.Transcript) != h.plain {
		h.plain = precis.Fingerprint{}
	}
	return !h.plain.IsZero()
}

// begin writes the head of the response.
func (t *turn) begin(in *incoming) {
	h := t.w.Header()
	for name, values := range in.res.Header {
		h[name] = values
	}
	stripHops(h)
	if in.whole && in.err == nil && !in.stream && in.res.Header.Get("Content-Encoding") == "" {
		h.Set("Content-Length", strconv.Itoa(len(in.head)))
	}
	t.describe(h)
	t.status, t.begun = in.res.StatusCode, true
	t.w.WriteHeader(in.res.StatusCode)
}
