package registry

import (
	"context"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/lineage"
	"github.com/precis-dev/precis/store"
)

// load asks the store for the conversation of a request: the deepest node that it knows, the edits
// in force there, and the record of a conversation that ends on the way.
func (r *Registry) load(ctx context.Context, owner, scope string, prints []precis.Fingerprint,
	known int) (*lineage.Known, error) {
	st := r.Store(owner)
	finder, ok := st.(store.Finder)
	if !ok {
		return nil, nil
	}
	var out *lineage.Known
	err := r.reads.call(ctx, func(ctx context.Context) error {
		at, err := finder.Deepest(ctx, prints)
		if err != nil {
			return err
		}
		out, err = r.readKnown(ctx, owner, scope, prints[:at+1], prints[len(prints)-1], known)
		return err
	})
	return out, err
}

// readKnown reads the store's data about the nodes it knows.
func (r *Registry) readKnown(ctx context.Context, owner, scope string, nodes []precis.Fingerprint,
	end precis.Fingerprint, known int) (*lineage.Known, error) {
	cat := r.Catalog(owner)
	out := &lineage.Known{NextNumber: r.freshID(ctx, cat, lineage.Space(owner, scope), end)}
	if len(nodes) <= known {
		return out, nil
	}
	edits, err := store.StoredEdits(ctx, r.Store(owner), nodes[len(nodes)-1])
	if err != nil {
		return nil, err
	}
	out.Len, out.Edits = len(nodes), edits
	if cat == nil {
		return out, nil
	}
	records, err := cat.Headed(ctx, nodes)
	records = slices.DeleteFunc(records, func(rec store.Record) bool { return rec.Hints[ScopeHint] != scope })
	if err != nil || len(records) == 0 {
		return out, err
	}
	// Of several records take the one with the latest head. A process that ended before it wrote
	// the record may have stored nodes after that head.
	depth := func(r store.Record) int { return slices.Index(nodes, r.Head) }
	best := slices.MaxFunc(records, func(a, b store.Record) int { return depth(a) - depth(b) })
	out.Record = &best
	return out, nil
}

// freshID returns the first number of an ID that no stored conversation has, except a conversation
// that ends where this request does.
func (r *Registry) freshID(ctx context.Context, cat store.Lister, space string, node precis.Fingerprint) int {
	const most = 64
	if cat == nil {
		return 0
	}
	for n := range most {
		rec, err := cat.Conversation(ctx, lineage.ID(r.o.Key, space, node, n))
		if err != nil || rec.Head == node {
			return n
		}
	}
	return most
}

// latest returns the edits at the deepest stored node of a transcript. Ok is false when the store
// cannot find nodes. A store that knows no node of it, because it was purged, has no edits.
func latest(ctx context.Context, st precis.Store,
	t *precis.Transcript) (edits []precis.Edit, ok bool, err error) {
	finder, ok := st.(store.Finder)
	if !ok {
		return nil, false, nil
	}
	nodes := probes(t)
	at, err := finder.Deepest(ctx, nodes)
	if err != nil || at < 0 {
		return nil, err == nil, err
	}
	edits, err = store.StoredEdits(ctx, st, nodes[at])
	if precis.CodeOf(err) == precis.CodeNotFound { // purged in between
		return nil, true, nil
	}
	return edits, err == nil, err
}

// probes returns the nodes of a transcript to look up in a store, the deepest last: each of the
// newest ones, older ones at growing distances. Skipping a stored node only costs a second lookup
// in [store.Reconcile].
func probes(t *precis.Transcript) []precis.Fingerprint {
	const each = 64
	var nodes []precis.Fingerprint
	for n, step := t.Len(), 1; n > 0; n -= step {
		nodes = append(nodes, t.Fingerprint(n))
		if len(nodes) >= each {
			step *= 2
		}
	}
	slices.Reverse(nodes)
	return nodes
}
