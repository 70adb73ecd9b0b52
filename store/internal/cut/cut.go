// Package cut decides what of a tree of messages is removed when conversations
// are forgotten. A tree is branches: runs of messages without a fork, each of
// which leaves its parent after the given number of messages. What a branch holds is removed
// from its end, so that what others hang on stays.
package cut

import (
	"cmp"
	"slices"

	"precis"
	"precis/store"
)

// Branch is a run of messages.
type Branch struct {
	ID     int64
	Parent int64 // 0: it starts at the empty conversation; else smaller than ID
	Depth  int   // messages shared with the parent
	End    int   // messages from the root to its last one
	Recent int   // the same, to the last one that is too new to be removed for its age; 0: none is
}

// Place is a node: the given number of messages from the root, the last one in the branch.
type Place struct {
	Branch int64
	Depth  int
}

// Plan says which conversations are to be forgotten, by their places.
type Plan struct {
	Branches []Branch
	Kept     []Place // of conversations that stay
	Named    []Place // of conversations that go, whatever hangs on them
	Aged     []Place // of conversations that go for their age
	ByAge    bool    // what belongs to no conversation goes as well, but what is recent
}

// NewPlan returns the plan of a purge for these conversations, without branches,
// and the IDs of those that go. Find returns the place of a node, false when it is
// not stored.
func NewPlan(q store.PurgeQuery, all []store.Record, find func(precis.Fingerprint) (Place, bool, error)) (p Plan, gone []string, err error) {
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

// Empty reports whether nothing but records of conversations can go.
func (p Plan) Empty() bool { return len(p.Named) == 0 && !p.ByAge }

// Cuts returns the branches that lose messages and how many from the root stay;
// parents first. A branch that keeps no message of its own keeps Depth.
//
// What a conversation that stays needs, stays. What goes takes all with it that
// hangs on it and belongs to no conversation, but by age alone nothing goes that
// something recent hangs on that belongs to none: it may be a conversation that
// is just being held.
func (p Plan) Cuts() []Place {
	slices.SortFunc(p.Branches, func(a, b Branch) int { return cmp.Compare(a.ID, b.ID) })
	t := tree{}
	for _, b := range p.Branches {
		t[b.ID] = b
	}
	keep := t.reach(p.Kept)
	left := map[int64]int{} // how much stays of a branch
	for id, depth := range t.reach(p.Named) {
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

// reach returns how far the paths to the places go in each branch.
func (t tree) reach(places []Place) map[int64]int {
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

// guarded returns how far each branch must stay when age decides.
func (t tree) guarded(p Plan) map[int64]int {
	guard, known := t.reach(p.Kept), t.reach(slices.Concat(p.Kept, p.Named, p.Aged))
	for _, b := range p.Branches {
		if b.Recent > known[b.ID] {
			t.mark(guard, Place{b.ID, b.Recent})
		}
	}
	return guard
}

// cuts goes from the root on, so that what hangs on a message that goes, goes.
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
