package gateway

import (
	"context"
	"slices"

	"precis"
	"precis/gateway/lineage"
)

// stored is what the store knows of a conversation that memory does not.
type stored struct {
	edits  []precis.Edit
	record *precis.ConversationRecord // of the line it continues; nil: none
}

// recall asks the store for the conversation of a request: the deepest node that
// it knows, the edits in force there, and the record whose head is on the way.
func (g *Gateway) recall(ctx context.Context, owner string, prints []precis.Fingerprint, known int) (*lineage.Known, error) {
	st := g.store(owner)
	finder, ok := st.(precis.Finder)
	if !ok {
		return nil, nil
	}
	at, err := finder.Deepest(ctx, prints)
	if err != nil || at < known {
		return nil, err
	}
	edits, err := editsAt(ctx, st, prints[at])
	if err != nil {
		return nil, err
	}
	out := &lineage.Known{Len: at + 1, Value: &stored{edits: edits}}
	cat, ok := st.(precis.Catalog)
	if !ok {
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

// editsAt returns the edits at a node, without its messages where the store can.
func editsAt(ctx context.Context, st precis.Store, node precis.Fingerprint) ([]precis.Edit, error) {
	if l, ok := st.(precis.EditLog); ok {
		return l.Edits(ctx, node)
	}
	_, edits, err := st.Load(ctx, node)
	return edits, err
}
