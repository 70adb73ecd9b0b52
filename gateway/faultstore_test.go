package gateway_test

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// everything is a store with all optional powers, as SQLite and PostgreSQL are.
type everything interface {
	precis.Store
	precis.Ledger
	precis.CalibrationStore
	store.Scoper
	store.EditLog
	store.Finder
	store.Leaser
	store.Lister
	store.Searcher
	store.Purger
	store.Spender
	store.Summer
}

// What a faulty store does.
const (
	works = iota
	fails
	hangs
)

// faulty is a store that can fail and hang, in all its scopes at once.
type faulty struct {
	everything
	mode *atomic.Int32
}

func newFaulty(st everything) *faulty { return &faulty{st, &atomic.Int32{}} }

func (f *faulty) set(mode int32) { f.mode.Store(mode) }

// fault returns what goes wrong with a call; nil: nothing.
func (f *faulty) fault(ctx context.Context) error {
	switch f.mode.Load() {
	case fails:
		return errGone
	case hangs:
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for f.mode.Load() == hangs {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-tick.C:
			}
		}
	}
	return nil
}

func (f *faulty) Scope(owner string) precis.Store {
	return &faulty{f.everything.Scope(owner).(everything), f.mode}
}

func (f *faulty) Append(ctx context.Context, parent precis.Fingerprint, msgs ...precis.Message) (precis.Fingerprint, error) {
	if err := f.fault(ctx); err != nil {
		return precis.Fingerprint{}, err
	}
	return f.everything.Append(ctx, parent, msgs...)
}

func (f *faulty) Load(ctx context.Context, node precis.Fingerprint) (*precis.Transcript, []precis.Edit, error) {
	if err := f.fault(ctx); err != nil {
		return nil, nil, err
	}
	return f.everything.Load(ctx, node)
}

func (f *faulty) AddEdit(ctx context.Context, after string, e precis.Edit) error {
	if err := f.fault(ctx); err != nil {
		return err
	}
	return f.everything.AddEdit(ctx, after, e)
}

func (f *faulty) Edits(ctx context.Context, node precis.Fingerprint) ([]precis.Edit, error) {
	if err := f.fault(ctx); err != nil {
		return nil, err
	}
	return f.everything.Edits(ctx, node)
}

func (f *faulty) Deepest(ctx context.Context, nodes []precis.Fingerprint) (int, error) {
	if err := f.fault(ctx); err != nil {
		return -1, err
	}
	return f.everything.Deepest(ctx, nodes)
}

func (f *faulty) PutConversation(ctx context.Context, r store.Record) error {
	if err := f.fault(ctx); err != nil {
		return err
	}
	return f.everything.PutConversation(ctx, r)
}

func (f *faulty) Conversation(ctx context.Context, id string) (store.Record, error) {
	if err := f.fault(ctx); err != nil {
		return store.Record{}, err
	}
	return f.everything.Conversation(ctx, id)
}

func (f *faulty) Headed(ctx context.Context, nodes []precis.Fingerprint) ([]store.Record, error) {
	if err := f.fault(ctx); err != nil {
		return nil, err
	}
	return f.everything.Headed(ctx, nodes)
}

func (f *faulty) Book(ctx context.Context, e precis.LedgerEntry) error {
	if err := f.fault(ctx); err != nil {
		return err
	}
	return f.everything.Book(ctx, e)
}

func (f *faulty) Lease(ctx context.Context, name, holder string, ttl time.Duration) (func(), bool, error) {
	if err := f.fault(ctx); err != nil {
		return func() {}, false, err
	}
	return f.everything.Lease(ctx, name, holder, ttl)
}

func (f *faulty) Purge(ctx context.Context, q store.PurgeQuery) (store.PurgeResult, error) {
	if err := f.fault(ctx); err != nil {
		return store.PurgeResult{}, err
	}
	return f.everything.Purge(ctx, q)
}
