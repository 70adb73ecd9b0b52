package provider

import (
	"bytes"
	"errors"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/wire"
)

// maxText is the longest answer that is read, in bytes. A summary has a thousandth of that; a
// longer answer comes from a model that repeats itself.
const maxText = 4 << 20

var errTooLong = errors.New("the answer is longer than 4 MB")

// answer collects the answer of one attempt.
type answer struct {
	wire.Response        // content read so far
	failed        []byte // the error object that the API sent in place of the rest
}

func newAnswer() *answer {
	// One byte more than allowed shows that an answer is too long.
	return &answer{Response: wire.Response{Keep: maxText + 1}}
}

// end is the meaning of a stop reason.
type end int

const (
	endTruncated end = iota + 1
	endRefused
	endFull   // the window was full before the model had finished
	endFailed // the server could not finish
)

// ends are the stop reasons of all dialects that mean more than the end of an answer. The last ones
// of each kind come from servers other than the dialect's inventor.
var ends = map[string]end{
	"max_tokens": endTruncated, "max_output_tokens": endTruncated, "length": endTruncated,
	"refusal": endRefused, "content_filter": endRefused, "sensitive": endRefused,
	"model_context_window_exceeded": endFull,
	"failed":                        endFailed, "cancelled": endFailed, "error": endFailed,
	"network_error": endFailed,
}

// processEvent processes an event or a whole answer. stopIsEnd is the method of [api].
func (a *answer) processEvent(d wire.Dialect, stopIsEnd bool, data []byte) error {
	finished := stopIsEnd && a.Stop != ""
	d.Observe(&a.Response, data)
	switch {
	case len(a.Text) > maxText:
		return errTooLong
	case a.Error != nil && finished:
		a.Error, a.Done = nil, true // an error after the end of the text loses only its usage
	case a.Error != nil:
		a.failed = objectWithError(a.Error)
	case ends[a.Stop] == endFailed:
		a.failed = serverError
	}
	return nil
}

// serverError replaces an error that the API did not explain.
var serverError = []byte(`{"error":{"code":"server_error"}}`)

// objectWithError returns an object with the error of an event as its member: the event itself, or, if
// it holds a response, an object made from the error of the response.
func objectWithError(event []byte) []byte {
	of := jsonspan.Field(event, "response")
	if of == nil {
		return event
	}
	cause := jsonspan.Field(of, "error")
	if cause == nil {
		cause = []byte("{}")
	}
	out := jsonspan.AppendField([]byte("{"), "error")
	return append(append(out, cause...), '}')
}

// response returns the answer without the sums over all attempts.
func (a *answer) response() model.Response {
	end := ends[a.Stop]
	return model.Response{
		Text:      string(a.Text),
		Reasoned:  a.Reasoned,
		ToolCalls: a.Calls,
		Refused:   a.Refused || end == endRefused,
		Truncated: end == endTruncated,
		Model:     a.Model,
	}
}

// full reports whether the window was full before the model had finished.
func (a *answer) full() bool { return ends[a.Stop] == endFull }

// event processes one event of a stream. It ignores events without data and keep-alive events.
func (a *answer) event(of api, name string, data []byte) error {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0 || name == "ping":
		return nil
	case name == "error":
		a.failed = objectWithError(bytes.Clone(data))
		if of.stopIsEnd() && a.Stop != "" {
			a.failed, a.Done = nil, true
		}
		return nil
	case bytes.HasPrefix(data, []byte("[DONE]")):
		data = data[:len("[DONE]")]
	case jsonspan.Valid(data) != nil:
		return errNotAPI
	}
	return a.processEvent(of.dialect(), of.stopIsEnd(), data)
}

// ended reports whether the answer is complete or failed.
func (a *answer) ended() bool { return a.Done || a.failed != nil }
