package gateway

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/admission"
	"github.com/precis-dev/precis/gateway/intent"
	"github.com/precis-dev/precis/gateway/lineage"
	"github.com/precis-dev/precis/gateway/polyfill"
	"github.com/precis-dev/precis/gateway/registry"
	"github.com/precis-dev/precis/gateway/unmanaged"
	"github.com/precis-dev/precis/gateway/upstream"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
)

// exchange is one request and the response to it. A managed request becomes a
// chain of values, one for each step:
//
//	read     request    the body as the client sent it
//	place    placed     the conversation that it continues
//	plan     plan       the view of that conversation; a user may hold it, see holdIfOrdered.go
//	compose  composed   the bytes to send instead
//	send     reply      the response, read as far as it may be an error
//	relay               the response on its way to the client
//
// A reply that says the view was too long leads back to plan.
type exchange struct {
	upstream.Route
	direct *direct // of a request through [Gateway.RoundTripper]; nil: it came over HTTP
	g      *Gateway
	r      *http.Request
	owner  string
	// conversations holds the conversation that the request continues.
	conversations *registry.Registry
	assembly      *Assembly // set when the client asks for a view; nil: it asks for an answer
	out           responder
	held          *admission.Body // the body; nil until it was read

	overhead time.Duration // time until the request was first sent
	waited   time.Duration // time that a user held it

	intent  intent.Intent    // purpose of the request; zero until it is placed
	kind    string           // how the request was recognized, or why it was passed through
	reason  unmanaged.Reason // why it was not managed; "": it was
	action  string           // action taken: see headerAction
	placed  *placed
	plan    *plan
	answer  wire.Response
	retries int
	known   int // the window in tokens before the first overflow; 0: no overflow
	ceiling int // the window assumed for this request after overflows, in tokens; 0: the known window
	err     error
	doubted bool // the upstream has not accepted its credential yet, or has refused it

	madeByModel []policy.Report // reports of condensations that the model asked for
	newest      *plan           // plan after the last of them; nil: same as plan
}

// serve answers the request.
func (x *exchange) serve() {
	defer x.report()
	if x.Work == intent.Pass {
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
		x.kind, x.action, x.reason = "bypass", actionBypass, unmanaged.Encoding
		x.forwardUnchanged(q)
	case x.r.Header.Get(headerBypass) == "true":
		x.kind, x.action, x.reason = "bypass", actionBypass, unmanaged.Bypass
		x.forwardUnchanged(q)
	default:
		x.handle(q)
	}
}

var errPanic = errors.New("panic")

// handle answers a request that was read.
func (x *exchange) handle(q *request) {
	p, out, err := x.prepare(q)
	var many *lineage.TooManyError
	switch {
	case errors.As(err, &many):
		x.kind, x.action, x.reason = passMany, actionPass, unmanaged.TooMany
		x.forwardUnchanged(q)
	case errors.Is(err, errPanic):
		x.kind, x.action, x.reason = "panic", actionOpen, unmanaged.Failed
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

// prepare makes the request to send. A panic is logged and becomes errPanic.
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
	if x.plan, err = x.holdIfOrdered(x.plan); err != nil {
		return nil, composed{}, err
	}
	return x.plan, x.plan.compose(), nil
}

// timeBeforeForward returns the time between the arrival of the request and its first forwarding.
func (x *exchange) timeBeforeForward() time.Duration {
	if x.overhead > 0 {
		return x.overhead
	}
	return time.Since(x.out.start) - x.waited
}

// refuse answers with an error of the gateway's own.
func (x *exchange) refuse(err error) {
	var field *polyfill.InvalidError
	if errors.As(err, &field) {
		x.err, x.reason = precis.Errorf(precis.CodeInvalid, "read context_management", "%s",
			field.Message), unmanaged.Invalid
		x.out.note(x.reason)
		x.out.failWith(http.StatusBadRequest, precis.CodeInvalid, field.Body(x.Dialect.Name()))
		return
	}
	x.err = err
	if precis.CodeOf(err) != precis.CodeUpstream {
		// an upstream error does not concern how the request was managed
		x.reason = unmanaged.ReasonOf(err)
	}
	x.out.note(x.unmanaged())
	var thread *unmanaged.ThreadError
	if errors.As(err, &thread) {
		x.out.failWith(http.StatusBadRequest, precis.CodeInvalid, thread.Body())
		return
	}
	x.out.fail(err)
}

// report passes the outcome of the request to [Options.OnTurn].
func (x *exchange) report() {
	out := Turn{
		Owner: x.owner, Upstream: x.Upstream.Name, Kind: x.kind, Action: x.action, Unmanaged: x.unmanaged(),
		Status: x.out.status, Usage: x.answer.Usage, Input: x.answer.Input,
		Retries: x.retries, Overhead: x.overhead, FirstByte: x.out.first, Took: time.Since(x.out.start),
		Err: x.err,
	}
	if x.Dialect != nil {
		out.Dialect = x.Dialect.Name()
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

// unmanaged returns why the request was not managed; "": it was, or the gateway answers it itself.
func (x *exchange) unmanaged() unmanaged.Reason {
	if x.action == actionAnswer || x.managed() && x.err == nil && x.reason != unmanaged.Failed {
		return ""
	}
	return x.reason
}

// describe sets the headers that report the gateway's action.
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
	if n := x.plan.outlook.Room.TurnsLeft; n != nil {
		h.Set(headerTurnsLeft, strconv.Itoa(*n))
	}
	if x.plan.failed != "" {
		h.Set(headerCondenseError, x.plan.failed)
	}
	if x.retries > 0 {
		h.Set(headerRetries, strconv.Itoa(x.retries))
	}
}

// longWindow is the prefix of the beta that asks Anthropic for a window of a million tokens;
// longName is the suffix of a model name with the same meaning.
const (
	longWindow = "context-1m"
	longName   = "[1m]"
)

// cost returns the cost of a model's usage in US dollars: the provider's figure, else an estimate.
// Long requests to some models cost more if the long window was asked for.
func (x *exchange) cost(model string, u precis.Usage) float64 {
	if u.StatedUSD > 0 {
		return u.StatedUSD
	}
	if x.Dialect.Name() == anthropic.Format && !strings.HasSuffix(model, longName) &&
		strings.Contains(strings.Join(x.r.Header.Values(headerBeta), ","), longWindow) {
		model += longName
	}
	return x.g.o.Cost(x.Dialect.Name(), model, u)
}

// record records the outcome of a request that is a turn of its conversation: its size, its cost,
// and the tokens that the provider counted.
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
	if x.answer.Error == nil && !x.answer.Full() && x.assembly == nil {
		x.g.windows.RecordAccepted(p.windowKey(), x.answer.Input, tokens)
	}
	m := x.g.conversations.Manager(p.manager, x.owner)
	if x.answer.Input > 0 && x.answer.Error == nil {
		// cannot fail without a store
		_ = m.Observe(context.WithoutCancel(x.r.Context()), report, x.answer.Input)
		x.g.conversations.Learned(x.owner, model, m)
		if !sent.CanCalibrate() { // images and documents distort the count of this conversation
			p.conv.Measured.Store(&precis.Measured{Messages: p.found.Len, Tokens: x.answer.Input})
		}
	}
	if sent.Calibration > 0 { // with the calibration that this answer has updated
		tokens = m.Calibrated(model, int(float64(tokens)/sent.Calibration))
	}
	p.conv.SetInfo(func(rec *store.Record) {
		rec.Requests++
		rec.MaxOutput, rec.Overhead, rec.Tokens = p.found.Prompt.MaxOutput, sent.Overhead, tokens
		rec.Window, rec.Updated = report.Decision.Window.Tokens, now
	})
	p.conv.Save()
	if x.answer.Input == 0 {
		return
	}
	sentNow := registry.Sent{Before: p.before, After: report.After.Tokens,
		Cached: x.answer.Usage.CacheRead+x.answer.Usage.CacheWrite > 0}
	was := p.conv.Sent.Swap(&sentNow)
	if ledger := x.g.conversations.Ledger(x.owner); ledger != nil {
		_ = ledger.Book(x.r.Context(), precis.LedgerEntry{ // only queues
			Time: now, Conversation: p.found.Line.ID, Model: model, Kind: "request", Before: p.before,
			After: report.After.Tokens,
			Usage: x.answer.Usage, CostUSD: x.cost(model, x.answer.Usage),
			SavedUSD: sentNow.SavedUSD(x.Dialect.Name(),
				func(u precis.Usage) float64 { return x.cost(model, u) },
				x.answer.Usage, was),
		})
	}
}

// Request headers that are meant only for the gateway.
const (
	headerBypass  = "X-Precis-Bypass"  // "true": pass this request through
	headerProfile = "X-Precis-Profile" // the profile to use
	headerFocus   = "X-Precis-Focus"   // topic that a summary should focus on
	headerConv    = registry.NameHint  // in requests: a name to find it by; in responses: its ID
)

// headerBeta lists the beta features of Anthropic's API that a request uses.
const headerBeta = "Anthropic-Beta"

// Headers of responses.
const (
	headerAction   = "X-Precis-Action"        // action taken
	headerBefore   = "X-Precis-Tokens-Before" // of the client's request
	headerAfter    = "X-Precis-Tokens-After"  // of the forwarded request
	headerWindow   = "X-Precis-Window"        // tokens, and the source of the number
	headerOverhead = "X-Precis-Overhead-Ms"   // time spent before the request was forwarded
	headerMatch    = "X-Precis-Match"         // how the conversation was recognized
	// why the request was not managed, see [unmanaged.Reason]; absent: it was
	headerUnmanaged = "X-Precis-Unmanaged"
	headerNode      = "X-Precis-Node"    // node of the end of this request
	headerParent    = "X-Precis-Parent"  // node of the end of the request that this one continues
	headerRetries   = "X-Precis-Retries" // after overflows
	headerError     = "X-Precis-Error"   // the code, when the error is the gateway's own

	headerPercent = "X-Precis-Percent" // of the window, used by the forwarded request
	// with the preset off: tokens before and after the due reduction
	headerShadow = "X-Precis-Shadow"
	// estimated turns until the view is reduced; absent: unknown
	headerTurnsLeft     = "X-Precis-Turns-Left"
	headerCondenseError = "X-Precis-Condense-Error" // name of a condensation that failed; absent: no failure
)

// Actions, as named in headers and metrics.
const (
	actionNone    = "none"    // forwarded unchanged
	actionView    = "view"    // forwarded with edits made earlier
	actionReduced = "reduced" // reduced for this request
	actionPass    = "pass"    // passed through: no turn of a conversation
	actionBypass  = "bypass"  // passed through on request
	actionOpen    = "open"    // passed through: precis failed
	actionAnswer  = "answer"  // answered by the gateway itself
)
