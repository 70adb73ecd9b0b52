package conversation

import (
	"context"
	"time"

	"github.com/precis-dev/precis"
)

// Holder is a [Home] of a gateway. It can hold the requests of its clients before they are sent, so
// that users can inspect and change them.
type Holder interface {
	// Hold makes the next request of a conversation wait before it is sent, at most for limit. If a
	// request waits already, the limit restarts now.
	Hold(ctx context.Context, id string, limit time.Duration) error
	// LetGo sends a waiting request and ends the hold. With again, the next request waits as well.
	LetGo(ctx context.Context, id string, again bool) error
	// Holding reports the hold of a conversation; the zero value: none.
	Holding(ctx context.Context, id string) (Holding, error)
}

// Holding is the state of a hold on the requests of a conversation.
type Holding struct {
	Ordered bool      `json:"ordered"`                 // the next request will wait, or one waits
	Limit   int       `json:"limit_seconds,omitempty"` // longest wait of a request
	Waiting bool      `json:"waiting"`                 // a request waits
	Since   time.Time `json:"since,omitzero"`          // arrival of the waiting request
	Until   time.Time `json:"until,omitzero"`          // when it is sent automatically
}

// The limits of [Hold].
const (
	DefaultHold = 2 * time.Minute
	MaxHold     = 10 * time.Minute
)

// Hold makes the next request of a conversation wait before it is sent, for a limit of at most
// [MaxHold]; 0 means [DefaultHold]. Edits made meanwhile apply to the request. The error is
// [precis.CodeInvalid] for another limit and for homes that pass no requests.
func Hold(ctx context.Context, h Home, id string, limit time.Duration) (Holding, error) {
	if limit == 0 {
		limit = DefaultHold
	}
	if limit < time.Second || limit > MaxHold {
		return Holding{}, precis.Errorf(precis.CodeInvalid, "hold request", "the limit is %s, want 1s to %s",
			limit, MaxHold)
	}
	return withHolder(ctx, h, id, func(r Holder) error { return r.Hold(ctx, id, limit) })
}

// ReleaseHold sends a waiting request and cancels a hold on the next one. With again, the request after
// the waiting one is held as well.
func ReleaseHold(ctx context.Context, h Home, id string, again bool) (Holding, error) {
	return withHolder(ctx, h, id, func(r Holder) error { return r.LetGo(ctx, id, again) })
}

// HoldingOf reports whether requests of a conversation are held. For a home that passes no requests
// the error is [precis.CodeInvalid].
func HoldingOf(ctx context.Context, h Home, id string) (Holding, error) {
	return withHolder(ctx, h, id, func(Holder) error { return nil })
}

// withHolder calls f and returns the state of the hold afterwards.
func withHolder(ctx context.Context, h Home, id string, f func(Holder) error) (Holding, error) {
	r, ok := h.(Holder)
	if !ok {
		return Holding{}, precis.Errorf(precis.CodeInvalid, "hold request",
			"no requests of these conversations pass here")
	}
	if err := f(r); err != nil {
		return Holding{}, err
	}
	return r.Holding(ctx, id)
}
