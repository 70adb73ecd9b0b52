package store

import (
	"context"
	"strings"
)

// SearchQuery searches messages by their words.
type SearchQuery struct {
	Text         string // words, which must all occur; case and word endings may be folded
	Exact        bool   // only these words; false: also their other forms, and related words
	Conversation string // only in the conversation with this ID; "": in all that a [Lister] lists
	Limit        int    // most hits to return; 0: 20
}

// Hit is a message found.
type Hit struct {
	Conversation string  `json:"conversation"`
	Message      int     `json:"message"` // index in the transcript
	Snippet      string  `json:"snippet"` // the words with surrounding text, at most 300 bytes
	Score        float64 `json:"score"`   // higher is better; comparable within one answer

	// words of the message that matched in place of missing ones
	Related RelatedWords `json:"related,omitempty"`
}

// Related reports that a message matched by a related word from a fixed table, such as login for
// auth. The words may differ in meaning.
type Related struct {
	Asked string `json:"asked"`
	Found string `json:"found"`
}

// RelatedWords are all related words that a message matched by.
type RelatedWords []Related

// String names both words of each: "login ~ auth, repair ~ fix".
func (r RelatedWords) String() string {
	out := make([]string, len(r))
	for i, w := range r {
		out[i] = w.Found + " ~ " + w.Asked
	}
	return strings.Join(out, ", ")
}

// Searcher is a [Lister] that finds messages by the words of text, tool inputs and tool results. A
// new message may become searchable with a short delay.
type Searcher interface {
	// Search returns hits, the best first. A query without words has no hits.
	Search(ctx context.Context, q SearchQuery) ([]Hit, error)
}
