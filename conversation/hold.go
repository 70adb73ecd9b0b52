package conversation

import (
	"context"
	"time"

	"precis"
)

// Holder is a [Home] whose conversations have clients behind a gateway: their requests
// can be held before they are sent, to be looked at and changed.
type Holder interface {
	// Hold orders that the next request of a conversation waits before it is sent, for
	// limit at most. While one waits, the limit counts from now.
	Hold(ctx context.Context, id string, limit time.Duration) error
	// LetGo ends that: a request that waits is sent. With again the one after it waits.
	LetGo(ctx context.Context, id string, again bool) error
	// Holding reports what is ordered; the zero value for a conversation of which
	// nothing is.
	Holding(ctx context.Context, id string) (Holding, error)
}

// Holding says whether requests of a conversation are held.
type Holding struct {
	Ordered bool      `json:"ordered"`                 // the next request will wait, or one waits
	Limit   int       `json:"limit_seconds,omitempty"` // for which a request waits at most
	Waiting bool      `json:"waiting"`                 // a request waits
	Since   time.Time `json:"since,omitzero"`          // when it came
	Until   time.Time `json:"until,omitzero"`          // when it is sent by itself
}

// The limits of [Hold].
const (
	DefaultHold = 2 * time.Minute
	MostHold    = 10 * time.Minute
)

// Hold has the next request of a conversation wait before it is sent, for a limit of at
// most [MostHold]; 0 means [DefaultHold]. Edits made meanwhile are in force when it is.
// The error is [precis.CodeInvalid] for another limit, and where no requests pass.
func Hold(ctx context.Context, h Home, id string, limit time.Duration) (Holding, error) {
	if limit == 0 {
		limit = DefaultHold
	}
	if limit < time.Second || limit > MostHold {
		return Holding{}, precis.Errorf(precis.CodeInvalid, "hold request", "the limit is %s, want 1s to %s", limit, MostHold)
	}
	return holding(ctx, h, id, func(r Holder) error { return r.Hold(ctx, id, limit) })
}

// LetGo sends a request that waits, and takes an order to hold the next one back. With
// again the request after the one that waits is held as well.
func LetGo(ctx context.Context, h Home, id string, again bool) (Holding, error) {
	return holding(ctx, h, id, func(r Holder) error { return r.LetGo(ctx, id, again) })
}

// HoldingOf reports whether requests of a conversation are held; the error is
// [precis.CodeInvalid] where no requests pass.
func HoldingOf(ctx context.Context, h Home, id string) (Holding, error) {
	return holding(ctx, h, id, func(Holder) error { return nil })
}

// holding calls f and returns what is ordered then.
func holding(ctx context.Context, h Home, id string, f func(Holder) error) (Holding, error) {
	r, ok := h.(Holder)
	if !ok {
		return Holding{}, precis.Errorf(precis.CodeInvalid, "hold request", "no requests of these conversations pass here")
	}
	if err := f(r); err != nil {
		return Holding{}, err
	}
	return r.Holding(ctx, id)
}
