package store

import (
	"context"
	"strings"
)

// SearchQuery asks for messages by their words.
type SearchQuery struct {
	Text         string // words, all of which must occur; case and word endings may be folded
	Exact        bool   // the words themselves; false: also other forms of them, and related words
	Conversation string // only in the conversation with this ID; "": in all that a [Lister] lists
	Limit        int    // the most hits to return; 0: 20
}

// Hit is a message found.
type Hit struct {
	Conversation string  `json:"conversation"`
	Message      int     `json:"message"` // index in the transcript
	Snippet      string  `json:"snippet"` // the words with some text around, at most 300 bytes
	Score        float64 `json:"score"`   // the higher the better; comparable within one answer

	Related RelatedWords `json:"related,omitempty"` // words in the message that stand for words it lacks
}

// Related says that a message was found by a word that is used in the place of the one
// asked for, as a fixed table has it: login for auth. What it means is not known.
type Related struct {
	Asked string `json:"asked"`
	Found string `json:"found"`
}

// RelatedWords are all that a message was found by.
type RelatedWords []Related

// String names both words of each: "login ~ auth, repair ~ fix".
func (r RelatedWords) String() string {
	out := make([]string, len(r))
	for i, w := range r {
		out[i] = w.Found + " ~ " + w.Asked
	}
	return strings.Join(out, ", ")
}

// Searcher is a [Lister] that finds messages by their words: those of text,
// tool inputs and tool results. It may find a message a little after it was
// stored.
type Searcher interface {
	// Search returns hits, the best first. A query without words finds nothing.
	Search(ctx context.Context, q SearchQuery) ([]Hit, error)
}
