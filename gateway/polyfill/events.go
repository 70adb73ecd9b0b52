package polyfill

import (
	"bytes"
	"io"

	"precis/wire"
)

// Rewriter passes a stream of server-sent events on and changes single ones. An
// event is written as soon as its last byte came; what is not changed keeps its
// bytes. It is not safe for concurrent use.
type Rewriter struct {
	To io.Writer
	// Change returns what is written before an event, and its data instead of its
	// own; nil leaves each as it is. The bytes are only good during the call.
	Change func(data []byte) (before, instead []byte)

	frames wire.Frames
	rest   bool // the event is too long to be held; the rest of it is passed on
}

// maxEvent is the longest event that is held, in bytes. What is longer is passed
// on as it is.
const maxEvent = 16 << 20

// Write takes in the next bytes. The error is that of To.
func (r *Rewriter) Write(p []byte) (int, error) {
	r.frames.Add(p)
	for raw, ok := r.frames.Next(); ok; raw, ok = r.frames.Next() {
		if err := r.event(raw); err != nil {
			return 0, err
		}
	}
	if r.frames.Len() > maxEvent || r.rest {
		r.rest = true
		if _, err := r.To.Write(r.frames.Spill()); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Close writes what was held of an event that did not end.
func (r *Rewriter) Close() error {
	if r.frames.Len() == 0 {
		return nil
	}
	return r.event(r.frames.Rest())
}

// event writes one event. That with more than one line of data is not looked at.
func (r *Rewriter) event(raw []byte) error {
	e := wire.ParseEvent(raw)
	if r.rest || !e.OneLine() {
		r.rest = false
		_, err := r.To.Write(raw)
		return err
	}
	before, instead := r.Change(e.Data)
	if before == nil && instead == nil {
		_, err := r.To.Write(raw)
		return err
	}
	_, err := r.To.Write(append(bytes.Clone(before), e.With(instead)...))
	return err
}
