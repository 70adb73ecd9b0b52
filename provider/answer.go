package provider

import (
	"bytes"
	"errors"

	"precis/internal/jsonspan"
	"precis/model"
	"precis/wire"
)

// maxText is the longest answer that is read, in bytes. A summary is a
// thousandth of that; what is longer is a model that repeats itself.
const maxText = 4 << 20

var errTooLong = errors.New("the answer is longer than 4 MB")

// answer collects the answer of one attempt.
type answer struct {
	wire.Response        // what the dialect read so far
	failed        []byte // the error object that the API sent in place of the rest
}

func newAnswer() *answer {
	// One byte more than an answer may have shows that it is too long.
	return &answer{Response: wire.Response{Keep: maxText + 1}}
}

// end is what a reason to stop means for an answer.
type end int

const (
	endTruncated end = iota + 1
	endRefused
	endFull   // the window was full before the model had finished
	endFailed // the server could not finish
)

// ends are the reasons of all dialects that mean more than the end of an answer.
// The last ones of each kind are those of servers other than the inventor's.
var ends = map[string]end{
	"max_tokens": endTruncated, "max_output_tokens": endTruncated, "length": endTruncated,
	"refusal": endRefused, "content_filter": endRefused, "sensitive": endRefused,
	"model_context_window_exceeded": endFull,
	"failed":                        endFailed, "cancelled": endFailed, "error": endFailed, "network_error": endFailed,
}

// take takes in an event or a whole answer. stopIsEnd is that of [api].
func (a *answer) take(d wire.Dialect, stopIsEnd bool, data []byte) error {
	finished := stopIsEnd && a.Stop != ""
	d.Observe(&a.Response, data)
	switch {
	case len(a.Text) > maxText:
		return errTooLong
	case a.Error != nil && finished:
		a.Error, a.Done = nil, true // what fails behind the end of the text costs its usage only
	case a.Error != nil:
		a.failed = errorObject(a.Error)
	case ends[a.Stop] == endFailed:
		a.failed = serverError
	}
	return nil
}

// serverError stands for an error that the API did not explain.
var serverError = []byte(`{"error":{"code":"server_error"}}`)

// errorObject returns the object that holds the error of an event: a response
// that failed holds its own.
func errorObject(event []byte) []byte {
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

// response returns the answer without the fields that sum up all attempts.
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

// full reports that the window was full before the model had finished.
func (a *answer) full() bool { return ends[a.Stop] == endFull }

// event takes in one event of a stream. Events without data, and those that only
// keep a connection alive, are none of the answer.
func (a *answer) event(of api, name string, data []byte) error {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0 || name == "ping":
		return nil
	case name == "error":
		a.failed = errorObject(bytes.Clone(data))
		if of.stopIsEnd() && a.Stop != "" {
			a.failed, a.Done = nil, true
		}
		return nil
	case bytes.HasPrefix(data, []byte("[DONE]")):
		data = data[:len("[DONE]")]
	case jsonspan.Valid(data) != nil:
		return errNotAPI
	}
	return a.take(of.dialect(), of.stopIsEnd(), data)
}

// ended reports that nothing more is to be read.
func (a *answer) ended() bool { return a.Done || a.failed != nil }
