// Package hold makes the next request of a conversation wait, because a user wants to edit the
// conversation before it is sent. [Holds] are what users have ordered. The gateway holds a request
// after planning and before composing it, without a lock, and plans it again afterwards, so that the
// view that is sent includes the edits.
package hold

import (
	"context"
	"sync"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/internal/fair"
)

const (
	orderAge   = time.Hour // age at which an unused order is dropped
	mostOrders = 1000      // in all; [fair.Most] of them for one owner
)

// Holds are the orders to hold requests, by conversation. Make them with [New]. They are safe for
// concurrent use.
type Holds struct {
	now    func() time.Time
	notify func(owner, conversation string)

	mu    sync.Mutex
	all   map[string]*order
	ended bool
}

// New returns an empty list of orders. Notify is called, without a lock, when a request of a
// conversation is to be held, is held, or is let go.
func New(now func() time.Time, notify func(owner, conversation string)) *Holds {
	return &Holds{now: now, notify: notify, all: map[string]*order{}}
}

// order is one order.
type order struct {
	owner   string
	limit   time.Duration
	ordered time.Time

	holdsRequest bool // a request is held
	since, until time.Time
	last         time.Time     // the request is sent at the latest then
	changed      chan struct{} // closed, and replaced, when the request is let go or its limit changes
	letGo, again bool
}

// Hold holds the next request of a conversation, or extends the wait of the held one. The error is
// [precis.CodeConflict] when there are too many orders, or no more requests are held.
func (s *Holds) Hold(owner, id string, limit time.Duration) (err error) {
	defer func() {
		if err == nil {
			s.notify(owner, id)
		}
	}()
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
		h = &order{owner: owner, changed: make(chan struct{})}
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
func (h *order) change() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// Release withdraws the order for a conversation of an owner. With again, the request after the held
// one is held in turn.
func (s *Holds) Release(owner, id string, again bool) {
	defer s.notify(owner, id) // without the lock
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

// End lets all requests go and holds no more.
func (s *Holds) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, h := range s.all {
		h.letGo = true
		h.change()
	}
}

// forget drops orders older than orderAge that no request has used. The lock must be held.
func (s *Holds) forget() {
	for id, h := range s.all {
		if !h.holdsRequest && s.now().Sub(h.ordered) > orderAge {
			delete(s.all, id)
		}
	}
}

// Wait holds a request of a conversation if that was ordered, until it is let go, its limit or most
// has passed, or ctx ends. KeepAlive is called when the wait begins, stop when it ends. Held is false
// when there is no order, or when the order already holds a request; waited is by the real clock.
func (s *Holds) Wait(ctx context.Context, owner, id string, most time.Duration,
	keepAlive func() (stop func())) (waited time.Duration, held bool) {
	h := s.take(id, most)
	if h == nil {
		return 0, false
	}
	s.notify(owner, id)
	began := time.Now()
	stop := keepAlive()
	s.wait(ctx, h)
	stop()
	waited = time.Since(began)
	s.done(id, h)
	s.notify(owner, id)
	return waited, true
}

// take begins to hold a request, for at most most. It returns nil when there is no order, or when
// the order already holds a request.
func (s *Holds) take(id string, most time.Duration) *order {
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
func (s *Holds) wait(ctx context.Context, h *order) {
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
func (s *Holds) done(id string, h *order) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.again && !s.ended {
		h.holdsRequest, h.letGo, h.again, h.ordered = false, false, false, s.now()
		return
	}
	delete(s.all, id)
}

// State reports the order of an owner for a conversation.
func (s *Holds) State(owner, id string) (out conversation.Holding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	h := s.all[id]
	if h == nil || owner != conversation.AllOwners && owner != h.owner {
		return out
	}
	out.Ordered, out.Limit, out.Waiting = true, int(h.limit.Seconds()), h.holdsRequest
	if h.holdsRequest {
		out.Since, out.Until = h.since, h.until
	}
	return out
}
