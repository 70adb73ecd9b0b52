package provider

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/wire/overflow"
)

// maxBody is how much of an error response a [model.Error] keeps.
const maxBody = 4096

var (
	errIdle    = errors.New("nothing came for too long")
	errTimeout = errors.New("the answer took too long")
	errCut     = errors.New("the answer was cut off before its end")
	errFull    = errors.New("the window was full before the answer was finished")
)

// failure is an attempt that failed.
type failure struct {
	err   *model.Error
	final bool // a further attempt is useless
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func canceled(ctx context.Context) error {
	return &precis.Error{Code: precis.CodeCanceled, Op: "ask model", Err: ctx.Err()}
}

// attemptError returns the error of an attempt: nil for a complete answer. parent is
// the caller's context, ctx the attempt's own, err the error of [Client.ask].
func attemptError(parent, ctx context.Context, x *exchange, a *answer, err error) error {
	fault := func(kind model.Fault, cause error) *failure {
		return &failure{err: &model.Error{Fault: kind, Err: cause}}
	}
	switch cause := context.Cause(ctx); {
	case a.failed != nil:
		return &failure{err: faultOfError(a.failed)}
	case a.Done && a.full():
		return fault(model.FaultOverflow, errFull)
	case a.Done && err == nil:
		return nil
	case parent.Err() != nil:
		return canceled(parent)
	case cause != nil:
		return fault(model.FaultTimeout, cause)
	case x.fault != nil:
		return &failure{err: x.fault, final: x.final || errors.Is(x.fault, errTooLong)}
	case err == errTooLong:
		f := fault(model.FaultConnection, err)
		f.final = true
		return f
	case x.readError != nil:
		return fault(model.FaultConnection, fmt.Errorf("%w: %w", errCut, x.readError))
	case err == nil:
		return fault(model.FaultConnection, errCut)
	}
	return fault(model.FaultConnection, err)
}

// judgeStatus sets the fault of an error response, and what it states about the
// window.
func judgeStatus(e *model.Error, body []byte) {
	if o, ok := overflow.Classify(e.Status, body); ok {
		e.Fault, e.Limit, e.Used = model.FaultOverflow, o.Limit, o.Used
		return
	}
	kind, _ := errorCodes(body)
	e.Fault = faultOfStatus(e.Status)
	if e.Status == http.StatusTooManyRequests && strings.Contains(kind, "insufficient_quota") {
		e.Fault = model.FaultAuth // no credit: a retry does not help
	}
}

// faultOfStatus returns the fault for a status of 400 and more. Servers answer
// 409 when they are busy with the same resource.
func faultOfStatus(status int) model.Fault {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden,
		status == http.StatusPaymentRequired:
		return model.FaultAuth
	case status == http.StatusTooManyRequests:
		return model.FaultRateLimited
	case status == http.StatusRequestTimeout:
		return model.FaultTimeout
	case status == http.StatusConflict, status >= 500:
		return model.FaultOverloaded
	}
	return model.FaultRequest
}

// faultOfError returns the fault for an error object that was sent with status 200.
func faultOfError(raw []byte) *model.Error {
	e := &model.Error{Status: http.StatusOK, Body: clip(raw)}
	if o, ok := overflow.Classify(http.StatusOK, raw); ok {
		e.Fault, e.Limit, e.Used = model.FaultOverflow, o.Limit, o.Used
		return e
	}
	kind, status := errorCodes(raw)
	if status >= 400 {
		e.Fault = faultOfStatus(status)
	} else {
		e.Fault = faultOfKind(kind)
	}
	return e
}

// kinds maps the APIs' words for errors to faults. The first match counts.
var kinds = []struct {
	word  string
	fault model.Fault
}{
	{"insufficient_quota", model.FaultAuth},
	{"billing", model.FaultAuth},
	{"authentication", model.FaultAuth},
	{"permission", model.FaultAuth},
	{"api_key", model.FaultAuth},
	{"rate_limit", model.FaultRateLimited},
	{"timeout", model.FaultTimeout},
	{"invalid", model.FaultRequest},
	{"not_found", model.FaultRequest},
	{"too_large", model.FaultRequest},
	{"unsupported", model.FaultRequest},
	{"policy", model.FaultRequest},
	{"image", model.FaultRequest},
}

// faultOfKind returns the fault for an error type. An unknown type counts as a fault of the server,
// because it accepted the request.
func faultOfKind(kind string) model.Fault {
	for _, k := range kinds {
		if strings.Contains(kind, k.word) {
			return k.fault
		}
	}
	return model.FaultOverloaded
}

// errorCodes returns the type and code of an error object, in lower case, and the code if it is an
// HTTP status.
func errorCodes(raw []byte) (kind string, status int) {
	body := raw
	if e := memberOf(raw, "error"); jsonspan.Kind(e) == '{' {
		body = e
	}
	code := memberOf(body, "code")
	kind = strings.ToLower(text(memberOf(body, "type")) + " " + text(code))
	if status = number(code); status == 0 {
		status, _ = strconv.Atoi(text(code))
	}
	if status < 400 || status > 599 {
		status = 0
	}
	return kind, status
}

// clip returns the part of a body that a [model.Error] keeps.
func clip(body []byte) []byte {
	if len(body) > maxBody {
		body = body[:maxBody]
	}
	return append([]byte(nil), body...)
}

// withoutURL returns the cause of a failed request without the URL, which is long and not needed.
func withoutURL(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// retryAfter returns the pause that the API demands: Retry-After-Ms, else Retry-After in seconds or
// as a date; 0 without either.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if d, ok := duration(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	value := h.Get("Retry-After")
	if d, ok := duration(value, time.Second); ok {
		return d
	}
	if t, err := http.ParseTime(value); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

func duration(s string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(n) {
		return 0, false
	}
	const longest = 365 * 24 * time.Hour
	return time.Duration(max(0, min(n*float64(unit), float64(longest)))), true
}
