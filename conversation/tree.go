package conversation

import "context"

// Kin is a conversation of a tree: who began whom.
type Kin struct {
	Listed
	Depth int  `json:"depth"` // 0: the first of all
	Self  bool `json:"self"`  // the one that was asked about
}

// The limits of a tree.
const (
	mostDepth = 8
	mostKin   = 200
)

// Tree returns the tree that a conversation belongs to, each before those it began: from
// the first of all, up to eight levels and 200 conversations.
func Tree(ctx context.Context, h Home, id string) ([]Kin, error) {
	d, err := Status(ctx, h, id)
	if err != nil {
		return nil, err
	}
	t := tree{home: h, self: d.ID, seen: map[string]bool{}}
	first, err := t.first(ctx, d.Listed)
	if err == nil {
		err = t.add(ctx, first, 0)
	}
	return t.all, err
}

// tree is walked without end where recordings name each other: seen stops that.
type tree struct {
	home Home
	self string
	all  []Kin
	seen map[string]bool
}

// first returns the conversation at the root.
func (t *tree) first(ctx context.Context, l Listed) (Listed, error) {
	up := map[string]bool{l.ID: true}
	for range mostDepth {
		f, err := FamilyOf(ctx, t.home, l.ID)
		if err != nil || f.Parent == nil || up[f.Parent.ID] {
			return l, err
		}
		l = *f.Parent
		up[l.ID] = true
	}
	return l, nil
}

func (t *tree) add(ctx context.Context, l Listed, depth int) error {
	if t.seen[l.ID] || len(t.all) == mostKin || depth > mostDepth {
		return nil
	}
	t.seen[l.ID] = true
	t.all = append(t.all, Kin{Listed: l, Depth: depth, Self: l.ID == t.self})
	f, err := FamilyOf(ctx, t.home, l.ID)
	if err != nil {
		return err
	}
	for _, child := range f.Children {
		if err := t.add(ctx, child, depth+1); err != nil {
			return err
		}
	}
	return nil
}
