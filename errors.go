package precis

import (
	"errors"
	"fmt"
)

// Code classifies an [Error]. Callers branch on codes, never on texts.
type Code string

// The codes of an [Error].
const (
	CodeInvalid    Code = "invalid"     // input that cannot be understood
	CodeNotFound   Code = "not_found"   // a conversation, edit or handle that does not exist
	CodeConflict   Code = "conflict"    // edits that cross, or a node that moved on
	CodeOverBudget Code = "over_budget" // too large after all cuts, or no room for a window
	// refused until it is asked for once more: the view would lose content entirely
	CodeWouldLose Code = "would_lose"
	CodeUpstream  Code = "upstream" // a model or server failed
	CodeCanceled  Code = "canceled" // the context ended
	CodeInternal  Code = "internal" // a fault of precis itself, or of the disk under it
)

// Error is the one error type of precis: the operation, the kind of failure, and the cause. Place,
// when known, names the file, line, byte or message at fault.
type Error struct {
	Code  Code
	Op    string // the operation, e.g. "read transcript"
	Place string // where, e.g. "tasks/42/ui_messages.json: byte 311"; "" when unknown
	Hint  string // what the reader can do about it; "" when unknown
	Err   error  // cause; may be nil
}

// Error returns "op: place: cause", leaving out unknown parts.
func (e *Error) Error() string {
	s := e.Op
	for _, part := range []string{e.Place, errorText(e.Err)} {
		if part == "" {
			continue
		}
		if s != "" {
			s += ": "
		}
		s += part
	}
	if s == "" {
		return string(e.Code)
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Errorf returns an [Error] with a formatted cause. %w keeps the cause for
// errors.Is and errors.As.
func Errorf(code Code, op, format string, args ...any) *Error {
	return &Error{Code: code, Op: op, Err: fmt.Errorf(format, args...)}
}

// CodeOf returns the code of the first [Error] in err's chain; "" for nil and
// [CodeInternal] for any other error.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}
