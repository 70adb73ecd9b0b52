package registry

import (
	"context"
	"sync/atomic"
	"time"

	"precis"
)

// How long a turn waits for the store: [Options.Patience], or, while the store is
// known to hang, only hurry.
const (
	mostPatience = 3 * time.Second
	hurry        = 100 * time.Millisecond
	hangs        = 10 * time.Second // how long a store that hung is taken to hang
)

var errSlow = precis.Errorf(precis.CodeInternal, "ask the store", "it does not answer")

// patience is how long those wait who ask the store for one kind of thing. Reading
// and writing have one each: a store that is busy with writing may be read.
type patience struct {
	most time.Duration
	slow atomic.Int64 // until when, in Unix nanoseconds, the store is taken to hang
}

// bound returns a context that ends when somebody has waited long enough.
func (p *patience) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	wait := p.most
	if time.Now().UnixNano() < p.slow.Load() {
		wait = min(wait, hurry)
	}
	return context.WithTimeoutCause(ctx, wait, errSlow)
}

// ended notes that the wait of a bounded context was in vain. It reports whether
// the store was not known to hang.
func (p *patience) ended(ctx context.Context) bool {
	if context.Cause(ctx) != errSlow {
		return false
	}
	now := time.Now()
	return p.slow.Swap(now.Add(hangs).UnixNano()) < now.UnixNano()
}

// answered notes that the store has answered in time.
func (p *patience) answered() { p.slow.Store(0) }

// call calls the store on behalf of somebody who waits.
func (p *patience) call(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := p.bound(ctx)
	defer cancel()
	err := f(ctx)
	if err != nil && context.Cause(ctx) == errSlow {
		p.ended(ctx)
		return errSlow
	}
	if err == nil {
		p.answered()
	}
	return err
}
