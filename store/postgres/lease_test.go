//go:build unix

package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store/postgres"
)

// take asks for a lease and checks the answer.
func take(t *testing.T, s *postgres.Store, holder string, ttl time.Duration, want bool) (release func()) {
	t.Helper()
	release, ok, err := s.Lease(t.Context(), "condense \x00\xff", holder, ttl)
	if err != nil || ok != want || release == nil {
		t.Fatalf("%s: %v, %v, want %v", holder, ok, err, want)
	}
	return release
}

// waitFor polls until something is the case.
func waitFor(t *testing.T, what func() bool) {
	t.Helper()
	for start := time.Now(); !what(); time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > 20*time.Second {
			t.Fatal("it does not happen")
		}
	}
}

func TestLeaseExcludes(t *testing.T) {
	t.Parallel()
	url := database(t)
	a, b := open(t, url), open(t, url)
	release := take(t, a, "a", time.Minute, true)
	other := take(t, b, "b", time.Minute, false)
	other() // of a lease it does not have
	take(t, b, "b", time.Minute, false)
	if _, ok, err := b.Lease(t.Context(), "another", "b", time.Minute); !ok || err != nil {
		t.Errorf("another lease: %v, %v", ok, err)
	}
	release()
	release()
	releaseB := take(t, b, "b", time.Minute, true)
	release() // of a lease that another one has now
	take(t, a, "a", time.Minute, false)
	releaseB()
	take(t, a, "a", time.Minute, true)
}

// TestLeaseRunsOut: that of a replica that died is taken over, not before its
// time, and what it does afterwards does not take it away again.
func TestLeaseRunsOut(t *testing.T) {
	t.Parallel()
	url := database(t)
	a, b := open(t, url), open(t, url)
	const ttl = 200 * time.Millisecond
	start := time.Now()
	release := take(t, a, "a", ttl, true)
	waitFor(t, func() bool {
		_, ok, err := b.Lease(t.Context(), "condense \x00\xff", "b", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	})
	if took := time.Since(start); took < ttl {
		t.Errorf("taken over after %v", took)
	}
	release()
	take(t, a, "a", time.Minute, false)
}

// TestLeaseIsRenewed: a second call of the holder makes it last longer.
func TestLeaseIsRenewed(t *testing.T) {
	t.Parallel()
	url := database(t)
	a, b := open(t, url), open(t, url)
	first := take(t, a, "a", 50*time.Millisecond, true)
	take(t, a, "a", time.Minute, true)
	waitFor(t, func() bool { // the time of the first call is over
		return with(t, url, `SELECT clock_timestamp() > expires - interval '59.9 seconds' FROM leases`) == "t"
	})
	take(t, b, "b", time.Minute, false)
	first() // of the same holder: the lease is one
	take(t, b, "b", time.Minute, true)
}

// TestLeaseRace: whoever starts, one gets it; when it gives it back, another.
func TestLeaseRace(t *testing.T) {
	t.Parallel()
	url := database(t)
	replicas := []*postgres.Store{open(t, url), open(t, url)}
	for round := range 10 {
		var wg sync.WaitGroup
		var has atomic.Int32
		releases := make(chan func(), 12)
		for i := range cap(releases) {
			wg.Go(func() {
				release, ok, err := replicas[i%2].Lease(t.Context(), "race", fmt.Sprint("holder ", i), time.Minute)
				if err != nil {
					t.Error(err)
				}
				if ok {
					has.Add(1)
				}
				releases <- release
			})
		}
		wg.Wait()
		if has.Load() != 1 {
			t.Fatalf("round %d: %d have it", round, has.Load())
		}
		close(releases)
		for release := range releases {
			release()
		}
	}
}

// TestLeaseAfterTheContext: release works when the work was canceled, and is
// harmless when the store is closed. Leases of the dead are cleared away.
func TestLeaseAfterTheContext(t *testing.T) {
	t.Parallel()
	url := database(t)
	a, b := open(t, url), open(t, url)
	ctx, cancel := context.WithCancel(t.Context())
	release, ok, err := a.Lease(ctx, "condense \x00\xff", "a", time.Minute)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	cancel()
	release()
	last := take(t, b, "b", time.Minute, true)
	if _, ok, err := a.Lease(t.Context(), "of a dead one", "dead", time.Millisecond); !ok || err != nil {
		t.Fatal(ok, err)
	}
	waitFor(t, func() bool {
		return with(t, url, `SELECT count(*) FROM leases WHERE expires < clock_timestamp()`) == "1"
	})
	last()
	if got := with(t, url, `SELECT count(*) FROM leases`); got != "0" {
		t.Errorf("%s leases are left", got)
	}
	unused := take(t, b, "b", time.Minute, true)
	b.Close()
	unused()
	_, _, err = b.Lease(t.Context(), "n", "h", time.Minute)
	wantError(t, err, precis.CodeInternal)
	_, _, err = a.Lease(ctx, "n", "h", time.Minute)
	wantError(t, err, precis.CodeCanceled)
	for _, c := range []struct {
		name, holder string
		ttl          time.Duration
	}{{"", "h", time.Minute}, {"n", "", time.Minute}, {"n", "h", 0}, {"n", "h", -time.Second}} {
		release, _, err := a.Lease(t.Context(), c.name, c.holder, c.ttl)
		wantError(t, err, precis.CodeInvalid)
		release()
	}
}
