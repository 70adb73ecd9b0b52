package gateway

import (
	"encoding/hex"
	"io"
	"net/http"
	"strconv"

	"precis"
	"precis/gateway/polyfill"
	"precis/wire/anthropic"
	"precis/wire/responses"
)

// tells makes what the answer has to tell of the polyfills.
func (t *turn) tells() *polyfill.Answer {
	e := &t.poly
	if t.action == actionOpen {
		return nil
	}
	if e.answer == nil && (e.asked || e.summary != nil) {
		node := t.found.Node
		e.answer = &polyfill.Answer{
			ID: "precis" + hex.EncodeToString(node[:12]), Model: t.found.Prompt.Model, Created: t.g.o.Now().Unix(),
			Reports: e.asked, Applied: e.applied, Made: e.summary, Usage: e.usage,
		}
	}
	return e.answer
}

// answered answers a request that no upstream needs to. It reports whether it
// did.
func (t *turn) answered() bool {
	if t.poly.mode == modeForward {
		return false
	}
	switch {
	case t.poly.summary != nil:
	case t.kind == passEmpty:
		t.poly.summary = &polyfill.Summary{Text: "Nothing was said beside the messages of the user."}
	default:
		t.refuse(precis.Errorf(precis.CodeInternal, "compact conversation", "no summary could be made"))
		return true
	}
	a := t.tells()
	t.action = actionAnswer
	t.overhead = t.spent()
	body, stream := t.ownAnswer(a)
	t.out.Lock()
	defer t.out.Unlock()
	if !t.begun {
		h := t.w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", strconv.Itoa(len(body)))
		if stream {
			h.Set("Content-Type", "text/event-stream; charset=utf-8")
			h.Set("Cache-Control", "no-cache")
			h.Del("Content-Length")
		}
		t.describe(h)
		t.w.WriteHeader(http.StatusOK)
	}
	t.status, t.begun = http.StatusOK, true
	_, _ = t.w.Write(body) // the client is gone otherwise
	_ = http.NewResponseController(t.w).Flush()
	if t.remembered() {
		t.held.answered(t)
		t.g.saver.answered(t)
	}
	return true
}

// ownAnswer returns the answer that the gateway gives by itself.
func (t *turn) ownAnswer(a *polyfill.Answer) (body []byte, stream bool) {
	stream = t.found.Prompt.Stream && t.poly.mode != modeWindow
	switch {
	case t.poly.mode == modeWindow:
		return a.Compacted(t.spoken()), stream
	case t.poly.mode == modeTrigger && stream:
		return a.TriggeredEvents(), stream
	case t.poly.mode == modeTrigger:
		return a.Triggered(), stream
	case stream:
		return a.PausedEvents(), stream
	}
	return a.Paused(), stream
}

// retell adds what the polyfills tell to a response that is no stream. Its
// beginning was read.
func (t *turn) retell(in *incoming) {
	a := t.tells()
	if a == nil || in.res.StatusCode != http.StatusOK || in.told != nil {
		return
	}
	if in.stream { // see client; its length changes
		in.whole = false
		in.res.Header.Del("Content-Length")
		return
	}
	if !in.whole && in.err == nil {
		in.readMore(maxWhole)
	}
	if !in.whole {
		return // too long to be taken apart
	}
	var out []byte
	switch {
	case t.work == workCount:
		out = polyfill.Counted(in.head, t.report.Said, t.report.After.Tokens)
	case t.dialect.Name() == anthropic.Format:
		out = a.Message(in.head)
	case t.dialect.Name() == responses.Format:
		out = a.Response(in.head)
	}
	if out != nil {
		t.dialect.Observe(&t.answer, in.head)
		in.head = out
		in.res.Header.Del("Content-Length")
	}
}

// readMore reads a response whose beginning was read up to limit bytes.
func (in *incoming) readMore(limit int) {
	rest, err := io.ReadAll(io.LimitReader(in.res.Body, int64(limit-len(in.head)+1)))
	in.head = append(in.head, rest...)
	in.err, in.whole = err, len(in.head) <= limit && err == nil
}

// client returns what the response is written to: the client, behind the changes
// that the polyfills make to a stream.
func (t *turn) client(in *incoming) io.Writer {
	a := t.tells()
	if a == nil || !in.stream || in.res.StatusCode != http.StatusOK {
		return t.w
	}
	r := &polyfill.Rewriter{To: t.w, Change: a.ResponseEvents()}
	if t.dialect.Name() == anthropic.Format {
		r.Change = a.MessageEvents()
	} else if a.Made == nil {
		return t.w
	}
	in.rewriter = r
	return r
}
