// Package homes gives the verbs of package conversation the conversations of a gateway: those in
// memory and those in the store.
package homes

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway/hold"
	"github.com/precis-dev/precis/gateway/profiles"
	"github.com/precis-dev/precis/gateway/registry"
	"github.com/precis-dev/precis/gateway/upstream"
	"github.com/precis-dev/precis/gateway/windows"
	"github.com/precis-dev/precis/store"
)

// Homes are the homes of a gateway. Store may be nil; the other exported fields are required, and must
// not be changed after the first use. It is safe for concurrent use.
type Homes struct {
	Conversations *registry.Registry
	Store         precis.Store // of the registry
	Shared        bool         // other replicas use the store, too
	Replica       string       // names this gateway among them
	Profiles      *profiles.Set
	Windows       *windows.Book
	Upstreams     upstream.List
	Holds         *hold.Holds
	OutputLimit   func(model string) int // in tokens; 0: unknown
	Logger        *slog.Logger

	counted atomic.Int64 // when the replicas' calibration was last loaded, in Unix nanoseconds
}

// Of returns the home of an owner, or of [conversation.AllOwners]. Conversations of other owners are
// reported as not found.
func (a *Homes) Of(owner string) Home { return a.In(a.Conversations, owner) }

// In is [Homes.Of] for the conversations of another registry, such as one that lives for one request.
func (a *Homes) In(r *registry.Registry, owner string) Home { return Home{a, owner, r} }

// Forget purges the conversations of all owners that were last updated before a time. Each replica
// should call it once per period. One of the replicas that share a store purges it, and keeps that
// role until it has not called for a period; the others only clear their memory.
func (a *Homes) Forget(ctx context.Context, before time.Time,
	period time.Duration) (store.PurgeResult, error) {
	all := a.Of(conversation.AllOwners)
	leaser, ok := a.Store.(store.Leaser)
	if !ok || !a.Shared {
		return all.purge(ctx, registry.Purge{Before: before})
	}
	release, ours, err := leaser.Lease(ctx, "forget", a.Replica, period)
	if err != nil {
		return store.PurgeResult{}, err
	}
	res, err := all.purge(ctx, registry.Purge{Before: before, Memory: !ours})
	if err != nil {
		release() // another replica may succeed
	}
	return res, err
}

// countingFor is how long a loaded calibration is used before it is loaded again.
const countingFor = 250 * time.Millisecond

// reloadCalibration loads the calibration that replicas have put in the shared store, so that all of
// them show the same counts.
func (a *Homes) reloadCalibration(ctx context.Context) {
	now := time.Now().UnixNano()
	last := a.counted.Load()
	if !a.Shared || now-last < int64(countingFor) || !a.counted.CompareAndSwap(last, now) {
		return
	}
	if err := a.Profiles.Default().WithStore(a.Store).LoadCalibration(ctx); err != nil {
		// memory has an older one
		a.Logger.WarnContext(ctx, "what replicas have learned about counting is not known", "error", err)
	}
}
