package policy

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/precis-dev/precis"
)

// The reasons of the ladder, and those that it shares with rungs. The package precis/condense has
// the reasons of model-written summaries.
const (
	ReasonGrew        precis.Reason = "context_grew"  // the view would be larger than before
	ReasonBudget      precis.Reason = "budget"        // the money set aside is spent
	ReasonNoModels    precis.Reason = "no_models"     // the caller forbids model calls
	ReasonCapped      precis.Reason = "capped"        // too many runs, or too many without progress
	ReasonVetoed      precis.Reason = "vetoed"        // a hook refused
	reasonSmallWindow precis.Reason = "small_window"  // the window is too small for a summary
	reasonUnavailable precis.Reason = "not_available" // the rung does not exist
	reasonFits        precis.Reason = "fits"          // the rung is for views that do not fit
	reasonBrokeRule   precis.Reason = "broke_rule"    // the edit would break a rule of views
	ReasonNothing     precis.Reason = "nothing_to_do" // the rung found no reduction
	reasonFailed      precis.Reason = "failed"        // another error; see the sentence
)

// RungError is a rung's failure with its reason and what its calls cost.
type RungError struct {
	Reason precis.Reason
	Call   *precis.CallReport // nil when no model was called
	Err    error              // the sentence; not nil
}

// Error returns the sentence.
func (e *RungError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *RungError) Unwrap() error { return e.Err }

// reasonOf returns the reason in err's chain.
func reasonOf(err error) (precis.Reason, *precis.CallReport) {
	var r *RungError
	if errors.As(err, &r) {
		return r.Reason, r.Call
	}
	return reasonFailed, nil
}

// LiveRequest is the request of a client that is being answered. A summary request that
// rides on it reads the prompt cache it writes.
type LiveRequest struct {
	Dialect string      // "anthropic", "chat" or "responses"
	Model   string      // as in the request
	Body    []byte      // as it came
	Header  http.Header // headers that affect the answer; no keys
	Window  int         // of the model, in tokens, as it is known for the request; 0: unknown
}

// SummaryRequest asks for a summary of part of a conversation.
type SummaryRequest struct {
	Conversation *precis.Conversation
	Messages     []precis.Message // what to summarize, as the view shows it
	From         int              // index in the transcript of the first of Messages
	At           []int            // index in the transcript of each of Messages; nil: From, From+1 …
	Previous     string           // the summary that precedes Messages; "": none
	MaxTokens    int              // size of the summary; 0: the summarizer's own
	Replaces     int              // tokens of the replaced messages, as Count counts; 0: unknown
	Focus        string           // what the user asked to pay attention to; may be empty
	Automatic    bool             // no user asked for it
	Live         *LiveRequest     // the request to ride on; nil: none
	View         []precis.Message // with Live: its messages, as they are in the prompt cache
	Count        func(string) int
}

// Summary is a summarizer's answer.
type Summary struct {
	Text    string
	Usage   precis.Usage
	CostUSD float64
	Took    time.Duration
	Call    *precis.CallReport // nil when no model was called
}

// Summarizer writes summaries, with a model or without one. Implementations are
// safe for concurrent use. Errors of those that call a model are a [RungError].
type Summarizer interface {
	Summarize(ctx context.Context, r SummaryRequest) (Summary, error)
}
