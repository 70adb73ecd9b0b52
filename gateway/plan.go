package gateway

import (
	"cmp"
	"context"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway/intent"
	"github.com/precis-dev/precis/gateway/splice"
	"github.com/precis-dev/precis/gateway/unmanaged"
	"github.com/precis-dev/precis/internal/window"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/overflow"
)

// plan is the view of one request.
type plan struct {
	*placed
	result       policy.Result // the view, and the report of the newest pass over it
	managed      bool          // by the manager; false: the view is the client's messages
	before       int           // tokens of the client's request
	reasoningOff bool          // reasoning is switched off, see thinking.go
	mending      bool          // the client's messages are repaired, because the upstream refused them
	// once: the view is for this request only, and its cuts are not recorded. The upstream refused
	// the request in words that do not suffice as evidence yet, see package window.
	thisRequestOnly bool
	cuts            []precis.Edit // edits made for this request only
	// images and most are the images and messages kept after the upstream refused a larger number;
	// 0: it has not refused any.
	images, maxMessages int
	// recall and condense report which of the gateway's own tools are offered.
	recall, condense bool

	outlook conversation.Outlook // of the view
	warned  bool                 // the warn level was crossed with this request
	failed  string               // name of the condensation that failed; "": no failure
}

// planned makes the view of a request. The caller answers with its error. An invalid view is logged
// and still sent, because the upstream decides.
func (x *exchange) planned(q *placed) (*plan, error) {
	p := &plan{placed: q}
	if why := q.passing(); why != "" && (why != passSide || !q.poly.Manages() && !q.mayOverflow()) {
		x.kind, x.action, x.reason = why, actionPass, unmanaged.Reason(q.intent.Why())
		p.result = policy.Result{Units: precis.Units(precis.NewTranscript(q.found.Messages...), nil)}
		return p, nil
	}
	q.askWindow()
	p.thisRequestOnly = q.assembly == nil && q.window(x.r.Context()).Doubted()
	err := p.locked(func(ctx context.Context, j *planner) (err error) {
		j.conv.Refresh(ctx)
		j.bridge(ctx)
		if j.poly.Active {
			err = j.emulate(ctx)
		}
		if err == nil {
			err = j.run(ctx)
		}
		j.failed = cmp.Or(j.failed, condense.Failure(nil, err))
		return err
	})
	if precis.CodeOf(err) == precis.CodeCanceled {
		return nil, err
	}
	if err != nil {
		if len(p.result.Units) == 0 {
			x.reason = unmanaged.Failed
		}
		x.g.o.Logger.WarnContext(x.r.Context(), "not managed", "conversation", q.conv.ID(), "code",
			string(precis.CodeOf(err)), "error", err)
	}
	return p, nil
}

// smallerPlan makes a smaller view of a request that the upstream refused as too long. It returns
// false when no smaller view is possible or the client has gone.
func (p *plan) smallerPlan() (*plan, bool) {
	next := *p
	smaller := false
	err := next.locked(func(ctx context.Context, j *planner) error {
		err := j.force(ctx, p.retries)
		less := j.res.Report.After.Tokens < p.result.Report.After.Tokens || !p.managed && splice.Edited(j.res)
		if p.thisRequestOnly {
			next.cuts = slices.Concat(p.cuts, j.res.Edits)
		}
		smaller = (err == nil || precis.CodeOf(err) == precis.CodeOverBudget) && less
		return err
	})
	if !smaller || precis.CodeOf(err) == precis.CodeCanceled {
		return nil, false
	}
	next.before = max(p.before, next.result.Report.Unreduced)
	return &next, true
}

// keptImages is how many images remain, at most, after an API has refused a request for their
// number or size. APIs that accept more apply a smaller size limit to each. If that does not help,
// only the newest image remains.
const keptImages = 10

// withinLimit makes a view that keeps to an API limit which the request has exceeded. It returns false
// when no such view is possible or when it was tried already.
func (p *plan) withinLimit(limit overflow.Exceeded) (*plan, bool) {
	var l policy.Limits
	switch {
	case limit.Images && p.images == 0:
		l.Images = keptImages
	case limit.Images && p.images > 1:
		l.Images = 1
	case limit.Messages > 0 && p.maxMessages == 0:
		l.Messages = max(limit.Messages*3/4, 1) // leaves room for the next turns
	default:
		return nil, false
	}
	next := *p
	l.AllMedia = limit.Images && limit.AllMedia
	if limit.Images {
		next.images = l.Images
	} else {
		next.maxMessages = l.Messages
	}
	changed := false
	err := next.locked(func(ctx context.Context, j *planner) error {
		j.req.Limits = l
		err := j.reduceNow(ctx, j.req)
		changed = err == nil && len(j.res.Edits) > 0
		return err
	})
	if err == nil && !changed && limit.Images { // it has fewer already
		return next.withinLimit(limit)
	}
	return &next, err == nil && changed
}

// repaired returns the plan with the client's messages repaired, such as a result without its call,
// after the upstream refused them. It returns false when there is no breach or it was repaired
// already.
func (p *plan) repaired() (*plan, bool) {
	if p.mending || len(p.Dialect.Check(p.result.View)) == 0 {
		return nil, false
	}
	next := *p
	next.mending = true
	err := next.locked(func(ctx context.Context, j *planner) error { return j.look(ctx) })
	return &next, err == nil && len(next.result.Report.Repairs) > 0
}

// mendsFromNow records that the upstream accepted the repaired messages, so that the next request
// of the conversation is repaired at once.
func (p *plan) mendsFromNow() {
	if p.conv.Lock(p.r.Context()) == nil {
		p.conv.Mends = true
		p.conv.Unlock()
	}
}

// locked plans with the conversation locked, so that each of several concurrent requests sees the
// edits of the earlier ones. The planner's result becomes the view even if f fails.
func (p *plan) locked(f func(context.Context, *planner) error) error {
	ctx := p.r.Context()
	stop := p.keepAlive()
	err := p.conv.Lock(ctx)
	stop()
	if err != nil {
		return err
	}
	defer p.conv.Unlock()
	p.managed = true
	j := p.planner(ctx)
	err = f(ctx, j)
	p.takeResult(j)
	return err
}

// takeResult takes over the planner's result.
func (p *plan) takeResult(j *planner) {
	p.result = splice.EndingInPending(j.res, p.found.Messages)
	j.chooseTools()
	j.warn()
	if j.recordsEdits {
		p.conv.Last = j.res.Report
		if j.failed != "" || p.action == actionReduced { // a later success clears the name
			p.conv.Failed = j.failed
		}
	}
	j.prepareNext()
	if p.action != actionReduced {
		p.action = actionNone
		if splice.Edited(j.res) {
			p.action = actionView
		}
	}
}

// planner makes the view of one request, with its conversation locked.
type planner struct {
	*plan
	mgr          *policy.Manager      // see [registry.Registry.Manager]
	work         *precis.Conversation // the registry's conversation, or a copy
	recordsEdits bool                 // work is the registry's conversation, so edits are recorded
	req          policy.Request
	res          policy.Result
	lostRace     bool // a concurrent edit of another replica once replaced ours
}

// planner returns the planner of a request. It works on a copy of the conversation when later
// requests have overtaken this one, or when its edits are not to be recorded.
func (p *plan) planner(ctx context.Context) *planner {
	f, c := p.found, p.conv
	j := &planner{plan: p, mgr: p.g.conversations.Manager(p.manager, p.owner),
		recordsEdits: p.remembered() && !p.thisRequestOnly}
	c.Grow(f.Len)
	j.work = c.Conversation()
	meter := c.Meter(p.profile, p.manager)
	if j.work.Transcript.Len() != f.Len {
		j.work, _ = precis.BranchedAt(j.work, f.Len)
		j.recordsEdits = false
		meter = p.manager.NewMeter()
		j.work.Model, j.work.System, j.work.Tools = f.Prompt.Model, f.Prompt.System, f.Prompt.Tools
	} else {
		p.update()
		if p.thisRequestOnly {
			j.copyEdits(p.cuts)
		}
	}
	p.reasoningOff = p.isPlain(j.work)
	j.chooseTools()
	j.req = policy.Request{
		Conversation: j.work, Window: p.window(ctx).Window(), MaxOutput: f.Prompt.MaxOutput,
		OutputLimit: p.g.o.outputLimit(f.Prompt.Model), Profile: f.Prompt.Model,
		Focus: p.r.Header.Get(headerFocus), Environment: condense.EnvironmentOf(f.Messages), Meter: meter,
		Dialect: p.Dialect, Mend: p.mending || c.Mends, Reasoning: p.reasoning(), Unrecorded: true,
		WithoutModels: p.thisRequestOnly, // a view that is not kept is not worth a paid call
	}
	if p.assembly != nil {
		j.req.Target = p.assembly.target().In(j.req.Window.Tokens)
	}
	if !j.recordsEdits && len(j.poly.Made) > 0 { // made by an earlier attempt
		j.copyEdits(j.poly.Made)
	}
	return j
}

// reasoning returns the rule for signed reasoning in this request.
func (p *plan) reasoning() precis.ReasoningRule {
	prompt := p.found.Prompt
	switch {
	case p.Dialect.Name() != anthropic.Format:
		return precis.ReasoningStays // other providers bind reasoning to its own item at most
	case !prompt.Thinking || p.reasoningOff:
		return precis.ReasoningLeaves
	case !p.binds():
		return precis.ReasoningStays
	}
	return precis.ReasoningLoop
}

// isPlain reports whether reasoning is still switched off. The conversation is locked.
func (p *plan) isPlain(conv *precis.Conversation) bool {
	c := p.conv
	if !c.Plain.IsZero() && lastTurn(p.found.Messages, conv.Transcript) != c.Plain {
		c.Plain = precis.Fingerprint{}
	}
	return !c.Plain.IsZero()
}

// withLiveRequest prepares a summary request to extend this request: it uses the same messages, which are in
// the provider's prompt cache, and the same credentials.
func (j *planner) withLiveRequest(ctx context.Context) context.Context {
	if j.assembly != nil {
		return ctx // its client sends the request with credentials of its own
	}
	j.req.Live = j.live(len(j.work.Edits) > 0)
	j.req.Live.Window = j.req.Window.Tokens
	return WithCredentials(ctx, j.credentialsOf())
}

// window returns the evidence on the context window of the request's model at its upstream.
func (p *placed) window(ctx context.Context) window.Known {
	k := p.g.windows.Of(ctx, p.windowKey(), p.profile)
	k.Ceiling = p.ceiling
	if a := p.assembly; a != nil && a.Window > 0 {
		k.Set, k.By = a.Window, "the request"
	}
	return k
}

// run plans the view, and reduces it where necessary.
func (j *planner) run(ctx context.Context) error {
	if err := j.look(ctx); err != nil {
		return err
	}
	j.before = j.res.Report.Unreduced
	switch {
	case j.Work == intent.Count, j.poly.Only:
		return nil
	case !j.recordsEdits && !j.poly.Active && j.kind != "" && j.fitsWithoutEdits():
		j.unedited() // a client's own compaction must see all messages
		return nil
	}
	if j.recordsEdits && j.overflowSeen() {
		return j.force(ctx, 0)
	}
	if j.mayCallModel() && j.conv.Renew(ctx) {
		if err := j.look(ctx); err != nil {
			return err
		}
	}
	switch j.decision().Action {
	case policy.ActionPrepare:
		if j.usesModel() {
			j.withLiveRequest(ctx)
			j.prepare()
		}
	case policy.ActionReduce, policy.ActionTruncate:
		return j.reduce(j.withLiveRequest(ctx))
	}
	return nil
}

// mayCallModel reports whether a model may be called for edits of the conversation now.
func (j *planner) mayCallModel() bool {
	act := j.decision().Action
	return j.recordsEdits && j.conv.Prepared == nil &&
		(act == policy.ActionPrepare || act == policy.ActionReduce) && j.usesModel()
}

// overflowSeen reports whether the client received a "too long" error for the previous turn after
// the answer had begun, too late for a smaller view, and this request is no smaller.
func (j *planner) overflowSeen() bool {
	n := j.conv.TooLong.Swap(0)
	return n > 0 && int64(j.res.Report.After.Tokens) >= n
}

func (j *planner) decision() policy.Decision { return j.res.Report.Decision }

func (j *planner) usesModel() bool { return j.mgr.UsesModel(j.req.Window) }

// look measures the view and plans, without changing the view.
func (j *planner) look(ctx context.Context) (err error) {
	r := j.req
	r.Watch = true
	j.res, err = j.mgr.Manage(ctx, r)
	return err
}

// fitsWithoutEdits reports whether the conversation has edits and would fit without them.
func (j *planner) fitsWithoutEdits() bool {
	return len(j.work.Edits) > 0 && float64(j.res.Report.Unreduced) <= j.decision().Allowed
}

// unedited sets the view to the client's own messages.
func (j *planner) unedited() {
	whole := *j.work
	whole.Edits = nil
	j.work, j.req.Conversation = &whole, &whole
	j.res.Units = precis.Units(whole.Transcript, nil)
	j.res.View = whole.Transcript.Messages()
}

func (j *planner) fits() bool { return float64(j.res.Report.After.Tokens) <= j.decision().Allowed }

// reduce reduces the view: with edits prepared in the background, else by running the ladder now.
// While the view fits, no turn waits for a model. A model that has just failed is not tried again.
func (j *planner) reduce(ctx context.Context) error {
	models := j.recordsEdits && j.usesModel() && j.decision().Action == policy.ActionReduce
	last := j.conv.Prepared
	if models && j.fits() && (last == nil || !last.Finished()) {
		j.prepare()
		return nil
	}
	r := j.req
	if last != nil && j.recordsEdits {
		done, err := j.takePrepared(ctx, last)
		if done || err != nil {
			return err
		}
		if models && j.fits() && (last.Skipped || last.Base != len(j.work.Edits)) {
			j.prepare()
			return nil
		}
		r.WithoutModels = len(last.Edits) == 0 && !last.Skipped
	}
	stop := j.keepAlive()
	defer stop()
	if models && !r.WithoutModels {
		defer j.conv.WaitForLease(ctx)()
	}
	return j.reduceNow(ctx, r)
}

// reduceNow reduces now, and records the edits before the view shows them. On a conflict it tries once
// more. After a second one the view shows the edits without a record: fitting matters more.
func (j *planner) reduceNow(ctx context.Context, r policy.Request) error {
	res, err := j.reduced(ctx, r)
	if err != nil && precis.CodeOf(err) != precis.CodeOverBudget {
		return err
	}
	if refused := j.refused(res.Edits); refused != nil {
		return refused
	}
	if !j.recordsEdits || len(res.Edits) == 0 {
		j.useResult(res)
		return err
	}
	if j.conv.Record(ctx, j.mgr, res.Edits...) != nil { // another replica recorded edits first
		if j.lostRace {
			_ = j.conv.Keep(ctx, j.mgr, res.Edits...) // it happened again: send this view once
			j.useResult(res)
			return err
		}
		j.lostRace = true
		if err := j.look(ctx); err != nil || j.fits() && r.TriggeredBy != precis.TriggeredForced {
			return err
		}
		return j.reduceNow(ctx, r)
	}
	j.useResult(res)
	return err
}

// reduced runs the ladder. Without a model that is pure CPU work, so at most one reduction per
// processor runs at once: the first of many then finish early.
func (j *planner) reduced(ctx context.Context, r policy.Request) (policy.Result, error) {
	if r.WithoutModels || !j.usesModel() {
		leave, err := j.g.processors.Enter(ctx)
		if err != nil {
			return policy.Result{}, err
		}
		defer leave()
	}
	if j.recordsEdits {
		j.g.o.OnReduce(j.owner, j.work.ID)
	}
	return j.mgr.Manage(ctx, r)
}

// useResult makes a result the view.
func (j *planner) useResult(res policy.Result) {
	if res.Units == nil {
		return
	}
	j.res = res
	if len(res.Edits) > 0 {
		j.action = actionReduced
		j.conv.Written.Forget()
	}
}

// force reduces a view that the provider refused as too long.
func (j *planner) force(ctx context.Context, retry int) error {
	j.req.TriggeredBy, j.req.Retry = precis.TriggeredForced, retry
	ctx = j.withLiveRequest(ctx)
	stop := j.keepAlive()
	defer stop()
	return j.reduceNow(ctx, j.req)
}
