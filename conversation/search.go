package conversation

import (
	"cmp"
	"context"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// SearchHit is a message that a search found, or a text as in
// [github.com/precis-dev/precis/conversation/find.Passages]. Only searches of recordings return the
// latter.
type SearchHit struct {
	store.Hit
	Owner  string        `json:"owner"`
	Title  string        `json:"title,omitempty"` // of the conversation
	Handle precis.Handle `json:"handle"`
	// see [github.com/precis-dev/precis/conversation/find.Place.In]
	In string `json:"in,omitempty"`
	// "summary" or "note" for a text shown instead of messages, else the speaker
	Kind string `json:"kind,omitempty"`
}

// SearchResults is the answer to a search, the best first.
type SearchResults struct {
	Items []SearchHit `json:"items"`
	Index string      `json:"index"`          // the place searched: "store" or "memory"
	Total int         `json:"total"`          // messages found; Items are the best of them
	More  bool        `json:"more,omitempty"` // there are more than Total: they were not counted
}

// Cap counts the items up to counted, sets More if there are more, and keeps the first limit.
func (l *SearchResults) Cap(limit, counted int) {
	l.Total, l.More = min(len(l.Items), counted), len(l.Items) > counted
	l.Items = l.Items[:min(len(l.Items), limit)]
}

// SearchOptions ask for messages by their words.
type SearchOptions struct {
	Text         string // words that must all occur
	Conversation string // only this one; "": all
	Limit        int    // at most this number; 0: 20; at most 500
	Exact        bool   // only the words themselves; false: also other forms and related words
}

// Search finds messages, hidden or not: with an index where the home has one,
// else by reading its conversations.
func Search(ctx context.Context, h Home, o SearchOptions) (SearchResults, error) {
	if strings.TrimSpace(o.Text) == "" {
		return SearchResults{}, precis.Errorf(precis.CodeInvalid, "search", "there is nothing to look for")
	}
	limit, err := PageSize(cmp.Or(o.Limit, 20))
	if err != nil {
		return SearchResults{}, err
	}
	return h.Search(ctx, store.SearchQuery{Text: o.Text, Conversation: o.Conversation, Limit: limit,
		Exact: o.Exact})
}
