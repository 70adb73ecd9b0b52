package gateway

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/admission"
	"github.com/precis-dev/precis/gateway/unmanaged"
	"github.com/precis-dev/precis/gateway/upstream"
	"github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/responses"
)

// responder writes the response to the client. It writes the header once, also when keep-alive
// bytes for a waiting stream came before the answer.
type responder struct {
	w       http.ResponseWriter
	dialect wire.Dialect // nil when passed through
	start   time.Time    // of the request

	mu     sync.Mutex    // guards w and, until the response is relayed, begun
	begun  bool          // the header is written
	status int           // of the response
	first  time.Duration // from start to the first byte of the response

	held     *reply            // response with a header that the next keep-alive writes; nil: none
	describe func(http.Header) // adds to the header of held
}

// hold sets the response that is being read, so that the next keep-alive begins with its header;
// nil: no response is being read any more.
func (o *responder) hold(in *reply, describe func(http.Header)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held, o.describe = in, describe
}

// fail answers with an error of the gateway's own, in the shape of the dialect.
func (o *responder) fail(err error) {
	code, kind := status[precis.CodeOf(err)], "invalid_request_error"
	var large admission.TooLargeError
	var slow admission.TooSlowError
	var busy admission.BusyError
	switch {
	case precis.CodeOf(err) == precis.CodeCanceled:
		o.status = code
		return // the client has gone
	case errors.As(err, &large):
		code, kind = http.StatusRequestEntityTooLarge, "request_too_large"
	case errors.As(err, &slow):
		code, kind = http.StatusRequestTimeout, "timeout_error"
	case errors.As(err, &busy):
		code, kind = http.StatusServiceUnavailable, "overloaded_error"
		o.w.Header().Set("Retry-After", "1")
	case code >= 500:
		kind = "api_error"
	}
	o.failWith(code, precis.CodeOf(err), errorBody(o.dialect, kind, err.Error()))
}

// note adds the reason why the request is not managed to the response header; "": it is managed.
func (o *responder) note(why unmanaged.Reason) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if why != "" && !o.begun {
		o.w.Header().Set(headerUnmanaged, string(why))
	}
}

// failWith answers with the body of an error.
func (o *responder) failWith(status int, code precis.Code, body []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.begun {
		o.status = status
		o.failStream(body)
		return
	}
	o.w.Header().Set(headerError, string(code))
	o.whole(status, "application/json", body)
}

// whole writes a whole response. The lock must be held.
func (o *responder) whole(code int, contentType string, body []byte) {
	if !o.begun {
		h := o.w.Header()
		h.Set("Content-Type", contentType)
		h.Set("Content-Length", strconv.Itoa(len(body)))
		o.w.WriteHeader(code)
	}
	o.status, o.begun = code, true
	_, _ = o.w.Write(body) // fails only if the client has gone
	_ = http.NewResponseController(o.w).Flush()
}

// begin writes the header of the relayed response. The lock must be held.
func (o *responder) begin(in *reply, describe func(http.Header)) {
	h := o.w.Header()
	for name, values := range in.res.Header {
		h[name] = values
	}
	upstream.StripHops(h)
	if in.whole && in.err == nil && !in.stream && in.res.Header.Get("Content-Encoding") == "" {
		h.Set("Content-Length", strconv.Itoa(len(in.head)))
	}
	describe(h)
	o.status, o.begun = in.res.StatusCode, true
	o.w.WriteHeader(in.res.StatusCode)
}

// keepAlive sends keep-alive bytes periodically until done is closed or stop is called, which may
// be done more than once.
func (o *responder) keepAlive(done <-chan struct{}, every time.Duration, conversation string) (stop func()) {
	stopped, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-stopped:
				return
			case <-done:
				return
			case <-tick.C:
				o.sendKeepAlive(conversation)
			}
		}
	}()
	return sync.OnceFunc(func() { close(stopped); <-ended })
}

// sendKeepAlive sends keep-alive bytes, which clients skip.
func (o *responder) sendKeepAlive(conversation string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.begun && o.held != nil {
		o.held.res.Header.Del("Content-Length") // the body may still be replaced
		o.begin(&reply{res: o.held.res, stream: true}, o.describe)
	}
	if !o.begun {
		h := o.w.Header()
		h.Set("Content-Type", "text/event-stream; charset=utf-8")
		h.Set("Cache-Control", "no-cache")
		h.Set(headerConv, conversation)
		o.w.WriteHeader(http.StatusOK)
		o.begun, o.status = true, http.StatusOK
	}
	sign := ": precis is at work on the conversation\n\n"
	if o.dialect.Name() == anthropic.Format {
		sign = string(wire.AppendEvent(nil, "ping", []byte(`{"type": "ping"}`)))
	}
	_, _ = io.WriteString(o.w, sign) // fails only if the client has gone, which ends the request
	_ = http.NewResponseController(o.w).Flush()
}

// failStream ends a stream that has begun with an error. The lock must be held.
func (o *responder) failStream(body []byte) {
	if jsonspan.Valid(body) != nil {
		body = errorBody(o.dialect, "api_error", content.FirstLine(string(body), 500))
	}
	name := ""
	switch o.dialect.Name() {
	case anthropic.Format:
		name = "error"
	case responses.Format:
		name = "error"
		e := jsonspan.Field(body, "error")
		message, _ := jsonspan.String(jsonspan.Field(e, "message"))
		code, _ := jsonspan.String(jsonspan.Field(e, "code"))
		body = jsonspan.AppendStringField([]byte(`{"type":"error","sequence_number":0`), "code", code)
		body = append(jsonspan.AppendStringField(body, "message", message), `,"param":null}`...)
	}
	_, _ = o.w.Write(wire.AppendEvent(nil, name, body)) // fails only if the client has gone
	_ = http.NewResponseController(o.w).Flush()
}
