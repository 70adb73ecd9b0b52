package hits

import "precis/store/internal/cut"

// Shelf knows which conversations show a node.
type Shelf struct {
	Parents map[int64]cut.Place  // where a branch leaves its parent; none for those that have none
	Heads   map[string]cut.Place // by the conversation's ID
}

// Node is a place that shows a stored message.
type Node struct {
	cut.Place
	Body int64
}

// Places returns where messages are shown: for each body the conversations whose
// path to the head goes through one of its nodes.
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
