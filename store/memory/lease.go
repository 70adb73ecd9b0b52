package memory

import (
	"context"
	"time"

	"github.com/precis-dev/precis"
)

// lease is a holder and the time its lease expires.
type lease struct {
	holder  string
	expires time.Time
}

// Lease takes or renews a lease, see [store.Leaser]. It is not visible to other processes. The
// error is [precis.CodeInvalid] without a name or a holder, and for a ttl below a millisecond.
func (s *Store) Lease(ctx context.Context, name, holder string,
	ttl time.Duration) (release func(), ok bool, err error) {
	const op = "take lease"
	none := func() {}
	if name == "" || holder == "" || ttl < time.Millisecond {
		return none, false, precis.Errorf(precis.CodeInvalid, op,
			"a lease needs a name, a holder and a time of 1ms at least")
	}
	done, err := s.begin(ctx, op)
	defer done()
	if err != nil {
		return none, false, err
	}
	now := time.Now()
	if l, taken := s.leases[name]; taken && l.holder != holder && now.Before(l.expires) {
		return none, false, nil
	}
	for other, l := range s.leases { // remove expired leases
		if !now.Before(l.expires) {
			delete(s.leases, other)
		}
	}
	s.leases[name] = lease{holder: holder, expires: now.Add(ttl)}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.leases[name].holder == holder {
			delete(s.leases, name)
		}
	}, true, nil
}
