package hits

import "math"

// Candidates are requested in batches until there are enough hits, because most of them belong to
// some conversation.
const (
	BatchSize  = 200
	maxBatches = 5
)

// Candidate is a stored message that an index has found.
type Candidate struct {
	Body int64
	Text string
}

// Source is a searchable scope of a store.
type Source interface {
	// Candidates returns the newest bodies with an ID below the given one that contain a word of
	// each clause, the newest first, at most [BatchSize].
	Candidates(clauses [][]string, below int64) ([]Candidate, error)
	// Shelf returns the branches of the scope and the heads of its conversations.
	Shelf() (*Shelf, error)
	// Nodes returns all nodes that contain one of the bodies.
	Nodes(bodies []int64) ([]Node, error)
}

// Collect adds roughly limit of the newest messages that match the query: first messages with its
// words, then, if these are too few, messages with related words. Each step of the query examines
// at most a thousand candidates.
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
	seen   map[int64]bool // IDs of bodies
	shelf  *Shelf         // nil: not loaded yet
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

// addAll adds the candidates that were not seen before.
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
