// Package index decides when the full-text index of a store is updated: while no messages are
// appended, and briefly at intervals during heavy appending.
package index

import (
	"context"
	"sync/atomic"
	"time"
)

// Quiet is the pause in appending before the index is updated. If there is no such pause, it is
// updated every Late, for the time Burst.
const (
	Quiet = 2 * time.Second
	Late  = 5 * time.Second
	Burst = 500 * time.Millisecond
)

// Worker is a goroutine that updates the index. Methods of a nil Worker, used while a store is
// being opened, have no effect.
type Worker struct {
	step     func(context.Context) (more bool, err error)
	appended chan struct{}
	appends  atomic.Int64
	ctx      context.Context
	stop     context.CancelFunc
	done     chan struct{}
}

// Start returns a worker that calls step until it returns false: once at the beginning, because
// another process may have ended too early, and after each [Worker.Wake]. The next search retries
// failed work.
func Start(step func(context.Context) (more bool, err error)) *Worker {
	ctx, stop := context.WithCancel(context.Background())
	w := &Worker{step: step, appended: make(chan struct{}, 1), ctx: ctx, stop: stop,
		done: make(chan struct{})}
	go w.run()
	return w
}

// Wake reports that messages were appended. It does not block.
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

// Close ends the current step and waits for the goroutine.
func (w *Worker) Close() {
	if w != nil {
		w.stop()
		<-w.done
	}
}

func (w *Worker) run() {
	defer close(w.done)
	timer := time.NewTimer(Quiet)
	worked := time.Now() // time of the last update
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

// steps updates the index until it is complete, a step fails, or goOn returns false. Since is the
// time that the steps have taken.
func (w *Worker) steps(ctx context.Context, goOn func(since time.Duration) bool) {
	begin := time.Now()
	for more := true; more && goOn(time.Since(begin)); {
		var err error
		if more, err = w.step(ctx); err != nil {
			return
		}
	}
}

// CatchUp updates the index before a search: completely, but not for much longer than Burst during
// concurrent appends. Messages that cannot be indexed, for example because the disk is full, are
// not found by this search.
func (w *Worker) CatchUp(ctx context.Context) {
	appends := w.appends.Load()
	w.steps(ctx, func(since time.Duration) bool { return since < Burst || w.appends.Load() == appends })
}
