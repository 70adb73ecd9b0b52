package conversation

import (
	"context"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// PurgeOptions select what to delete. Exactly one field is set.
type PurgeOptions struct {
	IDs    []string  // these conversations
	Before time.Time // conversations last updated before
	All    bool      // everything
}

// Purge deletes conversations for good. If a client sends one of them again, it begins anew.
// Unknown IDs are ignored.
func Purge(ctx context.Context, h Home, o PurgeOptions) (store.PurgeResult, error) {
	const op = "purge"
	n := 0
	for _, set := range []bool{len(o.IDs) > 0, !o.Before.IsZero(), o.All} {
		if set {
			n++
		}
	}
	if n != 1 {
		return store.PurgeResult{}, precis.Errorf(precis.CodeInvalid, op,
			"name conversations, or a time, or all: one of the three")
	}
	p, ok := h.(Purger)
	if !ok {
		return store.PurgeResult{}, precis.Errorf(precis.CodeInvalid, op,
			"conversations cannot be forgotten here")
	}
	return p.Purge(ctx, o)
}

// PurgeOwners calls purge for each owner of a home and adds up the results.
func PurgeOwners(ctx context.Context, h Owned,
	purge func(owner string) (store.PurgeResult, error)) (total store.PurgeResult, err error) {
	owners, err := h.Owners(ctx)
	if err != nil {
		return total, err
	}
	for _, owner := range owners {
		one, err := purge(owner)
		total.Conversations += one.Conversations
		total.Messages += one.Messages
		total.Bytes += one.Bytes
		if err != nil {
			return total, err
		}
	}
	return total, nil
}
