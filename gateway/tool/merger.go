package tool

import (
	"io"

	"precis/wire"
	"precis/wire/anthropic"
	"precis/wire/chat"
)

// Merger passes the streams of several answers on as one: without the calls of
// the tools, and from the second on as the continuation of the first. Each event
// is written as soon as its last byte came, except for the end of an answer
// whose calls are to be answered. Events that need no change keep their bytes.
// It is not safe for concurrent use.
type Merger struct {
	to      io.Writer
	tracker tracker

	frames wire.Frames
	open   bool // an event was too long: the rest of the answer passes as it is
}

// tracker follows the answers of one dialect.
type tracker interface {
	// event returns what the client gets instead of an event. The event is only
	// good during the call.
	event(e wire.Event) []byte
	// flush returns what waits for the event after it, when there is none.
	flush() []byte
	// answer returns the present answer.
	answer() *Answer
	// next begins the next answer.
	next()
	// finish returns the end that was kept back, when nothing follows.
	finish() []byte
}

// maxEvent is the longest event that is looked at, and maxAnswer the longest
// answer that can be sent back, in bytes.
const (
	maxEvent  = 8 << 20
	maxAnswer = 32 << 20
)

// NewMerger returns a merger of answers of a dialect that writes to a client. Calls
// of the named tools are taken out.
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

// Write takes in the next bytes of the present answer. The error is that of the
// client.
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

// rest writes what is left of the answer.
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

// End ends the present answer and returns it.
func (m *Merger) End() (*Answer, error) {
	err := m.rest(true)
	return m.tracker.answer(), err
}

// Next says that what is written from now on is the next answer.
func (m *Merger) Next() {
	m.tracker.next()
	m.open = false
}

// Finish writes the end of the last answer, if it was kept back: as that of one
// without calls.
func (m *Merger) Finish() error { return m.put(m.tracker.finish()) }
