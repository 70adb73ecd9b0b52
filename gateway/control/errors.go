package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/policy"
)

// Error codes that only the API has, in addition to [precis.Code].
const (
	codeUnauthorized = "unauthorized"           // 401
	codeForbidden    = "forbidden"              // 403
	codeMethod       = "method_not_allowed"     // 405
	codeTooLarge     = "too_large"              // 413
	codeMediaType    = "unsupported_media_type" // 415
	codeTimeout      = "timeout"                // 408
	codeBusy         = "busy"                   // 503
)

// refusal is an error with a status of its own.
type refusal struct {
	status int
	code   string
	err    error
}

func (r refusal) Error() string { return r.err.Error() }

func refuse(status int, code, message, hint string) refusal {
	return refusal{status, code, &precis.Error{Err: errors.New(message), Hint: hint}}
}

// invalid is a [precis.CodeInvalid] error with its place.
func invalid(op, place, message, hint string) error {
	return &precis.Error{Code: precis.CodeInvalid, Op: op, Place: place, Err: errors.New(message), Hint: hint}
}

// failure is the body of an error.
type failure struct {
	Error problem `json:"error"`
}

type problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Loses is the content that would be lost entirely, for the code [precis.CodeWouldLose].
	Loses *policy.Loss `json:"would_lose,omitempty"`
}

// fail answers with an error.
func fail(w http.ResponseWriter, err error) {
	code, status := string(precis.CodeOf(err)), gateway.StatusOf(err)
	var own refusal
	if errors.As(err, &own) {
		code, status, err = own.code, own.status, own.err
	}
	hint := ""
	var e *precis.Error
	if errors.As(err, &e) {
		hint = e.Hint
	}
	p := problem{Code: code, Message: err.Error(), Hint: hint}
	if loss, ok := errors.AsType[*conversation.LossError](err); ok {
		p.Loses, p.Hint = &loss.Loss, "choose a larger target, pin what is to stay, or send force: true"
	}
	answer(w, status, failure{p})
}

// answer writes a body.
func answer(w http.ResponseWriter, status int, body any) {
	if own, ok := body.(interface{ appendTo([]byte) ([]byte, error) }); ok {
		if data, err := own.appendTo(nil); err == nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write(data) // fails only if the client has gone
			return
		}
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		status = http.StatusInternalServerError
		buf.Reset()
		fmt.Fprintf(&buf, `{"error":{"code":%q,"message":"the answer cannot be written"}}`+"\n",
			precis.CodeInternal)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(buf.Bytes()) // fails only if the client has gone
}
