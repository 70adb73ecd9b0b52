package registry

import "net/http"

// NameHint is the hint of a record that holds the name that a client gave its conversation in this
// header, or by gateway.WithName.
const NameHint = "X-Precis-Conversation"

// ScopeHint is the hint of a record that holds the scope of its conversation, see
// [lineage.Request]. A record without this hint has no scope.
const ScopeHint = "conversation"

// hintHeaders are headers that clients use to name a conversation. They are shown and searched, and
// never decide which conversation a request continues.
var hintHeaders = []string{
	NameHint, "X-Claude-Code-Session-Id", "X-Claude-Code-Agent-Id", "X-Session-Id", "X-Parent-Session-Id",
	"Session-Id", "Session_id", "Thread-Id",
}

// HintsOf returns the names that a client gives its conversation in the headers of a request.
func HintsOf(h http.Header) map[string]string {
	out := map[string]string{}
	for _, name := range hintHeaders {
		v := h.Get(name)
		if v == "" || len(v) > 200 {
			continue
		}
		out[name] = v
	}
	return out
}
