package gateway

import (
	"context"
	"errors"

	"precis"
)

// prepareSoon begins a reduction in the background, unless one is under way.
func (m *job) prepareSoon() {
	h := m.held
	if h.prepared != nil || !m.own {
		return
	}
	p := &preparation{done: make(chan struct{}), after: len(m.conv.Edits)}
	h.prepared = p
	snap := *m.conv
	snap.Transcript = m.conv.Transcript.Prefix(m.found.Len)
	r := m.req
	r.Conversation, r.Meter, r.Background, r.Unrecorded = &snap, nil, true, true
	creds := m.credentialsOf()
	m.g.background(func(ctx context.Context) {
		defer close(p.done)
		ctx, cancel := context.WithTimeout(withCredentials(ctx, creds), prepareFor)
		defer cancel()
		release, ok := m.g.tryLease(ctx, h)
		defer release()
		if !ok {
			return
		}
		res, err := m.mgr.Manage(ctx, r)
		if err != nil && !errors.Is(err, context.Canceled) {
			m.g.o.Logger.WarnContext(ctx, "preparing failed", "conversation", snap.ID, "error", err)
		}
		p.edits = res.Edits
	})
	if m.g.closing.Load() {
		h.prepared = nil
	}
}

// takePrepared records what was prepared and looks again. Done: nothing more is
// due.
func (m *job) takePrepared(ctx context.Context) (done bool, err error) {
	p := m.held.prepared
	if !p.finished() {
		return false, precis.Errorf(precis.CodeCanceled, "wait for the summary", "%w", context.Cause(ctx))
	}
	m.held.prepared = nil
	m.held.written.forget()
	if len(p.edits) == 0 || p.after != len(m.conv.Edits) {
		return false, nil
	}
	if err := m.record(ctx, p.edits); err == nil {
		m.action = actionReduced
	} else {
		m.catchUp(ctx) // the conversation has gone on elsewhere
	}
	if err := m.look(ctx); err != nil {
		return false, err
	}
	a := m.decision().Action
	return a != precis.ActionReduce && a != precis.ActionTruncate || m.fits() && m.action == actionReduced, nil
}
