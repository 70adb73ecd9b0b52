package store

import (
	"context"
)

// SearchQuery asks for messages by their words.
type SearchQuery struct {
	Text         string // words, all of which must occur; case and word endings may be folded
	Conversation string // only in the conversation with this ID; "": in all that a [Lister] lists
	Limit        int    // the most hits to return; 0: 20
}

// Hit is a message found.
type Hit struct {
	Conversation string  `json:"conversation"`
	Message      int     `json:"message"` // index in the transcript
	Snippet      string  `json:"snippet"` // the words with some text around, at most 300 bytes
	Score        float64 `json:"score"`   // the higher the better; comparable within one answer
}

// Searcher is a [Lister] that finds messages by their words: those of text,
// tool inputs and tool results. It may find a message a little after it was
// stored.
type Searcher interface {
	// Search returns hits, the best first. A query without words finds nothing.
	Search(ctx context.Context, q SearchQuery) ([]Hit, error)
}
