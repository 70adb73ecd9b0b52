package gateway

import (
	"context"
	"sync"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway/polyfill"
	"github.com/precis-dev/precis/internal/fair"
)

// Users can hold the next request of a conversation: after planning and before composing it waits
// without a lock, so that verbs can edit the conversation meanwhile. The view that is sent includes
// their edits.

const (
	holdSilent = 30 * time.Second // longest wait of a client that cannot receive keep-alive bytes
	orderAge   = time.Hour        // age at which an unused order is dropped
	mostOrders = 1000             // in all; [fair.Most] of them for one owner
)

// holds are the orders to hold requests, by conversation.
type holds struct {
	now    func() time.Time
	notify func(owner, conversation string)

	mu    sync.Mutex
	all   map[string]*hold
	ended bool
}

// hold is one order.
type hold struct {
	owner   string
	limit   time.Duration
	ordered time.Time

	holdsRequest bool // a request is held
	since, until time.Time
	last         time.Time     // the request is sent at the latest then
	changed      chan struct{} // closed, and replaced, when the request is let go or its limit changes
	letGo, again bool
}

// order holds the next request of a conversation, or extends the wait of the held one.
func (s *holds) order(owner, id string, limit time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	own := 0
	for _, h := range s.all {
		if h.owner == owner {
			own++
		}
	}
	if s.ended || s.all[id] == nil && (len(s.all) >= mostOrders || own >= fair.Most(mostOrders)) {
		return precis.Errorf(precis.CodeConflict, "hold request", "no more requests can be held now")
	}
	h := s.all[id]
	if h == nil {
		h = &hold{owner: owner, changed: make(chan struct{})}
		s.all[id] = h
	}
	h.limit, h.ordered = limit, s.now()
	if h.holdsRequest {
		h.until = earlier(h.ordered.Add(limit), h.last)
		h.change()
	}
	return nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// change wakes the held request.
func (h *hold) change() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// release withdraws an order. With again, the request after the held one is held in turn.
func (s *holds) release(id string, again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.all[id]
	switch {
	case h == nil:
	case h.holdsRequest:
		h.letGo, h.again = true, again
		h.change()
	default:
		delete(s.all, id)
	}
}

// end lets all requests go and holds no more.
func (s *holds) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, h := range s.all {
		h.letGo = true
		h.change()
	}
}

// forget drops orders older than orderAge that no request has used. The lock must be held.
func (s *holds) forget() {
	for id, h := range s.all {
		if !h.holdsRequest && s.now().Sub(h.ordered) > orderAge {
			delete(s.all, id)
		}
	}
}

// take begins to hold a request, for at most most. It returns nil when there is no order, or when
// the order already holds a request.
func (s *holds) take(id string, most time.Duration) *hold {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	h := s.all[id]
	if h == nil || h.holdsRequest || s.ended {
		return nil
	}
	h.holdsRequest, h.since = true, s.now()
	h.last = h.since.Add(most)
	h.until = earlier(h.since.Add(h.limit), h.last)
	return h
}

// wait waits until the request is let go, its limit has passed, or the client leaves.
func (s *holds) wait(ctx context.Context, h *hold) {
	for {
		s.mu.Lock()
		until, changed, done := h.until, h.changed, h.letGo
		s.mu.Unlock()
		left := until.Sub(s.now())
		if done || left <= 0 {
			return
		}
		timer := time.NewTimer(left)
		select {
		case <-changed:
			timer.Stop()
		case <-timer.C:
			return
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// done ends the holding of a request: its order is removed, or waits for the next request.
func (s *holds) done(id string, h *hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.again && !s.ended {
		h.holdsRequest, h.letGo, h.again, h.ordered = false, false, false, s.now()
		return
	}
	delete(s.all, id)
}

// orderState reports the order of an owner for a conversation.
func (s *holds) orderState(owner, id string) (out conversation.Holding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	h := s.all[id]
	if h == nil || owner != AllOwners && owner != h.owner {
		return out
	}
	out.Ordered, out.Limit, out.Waiting = true, int(h.limit.Seconds()), h.holdsRequest
	if h.holdsRequest {
		out.Since, out.Until = h.since, h.until
	}
	return out
}

// holdIfOrdered makes the request wait if a user has ordered that, then plans it again, because the user may
// have edited the conversation. Meanwhile the client receives keep-alive bytes if its dialect has
// them. The error is [precis.CodeCanceled] when the client leaves.
func (x *exchange) holdIfOrdered(p *plan) (*plan, error) {
	if !p.managed || !p.remembered() || p.assembly != nil || p.poly.Active || p.poly.Only ||
		p.poly.Mode != polyfill.Forward {
		return p, nil
	}
	most := holdSilent
	if p.found.Prompt.Stream && p.direct == nil {
		most = conversation.MostHold
	}
	s, id := &x.g.holds, p.conv.ID()
	h := s.take(id, most)
	if h == nil {
		return p, nil
	}
	s.notify(x.owner, id)
	began := time.Now()
	stop := p.keepAlive()
	s.wait(x.r.Context(), h)
	stop()
	x.waited += time.Since(began)
	s.done(id, h)
	s.notify(x.owner, id)
	if err := context.Cause(x.r.Context()); err != nil {
		return nil, precis.Errorf(precis.CodeCanceled, "hold request", "%w", err)
	}
	return p.reviewed()
}

// reviewed makes the view again after the request was held. A user's edits stay as they are while
// the view fits.
func (p *plan) reviewed() (*plan, error) {
	next := *p
	err := next.locked(func(ctx context.Context, j *planner) error {
		j.conv.Refresh(ctx)
		if err := j.look(ctx); err != nil {
			return err
		}
		if j.fits() {
			return nil
		}
		return j.run(ctx)
	})
	if precis.CodeOf(err) == precis.CodeCanceled {
		return nil, err
	}
	if err != nil {
		p.g.o.Logger.WarnContext(p.r.Context(), "a request that was held is sent as it was",
			"conversation", p.conv.ID(), "code", string(precis.CodeOf(err)), "error", err)
		return p, nil
	}
	next.before = max(p.before, next.result.Report.Unreduced)
	return &next, nil
}

// LetGo sends all held requests and holds no more. Call it before the gateway ends.
func (g *Gateway) LetGo() { g.holds.end() }

// Hold holds the next request of a conversation, see [conversation.Holder].
func (h home) Hold(ctx context.Context, id string, limit time.Duration) error {
	c, err := h.find(ctx, id)
	if err != nil {
		return err
	}
	if err := h.g.holds.order(c.Owner(), c.ID(), limit); err != nil {
		return err
	}
	h.g.holds.notify(c.Owner(), c.ID())
	return nil
}

// LetGo lets a request go, see [conversation.Holder].
func (h home) LetGo(ctx context.Context, id string, again bool) error {
	c, err := h.find(ctx, id)
	if err != nil {
		return err
	}
	h.g.holds.release(c.ID(), again)
	h.g.holds.notify(c.Owner(), c.ID())
	return nil
}

// Holding reports the order for a conversation, see [conversation.Holder].
func (h home) Holding(_ context.Context, id string) (conversation.Holding, error) {
	return h.g.holds.orderState(h.owner, id), nil
}
