package memory

import (
	"context"

	"github.com/precis-dev/precis/internal/words"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/internal/hits"
)

// Search returns hits, the best first. It reads every message of the selected conversations.
func (s *Store) Search(ctx context.Context, q store.SearchQuery) ([]store.Hit, error) {
	done, err := s.begin(ctx, "search")
	defer done()
	if err != nil {
		return nil, err
	}
	query := words.NewQuery(q.Text, q.Exact)
	if query.Empty() {
		return nil, nil
	}
	d := s.mine()
	list := hits.List{Query: query}
	for _, r := range d.records() {
		n := d.nodes[r.Head]
		if n == nil || q.Conversation != "" && q.Conversation != r.ID {
			continue
		}
		for i, m := range n.run.Prefix(n.depth).Messages() {
			list.Add(words.Text(m), hits.Place{Conversation: r.ID, Message: i})
		}
	}
	return list.Best(q.Limit), nil
}
