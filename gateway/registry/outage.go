package registry

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// outage tracks since when the store fails. It logs when an outage begins and ends, and not for
// each failed write.
type outage struct {
	log *slog.Logger
	now func() time.Time

	mu       sync.Mutex
	wrong    map[operation]bool
	loses    bool      // ledger lines are being lost
	since    time.Time // zero: the store works
	failedAt time.Time // of the last error
	err      error     // the last error, also of an outage that has ended
}

// operation is a kind of store operation. An outage ends when no kind is failing.
type operation string

const (
	conversations operation = "conversations"
	ledgerLines   operation = "ledger"
	identity      operation = "identity" // the store is still the one that was opened
)

// Outage describes the failure of a store.
type Outage struct {
	Since time.Time // when it began; zero: the store works
	Last  time.Time // when the store last failed; zero: never
	Err   error     // the last failure
}

func (o *outage) fail(ctx context.Context, p operation, err error) {
	o.mu.Lock()
	begins := !o.wrong[p] && (o.since.IsZero() || p == identity)
	if o.wrong == nil {
		o.wrong = map[operation]bool{}
	}
	o.wrong[p] = true
	o.failedAt, o.err = o.now(), err
	if o.since.IsZero() {
		o.since = o.failedAt
	}
	o.mu.Unlock()
	if begins {
		o.log.ErrorContext(ctx, "the store does not keep what is new; it stays in memory", "error", err)
	}
}

// recordSuccess records that a store operation has succeeded.
func (o *outage) recordSuccess(ctx context.Context, p operation) {
	o.mu.Lock()
	since := o.since
	ends := o.wrong[p] && len(o.wrong) == 1
	delete(o.wrong, p)
	o.loses = o.loses && p != ledgerLines
	if ends {
		o.since = time.Time{}
	}
	o.mu.Unlock()
	if ends {
		o.log.WarnContext(ctx, "the store keeps what is new again", "after",
			o.now().Sub(since).Round(time.Second).String())
	}
}

// recordLoss records the loss of a ledger line.
func (o *outage) recordLoss(ctx context.Context) {
	o.mu.Lock()
	begins := !o.loses
	o.loses = true
	o.mu.Unlock()
	if begins {
		o.log.ErrorContext(ctx, "ledger lines are lost: the store does not take them", "waiting", maxLines)
	}
}

func (o *outage) last() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

func (o *outage) state() Outage {
	o.mu.Lock()
	defer o.mu.Unlock()
	return Outage{o.since, o.failedAt, o.err}
}
