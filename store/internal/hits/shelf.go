package hits

import "github.com/precis-dev/precis/store/internal/cut"

// Shelf maps nodes to the conversations that contain them.
type Shelf struct {
	Parents map[int64]cut.Place  // where a branch leaves its parent; only for branches with a parent
	Heads   map[string]cut.Place // by the conversation's ID
}

// Node is a place that contains a stored message.
type Node struct {
	cut.Place
	Body int64
}

// Places returns, for each body, its positions in conversations: a conversation counts if the path
// to its head contains one of the nodes.
func (s Shelf) Places(nodes []Node) map[int64][]Place {
	inBranch := map[int64][]Node{}
	for _, n := range nodes {
		inBranch[n.Branch] = append(inBranch[n.Branch], n)
	}
	out := map[int64][]Place{}
	for id, p := range s.Heads {
		for ; p.Branch != 0; p = s.Parents[p.Branch] {
			for _, n := range inBranch[p.Branch] {
				if n.Depth <= p.Depth {
					out[n.Body] = append(out[n.Body], Place{Conversation: id, Message: n.Depth - 1})
				}
			}
		}
	}
	return out
}
