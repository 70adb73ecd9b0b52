package store

import (
	"context"
	"time"

	"github.com/precis-dev/precis"
)

// Record is a [Lister]'s data about a conversation: a path through the tree of nodes, from the root
// to Head.
type Record struct {
	ID       string             `json:"id"` // unique in its scope, not empty
	Title    string             `json:"title,omitempty"`
	Dialect  string             `json:"dialect,omitempty"`
	Model    string             `json:"model,omitempty"`
	Client   string             `json:"client,omitempty"`  // the client program; "" when unknown
	Head     precis.Fingerprint `json:"head"`              // its newest node
	Messages int                `json:"messages"`          // up to Head
	Tokens   int                `json:"tokens"`            // of the newest view, overhead included
	Overhead precis.Overhead    `json:"overhead,omitzero"` // of its newest request
	Window   int                `json:"window"`            // tokens
	// tokens, in its newest request; 0: not stated
	MaxOutput int       `json:"max_output,omitempty"`
	Requests  int       `json:"requests"` // answered so far
	Created   time.Time `json:"created"`
	Updated   time.Time `json:"updated"`
	// ID of the conversation it branched from; "": none
	Branched string `json:"branched_from,omitempty"`
	// with Continues: the message that holds the summary
	Summary int `json:"summary_at,omitempty"`
	// ID of the conversation that the summary covers; "": none
	Continues string `json:"continues,omitempty"`
	// experiment arm, as "EXPERIMENT/ARM"; "": none
	Arm string `json:"arm,omitempty"`
	// requested by its newest request; "": none
	Profile string `json:"profile,omitempty"`
	// heads before its client rewrote old messages
	Earlier []precis.Fingerprint `json:"earlier,omitempty"`
	// the client's names for it, by header or field
	Hints map[string]string `json:"hints,omitempty"`
}

// Query selects records. The zero value selects all.
type Query struct {
	Before time.Time // only records updated before; zero: all
	Since  time.Time // only records updated at or after; zero: all
	Text   string    // only records with this text in title, model, client or ID, in any case; "": all
	Limit  int       // most records to return, the newest first; 0: all
}

// Census is a [Lister] that counts its records inside the store.
type Census interface {
	// CountConversations returns the number of records, without the IDs in except, which are
	// distinct.
	CountConversations(ctx context.Context, except []string) (int, error)
}

// Lister is a [precis.Store] that lists its conversations.
type Lister interface {
	// PutConversation stores a record, in place of the one with the same ID. An
	// empty ID is [precis.CodeInvalid].
	PutConversation(ctx context.Context, r Record) error
	// Conversation returns the record with the ID; [precis.CodeNotFound] if it does not exist.
	Conversation(ctx context.Context, id string) (Record, error)
	// Conversations returns the selected records, the last updated first; at equal times, ordered
	// by ID.
	Conversations(ctx context.Context, q Query) ([]Record, error)
	// Headed returns the records with a Head among nodes, in any order.
	Headed(ctx context.Context, nodes []precis.Fingerprint) ([]Record, error)
}
