package hits

import "math"

// Candidates are asked for in batches until there are enough hits: most of what
// an index finds is shown in some conversation.
const (
	BatchSize  = 200
	maxBatches = 5
)

// Candidate is a stored message that an index has found.
type Candidate struct {
	Body int64
	Text string
}

// Source is one scope of a store whose index finds messages.
type Source interface {
	// Candidates returns the newest bodies smaller than below that hold all words
	// of the query, the newest first, [BatchSize] at most.
	Candidates(below int64) ([]Candidate, error)
	// Shelf returns the branches of the scope and the heads of its conversations.
	Shelf() (*Shelf, error)
	// Nodes returns all nodes that show one of the bodies.
	Nodes(bodies []int64) ([]Node, error)
}

// Collect adds the newest messages that answer the query, about limit of them, a
// thousand candidates at most.
func (l *List) Collect(s Source, limit int) error {
	var shelf *Shelf
	below := int64(math.MaxInt64)
	for range maxBatches {
		found, err := s.Candidates(below)
		if err != nil || len(found) == 0 {
			return err
		}
		if shelf == nil {
			if shelf, err = s.Shelf(); err != nil {
				return err
			}
		}
		bodies := make([]int64, len(found))
		for i, c := range found {
			bodies[i] = c.Body
		}
		nodes, err := s.Nodes(bodies)
		if err != nil {
			return err
		}
		places := shelf.Places(nodes)
		for _, c := range found {
			l.Add(c.Text, places[c.Body]...)
		}
		if below = bodies[len(bodies)-1]; l.Len() >= Limit(limit) || len(found) < BatchSize {
			return nil
		}
	}
	return nil
}
