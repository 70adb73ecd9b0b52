package sessions

import (
	"context"
)

// Node is a session with its children.
type Node struct {
	*Session
	Children []*Node `json:"children,omitempty"`
}

// Tree returns the sessions that a filter selects as trees of parents and children. A session is a
// root if its parent is not selected, or if its chain of parents leads back to it.
func (l *Library) Tree(ctx context.Context, f Filter) ([]*Node, error) {
	some, err := l.List(ctx, f)
	if err != nil {
		return nil, err
	}
	return buildTrees(some), nil
}

// buildTrees builds trees and keeps the order of the sessions.
func buildTrees(some []*Session) []*Node {
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
		if n.Parent == "" || parent == nil || isOwnAncestor(n, byID) {
			roots = append(roots, n)
			continue
		}
		parent.Children = append(parent.Children, n)
	}
	return roots
}

// isOwnAncestor reports whether the parents of a node lead back to it.
func isOwnAncestor(n *Node, byID map[string]*Node) bool {
	seen := map[*Node]bool{}
	for at := byID[n.Parent]; at != nil && !seen[at]; at = byID[at.Parent] {
		if at == n {
			return true
		}
		seen[at] = true
	}
	return false
}
