package storetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// take asks for a lease and checks the answer.
func (s *suite) take(l store.Leaser, holder string, ttl time.Duration, want bool) (release func()) {
	s.Helper()
	release, ok, err := l.Lease(s.ctx, "condense \x00\xff", holder, ttl)
	if err != nil || ok != want || release == nil {
		s.Fatalf("%s: %v, %v, want %v", holder, ok, err, want)
	}
	return release
}

func leases(s *suite) {
	l := need[store.Leaser](s)
	release := s.take(l, "a", time.Minute, true)
	s.take(l, "b", time.Minute, false)() // releases a lease that it does not hold
	s.take(l, "b", time.Minute, false)
	if sc, ok := s.Store.(store.Scoper); ok { // scopes share leases
		s.take(sc.Scope("another").(store.Leaser), "b", time.Minute, false)
	}
	if _, ok, err := l.Lease(s.ctx, "another", "b", time.Minute); !ok || err != nil {
		s.Errorf("another lease: %v, %v", ok, err)
	}
	s.take(l, "a", time.Minute, true) // renewed
	release()
	release()
	late, cancel := context.WithCancel(s.ctx)
	releaseB, ok, err := l.Lease(late, "condense \x00\xff", "b", time.Minute)
	if !ok || err != nil {
		s.Fatal(ok, err)
	}
	release() // a lease now held by another
	s.take(l, "a", time.Minute, false)
	cancel()
	releaseB()
	s.take(l, "a", time.Millisecond, true)
	for start := time.Now(); ; { // it expires
		_, ok, err := l.Lease(s.ctx, "condense \x00\xff", "b", time.Minute)
		if err != nil || time.Since(start) > 20*time.Second {
			s.Fatalf("not taken over: %v", err)
		}
		if ok {
			break
		}
	}
	for _, c := range []struct {
		name, holder string
		ttl          time.Duration
	}{{"", "h", time.Minute}, {"n", "", time.Minute}, {"n", "h", 0}, {"n", "h", -time.Second}} {
		release, _, err := l.Lease(s.ctx, c.name, c.holder, c.ttl)
		s.wantCode("Lease of nothing", err, precis.CodeInvalid)
		release()
	}
}

func leaseRace(s *suite) {
	l := need[store.Leaser](s)
	for round := range 5 {
		var has atomic.Int32
		releases := make([]func(), racers)
		for _, err := range together(func(i int) (err error) {
			var ok bool
			releases[i], ok, err = l.Lease(s.ctx, "race", fmt.Sprint("holder ", i), time.Minute)
			if ok {
				has.Add(1)
			}
			return err
		}) {
			if err != nil {
				s.Error(err)
			}
		}
		if has.Load() != 1 {
			s.Fatalf("round %d: %d have it", round, has.Load())
		}
		for _, release := range releases {
			release()
		}
	}
}
