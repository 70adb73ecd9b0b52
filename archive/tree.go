package archive

import "slices"

// Tree finds, in recordings with entries that name their parent, the path of the current
// conversation and the abandoned paths. Nodes are numbered in the order of their addition, parents
// before children.
type Tree struct {
	nodes []treeNode
}

type treeNode struct {
	parent       int // -1: none
	children     []int
	place        int  // of the node's newest entry; after link, the maximum of its subtree
	hasAssistant bool // an assistant spoke in the node; after link, in its subtree
	linked       bool
}

// Add adds a node under parent, -1 for a root, and returns its number. Place increases with the
// entries of the file; spoken: an assistant spoke in the node.
func (t *Tree) Add(parent, place int, spoken bool) int {
	t.nodes = append(t.nodes, treeNode{parent: parent, place: place, hasAssistant: spoken})
	return len(t.nodes) - 1
}

// Grow records that the entry at place also belongs to node n.
func (t *Tree) Grow(n, place int) { t.nodes[n].place = max(t.nodes[n].place, place) }

// link extends place and spoken of each node to its subtree. No node may be added afterwards.
func (t *Tree) link() {
	for i := len(t.nodes) - 1; i >= 0; i-- {
		n := &t.nodes[i]
		if n.linked {
			return
		}
		n.linked = true
		slices.Reverse(n.children)
		if n.parent >= 0 {
			p := &t.nodes[n.parent]
			p.children = append(p.children, i)
			p.place, p.hasAssistant = max(p.place, n.place), p.hasAssistant || n.hasAssistant
		}
	}
}

// Path returns the nodes from the root through n to the newest node under it. Call it after all
// nodes have been added; for n = -1 it returns nil.
func (t *Tree) Path(n int) []int {
	t.link()
	for n >= 0 && len(t.nodes[n].children) > 0 {
		n = slices.MaxFunc(t.nodes[n].children,
			func(a, b int) int { return t.nodes[a].place - t.nodes[b].place })
	}
	var out []int
	for ; n >= 0; n = t.nodes[n].parent {
		out = append(out, n)
	}
	slices.Reverse(out)
	return out
}

// Branches returns the paths that branch off the taken ones, each from its root, at most limit;
// more reports that there are others. unsent counts the nodes in paths without any assistant
// message: prompts that were withdrawn before they were sent.
func (t *Tree) Branches(taken []int, limit int) (paths [][]int, unsent int, more bool) {
	t.link()
	on := make([]bool, len(t.nodes))
	for _, n := range taken {
		on[n] = true
	}
	for i, n := range t.nodes {
		switch {
		case on[i]:
		case !n.hasAssistant:
			unsent++
		case n.parent >= 0 && !on[n.parent]:
		case len(paths) == limit:
			return paths, unsent, true
		default:
			path := t.Path(i)
			for _, p := range path {
				on[p] = true
			}
			paths = append(paths, path)
		}
	}
	return paths, unsent, false
}

// ForkPoint returns the first node of path that is not on the taken one, or the last node of path.
func ForkPoint(path, taken []int) int {
	for i, n := range path {
		if i == len(taken) || taken[i] != n {
			return n
		}
	}
	return path[len(path)-1]
}
