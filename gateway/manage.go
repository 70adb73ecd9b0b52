package gateway

import (
	"context"

	"precis"
)

// manage makes the view of the request. The conversation is locked meanwhile:
// of several requests at once each sees the edits of those before it. The error
// says why the view is not what it should be; it can be sent all the same.
func (t *turn) manage() error {
	ctx := t.credentials(t.r.Context())
	stop := t.keepAlive()
	err := t.held.acquire(ctx)
	stop()
	if err != nil {
		return err
	}
	defer t.held.release()
	t.managed = true
	m := t.manager()
	m.refresh(ctx)
	err = m.emulate(ctx)
	if err == nil {
		err = m.run(ctx)
	}
	t.settled(m)
	return err
}

// job is the managing of one request, with its conversation locked.
type job struct {
	*turn
	mgr   *precis.Manager
	conv  *precis.Conversation
	req   precis.Request
	res   precis.Result
	own   bool // the conversation is the line's: edits are recorded
	tried bool // recording met another replica's edit once
}

// manager returns the job of the request. One that others have overtaken, or
// that nothing is to remember, works on a copy.
func (t *turn) manager() *job {
	h, f := t.held, t.found
	mgr := t.mgr
	if st := t.g.store(t.owner); st != nil {
		mgr = mgr.With(bounded{st})
	} else {
		mgr = mgr.With(nil)
	}
	m := &job{turn: t, mgr: mgr, conv: h.conv, own: h.line.ID != "" && f.Line == h.line && t.remembered()}
	if h.meter == nil {
		h.meter = mgr.NewMeter()
	}
	meter := h.meter
	if f.Line == h.line {
		h.grow(f.Len)
	}
	if h.conv.Transcript.Len() != f.Len {
		m.conv, m.own = precis.Rewound(h.conv, f.Len), false
		meter = mgr.NewMeter()
	} else {
		h.update(t)
	}
	m.conv.Model, m.conv.System, m.conv.Tools = f.Prompt.Model, f.Prompt.System, f.Prompt.Tools
	t.plain = m.isPlain()
	t.offering(m)
	window := t.window(t.r.Context())
	if window.Source == precis.SourceAssumed && t.g.o.Probe {
		t.g.probe(t.credentialsOf(), f.Prompt.Model)
	}
	m.req = precis.Request{
		Conversation: m.conv, Window: window, MaxOutput: f.Prompt.MaxOutput, OutputLimit: t.g.o.OutputLimit(f.Prompt.Model), Profile: f.Prompt.Model,
		Focus: t.r.Header.Get(headerFocus), Live: t.live(len(m.conv.Edits) > 0), Meter: meter, Dialect: t.dialect, Reasoning: t.reasoning(), Unrecorded: !m.own,
	}
	m.adoptMade()
	return m
}

// remembered reports whether the request is a turn of its line.
func (t *turn) remembered() bool {
	return t.work == workTurn && t.g.table.Line(t.owner, t.found.Line.ID) == t.found.Line
}

// live is the request for summaries to ride on.
func (t *turn) live(edited bool) *precis.Live {
	l := &precis.Live{Dialect: t.dialect.Name(), Model: t.found.Prompt.Model, Body: t.body, Header: t.rideHeaders()}
	t.stripBetas(l.Header)
	if edited || t.poly.asked {
		d := t.found.Body.Draft()
		if edited {
			t.bindThinking(d)
		}
		t.strip(d)
		t.offer(d)
		l.Body = d.Bytes()
		if t.beta != "" {
			l.Header[headerBeta] = t.betas()
		}
	}
	return l
}

// run decides, and reduces where it must.
func (m *job) run(ctx context.Context) error {
	if err := m.look(ctx); err != nil {
		return err
	}
	m.before = m.res.Report.Said
	m.req.Live = m.live(len(m.conv.Edits) > 0) // edits may have been made for this request already
	switch {
	case m.work == workCount, m.poly.side:
		return nil
	case !m.own && !m.poly.active && m.kind != "" && m.fitsAsSaid():
		m.unedited() // a client's own compaction sees as much as there is
		return nil
	}
	switch m.decision().Action {
	case precis.ActionPrepare:
		if m.mgr.UsesModel(m.req.Window) {
			m.prepareSoon()
		}
	case precis.ActionReduce, precis.ActionTruncate:
		return m.reduce(ctx)
	}
	return nil
}

func (m *job) decision() precis.Decision { return m.res.Report.Decision }

// look finds out how full the view is and what is due.
func (m *job) look(ctx context.Context) (err error) {
	r := m.req
	r.Watch = true
	m.res, err = m.mgr.Manage(ctx, r)
	return err
}

// fitsAsSaid reports whether the conversation fits with nothing replaced.
func (m *job) fitsAsSaid() bool {
	return len(m.conv.Edits) > 0 && float64(m.res.Report.Said) <= m.decision().Allowed
}

func (m *job) unedited() {
	whole := *m.conv
	whole.Edits = nil
	m.conv, m.req.Conversation = &whole, &whole
	m.res.Units = precis.Units(whole.Transcript, nil)
	m.res.View = whole.Transcript.Messages()
}

func (m *job) fits() bool { return float64(m.res.Report.After.Tokens) <= m.decision().Allowed }

// reduce brings the view down: by what was prepared, else by climbing the ladder
// now. As long as the view fits, nobody waits for a model.
func (m *job) reduce(ctx context.Context) error {
	h := m.held
	models := m.own && m.mgr.UsesModel(m.req.Window) && m.decision().Action == precis.ActionReduce
	if models && m.fits() && (h.prepared == nil || !h.prepared.finished()) {
		m.prepareSoon()
		return nil
	}
	if p := h.prepared; p != nil && m.own {
		stop := m.keepAlive()
		select {
		case <-p.done:
		case <-ctx.Done():
		}
		stop()
		if done, err := m.takePrepared(ctx); done || err != nil {
			return err
		}
	}
	stop := m.keepAlive()
	defer stop()
	release := m.lease(ctx, models)
	defer release()
	return m.climb(ctx, m.req)
}

// climb reduces now. What it made is recorded before it is shown; when the store
// fails the view matters more: it is kept in memory, and recorded when the store
// is back.
func (m *job) climb(ctx context.Context, r precis.Request) error {
	r.Unrecorded = true
	res, err := m.mgr.Manage(ctx, r)
	if err != nil && precis.CodeOf(err) != precis.CodeOverBudget {
		return err
	}
	if !m.own || len(res.Edits) == 0 {
		m.took(res)
		return err
	}
	switch failed := m.record(ctx, res.Edits); {
	case failed == nil:
	case precis.CodeOf(failed) == precis.CodeConflict && !m.tried: // another replica was faster
		m.tried = true
		m.catchUp(ctx)
		if err := m.look(ctx); err != nil || m.fits() && !r.Forced {
			return err
		}
		return m.climb(ctx, r)
	default:
		return failed
	}
	m.took(res)
	return err
}

// record records edits. When the store fails they are kept in memory alone, for
// now; the error is a conflict with others.
func (m *job) record(ctx context.Context, edits []precis.Edit) error {
	had := len(m.conv.Edits)
	err := m.mgr.Record(ctx, m.conv, edits...)
	if err == nil || precis.CodeOf(err) == precis.CodeConflict {
		return err
	}
	m.g.o.Logger.ErrorContext(ctx, "edits are not recorded", "conversation", m.conv.ID, "error", err)
	m.held.unsaved = true
	return m.mgr.With(nil).Record(ctx, m.conv, edits[len(m.conv.Edits)-had:]...)
}

// took takes over a result.
func (m *job) took(res precis.Result) {
	if res.Units == nil {
		return
	}
	m.res = res
	if len(res.Edits) > 0 {
		m.action = actionReduced
		m.held.written.forget()
	}
}

// force reduces what the provider refused as too long.
func (m *job) force(ctx context.Context, retry int) error {
	r := m.req
	r.Window = m.window(ctx)
	r.Forced, r.Retry = true, retry
	m.req.Window = r.Window
	stop := m.keepAlive()
	defer stop()
	return m.climb(ctx, r)
}

// settled takes over what managing led to.
func (t *turn) settled(m *job) {
	t.result, t.report = m.res, m.res.Report
	t.offering(m)
	if m.own {
		t.held.status = m.res.Report
	}
	switch {
	case t.action == actionReduced:
	case t.edited(m.res):
		t.action = actionView
	default:
		t.action = actionNone
	}
}
