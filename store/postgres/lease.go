package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/precis-dev/precis"
)

// releaseTimeout is the time limit of a release. If it fails, the lease expires by itself.
const releaseTimeout = 5 * time.Second

// Lease takes or renews a lease, see [store.Leaser]. Only the database's clock counts, so the
// replicas' clocks may differ. The error is [precis.CodeInvalid] without a name or a holder, and
// for a ttl below a millisecond.
func (s *Store) Lease(ctx context.Context, name, holder string,
	ttl time.Duration) (release func(), ok bool, err error) {
	const op = "take lease"
	if name == "" || holder == "" || ttl < time.Millisecond {
		return func() {}, false, precis.Errorf(precis.CodeInvalid, op,
			"a lease needs a name, a holder and a time of 1ms at least")
	}
	err = s.do(ctx, op, func() error {
		// clock_timestamp, not now: the statement may have waited for another one.
		err := s.pool.QueryRow(ctx, `INSERT INTO leases AS l (name, holder, expires)
			VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 microsecond')
			ON CONFLICT (name) DO UPDATE SET holder = $2, expires = clock_timestamp() + $3::bigint * interval '1 microsecond'
			WHERE l.holder = $2 OR l.expires <= clock_timestamp() RETURNING true`, []byte(name),
			[]byte(holder), ttl.Microseconds()).Scan(&ok)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil || !ok {
		return func() {}, false, err
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()
		// On failure the lease expires, so there is no error to return. The statement also deletes
		// expired leases of killed holders.
		_ = s.exec(ctx, "release lease", `DELETE FROM leases WHERE name = $1 AND holder = $2
			OR name IN (SELECT name FROM leases WHERE expires <= clock_timestamp() LIMIT 100 FOR UPDATE SKIP LOCKED)`, []byte(name), []byte(holder))
	}, true, nil
}
