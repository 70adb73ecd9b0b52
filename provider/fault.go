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

	"precis"
	"precis/internal/jsonspan"
	"precis/wire/overflow"
)

// maxBody is how much of an error response a [precis.ModelError] keeps.
const maxBody = 4096

var (
	errIdle    = errors.New("nothing came for too long")
	errTimeout = errors.New("the answer took too long")
	errCut     = errors.New("the answer was cut off before its end")
	errFull    = errors.New("the window was full before the answer was finished")
)

// failure is an attempt that failed.
type failure struct {
	err   *precis.ModelError
	final bool // another attempt is no use
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func canceled(ctx context.Context) error {
	return &precis.Error{Code: precis.CodeCanceled, Op: "ask model", Err: ctx.Err()}
}

// judge says what became of an attempt: nil for a whole answer. parent is the
// caller's context, ctx the attempt's own, err what the SDK returned.
func judge(parent, ctx context.Context, x *exchange, a *answer, err error) error {
	fault := func(kind precis.ModelFault, cause error) *failure {
		return &failure{err: &precis.ModelError{Fault: kind, Err: cause}}
	}
	switch cause := context.Cause(ctx); {
	case a.failed != nil:
		return &failure{err: toldFault(a.failed)}
	case a.done && a.full:
		return fault(precis.FaultOverflow, errFull)
	case a.done && err == nil:
		return nil
	case parent.Err() != nil:
		return canceled(parent)
	case cause != nil:
		return fault(precis.FaultTimeout, cause)
	case x.fault != nil:
		return &failure{err: x.fault, final: x.final || errors.Is(x.fault, errTooLong)}
	case err == errTooLong:
		f := fault(precis.FaultConnection, err)
		f.final = true
		return f
	case x.lost != nil:
		return fault(precis.FaultConnection, fmt.Errorf("%w: %w", errCut, x.lost))
	case err == nil:
		return fault(precis.FaultConnection, errCut)
	case err == errNotAnswer:
		return fault(precis.FaultConnection, err)
	}
	// The SDKs' texts may quote the answer.
	return fault(precis.FaultConnection, errNotAPI)
}

// judgeStatus sets the fault of an error response, and what it tells of the
// window.
func judgeStatus(e *precis.ModelError, body []byte) {
	if o, ok := overflow.Classify(e.Status, body); ok {
		e.Fault, e.Limit, e.Used = precis.FaultOverflow, o.Limit, o.Used
		return
	}
	kind, _ := told(body)
	e.Fault = faultOfStatus(e.Status)
	if e.Status == http.StatusTooManyRequests && strings.Contains(kind, "insufficient_quota") {
		e.Fault = precis.FaultAuth // no credit: waiting does not help
	}
}

// faultOfStatus is the fault that a status of 400 and more stands for. 409 is
// the answer of a server that is busy with the same resource.
func faultOfStatus(status int) precis.ModelFault {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusPaymentRequired:
		return precis.FaultAuth
	case status == http.StatusTooManyRequests:
		return precis.FaultRateLimited
	case status == http.StatusRequestTimeout:
		return precis.FaultTimeout
	case status == http.StatusConflict, status >= 500:
		return precis.FaultOverloaded
	}
	return precis.FaultRequest
}

// toldFault is the fault of an error object that came with status 200.
func toldFault(raw []byte) *precis.ModelError {
	e := &precis.ModelError{Status: http.StatusOK, Body: clip(raw)}
	if o, ok := overflow.Classify(http.StatusOK, raw); ok {
		e.Fault, e.Limit, e.Used = precis.FaultOverflow, o.Limit, o.Used
		return e
	}
	kind, status := told(raw)
	if status >= 400 {
		e.Fault = faultOfStatus(status)
	} else {
		e.Fault = faultOfKind(kind)
	}
	return e
}

// kinds are the words that APIs use for errors, and their faults. The first
// that fits counts.
var kinds = []struct {
	word  string
	fault precis.ModelFault
}{
	{"insufficient_quota", precis.FaultAuth},
	{"billing", precis.FaultAuth},
	{"authentication", precis.FaultAuth},
	{"permission", precis.FaultAuth},
	{"api_key", precis.FaultAuth},
	{"rate_limit", precis.FaultRateLimited},
	{"timeout", precis.FaultTimeout},
	{"invalid", precis.FaultRequest},
	{"not_found", precis.FaultRequest},
	{"too_large", precis.FaultRequest},
	{"unsupported", precis.FaultRequest},
	{"policy", precis.FaultRequest},
	{"image", precis.FaultRequest},
}

// faultOfKind is the fault of an error by its words. What nobody knows is the
// server's trouble, since it took the request.
func faultOfKind(kind string) precis.ModelFault {
	for _, k := range kinds {
		if strings.Contains(kind, k.word) {
			return k.fault
		}
	}
	return precis.FaultOverloaded
}

// told returns the type and code of an error object, in lower case, and its
// code where that is an HTTP status.
func told(raw []byte) (kind string, status int) {
	body := raw
	if e := inner(raw, "error"); jsonspan.Kind(e) == '{' {
		body = e
	}
	code := inner(body, "code")
	kind = strings.ToLower(text(inner(body, "type")) + " " + text(code))
	if status = number(code); status == 0 {
		status, _ = strconv.Atoi(text(code))
	}
	if status < 400 || status > 599 {
		status = 0
	}
	return kind, status
}

// clip returns what a [precis.ModelError] keeps of a body.
func clip(body []byte) []byte {
	if len(body) > maxBody {
		body = body[:maxBody]
	}
	return append([]byte(nil), body...)
}

// withoutURL returns the cause of a failed request without the URL, which is
// longer than it helps.
func withoutURL(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// retryAfter returns how long the API asks to wait: Retry-After-Ms, else
// Retry-After in seconds or as a date; 0 when it does not.
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
