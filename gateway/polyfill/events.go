package polyfill

import (
	"bytes"
	"io"

	"github.com/precis-dev/precis/wire"
)

// Rewriter forwards a stream of server-sent events and changes single events. It writes an event as
// soon as its last byte has arrived; unchanged events keep their bytes. It is not safe for
// concurrent use.
type Rewriter struct {
	To io.Writer
	// Change returns bytes to write before an event, and its new data; nil leaves either unchanged.
	// The bytes are valid only during the call.
	Change func(data []byte) (before, instead []byte)

	frames wire.Frames
	rest   bool // the event is too long to be held; the rest of it is forwarded directly
}

// maxEvent is the longest event that is held, in bytes. Longer ones are forwarded unchanged.
const maxEvent = 16 << 20

// Write adds the next bytes of the stream. The error is the one of To.
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

// Close writes the held bytes of an unfinished event.
func (r *Rewriter) Close() error {
	if r.frames.Len() == 0 {
		return nil
	}
	return r.event(r.frames.Rest())
}

// event writes one event. It does not change events with several lines of data.
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
