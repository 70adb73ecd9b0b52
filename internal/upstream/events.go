package upstream

import (
	"net/http"

	"github.com/precis-dev/precis/wire"
)

// events writes a stream of server-sent events.
type events struct {
	w    http.ResponseWriter
	wait func() bool // called before each event; nil: no wait
	n    int         // number of events written
	gone bool
}

// send writes an event. Without a name it has no event line.
func (e *events) send(name string, data object) {
	if name != "" {
		data["type"] = name
	}
	e.raw(name, string(encode(data)))
}

func (e *events) raw(name, data string) {
	if e.gone = e.gone || e.wait != nil && !e.wait(); e.gone {
		return
	}
	if e.n == 0 {
		e.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		e.w.Header().Set("Request-Id", "req_scripted")
		e.w.WriteHeader(http.StatusOK)
	}
	_, _ = e.w.Write(wire.AppendEvent(nil, name, []byte(data)))
	_ = http.NewResponseController(e.w).Flush() // fails if the client has disconnected
	e.n++
}

// splitInTwo splits a text in two, as for streaming.
func splitInTwo(text string) []string {
	if len(text) < 2 {
		return []string{text}
	}
	return []string{text[:len(text)/2], text[len(text)/2:]}
}
