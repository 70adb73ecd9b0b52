package sqlite

import (
	"context"

	"precis"
)

// chainFrom returns the nodes that messages appended after parent make, parent
// first.
func chainFrom(ctx context.Context, tx call, op string, parent precis.Fingerprint, msgs []precis.Message) ([]precis.Fingerprint, error) {
	if _, err := findOr(ctx, tx, op, parent); err != nil {
		return nil, err
	}
	chain := []precis.Fingerprint{parent}
	for i, m := range msgs {
		chain = append(chain, chain[i].Next(m))
	}
	return chain, nil
}
