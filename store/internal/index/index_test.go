package index_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/precis-dev/precis/store/internal/index"
)

func TestWorkerWaitsUntilNothingIsAppended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var steps []time.Duration
		start, left := time.Now(), 2
		w := index.Start(func(context.Context) (bool, error) {
			steps = append(steps, time.Since(start))
			left--
			return left > 0, nil
		})
		time.Sleep(index.Quiet / 2)
		w.Wake() // puts off the first look
		time.Sleep(2 * index.Quiet)
		w.Close()
		if at := 3 * index.Quiet / 2; len(steps) != 2 || steps[0] != at || steps[1] != at {
			t.Errorf("indexed after %v, want twice after %v", steps, at)
		}
	})
}

func TestWorkerGoesOnAfterAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		steps := 0
		w := index.Start(func(context.Context) (bool, error) {
			steps++
			return true, errors.New("the disk is full")
		})
		time.Sleep(2 * index.Quiet)
		w.Wake()
		time.Sleep(2 * index.Quiet)
		w.Close()
		if steps != 2 {
			t.Errorf("%d steps, want one at the start and one after waking", steps)
		}
	})
}

func TestWorkerEndsItsStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended error
		w := index.Start(func(ctx context.Context) (bool, error) {
			<-ctx.Done()
			ended = ctx.Err()
			return true, ended
		})
		time.Sleep(2 * index.Quiet)
		w.Close()
		if ended == nil {
			t.Error("Close has not ended the step")
		}
	})
}

// A store that is never quiet is indexed all the same, in bursts.
func TestWorkerWorksWhileMuchIsAppended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		steps := 0
		w := index.Start(func(context.Context) (bool, error) {
			steps++
			time.Sleep(index.Burst / 5)
			return true, nil
		})
		for range 24 {
			time.Sleep(index.Quiet / 4)
			w.Wake()
		}
		w.Close()
		if steps < 5 || steps > 10 { // in 12 s
			t.Errorf("%d steps, want those of one or two bursts", steps)
		}
	})
}

// A search does not run after those who append, and otherwise waits for the whole
// index.
func TestCatchingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var steps atomic.Int32 // of the search and of the worker
		var others atomic.Pointer[index.Worker]
		w := index.Start(func(context.Context) (bool, error) {
			n := steps.Add(1)
			time.Sleep(index.Burst / 5)
			others.Load().Wake() // nil wakes nobody
			return n < 100, nil
		})
		others.Store(w)
		w.CatchUp(t.Context())
		if n := steps.Load(); n != 5 {
			t.Errorf("%d steps while others append", n)
		}
		others.Store(nil)
		w.CatchUp(t.Context())
		w.Close()
		if n := steps.Load(); n < 100 {
			t.Errorf("%d steps of 100 while nobody appends", n)
		}
	})
}

func TestNoWorker(*testing.T) {
	var w *index.Worker
	w.Wake()
	w.Close()
}
