package memory

import (
	"context"
	"slices"

	"github.com/precis-dev/precis"
)

// Scope returns the part of the store that belongs to owner. The scope of a scope is a scope of the
// store.
func (s *Store) Scope(owner string) precis.Store {
	return newStore(s.shared, owner)
}

// Scopes returns the owners with data in the store, sorted.
func (s *Store) Scopes(ctx context.Context) ([]string, error) {
	done, err := s.begin(ctx, "list scopes")
	defer done()
	if err != nil {
		return nil, err
	}
	var owners []string
	for owner, d := range s.scopes {
		if len(d.nodes) > 1 || len(d.summaries)+len(d.ledger)+len(d.catalog) > 0 { // the root always exists
			owners = append(owners, owner)
		}
	}
	slices.Sort(owners)
	return owners, nil
}

// Deepest returns the index of the last of nodes that the store knows, -1 if it knows none. The
// empty conversation is always known.
func (s *Store) Deepest(ctx context.Context, nodes []precis.Fingerprint) (int, error) {
	done, err := s.begin(ctx, "find node")
	defer done()
	if err != nil {
		return -1, err
	}
	d := s.mine()
	for i, f := range slices.Backward(nodes) {
		if d.nodes[f] != nil {
			return i, nil
		}
	}
	return -1, nil
}
