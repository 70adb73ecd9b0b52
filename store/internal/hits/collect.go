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
	// Candidates returns the newest bodies smaller than below that hold a word of each
	// clause, the newest first, [BatchSize] at most.
	Candidates(clauses [][]string, below int64) ([]Candidate, error)
	// Shelf returns the branches of the scope and the heads of its conversations.
	Shelf() (*Shelf, error)
	// Nodes returns all nodes that show one of the bodies.
	Nodes(bodies []int64) ([]Node, error)
}

// Collect adds the newest messages that answer the query, about limit of them: those
// that hold its words, then, where these are too few, those that hold others which
// answer. A thousand candidates are looked at for each step of the query at most.
func (l *List) Collect(s Source, limit int) error {
	c := collector{List: l, source: s, limit: Limit(limit), seen: map[int64]bool{}}
	for _, step := range l.Query.Steps() {
		if err := c.collect(step.Clauses); err != nil || l.Len() >= c.limit {
			return err
		}
	}
	return nil
}

// collector adds the messages of one source to a list.
type collector struct {
	*List
	source Source
	limit  int
	seen   map[int64]bool // bodies
	shelf  *Shelf         // nil: not asked for yet
}

func (c *collector) collect(clauses [][]string) error {
	below := int64(math.MaxInt64)
	for range maxBatches {
		found, err := c.source.Candidates(clauses, below)
		if err != nil || len(found) == 0 {
			return err
		}
		if err := c.addAll(found); err != nil {
			return err
		}
		if below = found[len(found)-1].Body; c.Len() >= c.limit || len(found) < BatchSize {
			return nil
		}
	}
	return nil
}

// addAll adds what was not seen before.
func (c *collector) addAll(found []Candidate) (err error) {
	var bodies []int64
	var added []Candidate
	for _, f := range found {
		if !c.seen[f.Body] {
			c.seen[f.Body] = true
			bodies, added = append(bodies, f.Body), append(added, f)
		}
	}
	if len(added) == 0 {
		return nil
	}
	if c.shelf == nil {
		if c.shelf, err = c.source.Shelf(); err != nil {
			return err
		}
	}
	nodes, err := c.source.Nodes(bodies)
	if err != nil {
		return err
	}
	places := c.shelf.Places(nodes)
	for _, f := range added {
		c.Add(f.Text, places[f.Body]...)
	}
	return nil
}
