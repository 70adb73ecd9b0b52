package precis

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Reason says in one word why a rung ended as it did. Reports, logs and metrics
// carry it; the sentence beside it is for people.
type Reason string

// The reasons for which a condensation with a model does not happen.
const (
	ReasonTooFewMessages    Reason = "too_few_messages"    // there is nothing to condense
	ReasonCondensedRecently Reason = "condensed_recently"  // too few messages are new since the last one
	ReasonNoSummarizer      Reason = "summarizer_invalid"  // none that works is configured
	ReasonCallFailed        Reason = "call_failed"         // the API or the connection failed, retries included
	ReasonEmpty             Reason = "empty"               // the model said nothing
	ReasonRefused           Reason = "refused"             // the model would not
	ReasonToolCall          Reason = "tool_call"           // it called a tool instead
	ReasonReasoningOnly     Reason = "reasoning_only"      // it thought and said nothing
	ReasonMarkup            Reason = "markup"              // it answered in a form that is no summary
	ReasonTooLarge          Reason = "too_large"           // the summary is longer than allowed
	ReasonTruncated         Reason = "truncated"           // it ended in the middle, at the output limit
	ReasonRepeats           Reason = "repeats"             // it says the same over and over
	ReasonSections          Reason = "missing_sections"    // parts that were asked for are missing
	ReasonNoProgress        Reason = "no_progress"         // it would save too little
	ReasonGrew              Reason = "context_grew"        // the view would be larger than before
	ReasonTooLong           Reason = "summarizer_overflow" // what is to be summarized fits in no part
	ReasonBudget            Reason = "budget"              // the money set aside is spent
	ReasonBreaker           Reason = "breaker"             // the model failed too often a short time ago
	ReasonVetoed            Reason = "vetoed"              // a hook said no
	ReasonCapped            Reason = "capped"              // too many runs, or too many without progress
	ReasonSmallWindow       Reason = "small_window"        // the window is too small for a summary
	ReasonUnavailable       Reason = "not_available"       // no such rung is there
	ReasonFits              Reason = "fits"                // the rung is for views that do not fit
	ReasonBrokeRule         Reason = "broke_rule"          // the edit would break a rule of views
	ReasonNothing           Reason = "nothing_to_do"       // the rung found nothing
	ReasonFailed            Reason = "failed"              // another error; see the sentence
)

// RungError is a rung's failure with its reason and what its calls cost.
type RungError struct {
	Reason Reason
	Call   *CallReport // nil when no model was called
	Err    error       // the sentence; not nil
}

// Error returns the sentence.
func (e *RungError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *RungError) Unwrap() error { return e.Err }

// reasonOf returns the reason in err's chain.
func reasonOf(err error) (Reason, *CallReport) {
	var r *RungError
	if errors.As(err, &r) {
		return r.Reason, r.Call
	}
	return ReasonFailed, nil
}

// CallReport says what the model calls behind a summary used. Its cost is booked
// apart from the conversation's own.
type CallReport struct {
	Model    string        `json:"model,omitempty"`
	Provider string        `json:"provider,omitempty"`
	Calls    int           `json:"calls"` // requests made, retries included
	Usage    Usage         `json:"usage,omitzero"`
	CostUSD  float64       `json:"cost_usd"`
	Took     time.Duration `json:"took_ns,omitempty"`
	Form     string        `json:"form,omitempty"`   // "cache": rode on the live request; "compact": sent by itself; "parts": in several
	Why      string        `json:"why,omitempty"`    // why this form
	Cached   bool          `json:"cached,omitempty"` // paid before: nothing was called
	Custom   bool          `json:"custom_prompt,omitempty"`
	Separate bool          `json:"separate_profile,omitempty"` // not the conversation's own model
	Score    *int          `json:"score,omitempty"`            // 0 to 100 by the model's own check; nil: none was asked for
	Warnings []string      `json:"warnings,omitempty"`
}

// Add adds what another call used.
func (c *CallReport) Add(r ModelResponse) {
	c.Calls += r.Attempts
	c.Usage.Input += r.Usage.Input
	c.Usage.Output += r.Usage.Output
	c.Usage.CacheRead += r.Usage.CacheRead
	c.Usage.CacheWrite += r.Usage.CacheWrite
	c.CostUSD += r.CostUSD
	c.Took += r.Took
	if r.Model != "" {
		c.Model = r.Model
	}
}

// Live is the request of a client that is being answered. A summary request that
// rides on it reads the prompt cache it writes.
type Live struct {
	Dialect string      // "anthropic", "chat" or "responses"
	Model   string      // as the request names it
	Body    []byte      // as it came
	Header  http.Header // that the answer depends on; no keys
}

// SummaryRequest asks for a summary of part of a conversation.
type SummaryRequest struct {
	Conversation *Conversation
	Messages     []Message // what to summarize, as the view shows it
	From         int       // index in the transcript of the first of Messages
	At           []int     // index in the transcript of each of Messages; nil: From, From+1 …
	Previous     string    // the summary they begin with; "" when there is none
	MaxTokens    int       // size of the summary; 0: the summarizer's own
	Replaces     int       // tokens of what the summary stands for, as Count counts; 0: unknown
	Focus        string    // what the user asked to pay attention to; may be empty
	Automatic    bool      // no user asked for it
	Live         *Live     // the request to ride on; nil: none
	View         []Message // with Live: its messages, as they are in the prompt cache
	Count        func(string) int
}

// Summary is a summarizer's answer.
type Summary struct {
	Text    string
	Usage   Usage
	CostUSD float64
	Took    time.Duration
	Call    *CallReport // nil when no model was called
}

// Summarizer writes summaries, with a model or without one. Implementations are
// safe for concurrent use. Errors of those that call a model are a [RungError].
type Summarizer interface {
	Summarize(ctx context.Context, r SummaryRequest) (Summary, error)
}
