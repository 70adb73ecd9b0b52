package tool

import (
	"io"

	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
)

// Merger merges the streams of several answers into one: it removes the calls of the tools, and
// turns later answers into a continuation of the first. It writes each event as soon as its last
// byte has arrived, except for the end of an answer with calls to be answered. Unchanged events
// keep their bytes. It is not safe for concurrent use.
type Merger struct {
	to      io.Writer
	tracker tracker

	frames wire.Frames
	open   bool // an event was too long: the rest of the answer is forwarded unchanged
}

// tracker processes the answers of one dialect.
type tracker interface {
	// event returns the bytes for the client in place of an event. The event is valid only during
	// the call.
	event(e wire.Event) []byte
	// flush returns the bytes held back for a following event, when the stream ends.
	flush() []byte
	// answer returns the current answer.
	answer() *Answer
	// next begins the next answer.
	next()
	// finish returns the end that was held back, when no answer follows.
	finish() []byte
}

// maxEvent is the longest event that is parsed, and maxAnswer the longest answer that can be sent
// back, in bytes.
const (
	maxEvent  = 8 << 20
	maxAnswer = 32 << 20
)

// NewMerger returns a merger of answers of a dialect that writes to a client. It removes calls of
// the named tools.
func NewMerger(dialect string, to io.Writer, names Names) *Merger {
	m := &Merger{to: to}
	switch dialect {
	case anthropic.Format:
		m.tracker = &anthropicStream{names: names}
	case chat.Format:
		m.tracker = &chatStream{names: names}
	default:
		m.tracker = &responsesStream{names: names}
	}
	return m
}

// Write adds the next bytes of the current answer. An error comes from the client's writer.
func (m *Merger) Write(p []byte) (int, error) {
	if m.open {
		return m.to.Write(p)
	}
	m.frames.Add(p)
	for raw, ok := m.frames.Next(); ok; raw, ok = m.frames.Next() {
		if err := m.put(m.tracker.event(wire.ParseEvent(raw))); err != nil {
			return 0, err
		}
	}
	if m.frames.Len() > maxEvent {
		m.open = true
		if err := m.rest(false); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// rest writes the remaining bytes of the answer.
func (m *Merger) rest(look bool) error {
	last := m.frames.Rest()
	if look && len(last) > 0 {
		last = m.tracker.event(wire.ParseEvent(last))
	}
	if err := m.put(m.tracker.flush()); err != nil {
		return err
	}
	return m.put(last)
}

func (m *Merger) put(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	_, err := m.to.Write(p)
	return err
}

// End ends the current answer and returns it.
func (m *Merger) End() (*Answer, error) {
	err := m.rest(true)
	return m.tracker.answer(), err
}

// Next starts the next answer.
func (m *Merger) Next() {
	m.tracker.next()
	m.open = false
}

// Finish writes the end of the last answer, if it was held back, as the end of an answer without
// calls.
func (m *Merger) Finish() error { return m.put(m.tracker.finish()) }
