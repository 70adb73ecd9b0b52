package gateway

import (
	"errors"
	"net/http"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
)

var (
	errDots        = precis.Errorf(precis.CodeInvalid, "accept request", "the path has segments of dots")
	errNoWebSocket = precis.Errorf(precis.CodeInvalid, "accept request",
		"WebSockets are not served here; use HTTPS")
	errLocal = &precis.Error{Code: precis.CodeNotFound, Op: "accept request",
		Err:  errors.New("nothing is forwarded here"),
		Hint: "ask for views at /precis/api/v1/assemble, or start precis gateway"}
	errNoUpstream = precis.Errorf(precis.CodeInvalid, "accept request",
		"the gateway has no upstreams: it serves one program by its RoundTripper")
	errUpstream = precis.Errorf(precis.CodeUpstream, "forward request", "the upstream cannot be reached")
)

// status is the HTTP status of each error code.
var status = map[precis.Code]int{
	precis.CodeInvalid:    http.StatusBadRequest,
	precis.CodeNotFound:   http.StatusNotFound,
	precis.CodeConflict:   http.StatusConflict,
	precis.CodeOverBudget: http.StatusBadRequest,
	precis.CodeWouldLose:  http.StatusConflict,
	precis.CodeUpstream:   http.StatusBadGateway,
	precis.CodeCanceled:   499,
	precis.CodeInternal:   http.StatusInternalServerError,
}

// refuse answers with an error of the gateway's own, in the shape of the dialect.
func (g *Gateway) refuse(w http.ResponseWriter, dialect wire.Dialect, code int, kind string, err error) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set(headerError, string(precis.CodeOf(err)))
	w.WriteHeader(code)
	_, _ = w.Write(errorBody(dialect, kind, err.Error())) // fails only if the client has gone
}

// errorBody returns an error object of a dialect; nil: of OpenAI.
func errorBody(dialect wire.Dialect, kind, message string) []byte {
	message = "precis: " + message
	if dialect != nil && dialect.Name() == anthropic.Format {
		b := jsonspan.AppendStringField([]byte(`{"type":"error","error":{`), "type", kind)
		return append(jsonspan.AppendStringField(b, "message", message), "}}"...)
	}
	b := jsonspan.AppendStringField([]byte(`{"error":{`), "message", message)
	b = jsonspan.AppendStringField(b, "type", kind)
	return append(b, `,"param":null,"code":null}}`...)
}

// StatusOf returns the HTTP status of an error.
func StatusOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	return status[precis.CodeOf(err)]
}
