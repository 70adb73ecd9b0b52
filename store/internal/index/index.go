// Package index brings the full-text index of a store up to date while nothing
// is appended, and a part of it at times while much is.
package index

import (
	"context"
	"sync/atomic"
	"time"
)

// Quiet is how long nothing must have been appended. Where that does not come to
// pass, the index is worked on every Late, each time for Burst.
const (
	Quiet = 2 * time.Second
	Late  = 5 * time.Second
	Burst = 500 * time.Millisecond
)

// Worker is a goroutine that indexes. All methods may be called on nil, which
// does nothing: that is a store that is being opened.
type Worker struct {
	step     func(context.Context) (more bool, err error)
	appended chan struct{}
	appends  atomic.Int64
	ctx      context.Context
	stop     context.CancelFunc
	done     chan struct{}
}

// Start returns a worker that calls step until it returns false: once at the
// beginning, since another process may have ended too early, and after each
// [Worker.Wake]. What fails is left to the next search.
func Start(step func(context.Context) (more bool, err error)) *Worker {
	ctx, stop := context.WithCancel(context.Background())
	w := &Worker{step: step, appended: make(chan struct{}, 1), ctx: ctx, stop: stop, done: make(chan struct{})}
	go w.run()
	return w
}

// Wake says that something was appended. It never waits.
func (w *Worker) Wake() {
	if w == nil {
		return
	}
	w.appends.Add(1)
	select {
	case w.appended <- struct{}{}:
	default:
	}
}

// Close ends the step under way and waits for the goroutine.
func (w *Worker) Close() {
	if w != nil {
		w.stop()
		<-w.done
	}
}

func (w *Worker) run() {
	defer close(w.done)
	timer := time.NewTimer(Quiet)
	worked := time.Now() // when the index was last worked on
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-w.appended:
			if time.Since(worked) >= Late {
				w.steps(w.ctx, func(since time.Duration) bool { return since < Burst })
				worked = time.Now()
			}
			timer.Reset(Quiet)
		case <-timer.C:
			w.steps(w.ctx, func(time.Duration) bool { return len(w.appended) == 0 })
			worked = time.Now()
		}
	}
}

// steps indexes until all is, a step fails, or goOn returns false. It is asked with
// the time that the steps have taken.
func (w *Worker) steps(ctx context.Context, goOn func(since time.Duration) bool) {
	begin := time.Now()
	for more := true; more && goOn(time.Since(begin)); {
		var err error
		if more, err = w.step(ctx); err != nil {
			return
		}
	}
}

// CatchUp indexes on behalf of a search: all there is, but for not much longer than
// Burst while others append. What cannot be indexed, because the disk is full for
// example, is not found by this search.
func (w *Worker) CatchUp(ctx context.Context) {
	appends := w.appends.Load()
	w.steps(ctx, func(since time.Duration) bool { return since < Burst || w.appends.Load() == appends })
}
