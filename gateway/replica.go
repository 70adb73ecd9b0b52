package gateway

import (
	"context"
	"time"

	"precis"
)

// refresh takes over the edits that other replicas have recorded, and records
// those that the store has missed.
func (m *job) refresh(ctx context.Context) {
	st := m.g.store(m.owner)
	if st == nil {
		return
	}
	if m.held.unsaved && m.own {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		_, err := m.mgr.Save(ctx, m.conv)
		m.held.unsaved = err != nil
		if precis.CodeOf(err) == precis.CodeConflict { // others have gone on without them
			m.held.unsaved = false
			m.catchUp(ctx)
		}
		return
	}
	if m.g.o.Shared {
		m.catchUp(ctx)
	}
}

// catchUp takes over the edits of the store, if it has newer ones.
func (m *job) catchUp(ctx context.Context) {
	st := m.g.store(m.owner)
	if st == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	edits, ok := m.g.latest(ctx, st, m.conv.Transcript)
	if ok && lastID(edits) != lastID(m.conv.Edits) && len(edits) >= len(m.conv.Edits) {
		m.conv.Edits = edits
		m.held.written.forget()
	}
}

// latest returns the edits at the last node of a transcript that the store
// knows.
func (g *Gateway) latest(ctx context.Context, st precis.Store, t *precis.Transcript) ([]precis.Edit, bool) {
	const back = 64
	finder, ok := st.(precis.Finder)
	if !ok {
		return nil, false
	}
	var nodes []precis.Fingerprint
	for n := max(1, t.Len()-back); n <= t.Len(); n++ {
		nodes = append(nodes, t.Fingerprint(n))
	}
	at, err := finder.Deepest(ctx, nodes)
	if err != nil || at < 0 {
		return nil, false
	}
	edits, err := editsAt(ctx, st, nodes[at])
	return edits, err == nil
}

func lastID(edits []precis.Edit) string {
	if len(edits) == 0 {
		return ""
	}
	return edits[len(edits)-1].ID
}

// leaseFor is how long a lease holds without being renewed.
const leaseFor = 30 * time.Second

// tryLease takes the lease of reducing a conversation with a model, if the store
// has leases and no other replica has this one.
func (g *Gateway) tryLease(ctx context.Context, h *held) (release func(), ok bool) {
	l, has := g.store(h.owner).(precis.Leaser)
	if !has {
		return func() {}, true
	}
	name := "reduce " + h.owner + " " + h.line.ID
	giveBack, ok, err := l.Lease(ctx, name, g.o.Replica, leaseFor)
	if err != nil {
		return giveBack, true // nobody can take it then
	}
	if !ok {
		return giveBack, false
	}
	ctx, stop := context.WithCancel(ctx)
	go func() { // renews it until released
		tick := time.NewTicker(leaseFor / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_, _, _ = l.Lease(ctx, name, g.o.Replica, leaseFor) // else it runs out
			}
		}
	}()
	return func() { stop(); giveBack() }, true
}

// lease waits for the lease of this conversation, and for the edits of the
// replica that has it.
func (m *job) lease(ctx context.Context, models bool) func() {
	if !models {
		return func() {}
	}
	for wait := 100 * time.Millisecond; ; {
		release, ok := m.g.tryLease(ctx, m.held)
		if ok {
			m.refresh(ctx)
			return release
		}
		select {
		case <-ctx.Done():
			return release
		case <-time.After(wait):
		}
	}
}
