package registry

import (
	"context"
	"sync"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/store"
)

// Ledger returns the ledger of an owner's conversations; nil when the store keeps no ledger.
// Entries are stored in the background; reading first stores the owner's pending ones.
func (r *Registry) Ledger(owner string) precis.Ledger {
	if _, ok := r.Store(owner).(precis.Ledger); !ok {
		return nil
	}
	return ledger{r, owner}
}

// Manager returns a manager for the conversations of an owner. It has the owner's ledger and
// calibration, but no store, because the registry stores edits.
func (r *Registry) Manager(m *policy.Manager, owner string) *policy.Manager {
	return m.WithStore(nil).WithLedger(r.Ledger(owner)).ForOwner(owner)
}

type ledger struct {
	reg   *Registry
	owner string
}

// Book queues an entry. The entry of an edit waits while its conversation is doubted, and is stored
// with the edit.
func (l ledger) Book(ctx context.Context, e precis.LedgerEntry) error {
	if e.EditID != "" {
		if at := l.reg.table.Line(l.owner, e.Conversation); at != nil && at.State != nil &&
			at.State.holdBack(e) {
			return nil
		}
	}
	l.reg.books.add(ctx, store.OwnedEntry{Owner: l.owner, LedgerEntry: e})
	return nil
}

// Entries reads the ledger.
func (l ledger) Entries(ctx context.Context, conversation string,
	since time.Time) (out []precis.LedgerEntry, err error) {
	err = l.reg.reads.call(ctx, func(ctx context.Context) (err error) {
		if err := l.reg.books.flushOwner(ctx, l.owner); err != nil {
			return err
		}
		out, err = l.reg.Store(l.owner).(precis.Ledger).Entries(ctx, conversation, since)
		return err
	})
	return out, err
}

// Spent returns the cost of condensing for all owners since a time, or only for this owner if the
// store has no sum over owners.
func (l ledger) Spent(ctx context.Context, since time.Time) (usd float64, err error) {
	spender, ok := l.reg.Store(l.owner).(store.Spender)
	if !ok {
		entries, err := l.Entries(ctx, "", since)
		for _, e := range entries {
			if e.Kind != "request" {
				usd += e.CostUSD
			}
		}
		return usd, err
	}
	err = l.reg.reads.call(ctx, func(ctx context.Context) (err error) {
		if err := l.reg.books.flushOwner(ctx, Everybody); err != nil {
			return err
		}
		usd, err = spender.Spent(ctx, since)
		return err
	})
	return usd, err
}

// ledgerQueue are the ledger lines that wait to be stored. They are written in batches, one at a time.
type ledgerQueue struct {
	reg    *Registry
	ctx    context.Context // of the background work
	cancel context.CancelFunc
	wake   chan struct{}
	stop   chan struct{}
	done   chan struct{}
	once   sync.Once
	turn   chan struct{} // of capacity 1: full while lines are written

	mu           sync.Mutex
	waiting      []store.OwnedEntry
	begun        int // number of lines being written
	droppedLines int // number of lines dropped
}

const (
	maxLines = 100_000 // most pending lines; about 300 bytes each
	listOf   = 1000    // lines per write
)

func newBooks(r *Registry) *ledgerQueue {
	b := &ledgerQueue{reg: r, wake: make(chan struct{}, 1), stop: make(chan struct{}),
		done: make(chan struct{}), turn: make(chan struct{}, 1)}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	go b.run()
	return b
}

// add queues a line. A line over the limit is dropped and counted; the first dropped one of an
// outage is logged.
func (b *ledgerQueue) add(ctx context.Context, e store.OwnedEntry) {
	b.mu.Lock()
	full := len(b.waiting)+b.begun >= maxLines
	if full {
		b.droppedLines++
	} else {
		b.waiting = append(b.waiting, e)
	}
	b.mu.Unlock()
	if full {
		b.reg.outage.recordLoss(ctx)
	}
	signal(b.wake)
}

func (b *ledgerQueue) run() {
	defer close(b.done)
	for {
		select {
		case <-b.stop:
			return
		case <-b.wake:
		}
		wait := gather
		if b.flush(b.ctx) != nil { // it is retried
			wait = pause
		}
		select {
		case <-b.stop:
			return
		case <-time.After(wait):
		}
	}
}

// flush writes the lines that are pending when it is called, in batches.
func (b *ledgerQueue) flush(ctx context.Context) error {
	b.mu.Lock()
	left := len(b.waiting)
	b.mu.Unlock()
	for ; left > 0; left -= listOf {
		if err := b.write(ctx, Everybody); err != nil {
			return err
		}
	}
	return nil
}

// flushOwner writes the lines of an owner, or of [Everybody], that are pending when it is called, and
// waits for those being written.
func (b *ledgerQueue) flushOwner(ctx context.Context, owner string) error {
	b.mu.Lock()
	left := b.count(owner)
	b.mu.Unlock()
	for {
		err := b.write(ctx, owner)
		if left -= listOf; err != nil || left <= 0 {
			return err
		}
	}
}

// count returns the number of pending lines of an owner. The books are locked.
func (b *ledgerQueue) count(owner string) int {
	if owner == Everybody {
		return len(b.waiting)
	}
	n := 0
	for _, e := range b.waiting {
		if e.Owner == owner {
			n++
		}
	}
	return n
}

// write writes the oldest pending lines of an owner, or of [Everybody], at most one batch. On
// failure they are queued again.
func (b *ledgerQueue) write(ctx context.Context, owner string) error {
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return precis.Errorf(precis.CodeCanceled, "book entries", "%w", context.Cause(ctx))
	}
	list := b.take(owner)
	if len(list) == 0 {
		return nil
	}
	n, err := store.BookAll(ctx, b.reg.o.Store, list)
	if precis.CodeOf(err) == precis.CodeInvalid { // one of them has no stored form
		n, err = b.writeEach(ctx, list)
	}
	b.mu.Lock()
	b.begun = 0
	b.waiting = append(list[n:len(list):len(list)], b.waiting...)
	b.mu.Unlock()
	switch {
	case err == nil:
		b.reg.outage.recordSuccess(ctx, ledgerLines)
	case ctx.Err() == nil:
		b.reg.outage.fail(ctx, ledgerLines, err)
	}
	if err != nil {
		signal(b.wake)
	}
	return err
}

// take removes from the queue the lines that write will write.
func (b *ledgerQueue) take(owner string) []store.OwnedEntry {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list, rest []store.OwnedEntry
	if owner == Everybody {
		n := min(len(b.waiting), listOf)
		list, rest = b.waiting[:n:n], b.waiting[n:]
	} else {
		for _, e := range b.waiting {
			if e.Owner == owner && len(list) < listOf {
				list = append(list, e)
			} else {
				rest = append(rest, e)
			}
		}
	}
	b.waiting, b.begun = rest, len(list)
	return list
}

// writeEach writes lines one by one and skips lines without a stored form.
func (b *ledgerQueue) writeEach(ctx context.Context, list []store.OwnedEntry) (n int, err error) {
	for i := range list {
		_, err := store.BookAll(ctx, b.reg.o.Store, list[i:i+1])
		if precis.CodeOf(err) == precis.CodeInvalid {
			b.mu.Lock()
			b.droppedLines++
			b.mu.Unlock()
			b.reg.o.Logger.ErrorContext(ctx, "a ledger line cannot be stored", "error", err)
		} else if err != nil {
			return i, err
		}
	}
	return len(list), nil
}

func (b *ledgerQueue) counts() (waiting, lost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting) + b.begun, b.droppedLines
}

// close ends the background work and writes the remaining lines.
func (b *ledgerQueue) close(ctx context.Context) error {
	b.once.Do(func() { close(b.stop) })
	defer b.cancel()
	select {
	case <-b.done:
	case <-ctx.Done():
		b.cancel()
		<-b.done
	}
	return b.flush(ctx)
}
