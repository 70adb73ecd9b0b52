// Package model says what a language model is asked and what it answers:
// [Model], [Request] and [Response], and the [Error] of a request that failed.
// The package precis/provider implements Model over the APIs of Anthropic and
// OpenAI.
package model

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"precis"
)

// Model is a language model that can be asked for one text. The package
// precis/provider implements it over the APIs of Anthropic and OpenAI.
// Implementations are safe for concurrent use.
type Model interface {
	// Generate asks once, retries of the same request included. When it fails it
	// returns what is known in addition to the error: the usage of a broken stream is
	// paid, too. Errors of the API and of the connection are an [Error].
	Generate(ctx context.Context, r Request) (Response, error)
	// Info says what is known of the model without asking it.
	Info() Info
}

// Info is what is known of a model.
type Info struct {
	ID        string        // as the API spells it
	Provider  string        // for people and metrics, e.g. "anthropic"
	Dialect   string        // "anthropic", "chat" or "responses"
	Window    precis.Window // Tokens is 0 when unknown
	MaxOutput int           // tokens; 0: unknown
	Images    bool          // accepts images
}

// Request is one request for a text. The model answers in words: tools are
// only sent where they are part of a prefix that is cached.
type Request struct {
	System    precis.Message   // no content: none
	Messages  []precis.Message // valid in any dialect, ending with a user message
	MaxTokens int              // output limit in tokens; 0: the model's own
	// Body is the body of a live request in the model's dialect, or nil. Its other
	// fields, tools and system prompt among them, are sent as they are, so that
	// the request reads the prompt cache that the live request wrote; Messages
	// take the place of its messages, and System is not used. Leading system
	// messages of the body stay when Messages begin with none.
	Body []byte
	// Header holds the headers of the live request, without keys, on which the
	// answer depends, e.g. anthropic-beta; nil without a Body.
	Header http.Header
}

// Response is a model's answer.
type Response struct {
	Text      string
	Reasoned  bool         // it thought before it answered, or instead
	ToolCalls int          // tool uses in the answer; their content is not kept
	Refused   bool         // the API says that the model refused
	Truncated bool         // the output limit was reached
	Model     string       // that answered, as the API says
	Usage     precis.Usage // sums of all attempts, in the dialect's way of counting
	CostUSD   float64
	Took      time.Duration
	Attempts  int // requests made, retries included
}

// Call returns what the answer cost, for the report of the edit that it led to.
func (r Response) Call() precis.CallReport {
	return precis.CallReport{Model: r.Model, Calls: r.Attempts, Usage: r.Usage, CostUSD: r.CostUSD, Took: r.Took}
}

// Fault says why a request to a model failed.
type Fault string

// The faults of a request to a model.
const (
	FaultOverflow    Fault = "overflow"    // the request is larger than the model's window
	FaultRateLimited Fault = "rate_limit"  // 429, also after retries
	FaultOverloaded  Fault = "overloaded"  // 5xx and 529, also after retries
	FaultAuth        Fault = "auth"        // 401, 403, 402: key, permission or credit
	FaultRequest     Fault = "bad_request" // another 4xx
	FaultConnection  Fault = "connection"  // no answer, a cut stream, something that is not the API
	FaultTimeout     Fault = "timeout"     // no answer, or no progress, in time
	FaultBreaker     Fault = "breaker"     // not tried: it failed too often a short time ago
)

// Error is a failed request to a model.
type Error struct {
	Fault      Fault
	Status     int           // of the HTTP response; 0 when there was none
	Body       []byte        // of the error response as it came, at most 4096 bytes, the key left out; may quote the request
	RetryAfter time.Duration // what the API asked to wait; 0 when it did not
	Limit      int           // tokens of the window that an overflow stated; 0 when it did not
	Used       int           // tokens of the request that an overflow stated; 0 when it did not
	Err        error         // cause; may be nil
}

// Error names the fault and the status. The body is left out, since it may quote
// the request.
func (e *Error) Error() string {
	s := "model call failed: " + string(e.Fault)
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same request may succeed later.
func (e *Error) Retryable() bool {
	switch e.Fault {
	case FaultRateLimited, FaultOverloaded, FaultConnection, FaultTimeout:
		return true
	}
	return false
}
