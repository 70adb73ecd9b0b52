package precis

import (
	"context"
	"time"
)

// Store keeps conversations as a tree: a node is a position in a conversation, named by its
// [Fingerprint]; messages and edits belong to nodes and apply to all their descendants.
// Conversations with a common beginning share its nodes. Optional abilities of a store are the
// interfaces of the package precis/store. Implementations are safe for concurrent use; each call is
// atomic. The package precis/store/storetest checks them.
type Store interface {
	// Append adds messages after the node parent (the zero fingerprint starts a
	// conversation) and returns the node after the last one. Messages that are
	// already there are not stored again. The error is [CodeNotFound] when
	// parent is unknown.
	Append(ctx context.Context, parent Fingerprint, msgs ...Message) (Fingerprint, error)
	// Load returns the messages from the root to the node and the edits made at it and its
	// ancestors, oldest first; [CodeNotFound] when it is unknown.
	Load(ctx context.Context, node Fingerprint) (*Transcript, []Edit, error)
	// AddEdit records e at the node e.At. After is the ID of the newest edit that the caller has
	// seen on the path from the root, "" for none; if a newer one is recorded, the error is
	// [CodeConflict] and e is not stored. [CodeNotFound] when the node is unknown.
	AddEdit(ctx context.Context, after string, e Edit) error
	// Body returns the stored form of the message with the given hash, see
	// [HashMessage]; [CodeNotFound] when it is unknown.
	Body(ctx context.Context, hash Fingerprint) (Message, error)
	// Close releases the store. Calls after it fail.
	Close() error
}

// CalibrationStore is a [Store] that persists the state of a [Calibrator].
type CalibrationStore interface {
	// SaveCalibration replaces the stored state of a model, see
	// [CalibrationState.Key].
	SaveCalibration(ctx context.Context, model string, state []byte) error
	// LoadCalibrations returns the stored states by model.
	LoadCalibrations(ctx context.Context) (map[string][]byte, error)
}

// Ledger is a [Store] that records what runs cost and saved.
type Ledger interface {
	// Book adds an entry. Entries are never changed.
	Book(ctx context.Context, e LedgerEntry) error
	// Entries returns the entries of a conversation, or of all for "", made at or after since,
	// oldest first.
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
	// of a request: the cost of tokens not sent, less the cost of tokens that the provider must cache
	// again; 0: none or unknown
	SavedUSD float64 `json:"saved_usd,omitempty"`
}

// Kinds of a [LedgerEntry] that are neither an edit's kind nor "request".
const (
	// KindCall is for model calls, with or without a resulting edit. Entries of edits have no cost.
	KindCall = "call"
	// KindShadow is for a reduction that a manager only observed and did not make: its tokens are
	// those before and after, and it had no cost. Sums exclude it.
	KindShadow = "shadow"
)
