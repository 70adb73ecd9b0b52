package gateway

import (
	"context"
	"net/http"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/intent"
	"github.com/precis-dev/precis/gateway/polyfill"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/responses"
)

// Context management that a request asks of its API is done here if the upstream lacks it: package
// polyfill turns the request's fields into edits, and adds to the response the fields of the API.

// emulate makes the edits that the request asks for, before the view is planned.
func (j *planner) emulate(ctx context.Context) error {
	ctx = j.withLiveRequest(ctx)
	if !j.recordsEdits {
		j.copyEdits(nil)
	}
	if err := j.look(ctx); err != nil {
		return err
	}
	e := polyfill.Emulator{
		Request: j.poly, View: polyfillView{j}, Live: j.req.Live, Reasoning: j.req.Reasoning,
		Summarizer: j.g.o.Summarizer,
		Logger:     j.g.o.Logger, Now: j.g.o.Now,
	}
	if j.g.o.Store != nil {
		e.Keep = j.keepOriginals
	}
	return e.Emulate(ctx)
}

// copyEdits makes the planner work on a copy of the conversation, with additional edits.
func (j *planner) copyEdits(more []precis.Edit) {
	c := *j.work
	c.Edits = slices.Concat(c.Edits, more)
	j.work, j.req.Conversation = &c, &c
}

// keepOriginals stores the messages that a client will replace by a summary, and books the cost of
// that summary.
func (j *planner) keepOriginals(ctx context.Context, end int, sum policy.Summary) {
	originals := j.work.Transcript.Prefix(end)
	if _, err := store.Reconcile(ctx, j.g.conversations.Store(j.owner), originals, nil,
		&store.Progress{}); err != nil {
		j.g.o.Logger.WarnContext(ctx, "a compacted conversation is not stored", "conversation", j.work.ID,
			"error", err)
	}
	if l := j.g.conversations.Ledger(j.owner); l != nil && sum.Call != nil {
		_ = l.Book(ctx, precis.LedgerEntry{ // only queues
			Time: j.g.o.Now(), Conversation: j.work.ID, Model: sum.Call.Model, Kind: precis.KindCall,
			TriggeredBy: precis.TriggeredManual, Usage: sum.Usage, CostUSD: sum.CostUSD,
		})
	}
}

// polyfillView gives polyfills access to the view of a planner.
type polyfillView struct{ j *planner }

// Conversation returns the conversation that is planned on.
func (v polyfillView) Conversation() *precis.Conversation { return v.j.work }

// Result returns the newest pass over the view.
func (v polyfillView) Result() policy.Result { return v.j.res }

// Meter returns the meter of the view.
func (v polyfillView) Meter() *measure.Meter { return v.j.req.Meter }

// KeepAlive sends keep-alive bytes to the client until stop is called.
func (v polyfillView) KeepAlive() (stop func()) { return v.j.keepAlive() }

// Apply records edits, or keeps them for this request only, and measures the view again.
func (v polyfillView) Apply(ctx context.Context, edits []precis.Edit) error {
	j := v.j
	if j.recordsEdits {
		_ = j.conv.Record(ctx, j.mgr, edits...) // on error, another replica was faster: its edits count
	} else {
		j.poly.Made = append(j.poly.Made, edits...)
		j.work.Edits = append(j.work.Edits, edits...)
	}
	j.conv.Written.Forget()
	if slices.ContainsFunc(j.work.Edits, func(e precis.Edit) bool { return e.ID == edits[0].ID }) {
		j.action = actionReduced
	}
	return j.look(ctx)
}

// polyfillAnswer returns the fields that polyfills add to the response; nil: no fields.
func (p *plan) polyfillAnswer() *polyfill.Answer { return p.poly.Answer(p.g.o.Now()) }

// answerAlone answers a request that needs no upstream.
func (x *exchange) answerAlone(p *plan) {
	body, stream, ok := p.poly.WholeAnswer(x.kind == passEmpty, x.g.o.Now())
	if !ok {
		x.refuse(precis.Errorf(precis.CodeInternal, "compact conversation", "no summary could be made"))
		return
	}
	answer := func() []byte { return body }
	x.answerWith(answer, answer, stream)
	x.record()
}

// polyfillWhole adds the fields of the polyfills to a non-streaming response. Its beginning was
// read.
func (p *pipe) polyfillWhole() {
	a, in := p.p.polyfillAnswer(), p.in
	if a == nil || in.res.StatusCode != http.StatusOK || in.problem != nil {
		return
	}
	if in.stream { // see polyfillStream; its length changes
		in.whole = false
		in.res.Header.Del("Content-Length")
		return
	}
	if !in.whole && in.err == nil {
		in.readMore(maxWhole)
	}
	if !in.whole {
		return // too long to be parsed
	}
	var out []byte
	switch report := p.p.result.Report; {
	case p.Work == intent.Count:
		out = polyfill.AddUneditedCount(in.head, report.Unreduced, report.After.Tokens)
	case p.Dialect.Name() == anthropic.Format:
		out = a.Message(in.head)
	case p.Dialect.Name() == responses.Format:
		out = a.Response(in.head)
	}
	if out != nil {
		p.Dialect.Observe(&p.answer, in.head)
		in.head = out
		in.res.Header.Del("Content-Length")
	}
}

// polyfillStream inserts the polyfills' changes to a stream before the client.
func (p *pipe) polyfillStream() {
	a := p.p.polyfillAnswer()
	if a == nil || !p.in.stream || p.in.res.StatusCode != http.StatusOK {
		return
	}
	r := &polyfill.Rewriter{To: p.to, Change: a.ResponseEvents()}
	if p.Dialect.Name() == anthropic.Format {
		r.Change = a.MessageEvents()
	} else if a.Made == nil {
		return
	}
	p.to, p.closing = r, r
}
