package registry

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/precis-dev/precis/store"
)

// leaseFor is how long a lease lasts without renewal.
const leaseFor = 30 * time.Second

// Lease takes the lease for reducing the conversation with a model, if replicas share the store and
// no other holder has it. Each call is a separate holder, so a turn and the background do not share
// it. Ok is also true without a store that has leases. Release releases it after its last renewal
// has ended; it is never nil.
func (c *Conversation) Lease(ctx context.Context) (release func(), ok bool) {
	l, has := c.reg.Store(c.owner).(store.Leaser)
	if !has {
		return func() {}, true
	}
	name := "reduce " + c.owner + " " + c.id
	holder := c.reg.o.Replica + " " + strconv.FormatInt(c.reg.leases.Add(1), 10)
	giveBack, ok, err := l.Lease(ctx, name, holder, leaseFor)
	if err != nil {
		return giveBack, true // then no replica can take it
	}
	if !ok {
		return giveBack, false
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		renew(ctx, func() { _, _, _ = l.Lease(ctx, name, holder, leaseFor) }) // an unrenewed lease expires
	}()
	return sync.OnceFunc(func() { stop(); <-ended; giveBack() }), true
}

// renew calls f three times during the lifetime of a lease, until ctx ends.
func renew(ctx context.Context, f func()) {
	tick := time.NewTicker(leaseFor / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f()
		}
	}
}

// WaitForLease waits until no other replica reduces the conversation with a model, and adopts the
// edits that it has made. The lock must be held.
func (c *Conversation) WaitForLease(ctx context.Context) (release func()) {
	const pause = 100 * time.Millisecond
	for {
		release, ok := c.Lease(ctx)
		if ok {
			c.Refresh(ctx)
			return release
		}
		select {
		case <-ctx.Done():
			return release
		case <-time.After(pause):
		}
	}
}
