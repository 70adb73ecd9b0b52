package sessions

import (
	"context"
)

// Node is a session with those that it began.
type Node struct {
	*Session
	Children []*Node `json:"children,omitempty"`
}

// Tree returns the sessions that a filter selects as trees: below each those that it
// began. A session whose parent is not among them, or whose parents lead back to it,
// is the root of a tree.
func (l *Library) Tree(ctx context.Context, f Filter) ([]*Node, error) {
	some, err := l.List(ctx, f)
	if err != nil {
		return nil, err
	}
	return grow(some), nil
}

// grow puts sessions below their parents, in the order they come.
func grow(some []*Session) []*Node {
	nodes, byID := make([]*Node, len(some)), map[string]*Node{}
	for i, s := range some {
		nodes[i] = &Node{Session: s}
		if byID[s.ID] == nil {
			byID[s.ID] = nodes[i]
		}
	}
	var roots []*Node
	for _, n := range nodes {
		parent := byID[n.Parent]
		if n.Parent == "" || parent == nil || leadsTo(n, byID) {
			roots = append(roots, n)
			continue
		}
		parent.Children = append(parent.Children, n)
	}
	return roots
}

// leadsTo reports whether the parents of a node lead back to it.
func leadsTo(n *Node, byID map[string]*Node) bool {
	seen := map[*Node]bool{}
	for at := byID[n.Parent]; at != nil && !seen[at]; at = byID[at.Parent] {
		if at == n {
			return true
		}
		seen[at] = true
	}
	return false
}
