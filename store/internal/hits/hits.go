// Package hits ranks search results.
package hits

import (
	"cmp"
	"slices"

	"github.com/precis-dev/precis/internal/words"
	"github.com/precis-dev/precis/store"
)

// Place is the position of a message in a conversation.
type Place struct {
	Conversation string
	Message      int
}

// List collects messages that match a query.
type List struct {
	Query words.Query
	found []hit
}

type hit struct {
	Place
	text  string
	score float64
}

// Add adds the places of a text if it matches the query.
func (l *List) Add(text string, places ...Place) {
	if len(places) == 0 {
		return
	}
	score, _ := l.Query.Score(text)
	if score == 0 {
		return
	}
	for _, p := range places {
		l.found = append(l.found, hit{Place: p, text: text, score: score})
	}
}

// Len returns how many hits there are.
func (l *List) Len() int { return len(l.found) }

// Best returns up to limit hits with the highest scores, 20 when limit is 0. Hits of equal score
// are sorted by conversation, the newest message first.
func (l *List) Best(limit int) []store.Hit {
	slices.SortStableFunc(l.found, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.Conversation, b.Conversation),
			cmp.Compare(b.Message, a.Message))
	})
	var out []store.Hit
	for _, h := range l.found[:min(len(l.found), Limit(limit))] {
		shown := l.Query.Show(h.text)
		shown.Conversation, shown.Message, shown.Score = h.Conversation, h.Message, h.score
		out = append(out, shown)
	}
	return out
}

// Limit returns the number of requested hits.
func Limit(limit int) int {
	if limit <= 0 {
		return 20
	}
	return limit
}
