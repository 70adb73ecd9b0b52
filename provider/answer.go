package provider

import (
	"errors"
	"strings"

	"precis"
	"precis/model"
)

// maxText is the longest answer that is read, in bytes. A summary is a
// thousandth of that; what is longer is a model that repeats itself.
const maxText = 4 << 20

var errTooLong = errors.New("the answer is longer than 4 MB")

// answer collects the answer of one attempt.
type answer struct {
	words     strings.Builder
	model     string
	reasoned  bool
	refused   bool
	truncated bool
	full      bool // the window was full before the model had finished
	toolCalls int
	usage     precis.Usage
	done      bool   // the end marker came
	failed    []byte // the error object that the API sent in place of the rest
}

// write appends text to the answer.
func (a *answer) write(s string) error {
	if a.words.Len()+len(s) > maxText {
		return errTooLong
	}
	a.words.WriteString(s)
	return nil
}

// response returns the answer without the fields that sum up all attempts.
func (a *answer) response() model.Response {
	return model.Response{
		Text:      a.words.String(),
		Reasoned:  a.reasoned,
		ToolCalls: a.toolCalls,
		Refused:   a.refused,
		Truncated: a.truncated,
		Model:     a.model,
	}
}

// events is a stream of either SDK.
type events[T any] interface {
	Next() bool
	Current() T
	Err() error
	Close() error
}

// read passes each event of a stream to each, until the stream ends, the answer
// is done or an event is an error.
func read[T any](s events[T], a *answer, each func(T) error) error {
	defer s.Close()
	for s.Next() {
		if err := each(s.Current()); err != nil {
			return err
		}
		if a.done || a.failed != nil {
			return nil
		}
	}
	return s.Err()
}
