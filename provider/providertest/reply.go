package providertest

import (
	"net/http"
	"strconv"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/model"
)

// Reply is one scripted answer.
type Reply struct {
	// What the model says, in this order.
	Reasoning string
	Text      string // streamed in pieces
	Tool      string // the name of a tool that is called
	// Why it stops, if not because it has finished.
	Refused    bool
	Truncated  bool // the output limit was reached
	WindowFull bool // the window was full

	// Usage replaces the computed usage in the report, in the dialect's way of counting.
	Usage *precis.Usage
	// NoUsage: none is reported.
	NoUsage bool

	// Whole: one JSON object with status 200 although a stream was asked for.
	Whole bool
	// Every is the wait before each piece of the text.
	Every time.Duration
	// Ending says how the stream ends.
	Ending Ending

	// Fault, when set, is answered in the dialect's own shape. Limit and Used are
	// what an overflow states. InStream: as an event of a stream with status 200,
	// after Text.
	Fault       model.Fault
	Limit, Used int
	InStream    bool

	// Status, when set, makes a response of Header and Body as they are.
	Status int
	Header http.Header // added to the header of a Fault, too
	Body   string

	// Do, when set, makes the reply.
	Do func(Request) Reply
}

// Ending is how a stream ends.
type Ending string

// The endings of a stream. The zero value ends it as the API does.
const (
	Torn    Ending = "torn"    // after Text the connection breaks
	Unended Ending = "unended" // after Text it ends, without the end marker
	Stuck   Ending = "stuck"   // after Text the stream stalls
	Silent  Ending = "silent"  // no byte is sent
)

// Text answers with a text.
func Text(text string) Reply { return Reply{Text: text} }

// Cut streams the first n bytes of a text and breaks the connection.
func Cut(text string, n int) Reply { return Reply{Text: text[:n], Ending: Torn} }

// Drip streams a text with a wait before each piece.
func Drip(text string, every time.Duration) Reply { return Reply{Text: text, Every: every} }

// Fail answers with an error in the dialect's own shape.
func Fail(fault model.Fault) Reply { return Reply{Fault: fault} }

// Overflow answers that the request has more tokens than the window.
func Overflow(limit, used int) Reply {
	return Reply{Fault: model.FaultOverflow, Limit: limit, Used: used}
}

// RateLimited answers that the client should wait.
func RateLimited(wait time.Duration) Reply {
	ms := strconv.FormatInt(wait.Milliseconds(), 10)
	return Reply{Fault: model.FaultRateLimited, Header: http.Header{"Retry-After-Ms": {ms}}}
}

// Respond answers with a response as it is.
func Respond(status int, contentType, body string) Reply {
	return Reply{Status: status, Header: http.Header{"Content-Type": {contentType}}, Body: body}
}

// failure is an error response.
type failure struct {
	status  int
	fault   model.Fault
	kind    string // the word of OpenAI's APIs
	code    string
	message string
	param   string
	header  http.Header
	limit   int
	used    int
}

// failureOf returns the error response for r.Fault.
func failureOf(r Reply) *failure {
	f := failure{fault: r.Fault, header: r.Header, limit: r.Limit, used: r.Used}
	switch r.Fault {
	case model.FaultOverflow:
		f.status, f.kind, f.code = 400, "invalid_request_error", "context_length_exceeded"
	case model.FaultRateLimited:
		f.status, f.kind, f.code, f.message = 429, "requests", "rate_limit_exceeded", "Rate limit reached for requests"
	case model.FaultOverloaded:
		f.status, f.kind, f.code, f.message = 503, "server_error", "server_error", "The server is overloaded"
	case model.FaultAuth:
		f.status, f.kind, f.code, f.message = 401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided"
	case model.FaultTimeout:
		f.status, f.kind, f.code, f.message = 408, "timeout_error", "timeout", "The request timed out"
	default:
		f.status, f.kind, f.code, f.message = 400, "invalid_request_error", "invalid_value", "The request is wrong"
	}
	return &f
}

func (f *failure) write(w http.ResponseWriter, d dialect) {
	for name, values := range f.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "application/json")
	status, body := d.failure(f)
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}
