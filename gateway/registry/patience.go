package registry

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/precis-dev/precis"
)

// How long a turn waits for the store: [Options.Patience], or only hurry while the store is known
// to hang.
const (
	mostPatience = 3 * time.Second
	hurry        = 100 * time.Millisecond
	hangs        = 10 * time.Second // how long a store that hung is assumed to hang
)

var errSlow = precis.Errorf(precis.CodeInternal, "ask the store", "it does not answer")

// timeLimit is the time limit for one kind of access to the store. Reading and writing have one
// each, because a store that is busy with writing can be read.
type timeLimit struct {
	limit time.Duration
	slow  atomic.Int64 // until when, in Unix nanoseconds, the store is assumed to hang
}

// withLimit returns a context that ends after the time limit.
func (p *timeLimit) withLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	wait := p.limit
	if time.Now().UnixNano() < p.slow.Load() {
		wait = min(wait, hurry)
	}
	return context.WithTimeoutCause(ctx, wait, errSlow)
}

// ended records that a bounded context has timed out. It reports whether the store was not known to
// hang.
func (p *timeLimit) ended(ctx context.Context) bool {
	if context.Cause(ctx) != errSlow {
		return false
	}
	now := time.Now()
	return p.slow.Swap(now.Add(hangs).UnixNano()) < now.UnixNano()
}

// answered records that the store has answered in time.
func (p *timeLimit) answered() { p.slow.Store(0) }

// call calls the store within the time limit.
func (p *timeLimit) call(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := p.withLimit(ctx)
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
