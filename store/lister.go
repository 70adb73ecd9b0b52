package store

import (
	"context"
	"time"

	"precis"
)

// Record is what a [Lister] keeps of a conversation: one way through
// the tree of nodes, from the root to Head.
type Record struct {
	ID        string               `json:"id"` // unique in its scope, not empty
	Title     string               `json:"title,omitempty"`
	Dialect   string               `json:"dialect,omitempty"`
	Model     string               `json:"model,omitempty"`
	Client    string               `json:"client,omitempty"`     // the program it is held with; "" when unknown
	Head      precis.Fingerprint   `json:"head"`                 // its newest node
	Messages  int                  `json:"messages"`             // at Head
	Tokens    int                  `json:"tokens"`               // of the newest view, overhead included
	Overhead  precis.Overhead      `json:"overhead,omitzero"`    // of its newest request
	Window    int                  `json:"window"`               // tokens
	MaxOutput int                  `json:"max_output,omitempty"` // tokens that its newest request asked for; 0: it did not say
	Requests  int                  `json:"requests"`             // answered so far
	Created   time.Time            `json:"created"`
	Updated   time.Time            `json:"updated"`
	Branched  string               `json:"branched_from,omitempty"` // ID of the conversation it left; "" for none
	Summary   int                  `json:"summary_at,omitempty"`    // with Continues: the message that holds the summary
	Continues string               `json:"continues,omitempty"`     // ID of the conversation whose summary, by its client, it begins with; "" for none
	Arm       string               `json:"arm,omitempty"`           // of an experiment, that manages it, as "EXPERIMENT/ARM"; "" for none
	Profile   string               `json:"profile,omitempty"`       // that its newest request asked for; "" for none
	Earlier   []precis.Fingerprint `json:"earlier,omitempty"`       // heads of the forms it had before its client rewrote old messages
	Hints     map[string]string    `json:"hints,omitempty"`         // what the client calls it, by header or field
}

// Query selects records. The zero value selects all.
type Query struct {
	Before time.Time // only those updated before; zero: all
	Since  time.Time // only those updated at or after; zero: all
	Text   string    // only those whose title, model, client or ID contains it, in any case; "": all
	Limit  int       // the most records to return, the newest first; 0: all
}

// Census is a [Lister] that counts its records where they are stored.
type Census interface {
	// CountConversations returns how many records there are, those with the IDs of
	// except, each named once, left out.
	CountConversations(ctx context.Context, except []string) (int, error)
}

// Lister is a [precis.Store] that lists its conversations.
type Lister interface {
	// PutConversation stores a record, in place of the one with the same ID. An
	// empty ID is [precis.CodeInvalid].
	PutConversation(ctx context.Context, r Record) error
	// Conversation returns the record with the ID; [precis.CodeNotFound] when there is
	// none.
	Conversation(ctx context.Context, id string) (Record, error)
	// Conversations returns the selected records, the last updated first; those
	// of the same time by ID.
	Conversations(ctx context.Context, q Query) ([]Record, error)
	// Headed returns the records whose Head is one of nodes, in any order.
	Headed(ctx context.Context, nodes []precis.Fingerprint) ([]Record, error)
}
