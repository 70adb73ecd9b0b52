package gateway

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"precis"
	"precis/gateway/admission"
	"precis/gateway/lineage"
	"precis/gateway/polyfill"
	"precis/gateway/registry"
	"precis/store"
	"precis/wire"
	"precis/wire/anthropic"
)

// exchange is one request and the response to it. A managed request becomes a
// chain of values, one for each step:
//
//	read     request    the body as the client sent it
//	place    placed     the conversation that it continues
//	plan     plan       the view of that conversation; a user may hold it, see hold.go
//	compose  composed   the bytes to send instead
//	send     reply      the response, read as far as it may be an error
//	relay               the response on its way to the client
//
// A reply that says the view was too long leads back to plan.
type exchange struct {
	route
	g     *Gateway
	r     *http.Request
	owner string
	// conversations holds the one that the request continues.
	conversations *registry.Registry
	assembly      *Assembly // what is asked for instead of an answer; nil: an answer is
	out           responder
	held          *admission.Body // the body; nil until it was read

	overhead time.Duration // until the request was first sent
	waited   time.Duration // that a user held it

	kind    string // how the request was recognized, or why it was passed through
	action  string // what was done: see headerAction
	placed  *placed
	plan    *plan
	answer  wire.Response
	retries int
	known   int // the window in tokens before the first overflow; 0: there was none
	ceiling int // the window that is taken for this request after overflows, in tokens; 0: the known one
	err     error
	doubted bool // the upstream has not accepted its credential yet, or has refused it

	madeByModel []precis.Report // of condensations that the model asked for
	newest      *plan           // after the last of them; nil: plan is
}

// serve answers the request.
func (x *exchange) serve() {
	defer x.report()
	if x.work == workPass {
		x.passThrough()
		return
	}
	q, err := x.read()
	defer func() { x.held.Release() }()
	if err != nil {
		x.refuse(err)
		return
	}
	leave, err := x.g.gate.Enter(admission.Turns, x.owner)
	if err != nil {
		x.refuse(err)
		return
	}
	defer leave()
	switch {
	case q.encoded || x.r.Header.Get(headerBypass) == "true":
		x.kind, x.action = "bypass", actionBypass
		x.forwardUnchanged(q)
	default:
		x.handle(q)
	}
}

var errPanic = errors.New("panic")

// handle answers a request that can be read.
func (x *exchange) handle(q *request) {
	p, out, err := x.prepare(q)
	var many *lineage.TooMany
	switch {
	case errors.As(err, &many):
		x.kind, x.action = passMany, actionPass
		x.forwardUnchanged(q)
	case errors.Is(err, errPanic):
		x.kind, x.action = "panic", actionOpen
		x.plan = nil
		x.forwardUnchanged(q)
	case err != nil:
		x.refuse(err)
	case p.poly.Mode != polyfill.Forward:
		x.answerAlone(p)
	case x.answerSummary(p):
	default:
		x.forward(p, out)
	}
}

// prepare makes the request to send. A panic on the way is logged and becomes
// errPanic.
func (x *exchange) prepare(q *request) (p *plan, out composed, err error) {
	defer func() {
		if v := recover(); v != nil && v != http.ErrAbortHandler {
			x.g.o.Logger.ErrorContext(x.r.Context(), "panic", "where", string(debug.Stack()))
			err = errPanic
		}
	}()
	if x.placed, err = x.place(q); err != nil {
		return nil, composed{}, err
	}
	if x.plan, err = x.planned(x.placed); err != nil {
		return nil, composed{}, err
	}
	if x.plan, err = x.hold(x.plan); err != nil {
		return nil, composed{}, err
	}
	return x.plan, x.plan.compose(), nil
}

// spent returns the time since the request came, before it was first sent.
func (x *exchange) spent() time.Duration {
	if x.overhead > 0 {
		return x.overhead
	}
	return time.Since(x.out.start) - x.waited
}

// refuse answers with an error of the gateway's own.
func (x *exchange) refuse(err error) {
	var field *polyfill.Invalid
	if errors.As(err, &field) {
		x.err = precis.Errorf(precis.CodeInvalid, "read context_management", "%s", field.Message)
		x.out.failWith(http.StatusBadRequest, precis.CodeInvalid, field.Body(x.dialect.Name()))
		return
	}
	x.err = err
	x.out.fail(err)
}

// report hands what became of the request to [Options.OnTurn].
func (x *exchange) report() {
	out := Turn{
		Owner: x.owner, Upstream: x.upstream.Name, Kind: x.kind, Action: x.action, Status: x.out.status, Usage: x.answer.Usage, Input: x.answer.Input,
		Retries: x.retries, Overhead: x.overhead, FirstByte: x.out.first, Took: time.Since(x.out.start), Err: x.err,
	}
	if x.dialect != nil {
		out.Dialect = x.dialect.Name()
	}
	if p := x.placed; p != nil {
		out.Model, out.Stream, out.Conversation = p.found.Prompt.Model, p.found.Prompt.Stream, p.found.Line.ID
		out.CostUSD = x.g.o.Cost(out.Dialect, out.Model, x.answer.Usage)
	}
	out.ByModel = x.madeByModel
	if x.managed() {
		out.Report, out.Outlook, out.Warned, out.CondenseError = &x.plan.result.Report, &x.plan.outlook, x.plan.warned, x.plan.failed
	}
	x.g.o.OnTurn(x.r.Context(), out)
}

// managed reports whether the request has a view of its own.
func (x *exchange) managed() bool { return x.plan != nil && x.plan.managed }

// describe sets the headers that say what was done.
func (x *exchange) describe(h http.Header) {
	h.Set(headerAction, x.action)
	if x.placed == nil {
		return
	}
	f := x.placed.found
	if id := f.Line.ID; id != "" {
		h.Set(headerConv, id)
	}
	h.Set(headerMatch, x.kind)
	h.Set(headerNode, f.Node.String())
	if !f.Parent.IsZero() {
		h.Set(headerParent, f.Parent.String())
	}
	h.Set(headerOverhead, strconv.FormatFloat(float64(x.overhead.Microseconds())/1000, 'f', 2, 64))
	if !x.managed() {
		return
	}
	r := x.plan.result.Report
	h.Set(headerBefore, strconv.Itoa(x.plan.before))
	h.Set(headerAfter, strconv.Itoa(r.After.Tokens))
	h.Set(headerWindow, strconv.Itoa(r.Decision.Window.Tokens)+" "+string(r.Decision.Window.Source))
	h.Set(headerPercent, strconv.FormatFloat(x.plan.outlook.Percent, 'f', 1, 64))
	if n := x.plan.outlook.Room.Lasts; n != nil {
		h.Set(headerTurnsLeft, strconv.Itoa(*n))
	}
	if x.plan.failed != "" {
		h.Set(headerCondenseError, x.plan.failed)
	}
	if x.retries > 0 {
		h.Set(headerRetries, strconv.Itoa(x.retries))
	}
}

// record remembers what came of a request that is a turn of its conversation: its
// size, what it cost, and what the provider counted.
func (x *exchange) record() {
	p := x.plan
	if !x.managed() || !p.remembered() {
		return
	}
	report, model, now := p.result.Report, p.found.Prompt.Model, x.g.o.Now()
	tokens := report.After.Tokens
	if x.newest != nil {
		tokens = x.newest.result.Report.After.Tokens
	}
	p.conv.SetInfo(func(rec *store.Record) {
		rec.Requests++
		rec.Tokens, rec.Window, rec.Updated = tokens, report.Decision.Window.Tokens, now
	})
	p.conv.Save()
	if x.answer.Error == nil && !x.answer.Full() {
		x.g.windows.accepted(p.windowKey(), x.answer.Input, tokens)
	}
	if x.answer.Input == 0 {
		return
	}
	if ledger := x.g.conversations.Ledger(x.owner); ledger != nil {
		_ = ledger.Book(x.r.Context(), precis.LedgerEntry{ // is queued
			Time: now, Conversation: p.found.Line.ID, Model: model, Kind: "request", Before: p.before, After: report.After.Tokens,
			Usage: x.answer.Usage, CostUSD: x.g.o.Cost(x.dialect.Name(), model, x.answer.Usage),
			SavedUSD: x.g.o.Cost(x.dialect.Name(), model, unsent(x.dialect.Name(), p.before-report.After.Tokens, x.answer.Usage)),
		})
	}
	if x.answer.Error == nil {
		m := x.g.ownManager(p.manager, x.owner)
		_ = m.Observe(context.WithoutCancel(x.r.Context()), report, x.answer.Input) // without a store nothing fails
		x.g.conversations.Learned(x.owner, model, m)
	}
}

// unsent returns the usage that tokens would have been that a request left out: read from
// the prompt cache when the request used one, which is the least they can have cost, else
// plain input.
func unsent(dialect string, tokens int, used precis.Usage) precis.Usage {
	tokens = max(tokens, 0)
	switch {
	case used.CacheRead+used.CacheWrite == 0:
		return precis.Usage{Input: tokens}
	case dialect == anthropic.Format:
		return precis.Usage{CacheRead: tokens}
	}
	return precis.Usage{Input: tokens, CacheRead: tokens} // cached tokens are input, too
}

// Headers of requests, for the gateway alone.
const (
	headerBypass  = "X-Precis-Bypass"       // "true": pass this request through
	headerProfile = "X-Precis-Profile"      // the profile to use
	headerFocus   = "X-Precis-Focus"        // what a summary should pay attention to
	headerConv    = "X-Precis-Conversation" // in requests: a name to find it by; in responses: its ID
)

// Headers of responses.
const (
	headerAction   = "X-Precis-Action"        // what was done
	headerBefore   = "X-Precis-Tokens-Before" // of what the client sent
	headerAfter    = "X-Precis-Tokens-After"  // of what was forwarded
	headerWindow   = "X-Precis-Window"        // tokens, and where the number comes from
	headerOverhead = "X-Precis-Overhead-Ms"   // spent before the request was forwarded
	headerMatch    = "X-Precis-Match"         // how the conversation was recognized
	headerNode     = "X-Precis-Node"          // where this request ends
	headerParent   = "X-Precis-Parent"        // where the request ended that it continues
	headerRetries  = "X-Precis-Retries"       // after overflows
	headerError    = "X-Precis-Error"         // the code, when the error is the gateway's own

	headerPercent       = "X-Precis-Percent"        // of the window, used by what was forwarded
	headerTurnsLeft     = "X-Precis-Turns-Left"     // until the view is reduced, if turns go on like the newest; absent: unknown
	headerCondenseError = "X-Precis-Condense-Error" // by name, a condensation that failed; absent: none did
)

// Actions, as headers and metrics name them.
const (
	actionNone    = "none"    // forwarded as it came
	actionView    = "view"    // forwarded with edits made earlier
	actionReduced = "reduced" // reduced for this request
	actionPass    = "pass"    // passed through: no turn of a conversation
	actionBypass  = "bypass"  // passed through on request
	actionOpen    = "open"    // passed through: precis failed
	actionAnswer  = "answer"  // answered by the gateway itself
)
