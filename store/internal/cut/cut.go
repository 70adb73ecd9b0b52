// Package cut decides which parts of a tree of messages to remove when conversations are forgotten.
// The tree consists of branches: runs of messages without a fork, each leaving its parent at a
// given depth. Messages are removed from the end of a branch, so that messages needed by others
// stay.
package cut

import (
	"cmp"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// Branch is a run of messages.
type Branch struct {
	ID     int64
	Parent int64 // 0: it starts at the empty conversation; else smaller than ID
	Depth  int   // number of messages shared with the parent
	End    int   // number of messages from the root to its last one
	Recent int   // the same, up to the last one too new to be removed for its age; 0: all are old
}

// Place is a node: its branch, and the number of messages from the root to it.
type Place struct {
	Branch int64
	Depth  int
}

// Plan lists the conversations to forget, by their places.
type Plan struct {
	Branches []Branch
	Kept     []Place // of conversations that stay
	Named    []Place // of conversations to remove with everything that depends on them
	Aged     []Place // of conversations to remove for their age
	ByAge    bool    // also remove messages without a conversation, unless they are recent
}

// NewPlan returns the plan of a purge for these conversations, without branches, and the IDs of the
// conversations to remove. Find returns the place of a node, false when it is not stored.
func NewPlan(q store.PurgeQuery, all []store.Record,
	find func(precis.Fingerprint) (Place, bool, error)) (p Plan, gone []string, err error) {
	p.ByAge = q.All || !q.Before.IsZero()
	for _, r := range all {
		list := &p.Kept
		switch {
		case q.All || slices.Contains(q.IDs, r.ID):
			list = &p.Named
		case !q.Before.IsZero() && r.Updated.Before(q.Before):
			list = &p.Aged
		}
		if list != &p.Kept {
			gone = append(gone, r.ID)
		}
		for _, head := range append([]precis.Fingerprint{r.Head}, r.Earlier...) {
			at, ok, err := find(head)
			if err != nil {
				return Plan{}, nil, err
			}
			if ok {
				*list = append(*list, at)
			}
		}
	}
	return p, gone, nil
}

// Empty reports whether the plan can remove only records of conversations.
func (p Plan) Empty() bool { return len(p.Named) == 0 && !p.ByAge }

// Cuts returns the branches that lose messages, with the number of messages from the root that
// stay; parents first. A branch that keeps no message of its own keeps Depth.
//
// Messages needed by a remaining conversation stay. Removed messages take with them all messages
// that depend on them and belong to no conversation. By age alone, a message is not removed if a
// recent message without a conversation depends on it, which may belong to a conversation in
// progress.
func (p Plan) Cuts() []Place {
	slices.SortFunc(p.Branches, func(a, b Branch) int { return cmp.Compare(a.ID, b.ID) })
	t := tree{}
	for _, b := range p.Branches {
		t[b.ID] = b
	}
	keep := t.depthByBranch(p.Kept)
	left := map[int64]int{} // how much of a branch stays
	for id, depth := range t.depthByBranch(p.Named) {
		if depth > keep[id] {
			left[id] = keep[id]
		}
	}
	if p.ByAge {
		guard := t.guarded(p)
		for _, b := range p.Branches {
			if n, ok := left[b.ID]; !ok || guard[b.ID] < n {
				left[b.ID] = guard[b.ID]
			}
		}
	}
	return t.cuts(p.Branches, left)
}

type tree map[int64]Branch

// depthByBranch returns the depth that the paths to the places reach in each branch.
func (t tree) depthByBranch(places []Place) map[int64]int {
	reached := map[int64]int{}
	for _, p := range places {
		t.mark(reached, p)
	}
	return reached
}

func (t tree) mark(reached map[int64]int, p Place) {
	for p.Branch != 0 && reached[p.Branch] < p.Depth {
		reached[p.Branch] = p.Depth
		b := t[p.Branch]
		p = Place{b.Parent, b.Depth}
	}
}

// guarded returns the depth up to which each branch must stay when age decides.
func (t tree) guarded(p Plan) map[int64]int {
	guard, known := t.depthByBranch(p.Kept), t.depthByBranch(slices.Concat(p.Kept, p.Named, p.Aged))
	for _, b := range p.Branches {
		if b.Recent > known[b.ID] {
			t.mark(guard, Place{b.ID, b.Recent})
		}
	}
	return guard
}

// cuts proceeds from the root, so that messages after a removed one are removed as well.
func (t tree) cuts(branches []Branch, left map[int64]int) []Place {
	var out []Place
	for _, b := range branches {
		n, ok := left[b.ID]
		if parent, cut := left[b.Parent]; cut && parent < b.Depth {
			n, ok = b.Depth, true
		}
		if !ok {
			continue
		}
		n = max(n, b.Depth)
		left[b.ID] = n
		if n < b.End || n == b.Depth {
			out = append(out, Place{b.ID, n})
		}
	}
	return out
}
