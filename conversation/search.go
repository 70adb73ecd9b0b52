package conversation

import (
	"cmp"
	"context"
	"strings"

	"precis"
	"precis/store"
)

// Found is a message that a search found.
type Found struct {
	store.Hit
	Owner  string        `json:"owner"`
	Title  string        `json:"title,omitempty"` // of the conversation
	Handle precis.Handle `json:"handle"`
}

// FoundList is the answer to a search, the best first.
type FoundList struct {
	Items []Found `json:"items"`
	Index string  `json:"index"` // where it was looked: "store" or "memory"
}

// SearchOptions ask for messages by their words.
type SearchOptions struct {
	Text         string // words, all of which must occur
	Conversation string // only in this one; "": in all
	Limit        int    // at most this number; 0: 20; at most 500
}

// Search finds messages, hidden or not: with an index where the home has one,
// else by reading its conversations.
func Search(ctx context.Context, h Home, o SearchOptions) (FoundList, error) {
	if strings.TrimSpace(o.Text) == "" {
		return FoundList{}, precis.Errorf(precis.CodeInvalid, "search", "there is nothing to look for")
	}
	limit, err := pageSize(cmp.Or(o.Limit, 20))
	if err != nil {
		return FoundList{}, err
	}
	return h.Search(ctx, store.SearchQuery{Text: o.Text, Conversation: o.Conversation, Limit: limit})
}
