package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/precis-dev/precis"
)

// releaseTimeout is the time limit of a release. If it fails, the lease expires by itself.
const releaseTimeout = 5 * time.Second

// Lease takes or renews a lease, see [store.Leaser]. All processes that share the file see it. The
// error is [precis.CodeInvalid] without a name or a holder, and for a ttl below a millisecond.
func (s *Store) Lease(ctx context.Context, name, holder string,
	ttl time.Duration) (release func(), ok bool, err error) {
	const op = "take lease"
	none := func() {}
	if name == "" || holder == "" || ttl < time.Millisecond {
		return none, false, precis.Errorf(precis.CodeInvalid, op,
			"a lease needs a name, a holder and a time of 1ms at least")
	}
	err = s.shared().update(ctx, op, func(tx call) error {
		ok = false
		now := time.Now() // not earlier: the transaction may have waited for another one
		err := tx.QueryRowContext(ctx, `INSERT INTO leases (name, holder, expires) VALUES (?1, ?2, ?3)
			ON CONFLICT (name) DO UPDATE SET holder = ?2, expires = ?3 WHERE holder = ?2 OR expires <= ?4 RETURNING 1`,
			[]byte(name), []byte(holder), now.Add(ttl).UnixMilli(), now.UnixMilli()).Scan(&ok)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil || !ok {
		return none, false, err
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()
		// On failure the lease expires, so there is no error to return. The statement also deletes
		// expired leases of killed holders.
		_ = s.shared().update(ctx, "release lease", func(tx call) error {
			_, err := tx.ExecContext(ctx, `DELETE FROM leases WHERE name = ? AND holder = ? OR expires <= ?`,
				[]byte(name), []byte(holder), time.Now().UnixMilli())
			return err
		})
	}, true, nil
}

// shared is the part of the store for data shared by all scopes; it stores no owner.
func (s *part) shared() *part { return &part{file: s.file} }
