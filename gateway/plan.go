package gateway

import (
	"cmp"
	"context"
	"slices"

	"precis"
	"precis/condense"
	"precis/conversation"
	"precis/wire/anthropic"
	"precis/wire/overflow"
)

// plan is the view of one request.
type plan struct {
	*placed
	result  precis.Result // the view, and the report of the newest pass over it
	managed bool          // by the manager; else the view is what the client sent
	before  int           // tokens of what the client sent
	plain   bool          // reasoning is switched off, see thinking.go
	mending bool          // what the client sent is mended, because the upstream refused it
	// once: the view is made for this request alone, since the upstream refused it in words that
	// are not believed yet, see package window: what is cut for it is not recorded.
	once bool
	cuts []precis.Edit // that were made so
	// images and most are the pictures and messages that were left when the upstream had refused
	// more; 0: it has not.
	images, most int
	// recall and condense say which of the gateway's own tools are offered.
	recall, condense bool

	outlook conversation.Outlook // of the view
	warned  bool                 // the warn level was crossed with this request
	failed  string               // by name, the condensation that failed; "": none did
}

// planned makes the view of a request. An error is answered with; a view that is
// not what it should be is logged and sent, for the upstream to decide.
func (x *exchange) planned(q *placed) (*plan, error) {
	p := &plan{placed: q}
	if why := q.passing(); why != "" && (why != passSide || !q.poly.Manages() && !q.mayOverflow()) {
		x.kind, x.action, x.reason = why, actionPass, map[string]Unmanaged{passStateful: UnmanagedStateful, passEmpty: UnmanagedEmpty}[why]
		if x.reason == "" {
			x.reason = q.besides()
		}
		p.result = precis.Result{Units: precis.Units(precis.NewTranscript(q.found.Messages...), nil)}
		return p, nil
	}
	q.askWindow()
	p.once = q.isDoubted()
	err := p.locked(func(ctx context.Context, j *planner) (err error) {
		j.conv.Refresh(ctx)
		j.bridge(ctx)
		if j.poly.Active {
			err = j.emulate(ctx)
		}
		if err == nil {
			err = j.run(ctx)
		}
		j.failed = cmp.Or(j.failed, condenseError(nil, err))
		return err
	})
	if precis.CodeOf(err) == precis.CodeCanceled {
		return nil, err
	}
	if err != nil {
		if len(p.result.Units) == 0 {
			x.reason = UnmanagedFailed
		}
		x.g.o.Logger.WarnContext(x.r.Context(), "not managed", "conversation", q.conv.ID(), "code", string(precis.CodeOf(err)), "error", err)
	}
	return p, nil
}

// replanned makes a smaller view of a request that the upstream refused as too
// long. Not ok: there is none, or the client has gone.
func (p *plan) replanned() (*plan, bool) {
	next := *p
	smaller := false
	err := next.locked(func(ctx context.Context, j *planner) error {
		err := j.force(ctx, p.retries)
		less := j.res.Report.After.Tokens < p.result.Report.After.Tokens || !p.managed && edited(j.res)
		if p.once {
			next.cuts = slices.Concat(p.cuts, j.res.Edits)
		}
		smaller = (err == nil || precis.CodeOf(err) == precis.CodeOverBudget) && less
		return err
	})
	if !smaller || precis.CodeOf(err) == precis.CodeCanceled {
		return nil, false
	}
	next.before = max(p.before, next.result.Report.Said)
	return &next, true
}

// keptImages is how many pictures are left when an API has refused a request for their number
// or size, at most: those that take more than this apply a smaller limit to the size of each.
// Where that does not help the newest alone are left.
const keptImages = 10

// within makes a view of a request that keeps to a limit of the API which the request was
// refused for. Not ok: there is none, or it was tried.
func (p *plan) within(limit overflow.Exceeded) (*plan, bool) {
	var l precis.Limits
	switch {
	case limit.Images && p.images == 0:
		l.Images = keptImages
	case limit.Images && p.images > 1:
		l.Images = 1
	case limit.Messages > 0 && p.most == 0:
		l.Messages = max(limit.Messages*3/4, 1) // room for the next turns
	default:
		return nil, false
	}
	next := *p
	l.AllMedia = limit.Images && limit.AllMedia
	if limit.Images {
		next.images = l.Images
	} else {
		next.most = l.Messages
	}
	changed := false
	err := next.locked(func(ctx context.Context, j *planner) error {
		j.req.Limits = l
		err := j.climb(ctx, j.req)
		changed = err == nil && len(j.res.Edits) > 0
		return err
	})
	if err == nil && !changed && limit.Images { // there are fewer already
		return next.within(limit)
	}
	return &next, err == nil && changed
}

// mended returns the plan with what the client sent mended, such as a result without
// its call, after the upstream refused it. Not ok: there is nothing to mend, or it was.
func (p *plan) mended() (*plan, bool) {
	if p.mending || len(p.dialect.Check(p.result.View)) == 0 {
		return nil, false
	}
	next := *p
	next.mending = true
	err := next.locked(func(ctx context.Context, j *planner) error { return j.look(ctx) })
	return &next, err == nil && len(next.result.Report.Repairs) > 0
}

// mendsFromNow notes that the upstream took what it had refused before, mended: the
// next request of the conversation is mended at once.
func (p *plan) mendsFromNow() {
	if p.conv.Lock(p.r.Context()) == nil {
		p.conv.Mends = true
		p.conv.Unlock()
	}
}

// locked plans with the conversation locked: of several requests at once each sees
// the edits of those before it. What was planned becomes the view, also when f
// fails.
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
	p.settle(j)
	return err
}

// settle takes over what planning led to.
func (p *plan) settle(j *planner) {
	p.result = answerable(j.res, p.found.Messages)
	j.offer()
	j.warn()
	if j.own {
		p.conv.Last = j.res.Report
		if j.failed != "" || p.action == actionReduced { // a later one that works takes the name away
			p.conv.Failed = j.failed
		}
	}
	j.ahead()
	if p.action != actionReduced {
		p.action = actionNone
		if edited(j.res) {
			p.action = actionView
		}
	}
}

// answerable returns a result whose view ends with what the client wants an answer
// to. A rewind of a conversation whose client then sends the same request once more
// hides that; without it the view would end with something else: with an earlier result,
// or with words of the model, which APIs refuse to continue.
func answerable(res precis.Result, msgs []precis.Message) precis.Result {
	if len(msgs) == 0 || msgs[len(msgs)-1].Role == precis.RoleAssistant {
		return res
	}
	last := len(res.Units) - 1
	for last >= 0 && len(res.Units[last].Messages) == 0 {
		last--
	}
	if last < 0 {
		return res
	}
	if res.Units[last].To >= len(msgs) {
		return res
	}
	groups := precis.Groups(msgs)
	res.Units, res.View = slices.Clip(res.Units), slices.Clip(res.View)
	for i := groups[len(groups)-1]; i < len(msgs); i++ {
		res.Units = append(res.Units, precis.Unit{From: i, To: i + 1, Messages: msgs[i : i+1 : i+1]})
		res.View = append(res.View, msgs[i])
	}
	return res
}

// planner makes the view of one request, with its conversation locked.
type planner struct {
	*plan
	mgr  *precis.Manager      // see [Gateway.ownManager]
	work *precis.Conversation // that of the registry, or a copy
	own  bool                 // work is that of the registry: its edits are recorded
	req  precis.Request
	res  precis.Result
	lost bool // edits of another replica took the place of ours once
}

// planner returns the planner of a request. A request that others have overtaken,
// or that nothing is to remember, is planned on a copy of the conversation.
func (p *plan) planner(ctx context.Context) *planner {
	f, c := p.found, p.conv
	j := &planner{plan: p, mgr: p.g.ownManager(p.manager, p.owner), own: p.remembered() && !p.once}
	c.Grow(f.Len)
	j.work = c.Conversation()
	meter := c.Meter(p.profile, p.manager)
	if j.work.Transcript.Len() != f.Len {
		j.work, _ = precis.BranchedAt(j.work, f.Len)
		j.own = false
		meter = p.manager.NewMeter()
		j.work.Model, j.work.System, j.work.Tools = f.Prompt.Model, f.Prompt.System, f.Prompt.Tools
	} else {
		p.update()
		if p.once {
			j.copyEdits(p.cuts)
		}
	}
	p.plain = p.isPlain(j.work)
	j.offer()
	window := p.window(ctx)
	j.req = precis.Request{
		Conversation: j.work, Window: window, MaxOutput: f.Prompt.MaxOutput, OutputLimit: p.g.o.OutputLimit(f.Prompt.Model), Profile: f.Prompt.Model,
		Focus: p.r.Header.Get(headerFocus), Environment: condense.EnvironmentOf(f.Messages), Meter: meter, Dialect: p.dialect, Mend: p.mending || c.Mends, Reasoning: p.reasoning(), Unrecorded: true,
		WithoutModels: p.once, // nothing is paid for what is not kept
	}
	if p.assembly != nil {
		j.req.Target = p.assembly.goal().In(window.Tokens)
	}
	if !j.own && len(j.poly.Made) > 0 { // by an earlier try
		j.copyEdits(j.poly.Made)
	}
	return j
}

// reasoning returns the rule for signed reasoning in this request.
func (p *plan) reasoning() precis.Reasoning {
	prompt := p.found.Prompt
	switch {
	case p.dialect.Name() != anthropic.Format:
		return precis.ReasoningStays // that of others is bound to its own item at most
	case !prompt.Thinking || p.plain:
		return precis.ReasoningLeaves
	case !p.binds():
		return precis.ReasoningStays
	}
	return precis.ReasoningLoop
}

// isPlain reports whether reasoning is still switched off. The conversation is
// locked.
func (p *plan) isPlain(conv *precis.Conversation) bool {
	c := p.conv
	if !c.Plain.IsZero() && lastTurn(p.found.Messages, conv.Transcript) != c.Plain {
		c.Plain = precis.Fingerprint{}
	}
	return !c.Plain.IsZero()
}

// ride prepares a summary request to ride on this request: on its messages, which
// the provider has in its prompt cache, and with its credentials.
func (j *planner) ride(ctx context.Context) context.Context {
	if j.assembly != nil {
		return ctx // its client sends the request, with credentials of its own
	}
	j.req.Live = j.live(len(j.work.Edits) > 0)
	return WithCredentials(ctx, j.credentialsOf())
}

// window returns the context window of the request's model at its upstream.
func (p *placed) window(ctx context.Context) precis.Window {
	if a := p.assembly; a != nil && a.Window > 0 {
		return precis.Window{Tokens: a.Window, Source: precis.SourceConfigured, Detail: "the request"}
	}
	w, set := p.g.profileWindow(p.profile)
	if !set {
		w = p.g.windows.of(ctx, p.windowKey())
	}
	if p.ceiling > 0 && p.ceiling < w.Tokens { // whatever is believed, this request is to be answered
		w = precis.Window{Tokens: p.ceiling, Source: precis.SourceLearned, Detail: "an error of " + p.upstream.Name + ", for this request"}
	}
	return w
}

// isDoubted reports whether the window of the request may follow from odd errors.
func (p *placed) isDoubted() bool {
	if p.assembly != nil {
		return false
	}
	_, set := p.g.profileWindow(p.profile)
	return !set && p.g.windows.doubted(p.windowKey(), p.g.windows.of(p.r.Context(), p.windowKey()))
}

// run decides, and reduces where it must.
func (j *planner) run(ctx context.Context) error {
	if err := j.look(ctx); err != nil {
		return err
	}
	j.before = j.res.Report.Said
	switch {
	case j.route.work == workCount, j.poly.Only:
		return nil
	case !j.own && !j.poly.Active && j.kind != "" && j.fitsAsSaid():
		j.unedited() // a client's own compaction sees as much as there is
		return nil
	}
	if j.own && j.refusedAloud() {
		return j.force(ctx, 0)
	}
	if j.willPay() && j.conv.Renew(ctx) {
		if err := j.look(ctx); err != nil {
			return err
		}
	}
	switch j.decision().Action {
	case precis.ActionPrepare:
		if j.usesModel() {
			j.ride(ctx)
			j.prepare()
		}
	case precis.ActionReduce, precis.ActionTruncate:
		return j.reduce(j.ride(ctx))
	}
	return nil
}

// willPay reports whether a model may be asked for edits of the conversation now.
func (j *planner) willPay() bool {
	act := j.decision().Action
	return j.own && j.conv.Prepared == nil && (act == precis.ActionPrepare || act == precis.ActionReduce) && j.usesModel()
}

// refusedAloud reports whether the client saw the turn before refused as too long, when
// nothing could be sent in its place any more, and this one is no smaller.
func (j *planner) refusedAloud() bool {
	n := j.conv.TooLong.Swap(0)
	return n > 0 && int64(j.res.Report.After.Tokens) >= n
}

func (j *planner) decision() precis.Decision { return j.res.Report.Decision }

func (j *planner) usesModel() bool { return j.mgr.UsesModel(j.req.Window) }

// look measures the view and decides what is due, without changing anything.
func (j *planner) look(ctx context.Context) (err error) {
	r := j.req
	r.Watch = true
	j.res, err = j.mgr.Manage(ctx, r)
	return err
}

// fitsAsSaid reports whether the conversation fits with nothing replaced.
func (j *planner) fitsAsSaid() bool {
	return len(j.work.Edits) > 0 && float64(j.res.Report.Said) <= j.decision().Allowed
}

// unedited makes the view what the client sent.
func (j *planner) unedited() {
	whole := *j.work
	whole.Edits = nil
	j.work, j.req.Conversation = &whole, &whole
	j.res.Units = precis.Units(whole.Transcript, nil)
	j.res.View = whole.Transcript.Messages()
}

func (j *planner) fits() bool { return float64(j.res.Report.After.Tokens) <= j.decision().Allowed }

// reduce brings the view down: by what was prepared in the background, else by
// climbing the ladder now. While the view fits no turn waits for a model; a model
// that was just asked in vain is left out.
func (j *planner) reduce(ctx context.Context) error {
	models := j.own && j.usesModel() && j.decision().Action == precis.ActionReduce
	last := j.conv.Prepared
	if models && j.fits() && (last == nil || !last.Finished()) {
		j.prepare()
		return nil
	}
	r := j.req
	if last != nil && j.own {
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
	return j.climb(ctx, r)
}

// climb reduces now. What it made is recorded before it is shown. A view is worth
// more than its record: edits that cannot be recorded are shown all the same.
func (j *planner) climb(ctx context.Context, r precis.Request) error {
	res, err := j.reduced(ctx, r)
	if err != nil && precis.CodeOf(err) != precis.CodeOverBudget {
		return err
	}
	if refused := j.refused(res.Edits); refused != nil {
		return refused
	}
	if !j.own || len(res.Edits) == 0 {
		j.take(res)
		return err
	}
	if j.conv.Record(ctx, j.mgr, res.Edits...) != nil { // another replica was faster
		if j.lost {
			_ = j.conv.Keep(ctx, j.mgr, res.Edits...) // or is again: the view is sent for once
			j.take(res)
			return err
		}
		j.lost = true
		if err := j.look(ctx); err != nil || j.fits() && r.TriggeredBy != precis.TriggeredForced {
			return err
		}
		return j.climb(ctx, r)
	}
	j.take(res)
	return err
}

// reduced climbs the ladder. Without a model that takes nothing but the processor:
// no more conversations are reduced at once than there are processors, so that the
// first of many are done early.
func (j *planner) reduced(ctx context.Context, r precis.Request) (precis.Result, error) {
	if r.WithoutModels || !j.usesModel() {
		leave, err := j.g.processor(ctx)
		if err != nil {
			return precis.Result{}, err
		}
		defer leave()
	}
	if j.own {
		j.g.o.OnReduce(j.owner, j.work.ID)
	}
	return j.mgr.Manage(ctx, r)
}

// processor waits for one that nothing is reduced on; leave gives it back.
func (g *Gateway) processor(ctx context.Context) (leave func(), err error) {
	select {
	case g.reducing <- struct{}{}:
		return func() { <-g.reducing }, nil
	case <-ctx.Done():
		return nil, precis.Errorf(precis.CodeCanceled, "wait for a processor", "%w", context.Cause(ctx))
	}
}

// take makes a result the view.
func (j *planner) take(res precis.Result) {
	if res.Units == nil {
		return
	}
	j.res = res
	if len(res.Edits) > 0 {
		j.action = actionReduced
		j.conv.Written.Forget()
	}
}

// force reduces what the provider refused as too long.
func (j *planner) force(ctx context.Context, retry int) error {
	j.req.TriggeredBy, j.req.Retry = precis.TriggeredForced, retry
	ctx = j.ride(ctx)
	stop := j.keepAlive()
	defer stop()
	return j.climb(ctx, j.req)
}
