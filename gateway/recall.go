package gateway

import (
	"context"
	"slices"
	"time"

	"precis"
	"precis/gateway/lineage"
)

// patience is how long a request waits for the store. Then it goes on without.
const patience = 3 * time.Second

// stored is what the store knows of a conversation that memory does not.
type stored struct {
	edits  []precis.Edit
	record *precis.ConversationRecord // of the line it continues; nil: none
}

// recall asks the store for the conversation of a request: the deepest node that
// it knows, the edits in force there, and the record whose head is on the way.
func (g *Gateway) recall(ctx context.Context, owner string, prints []precis.Fingerprint, known int) (*lineage.Known, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	st := g.store(owner)
	finder, ok := st.(precis.Finder)
	if !ok {
		return nil, nil
	}
	at, err := finder.Deepest(ctx, prints)
	if err != nil {
		return nil, err
	}
	cat, _ := st.(precis.Catalog)
	fresh := freshID(ctx, cat, owner, prints[len(prints)-1])
	if at < known {
		return &lineage.Known{Fresh: fresh}, nil
	}
	edits, err := editsAt(ctx, st, prints[at])
	if err != nil {
		return nil, err
	}
	out := &lineage.Known{Len: at + 1, Value: &stored{edits: edits}, Fresh: fresh}
	if cat == nil {
		return out, nil
	}
	records, err := cat.Headed(ctx, prints[:at+1])
	if err != nil || len(records) == 0 {
		return out, err
	}
	// The one that came furthest; a node beyond its head is one whose record was
	// not written any more.
	depth := func(r precis.ConversationRecord) int { return slices.Index(prints, r.Head) }
	best := slices.MaxFunc(records, func(a, b precis.ConversationRecord) int { return depth(a) - depth(b) })
	out.ID, out.Branched, out.Earlier, out.Parent = best.ID, best.Branched, best.Earlier, best.Head
	out.Value.(*stored).record = &best
	return out, nil
}

// freshID returns the first number of an ID that no conversation in the catalog
// has, but one that ends where this request does.
func freshID(ctx context.Context, cat precis.Catalog, owner string, node precis.Fingerprint) int {
	const most = 64
	for n := range most {
		if cat == nil {
			return 0
		}
		r, err := cat.Conversation(ctx, lineage.ID(owner, node, n))
		if err != nil || r.Head == node {
			return n
		}
	}
	return most
}

// editsAt returns the edits at a node, without its messages where the store can.
func editsAt(ctx context.Context, st precis.Store, node precis.Fingerprint) ([]precis.Edit, error) {
	if l, ok := st.(precis.EditLog); ok {
		return l.Edits(ctx, node)
	}
	_, edits, err := st.Load(ctx, node)
	return edits, err
}
