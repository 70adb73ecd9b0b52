package precis

import (
	"context"
	"time"
)

// Store keeps conversations as a tree: a node is a position in a conversation,
// named by its [Fingerprint]; messages and edits hang on nodes and hold for all
// their descendants. Conversations that share a beginning share its nodes.
// Implementations are safe for concurrent use; each call happens wholly or not
// at all. The package precis/store/storetest checks them.
type Store interface {
	// Append adds messages after the node parent (the zero fingerprint starts a
	// conversation) and returns the node after the last one. Messages that are
	// already there are not stored again. The error is [CodeNotFound] when
	// parent is unknown.
	Append(ctx context.Context, parent Fingerprint, msgs ...Message) (Fingerprint, error)
	// Load returns the messages from the root to the node and the edits made at
	// it and its ancestors, oldest first; [CodeNotFound] when it is unknown.
	Load(ctx context.Context, node Fingerprint) (*Transcript, []Edit, error)
	// AddEdit records e at the node e.At. After is the ID of the newest edit that
	// the caller has seen on the way from the root, "" for none; when another
	// one has been recorded since, the error is [CodeConflict] and nothing is
	// stored. [CodeNotFound] when the node is unknown.
	AddEdit(ctx context.Context, after string, e Edit) error
	// Body returns the stored form of the message with the given hash, see
	// [HashMessage]; [CodeNotFound] when it is unknown.
	Body(ctx context.Context, hash Fingerprint) (Message, error)
	// Close releases the store. Calls after it fail.
	Close() error
}

// CalibrationStore is a [Store] that keeps what was learned about counting.
type CalibrationStore interface {
	// SaveCalibration replaces the stored state of a model.
	SaveCalibration(ctx context.Context, model string, state []byte) error
	// LoadCalibrations returns the stored state of all models.
	LoadCalibrations(ctx context.Context) (map[string][]byte, error)
}

// SummaryStore is a [Store] that keeps summaries by the hash of what they were
// made of, so that none is paid twice.
type SummaryStore interface {
	// KeepSummary stores a text under key; one that is there already stays.
	KeepSummary(ctx context.Context, key Fingerprint, text string) error
	// Summary returns the text stored under key; [CodeNotFound] when there is
	// none.
	Summary(ctx context.Context, key Fingerprint) (string, error)
}

// Scoper is a [Store] that keeps apart what belongs to different owners.
type Scoper interface {
	// Scope returns the part of the store that belongs to owner; that of "" is
	// the store itself. What is in one scope cannot be found, read or changed
	// through another, and equal content is stored once for each. Calibrations
	// are shared by all scopes. Closing a scope does nothing. A scope has every
	// optional interface the store has, [Leaser] included, whose leases are
	// shared by all scopes.
	Scope(owner string) Store
	// Scopes returns the owners that have anything in the store, sorted; "" is
	// among them when the store itself holds something.
	Scopes(ctx context.Context) ([]string, error)
}

// EditLog is a [Store] that gives the edits of a node without its messages.
type EditLog interface {
	// Edits returns the edits that Load would; [CodeNotFound] when the node is
	// unknown.
	Edits(ctx context.Context, node Fingerprint) ([]Edit, error)
}

// Finder is a [Store] that finds out which positions of a conversation it knows.
type Finder interface {
	// Deepest returns the index of the last of nodes that the store knows, -1
	// when it knows none.
	Deepest(ctx context.Context, nodes []Fingerprint) (int, error)
}

// Leaser is a [Store] that replicas share and that settles which of them does
// something that should be done once, such as condensing a node.
type Leaser interface {
	// Lease takes the lease called name for the time ttl, if nobody has it. Ok
	// says whether the holder has it now. A holder that has it already gets it
	// for ttl from now on: calling again, well before ttl is over, renews it. A
	// holder is one piece of work, say a replica's name and a number: two calls
	// with the same holder share the lease.
	//
	// Release gives the lease back; it is never nil, may be called more than
	// once and by any goroutine, also after ctx has ended, and does nothing when
	// the holder does not have the lease any more. A lease that is not released,
	// since its holder was killed or cannot reach the store, runs out after ttl.
	//
	// A lease saves work, it does not protect data: a holder that is held up for
	// longer than ttl may go on while another one has begun. What they record
	// must be such that the second is refused, as by AddEdit.
	Lease(ctx context.Context, name, holder string, ttl time.Duration) (release func(), ok bool, err error)
}

// ConversationRecord is what a [Catalog] keeps of a conversation: one way through
// the tree of nodes, from the root to Head.
type ConversationRecord struct {
	ID       string            `json:"id"` // unique in its scope, not empty
	Title    string            `json:"title,omitempty"`
	Dialect  string            `json:"dialect,omitempty"`
	Model    string            `json:"model,omitempty"`
	Client   string            `json:"client,omitempty"` // the program it is held with; "" when unknown
	Head     Fingerprint       `json:"head"`             // its newest node
	Messages int               `json:"messages"`         // at Head
	Tokens   int               `json:"tokens"`           // of the newest view, overhead included
	Window   int               `json:"window"`           // tokens
	Requests int               `json:"requests"`         // answered so far
	Created  time.Time         `json:"created"`
	Updated  time.Time         `json:"updated"`
	Branched string            `json:"branched_from,omitempty"` // ID of the conversation it left; "" for none
	Earlier  []Fingerprint     `json:"earlier,omitempty"`       // heads of the forms it had before its client rewrote old messages
	Hints    map[string]string `json:"hints,omitempty"`         // what the client calls it, by header or field
}

// ConversationQuery selects records. The zero value selects all.
type ConversationQuery struct {
	Before time.Time // only those updated before; zero: all
	Since  time.Time // only those updated at or after; zero: all
	Text   string    // only those whose title, model, client or ID contains it, in any case; "": all
	Limit  int       // at most so many, the newest first; 0: all
}

// Catalog is a [Store] that lists its conversations.
type Catalog interface {
	// PutConversation stores a record, in place of the one with the same ID. An
	// empty ID is [CodeInvalid].
	PutConversation(ctx context.Context, r ConversationRecord) error
	// Conversation returns the record with the ID; [CodeNotFound] when there is
	// none.
	Conversation(ctx context.Context, id string) (ConversationRecord, error)
	// Conversations returns the selected records, the last updated first; those
	// of the same time by ID.
	Conversations(ctx context.Context, q ConversationQuery) ([]ConversationRecord, error)
	// Headed returns the records whose Head is one of nodes, in any order.
	Headed(ctx context.Context, nodes []Fingerprint) ([]ConversationRecord, error)
}

// SearchQuery asks for messages by their words.
type SearchQuery struct {
	Text         string // words, all of which must occur; case and word endings may be folded
	Conversation string // only in the conversation with this ID; "": in all that a [Catalog] lists
	Limit        int    // at most so many; 0: 20
}

// SearchHit is a message found.
type SearchHit struct {
	Conversation string  `json:"conversation"`
	Message      int     `json:"message"` // index in the transcript
	Snippet      string  `json:"snippet"` // the words with some text around, at most 300 bytes
	Score        float64 `json:"score"`   // the higher the better; comparable within one answer
}

// Searcher is a [Catalog] that finds messages by their words: those of text,
// tool inputs and tool results. It may find a message a little after it was
// stored.
type Searcher interface {
	// Search returns hits, the best first. A query without words finds nothing.
	Search(ctx context.Context, q SearchQuery) ([]SearchHit, error)
}

// PurgeQuery says what is to be forgotten. The zero value selects nothing.
type PurgeQuery struct {
	IDs    []string  // the conversations with these IDs
	Before time.Time // all that were last updated before; zero: none
	All    bool      // everything in the scope but calibrations and the ledger
}

// PurgeResult says what was forgotten.
type PurgeResult struct {
	Conversations int   `json:"conversations"`
	Messages      int   `json:"messages"` // stored messages that are gone
	Bytes         int64 `json:"bytes"`    // of these; 0 when unknown
}

// Purger is a [Catalog] that can forget.
type Purger interface {
	// Purge removes conversations: their records, and the messages, edits and
	// search entries that no other conversation in the catalog needs. Ledger
	// entries stay, for they hold no content. Kept summaries, and nodes that
	// belong to no conversation, are removed when they were stored before Before,
	// or with All. IDs that do not exist are ignored. What is removed cannot be
	// read any more, not even in the file.
	Purge(ctx context.Context, q PurgeQuery) (PurgeResult, error)
}

// Ledger is a [Store] that books what runs cost and saved.
type Ledger interface {
	// Book adds an entry. Entries are never changed.
	Book(ctx context.Context, e LedgerEntry) error
	// Entries returns those of a conversation, or of all for "", made at or
	// after since, oldest first.
	Entries(ctx context.Context, conversation string, since time.Time) ([]LedgerEntry, error)
}

// LedgerEntry is one line of the [Ledger].
type LedgerEntry struct {
	Time         time.Time   `json:"time"`
	Conversation string      `json:"conversation"`
	Model        string      `json:"model,omitempty"`
	Kind         string      `json:"kind"` // an edit's kind, or "request"
	EditID       string      `json:"edit,omitempty"`
	TriggeredBy  TriggeredBy `json:"triggered_by,omitempty"`
	Before       int         `json:"tokens_before"`
	After        int         `json:"tokens_after"`
	Usage        Usage       `json:"usage,omitzero"`
	CostUSD      float64     `json:"cost_usd"`
}
