package gateway

import (
	"context"
	"time"

	"precis"
)

// bounded is a store whose calls end after [patience]: a request does not wait
// for a store that hangs.
type bounded struct{ precis.Store }

func within[T any](ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, precis.Errorf(precis.CodeInternal, "ask the store", "it does not answer"))
	defer cancel()
	out, err := f(ctx)
	if err != nil && ctx.Err() != nil && context.Cause(ctx) != ctx.Err() {
		err = context.Cause(ctx)
	}
	return out, err
}

// Append adds messages.
func (b bounded) Append(ctx context.Context, parent precis.Fingerprint, msgs ...precis.Message) (precis.Fingerprint, error) {
	return within(ctx, func(ctx context.Context) (precis.Fingerprint, error) { return b.Store.Append(ctx, parent, msgs...) })
}

// AddEdit records an edit.
func (b bounded) AddEdit(ctx context.Context, after string, e precis.Edit) error {
	_, err := within(ctx, func(ctx context.Context) (any, error) { return nil, b.Store.AddEdit(ctx, after, e) })
	return err
}

// Book adds to the ledger, if the store has one.
func (b bounded) Book(ctx context.Context, e precis.LedgerEntry) error {
	l, ok := b.Store.(precis.Ledger)
	if !ok {
		return nil
	}
	_, err := within(ctx, func(ctx context.Context) (any, error) { return nil, l.Book(ctx, e) })
	return err
}

// Entries reads the ledger, if the store has one.
func (b bounded) Entries(ctx context.Context, conversation string, since time.Time) ([]precis.LedgerEntry, error) {
	l, ok := b.Store.(precis.Ledger)
	if !ok {
		return nil, nil
	}
	return within(ctx, func(ctx context.Context) ([]precis.LedgerEntry, error) { return l.Entries(ctx, conversation, since) })
}
