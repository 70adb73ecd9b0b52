package registry

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// outage knows since when the store does not take what it is given. It is logged
// when an outage begins and when it ends, and not for each write that fails.
type outage struct {
	log *slog.Logger
	now func() time.Time

	mu    sync.Mutex
	wrong map[part]bool
	loses bool      // ledger lines
	since time.Time // zero: the store works
	at    time.Time // of the last error
	err   error     // the last one, also of an outage that has ended
}

// part is a part of what the store does. An outage ends when no part of it is wrong.
type part string

const (
	conversations part = "conversations"
	ledgerLines   part = "ledger"
	identity      part = "identity" // it is still the store that was opened
)

// Outage is what is wrong with a store, and since when.
type Outage struct {
	Since time.Time // when it began; zero: there is none
	Last  time.Time // when the store last failed; zero: it never did
	Err   error     // what the last failure was
}

func (o *outage) fail(ctx context.Context, p part, err error) {
	o.mu.Lock()
	begins := !o.wrong[p] && (o.since.IsZero() || p == identity)
	if o.wrong == nil {
		o.wrong = map[part]bool{}
	}
	o.wrong[p] = true
	o.at, o.err = o.now(), err
	if o.since.IsZero() {
		o.since = o.at
	}
	o.mu.Unlock()
	if begins {
		o.log.ErrorContext(ctx, "the store does not keep what is new; it stays in memory", "error", err)
	}
}

// works is called when a part of the store has done what it was asked for.
func (o *outage) works(ctx context.Context, p part) {
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
		o.log.WarnContext(ctx, "the store keeps what is new again", "after", o.now().Sub(since).Round(time.Second).String())
	}
}

// lose is called for a ledger line that is lost.
func (o *outage) lose(ctx context.Context) {
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
	return Outage{o.since, o.at, o.err}
}
