package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway/intent"
	"github.com/precis-dev/precis/gateway/lineage"
	"github.com/precis-dev/precis/gateway/polyfill"
	"github.com/precis-dev/precis/gateway/registry"
	"github.com/precis-dev/precis/gateway/splice"
	"github.com/precis-dev/precis/gateway/upstream"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/overflow"
)

// Assembly is a request for the view of a conversation, from a client that calls the model itself.
// Dialect and Body are required; zero values of the other fields are working defaults.
type Assembly struct {
	Dialect wire.Dialect
	Body    []byte // the request in the dialect's format; retained, must not be changed
	// Name is the client's name for the conversation, at most [MaxNameBytes] bytes. The conversation
	// and its edits are then remembered, as for forwarded requests. "": not remembered.
	Name string
	// Edits are the edits in force, from earlier answers, for a conversation that is not
	// remembered. An edit that does not fit the messages any more is left out.
	Edits []precis.Edit

	Window    int           // of the model, in tokens; 0: the window that the gateway knows
	Target    policy.Tokens // size to reduce to; 0: by Share
	Share     policy.Share  // of the window, to reduce to; 0: by the settings
	ReduceNow bool          // reduce now, even below the threshold
	Force     bool          // reduce even if content would be lost entirely, see [conversation.LossError]
	Focus     string        // topic that a summary should focus on; may be empty
	Profile   string        // selects the manager; "": the default one
	// [conversation.ByModel] or [conversation.ByDigest]; "": a model in the background, if remembered
	Summarizer string
	// Server is the host that the client sends its requests to, at most [MaxNameBytes] bytes. Windows are
	// learned by it. "": the upstream of the dialect.
	Server   string
	Reported *Reported // what became of an earlier view; nil: not known

	scope string // derived from Name, see [lineage.Request]
}

// MaxNameBytes is the longest name of a conversation, in bytes.
const MaxNameBytes = 200

// Reported is what a provider made of the view of an earlier answer: it counted its input, or it
// refused the request.
type Reported struct {
	Model  string // of the request; "": as in the assembly
	Tokens int    // of the view as precis counts, not calibrated
	Input  int    // all input tokens by the provider's count, cached ones included
	Status int    // HTTP status of the refusal; 0: not refused
	Error  string // body of the refusal
}

// Assembled is the view of an [Assembly].
type Assembled struct {
	// Messages is the list to send in place of the client's own. It equals the client's list byte
	// for byte where the view changes no message.
	Messages json.RawMessage
	// other fields of the request that the view must change; nil: no fields
	Set     map[string]json.RawMessage
	Beta    string // beta that the request then needs; "": no beta
	Changed bool   // the view differs from the client's messages
	Acted   bool   // edits were made for this request

	ID       string       // of the conversation; "" when it is not remembered
	Match    lineage.Kind // how the conversation was recognized
	Branched string       // ID of the conversation that this one branched from; "": no branch

	Before int // tokens of the client's request, overhead included
	Report policy.Report
	// all of the conversation; if it is not remembered, pass them with the next request
	Edits    []precis.Edit
	Hidden   []conversation.HiddenPart // parts that the view hides or shows in another form
	Warnings []string                  // in addition to the warnings of Report
}

const opAssemble = "assemble view"

// Assemble returns the view of a request without forwarding it. R is the HTTP request that asked
// for the view; its owner owns the conversation. The error is [precis.CodeInvalid] with the place
// of what cannot be read, [precis.CodeOverBudget] when the view does not fit even after all cuts,
// and [precis.CodeWouldLose] when a target or a moment that the client chose would lose content
// entirely.
func (g *Gateway) Assemble(r *http.Request, a Assembly) (out Assembled, err error) {
	defer g.recovered(r.Context(), opAssemble, &err)
	x, done, err := g.assembling(r, a)
	if err != nil {
		return Assembled{}, err
	}
	defer done()
	defer x.report()
	var dropped []string
	var edits []precis.Edit
	var said *precis.Transcript
	x.plan = &plan{placed: x.placed}
	refused := x.plan.learn()
	err = x.plan.locked(func(ctx context.Context, j *planner) error {
		j.conv.Refresh(ctx)
		dropped = j.adopt(ctx)
		err := j.assemble(ctx)
		if err == nil && refused > 0 && j.res.Report.After.Tokens >= refused {
			err = j.force(ctx, 0)
		}
		edits, said = slices.Clip(j.work.Edits), j.work.Transcript.Prefix(j.work.Transcript.Len())
		if !j.recordsEdits {
			edits = append(edits, j.res.Edits...)
		}
		return err
	})
	if x.out.status = StatusOf(err); err != nil {
		x.err = err
		return Assembled{}, err
	}
	x.record()
	out, err = x.plan.assembled()
	out.Edits, out.Hidden = edits, conversation.HiddenRuns(said, edits)
	if a.Name == "" {
		out.Edits = anchored(edits, said)
	}
	out.Warnings = append(dropped, x.wrongConversation()...)
	return out, err
}

// learn records what a provider made of an earlier view, as for forwarded requests. If it refused the
// view as too long for this request's model, it returns the tokens of that view; else 0.
func (p *plan) learn() (refused int) {
	if p.assembly.Reported == nil {
		return 0
	}
	n, key := *p.assembly.Reported, p.windowKey()
	own := n.Model == "" || n.Model == key.Model
	key.Model, n.Tokens = cmp.Or(n.Model, key.Model), max(n.Tokens, 1)
	m := p.g.conversations.Manager(p.manager, p.owner)
	tokens := m.Calibrated(key.Model, n.Tokens)
	view := policy.Report{Model: key.Model, Calibration: float64(tokens) / float64(n.Tokens),
		After: policy.Size{Tokens: tokens}}
	over, is := overflow.Classify(n.Status, []byte(n.Error))
	switch {
	case n.Input > 0:
		p.g.windows.RecordAccepted(key, n.Input, tokens)
		_ = m.Observe(p.r.Context(), view, n.Input) // cannot fail without a store
	case n.Status >= 400 && is && own:
		p.managed, p.result.Report = true, view
		p.recordRefusal(over)
		p.thisRequestOnly = p.thisRequestOnly && p.assembly.Name != "" // else its client keeps the edits
		refused = m.Calibrated(key.Model, n.Tokens)
	}
	p.g.conversations.Learned(p.owner, key.Model, m)
	return refused
}

// anchored returns the edits with Seen and At set to the end of the spans they touch. They then
// also fit a list with a changed end: some clients add a note to the newest message and omit it
// from the next request.
func anchored(edits []precis.Edit, said *precis.Transcript) []precis.Edit {
	out := slices.Clone(edits)
	n := 0
	for i := range out {
		for _, r := range out[i].Replace {
			n = max(n, r.To)
		}
		for _, h := range out[i].Pins {
			n = max(n, h.To)
		}
		out[i].Seen, out[i].At = n, said.Fingerprint(n)
	}
	return out
}

// WithTemporaryHome calls f with a home that contains only the conversation of the assembly. The conversation
// is not remembered.
func (g *Gateway) WithTemporaryHome(r *http.Request, a Assembly,
	f func(h conversation.Home, id string) error) (err error) {
	defer g.recovered(r.Context(), opAssemble, &err)
	a.Name = ""
	x, done, err := g.assembling(r, a)
	if err != nil {
		return err
	}
	defer done()
	if err := x.placed.conv.Lock(r.Context()); err != nil {
		return err
	}
	p := &plan{placed: x.placed}
	j := p.planner(r.Context())
	j.adopt(r.Context())
	x.placed.conv.Unlock()
	if x.placed.found.Len == 0 {
		return precis.Errorf(precis.CodeInvalid, opAssemble, "%s holds no message", x.Dialect.List())
	}
	return f(g.homes.In(x.conversations, x.owner), x.placed.conv.ID())
}

// recovered turns a panic into an error, and logs it without the panic value, which may contain
// message content.
func (g *Gateway) recovered(ctx context.Context, op string, err *error) {
	if v := recover(); v != nil && v != http.ErrAbortHandler {
		g.o.Logger.ErrorContext(ctx, "panic", "where", string(debug.Stack()))
		*err = precis.Errorf(precis.CodeInternal, op, "a fault of precis; the log says where")
	}
}

// assembling places the request. A conversation that is not to be remembered is placed in a
// registry of its own, which done closes.
func (g *Gateway) assembling(r *http.Request, a Assembly) (x *exchange, done func(), err error) {
	if err := a.check(); err != nil {
		return nil, nil, err
	}
	owner, err := g.owner(r, nil, "")
	if err != nil {
		return nil, nil, err
	}
	if a.scope, err = g.homes.Scope(r.Context(), owner, a.Name); err != nil {
		return nil, nil, err
	}
	up := &Upstream{Name: a.Server}
	if i := slices.IndexFunc(g.upstreams, func(u Upstream) bool {
		return u.URL.Host == a.Server || a.Server == "" && u.Speaks(a.Dialect.Name())
	}); i >= 0 {
		up = &g.upstreams[i]
	}
	x = &exchange{
		Route: upstream.Route{Work: intent.Turn, Dialect: a.Dialect, Upstream: up}, g: g,
		r: a.request(r), owner: owner,
		assembly: &a, conversations: g.conversations,
		out: responder{start: time.Now()}, action: actionNone,
	}
	done = func() {}
	if a.Name == "" {
		// admission has counted its bytes
		own := registry.New(registry.Options{Bytes: 1 << 40, Logger: g.o.Logger, Now: g.o.Now})
		x.conversations = own
		done = func() { _ = own.Close(context.WithoutCancel(r.Context())) } // has no store to write to
	}
	if x.placed, err = x.place(&request{body: a.Body}); err == nil {
		err = x.placed.checkView()
	}
	if err != nil {
		done()
		return nil, nil, explained(err)
	}
	return x, done, nil
}

// check returns an error for invalid options.
func (a *Assembly) check() error {
	fail := func(format string, args ...any) error {
		return precis.Errorf(precis.CodeInvalid, "read options", format, args...)
	}
	switch {
	case a.Window < 0:
		return fail("window is %d, want 0 or more", a.Window)
	case len(a.Name) > MaxNameBytes:
		return fail("conversation has %d bytes, want %d at most", len(a.Name), MaxNameBytes)
	case a.Name != "" && len(a.Edits) > 0:
		return fail("edits are for lists that are not remembered; the edits of a conversation are kept with it")
	}
	o := conversation.CondenseOptions{Focus: a.Focus, Summarizer: a.Summarizer, Target: a.Target,
		Share: a.Share}
	return o.Check()
}

// request returns the request that the chain sees: the assembly's values in place of headers, and
// no credentials.
func (a *Assembly) request(r *http.Request) *http.Request {
	out := (&http.Request{Method: http.MethodPost, URL: r.URL,
		Header: http.Header{}}).WithContext(r.Context())
	for _, name := range []string{"User-Agent", headerBeta} {
		if v := r.Header.Values(name); v != nil {
			out.Header[name] = v
		}
	}
	for name, v := range map[string]string{headerFocus: a.Focus, headerProfile: a.Profile} {
		if v != "" {
			out.Header.Set(name, v)
		}
	}
	return out
}

// explained adds an error code to the error for a list that cannot be placed.
func explained(err error) error {
	var many *lineage.TooManyError
	var field *polyfill.InvalidError
	switch {
	case errors.As(err, &many):
		return precis.Errorf(precis.CodeInvalid, "read request", "%w", err)
	case errors.As(err, &field):
		return precis.Errorf(precis.CodeInvalid, "read request", "%s", field.Message)
	}
	return err
}

// checkView returns an error when the request can have no view.
func (p *placed) checkView() error {
	list := p.Dialect.List()
	fail := func(place, text, hint string) error {
		return &precis.Error{Code: precis.CodeInvalid, Op: "read request", Place: place,
			Err: errors.New(text), Hint: hint}
	}
	switch {
	case p.intent.Refers:
		return fail("body", "it refers to messages that are not in it", "send all of them in input")
	case !p.found.Body.HasList() && p.found.Body.Get(list) == nil:
		return fail("body: /"+list, "it is missing", "")
	case !p.found.Body.HasList():
		return fail("body: /"+list, "this is no list of messages", "")
	}
	return nil
}

// adopt puts the edits of the assembly in force, and returns why some were dropped. They are not
// booked again.
func (j *planner) adopt(ctx context.Context) (dropped []string) {
	for _, e := range j.assembly.Edits {
		if err := j.conv.Keep(ctx, j.mgr.WithoutRecording(), e); err != nil {
			dropped = append(dropped, fmt.Sprintf("the edit %.60s is left out, since the messages are not those that it was made on: %v", e.ID, err))
		}
	}
	return dropped
}

// assemble plans the view and reduces it where necessary. A remembered conversation has its
// summaries prepared in the background, as for forwarded requests; all other work is done now.
func (j *planner) assemble(ctx context.Context) error {
	a := j.assembly
	if a.Summarizer == conversation.ByModel && !j.usesModel() {
		return &precis.Error{Code: precis.CodeInvalid, Op: "choose summarizer",
			Err:  fmt.Errorf("no model writes summaries for a window of %d tokens", j.req.Window.Tokens),
			Hint: "configure one, or use digest"}
	}
	if a.Name != "" && !a.ReduceNow && a.Summarizer == "" {
		return j.run(ctx)
	}
	if err := j.look(ctx); err != nil {
		return err
	}
	j.before = j.res.Report.Unreduced
	j.req.WithoutModels = a.Summarizer != conversation.ByModel
	due := j.decision().Action == policy.ActionReduce || j.decision().Action == policy.ActionTruncate
	if !due && !a.ReduceNow || j.found.Len == 0 {
		return nil
	}
	r := j.req
	if a.ReduceNow {
		r.TriggeredBy = precis.TriggeredManual
	}
	if !r.WithoutModels {
		defer j.conv.WaitForLease(ctx)()
	}
	return j.reduceNow(ctx, r)
}

// refused returns an error if a reduction that the client asked for would lose content entirely,
// see [conversation.Guard]. It does not apply to reductions that only the settings demand.
func (j *planner) refused(made []precis.Edit) error {
	a := j.assembly
	if a == nil || a.Force || !a.ReduceNow && a.target() == (policy.Target{}) {
		return nil
	}
	return conversation.Guard(opAssemble, j.work, made, j.mgr.NewMeter())
}

// target returns the target that the client chose.
func (a *Assembly) target() policy.Target {
	if a.Target > 0 {
		return policy.Target{Tokens: a.Target}
	}
	return policy.Target{Share: a.Share}
}

// assembled returns the view as it is sent.
func (p *plan) assembled() (Assembled, error) {
	sent := p.compose()
	body, err := wire.Parse(sent.body, p.Dialect.List(), p.found.Body)
	if err != nil {
		return Assembled{}, precis.Errorf(precis.CodeInternal, opAssemble, "%w", err)
	}
	out := Assembled{
		Messages: body.Get(p.Dialect.List()), Beta: sent.beta, Changed: splice.Edited(p.result),
		Acted: p.action == actionReduced,
		Match: p.found.Kind, Before: p.before, Report: p.result.Report,
	}
	if thinking := body.Get("thinking"); string(thinking) != string(p.found.Body.Get("thinking")) {
		out.Set = map[string]json.RawMessage{"thinking": thinking}
	}
	if p.assembly.Name != "" {
		out.ID, out.Branched = p.conv.ID(), p.conv.Info().Branched
	}
	return out, nil
}

// wrongConversation returns a warning when the client named a conversation by its ID and the messages
// belong to another one.
func (x *exchange) wrongConversation() []string {
	named, at := x.assembly.Name, x.placed.conv.ID()
	if !lineage.IsID(named) || named == at {
		return nil
	}
	return []string{fmt.Sprintf("the messages do not continue %s: they are those of %s", named, at)}
}

// Summarizer writes requested summaries; nil: no model writes them.
func (g *Gateway) Summarizer() policy.Summarizer { return g.o.Summarizer }
