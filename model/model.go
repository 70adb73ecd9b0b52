// Package model defines how to call a language model: [Model], [Request] and [Response], and the
// [Error] of a failed request. The package precis/provider implements Model over the APIs of
// Anthropic and OpenAI.
package model

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/precis-dev/precis"
)

// Model is a language model that generates text. The package precis/provider implements it over the
// APIs of Anthropic and OpenAI. Implementations are safe for concurrent use.
type Model interface {
	// Generate sends one request and retries it as configured. On failure it also returns the known
	// part of the response, because the usage of a broken stream is billed, too. Errors of the API
	// and of the connection are an [Error].
	Generate(ctx context.Context, r Request) (Response, error)
	// Info returns the known properties of the model, without a request.
	Info() Info
}

// Info holds the known properties of a model.
type Info struct {
	ID        string        // as spelled by the API
	Provider  string        // for display and metrics, e.g. "anthropic"
	Dialect   string        // "anthropic", "chat" or "responses"
	Window    precis.Window // Tokens is 0 when unknown
	MaxOutput int           // tokens; 0: unknown
	Images    bool          // accepts images
}

// Request is a request for a text. Tools are only sent as part of a cached prefix; the model
// answers in words.
type Request struct {
	System    precis.Message   // empty content: no system prompt
	Messages  []precis.Message // valid in any dialect, ending with a user message
	MaxTokens int              // output limit in tokens; 0: the model's own
	// Body is the body of a live request in the model's dialect, or nil. Its other fields,
	// including tools and system prompt, are sent unchanged, so that the request hits the prompt
	// cache that the live request wrote. Messages replace its messages, and System is not used.
	// Leading system messages of the body stay if Messages has none.
	Body []byte
	// Header holds the live request's headers that affect the answer, e.g. anthropic-beta, without
	// keys; nil without a Body.
	Header http.Header
}

// Response is a model's answer.
type Response struct {
	Text      string
	Reasoned  bool         // it reasoned before the answer, or instead of one
	ToolCalls int          // number of tool uses in the answer; their content is dropped
	Refused   bool         // the API reports that the model refused
	Truncated bool         // the output limit was reached
	Model     string       // model that answered, as reported by the API
	Usage     precis.Usage // sum over all attempts, in the dialect's way of counting
	CostUSD   float64
	Took      time.Duration
	Attempts  int // number of requests sent, retries included
}

// Call returns the cost of the answer, for the report of the resulting edit.
func (r Response) Call() precis.CallReport {
	return precis.CallReport{Model: r.Model, Calls: r.Attempts, Usage: r.Usage, CostUSD: r.CostUSD,
		Took: r.Took}
}

// Fault is the reason why a request to a model failed.
type Fault string

// The faults of a request to a model.
const (
	FaultOverflow    Fault = "overflow"    // the request is larger than the model's window
	FaultRateLimited Fault = "rate_limit"  // 429, also after retries
	FaultOverloaded  Fault = "overloaded"  // 5xx and 529, also after retries
	FaultAuth        Fault = "auth"        // 401, 403, 402: key, permission or credit
	FaultRequest     Fault = "bad_request" // another 4xx
	FaultConnection  Fault = "connection"  // no answer, a broken stream, or a response that is not the API's
	FaultTimeout     Fault = "timeout"     // no answer, or no progress, in time
	FaultBreaker     Fault = "breaker"     // not sent, because earlier requests failed
)

// Error is a failed request to a model.
type Error struct {
	Fault  Fault
	Status int // of the HTTP response; 0 without a response
	// of the error response, at most 4096 bytes, without the key; may quote the request
	Body       []byte
	RetryAfter time.Duration // pause that the API demands; 0: none
	Limit      int           // window in tokens that an overflow states; 0: not stated
	Used       int           // size in tokens of the request that an overflow states; 0: not stated
	Err        error         // cause; may be nil
}

// Error returns the fault and the status. It omits the body, which may quote the request.
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
