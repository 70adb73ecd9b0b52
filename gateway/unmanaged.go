package gateway

import (
	"errors"
	"fmt"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/admission"
	"github.com/precis-dev/precis/gateway/lineage"
)

// Unmanaged is the reason why a request was not managed: its messages were forwarded unchanged, or
// not at all. Responses carry it in the header X-Precis-Unmanaged; [Turn] and the metrics use the
// same name. "": the request was managed.
type Unmanaged string

// The reasons. [Reasons] explains each of them.
const (
	UnmanagedPath     Unmanaged = "path"
	UnmanagedMethod   Unmanaged = "method"
	UnmanagedSocket   Unmanaged = "websocket"
	UnmanagedBypass   Unmanaged = "bypass"
	UnmanagedEncoding Unmanaged = "encoding"
	UnmanagedInvalid  Unmanaged = "invalid"
	UnmanagedTooLarge Unmanaged = "too_large"
	UnmanagedTooMany  Unmanaged = "too_many_messages"
	UnmanagedBusy     Unmanaged = "busy"
	UnmanagedSlow     Unmanaged = "slow"
	UnmanagedDenied   Unmanaged = "denied"
	UnmanagedEmpty    Unmanaged = "no_messages"
	UnmanagedStateful Unmanaged = "stateful"
	UnmanagedThread   Unmanaged = "thread"
	UnmanagedCount    Unmanaged = "count"
	UnmanagedCompact  Unmanaged = "compact"
	UnmanagedSummary  Unmanaged = "summary"
	UnmanagedAside    Unmanaged = "aside"
	UnmanagedGone     Unmanaged = "canceled"
	UnmanagedFailed   Unmanaged = "failed"
)

// Reason explains one reason.
type Reason struct {
	Unmanaged Unmanaged
	Means     string // describes the request
	Forwarded bool   // the request is forwarded unchanged; false: it is answered with an error
}

// Reasons returns all reasons, in the order of the checks on a request.
func Reasons() []Reason {
	return []Reason{
		{UnmanagedDenied, "its gateway key, its host name or its path is not accepted", false},
		{UnmanagedSocket, "it asks for a WebSocket", false},
		{UnmanagedPath, "its path is none of those by which models are asked", true},
		{UnmanagedMethod, "its path is one of those, its method is not POST", true},
		{UnmanagedBusy, "the gateway has no room for another one", false},
		{UnmanagedSlow, "its body comes too slowly", false},
		{UnmanagedTooLarge, "its body is larger than 64 MB, decompressed", false},
		{UnmanagedEncoding, "its body is compressed in a way that is not known", true},
		{UnmanagedBypass, "it has the header X-Precis-Bypass: true", true},
		{UnmanagedInvalid, "its body is not JSON, or holds a message that is not valid", false},
		{UnmanagedTooMany, fmt.Sprintf("it has more than %d messages", lineage.MostMessages), true},
		{UnmanagedThread, "it continues or creates a message thread, which its upstream keeps", false},
		{UnmanagedStateful, "it refers to messages that its upstream keeps", true},
		{UnmanagedEmpty, "it has no list of messages, or an empty one", true},
		{UnmanagedCount, "it counts the tokens of messages that are no known conversation", true},
		{UnmanagedCompact, "it asks for a compaction of messages that are no known conversation", true},
		{UnmanagedSummary, "it asks for a summary of a conversation that it holds as text", true},
		{UnmanagedAside, "it is no turn of a conversation: few messages, and no tools", true},
		{UnmanagedGone, "its client has gone", false},
		{UnmanagedFailed, "managing it failed, which the log says", true},
	}
}

// reasonOf returns the reason for an error of the gateway's own.
func reasonOf(err error) Unmanaged {
	var large admission.TooLarge
	var slow admission.TooSlow
	var busy admission.Busy
	var thread *threadError
	switch {
	case errors.As(err, &thread):
		return UnmanagedThread
	case errors.As(err, &large):
		return UnmanagedTooLarge
	case errors.As(err, &slow):
		return UnmanagedSlow
	case errors.As(err, &busy):
		return UnmanagedBusy
	case precis.CodeOf(err) == precis.CodeCanceled:
		return UnmanagedGone
	case precis.CodeOf(err) == precis.CodeInvalid, precis.CodeOf(err) == precis.CodeNotFound:
		return UnmanagedInvalid
	}
	return UnmanagedFailed
}

// threadError refuses a request of a message thread. The upstream keeps a thread's earlier
// messages, so the gateway would see only the newest ones. After this error clients send the whole
// conversation instead.
type threadError struct{}

// Error returns the instruction for the client.
func (*threadError) Error() string {
	return "message threads are not supported here; send the whole conversation without thread"
}

// body returns the error in the format of the Anthropic API. Clients act on its error_code.
func (e *threadError) body() []byte {
	return fmt.Appendf(nil, `{"type":"error","error":{"type":"invalid_request_error","message":"precis: %s","details":{"error_code":"thread_unsupported_request"}}}`, e.Error())
}

// refuseThread returns an error for a request that belongs to a message thread, nil for any other.
// It accepts token counts, because they have no conversation to send again.
func (x *exchange) refuseThread() error {
	if !x.intent.Thread {
		return nil
	}
	return &precis.Error{Code: precis.CodeInvalid, Op: "read request", Err: &threadError{}}
}
