package conversation

import "context"

// TreeNode is a conversation in a tree of parents and children.
type TreeNode struct {
	ListItem
	Depth int  `json:"depth"` // 0: the root
	Self  bool `json:"self"`  // the conversation that was asked for
}

// The limits of a tree.
const (
	mostDepth = 8
	mostKin   = 200
)

// Tree returns the tree of a conversation, parents before children: from the root, up to eight
// levels and 200 conversations.
func Tree(ctx context.Context, h Home, id string) ([]TreeNode, error) {
	d, err := Status(ctx, h, id)
	if err != nil {
		return nil, err
	}
	t := tree{home: h, self: d.ID, seen: map[string]bool{}}
	first, err := t.first(ctx, d.ListItem)
	if err == nil {
		err = t.add(ctx, first, 0)
	}
	return t.all, err
}

// tree is the state of a walk. Recordings may name each other as parents; seen ends such loops.
type tree struct {
	home Home
	self string
	all  []TreeNode
	seen map[string]bool
}

// first returns the conversation at the root.
func (t *tree) first(ctx context.Context, l ListItem) (ListItem, error) {
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

func (t *tree) add(ctx context.Context, l ListItem, depth int) error {
	if t.seen[l.ID] || len(t.all) == mostKin || depth > mostDepth {
		return nil
	}
	t.seen[l.ID] = true
	t.all = append(t.all, TreeNode{ListItem: l, Depth: depth, Self: l.ID == t.self})
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
