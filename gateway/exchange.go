package gateway

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"precis"
	"precis/gateway/admission"
	"precis/gateway/intent"
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

	intent  intent.Intent // what the request is for; the zero value until it is placed
	kind    string        // how the request was recognized, or why it was passed through
	reason  Unmanaged     // why it was not managed; "": it was
	action  string        // what was done: see headerAction
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
	case q.encoded:
		x.kind, x.action, x.reason = "bypass", actionBypass, UnmanagedEncoding
		x.forwardUnchanged(q)
	case x.r.Header.Get(headerBypass) == "true":
		x.kind, x.action, x.reason = "bypass", actionBypass, UnmanagedBypass
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
		x.kind, x.action, x.reason = passMany, actionPass, UnmanagedTooMany
		x.forwardUnchanged(q)
	case errors.Is(err, errPanic):
		x.kind, x.action, x.reason = "panic", actionOpen, UnmanagedFailed
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
		x.err, x.reason = precis.Errorf(precis.CodeInvalid, "read context_management", "%s", field.Message), UnmanagedInvalid
		x.out.note(x.reason)
		x.out.failWith(http.StatusBadRequest, precis.CodeInvalid, field.Body(x.dialect.Name()))
		return
	}
	x.err = err
	if precis.CodeOf(err) != precis.CodeUpstream { // which says nothing of how the request was looked at
		x.reason = reasonOf(err)
	}
	x.out.note(x.unmanaged())
	var thread *threadError
	if errors.As(err, &thread) {
		x.out.failWith(http.StatusBadRequest, precis.CodeInvalid, thread.body())
		return
	}
	x.out.fail(err)
}

// report hands what became of the request to [Options.OnTurn].
func (x *exchange) report() {
	out := Turn{
		Owner: x.owner, Upstream: x.upstream.Name, Kind: x.kind, Action: x.action, Unmanaged: x.unmanaged(), Status: x.out.status, Usage: x.answer.Usage, Input: x.answer.Input,
		Retries: x.retries, Overhead: x.overhead, FirstByte: x.out.first, Took: time.Since(x.out.start), Err: x.err,
	}
	if x.dialect != nil {
		out.Dialect = x.dialect.Name()
	}
	if p := x.placed; p != nil {
		out.Model, out.Stream, out.Conversation = p.found.Prompt.Model, p.found.Prompt.Stream, p.found.Line.ID
		out.CostUSD = x.cost(out.Model, x.answer.Usage)
	}
	out.ByModel = x.madeByModel
	if x.managed() {
		out.Report, out.Outlook, out.Warned, out.CondenseError = &x.plan.result.Report, &x.plan.outlook, x.plan.warned, x.plan.failed
	}
	x.g.o.OnTurn(x.r.Context(), out)
}

// managed reports whether the request has a view of its own.
func (x *exchange) managed() bool { return x.plan != nil && x.plan.managed }

// unmanaged returns why the request was not managed; "": it was, or the gateway answers
// it by itself.
func (x *exchange) unmanaged() Unmanaged {
	if x.action == actionAnswer || x.managed() && x.err == nil && x.reason != UnmanagedFailed {
		return ""
	}
	return x.reason
}

// describe sets the headers that say what was done.
func (x *exchange) describe(h http.Header) {
	h.Set(headerAction, x.action)
	if why := x.unmanaged(); why != "" {
		h.Set(headerUnmanaged, string(why))
	}
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
	if s := r.Shadow; s != nil && s.Due {
		h.Set(headerShadow, strconv.Itoa(s.Before)+" "+strconv.Itoa(s.After))
	}
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

// longWindow is the beginning of the beta by which a request asks Anthropic for a window of a
// million tokens, and longName the ending of a model's name that says the same.
const (
	longWindow = "context-1m"
	longName   = "[1m]"
)

// cost is what usage of a model costs, in US dollars: what its provider states, else an estimate. Long
// requests of some models cost more where the long window was asked for.
func (x *exchange) cost(model string, u precis.Usage) float64 {
	if u.StatedUSD > 0 {
		return u.StatedUSD
	}
	if x.dialect.Name() == anthropic.Format && !strings.HasSuffix(model, longName) && strings.Contains(strings.Join(x.r.Header.Values(headerBeta), ","), longWindow) {
		model += longName
	}
	return x.g.o.Cost(x.dialect.Name(), model, u)
}

// record remembers what came of a request that is a turn of its conversation: its
// size, what it cost, and what the provider counted.
func (x *exchange) record() {
	p := x.plan
	if !x.managed() || !p.remembered() {
		return
	}
	report, model, now := p.result.Report, p.found.Prompt.Model, x.g.o.Now()
	sent := report
	if x.newest != nil {
		sent = x.newest.result.Report
	}
	tokens := sent.After.Tokens
	if x.answer.Error == nil && !x.answer.Full() {
		x.g.windows.accepted(p.windowKey(), x.answer.Input, tokens)
	}
	m := x.g.ownManager(p.manager, x.owner)
	if x.answer.Input > 0 && x.answer.Error == nil {
		_ = m.Observe(context.WithoutCancel(x.r.Context()), report, x.answer.Input) // without a store nothing fails
		x.g.conversations.Learned(x.owner, model, m)
		if !sent.Teaches() { // the pictures and documents of this conversation count otherwise
			p.conv.Measured.Store(&precis.Measured{Messages: p.found.Len, Tokens: x.answer.Input})
		}
	}
	if sent.Calibration > 0 { // by what the answer has taught
		tokens = m.Calibrated(model, int(float64(tokens)/sent.Calibration))
	}
	p.conv.SetInfo(func(rec *store.Record) {
		rec.Requests++
		rec.MaxOutput, rec.Overhead, rec.Tokens, rec.Window, rec.Updated = p.found.Prompt.MaxOutput, sent.Overhead, tokens, report.Decision.Window.Tokens, now
	})
	p.conv.Save()
	if x.answer.Input == 0 {
		return
	}
	sentNow := registry.Sent{Before: p.before, After: report.After.Tokens, Cached: x.answer.Usage.CacheRead+x.answer.Usage.CacheWrite > 0}
	was := p.conv.Sent.Swap(&sentNow)
	if ledger := x.g.conversations.Ledger(x.owner); ledger != nil {
		_ = ledger.Book(x.r.Context(), precis.LedgerEntry{ // is queued
			Time: now, Conversation: p.found.Line.ID, Model: model, Kind: "request", Before: p.before, After: report.After.Tokens,
			Usage: x.answer.Usage, CostUSD: x.cost(model, x.answer.Usage),
			SavedUSD: saved(x.dialect.Name(), func(u precis.Usage) float64 { return x.cost(model, u) }, x.answer.Usage, was, sentNow),
		})
	}
}

// saved returns what a request saved: the cost of what it left out, less the cost of what the
// upstream had in its cache and wrote again, since the view was cut. It is negative where the
// cut costs more than it saves at once.
func saved(dialect string, cost func(precis.Usage) float64, used precis.Usage, was *registry.Sent, sent registry.Sent) float64 {
	usd := cost(unsent(dialect, sent.Before-sent.After, used))
	if was == nil || !was.Cached || sent.Before-sent.After <= was.Before-was.After {
		return usd // the cache was empty, or this request was not cut
	}
	fresh := used.Input + used.CacheWrite
	if dialect != anthropic.Format {
		fresh = used.Input - used.CacheRead
	}
	again := min(fresh-max(sent.Before-was.Before, 0), was.After)
	if again <= 0 {
		return usd
	}
	written := precis.Usage{Input: again}
	if dialect == anthropic.Format && used.CacheWrite > 0 {
		written = precis.Usage{CacheWrite: again}
	}
	return usd + cost(unsent(dialect, again, precis.Usage{CacheRead: 1})) - cost(written)
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
	headerAction    = "X-Precis-Action"        // what was done
	headerBefore    = "X-Precis-Tokens-Before" // of what the client sent
	headerAfter     = "X-Precis-Tokens-After"  // of what was forwarded
	headerWindow    = "X-Precis-Window"        // tokens, and where the number comes from
	headerOverhead  = "X-Precis-Overhead-Ms"   // spent before the request was forwarded
	headerMatch     = "X-Precis-Match"         // how the conversation was recognized
	headerUnmanaged = "X-Precis-Unmanaged"     // why the request was not managed, see [Unmanaged]; absent: it was
	headerNode      = "X-Precis-Node"          // where this request ends
	headerParent    = "X-Precis-Parent"        // where the request ended that it continues
	headerRetries   = "X-Precis-Retries"       // after overflows
	headerError     = "X-Precis-Error"         // the code, when the error is the gateway's own

	headerPercent       = "X-Precis-Percent"        // of the window, used by what was forwarded
	headerShadow        = "X-Precis-Shadow"         // with the preset off, where a reduction would have been made: the tokens before and after
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
