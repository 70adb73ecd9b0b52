// Package unmanaged names the reasons why a request is not managed: its messages are forwarded
// unchanged, or not at all.
package unmanaged

import (
	"errors"
	"fmt"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/admission"
	"github.com/precis-dev/precis/gateway/lineage"
)

// Reason is the reason why a request was not managed. Responses carry it in the header
// X-Precis-Unmanaged; gateway.Turn and the metrics use the same name. "": the request was managed.
type Reason string

// The reasons. [Explanations] explains each of them.
const (
	Path     Reason = "path"
	Method   Reason = "method"
	Socket   Reason = "websocket"
	Bypass   Reason = "bypass"
	Encoding Reason = "encoding"
	Invalid  Reason = "invalid"
	TooLarge Reason = "too_large"
	TooMany  Reason = "too_many_messages"
	Busy     Reason = "busy"
	Slow     Reason = "slow"
	Denied   Reason = "denied"
	Empty    Reason = "no_messages"
	Stateful Reason = "stateful"
	Thread   Reason = "thread"
	Count    Reason = "count"
	Compact  Reason = "compact"
	Summary  Reason = "summary"
	Aside    Reason = "aside"
	Gone     Reason = "canceled"
	Failed   Reason = "failed"
)

// Explanation explains one reason.
type Explanation struct {
	Reason    Reason
	Means     string // describes the request
	Forwarded bool   // the request is forwarded unchanged; false: it is answered with an error
}

// Explanations explains all reasons, in the order of the checks on a request.
func Explanations() []Explanation {
	return []Explanation{
		{Denied, "its gateway key, its host name or its path is not accepted", false},
		{Socket, "it asks for a WebSocket", false},
		{Path, "its path is none of those by which models are asked", true},
		{Method, "its path is one of those, its method is not POST", true},
		{Busy, "the gateway has no room for another one", false},
		{Slow, "its body comes too slowly", false},
		{TooLarge, "its body is larger than 64 MB, decompressed", false},
		{Encoding, "its body is compressed in a way that is not known", true},
		{Bypass, "it has the header X-Precis-Bypass: true", true},
		{Invalid, "its body is not JSON, or holds a message that is not valid", false},
		{TooMany, fmt.Sprintf("it has more than %d messages", lineage.MaxMessages), true},
		{Thread, "it continues or creates a message thread, which its upstream keeps", false},
		{Stateful, "it refers to messages that its upstream keeps", true},
		{Empty, "it has no list of messages, or an empty one", true},
		{Count, "it counts the tokens of messages that are no known conversation", true},
		{Compact, "it asks for a compaction of messages that are no known conversation", true},
		{Summary, "it asks for a summary of a conversation that it holds as text", true},
		{Aside, "it is no turn of a conversation: few messages, and no tools", true},
		{Gone, "its client has gone", false},
		{Failed, "managing it failed, which the log says", true},
	}
}

// ReasonOf returns the reason for an error of the gateway's own.
func ReasonOf(err error) Reason {
	var large admission.TooLargeError
	var slow admission.TooSlowError
	var busy admission.BusyError
	var thread *ThreadError
	switch {
	case errors.As(err, &thread):
		return Thread
	case errors.As(err, &large):
		return TooLarge
	case errors.As(err, &slow):
		return Slow
	case errors.As(err, &busy):
		return Busy
	case precis.CodeOf(err) == precis.CodeCanceled:
		return Gone
	case precis.CodeOf(err) == precis.CodeInvalid, precis.CodeOf(err) == precis.CodeNotFound:
		return Invalid
	}
	return Failed
}

// ThreadError refuses a request of a message thread. The upstream keeps a thread's earlier
// messages, so the gateway would see only the newest ones. After this error clients send the whole
// conversation instead.
type ThreadError struct{}

// Error returns the instruction for the client.
func (*ThreadError) Error() string {
	return "message threads are not supported here; send the whole conversation without thread"
}

// Body returns the error in the format of the Anthropic API. Clients act on its error_code.
func (e *ThreadError) Body() []byte {
	return fmt.Appendf(nil, `{"type":"error","error":{"type":"invalid_request_error","message":"precis: %s","details":{"error_code":"thread_unsupported_request"}}}`, e.Error())
}
