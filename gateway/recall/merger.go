package recall

import (
	"bytes"
	"io"

	"precis/wire/anthropic"
	"precis/wire/chat"
)

// Merger passes the streams of several answers on as one: without the calls of
// the tool, and from the second on as the continuation of the first. Each event
// is written as soon as its last byte came, except for the end of an answer
// whose calls are to be answered. Events that need no change keep their bytes.
// It is not safe for concurrent use.
type Merger struct {
	to      io.Writer
	tracker tracker

	buf  []byte // of the event that has not ended
	seen int    // bytes of buf that were looked through
	open bool   // an event was too long: the rest of the answer passes as it is
}

// tracker follows the answers of one dialect.
type tracker interface {
	// event returns what the client gets instead of an event. The event is only
	// good during the call.
	event(e event) []byte
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

// NewMerger returns a merger of answers of a dialect that writes to a client.
func NewMerger(dialect string, to io.Writer) *Merger {
	m := &Merger{to: to}
	switch dialect {
	case anthropic.Format:
		m.tracker = &anthropicStream{}
	case chat.Format:
		m.tracker = &chatStream{}
	default:
		m.tracker = &responsesStream{}
	}
	return m
}

// Write takes in the next bytes of the present answer. The error is that of the
// client.
func (m *Merger) Write(p []byte) (int, error) {
	if m.open {
		return m.to.Write(p)
	}
	m.buf = append(m.buf, p...)
	at := 0
	for {
		n := m.eventEnd(m.buf[at:])
		if n == 0 {
			break
		}
		if err := m.put(m.tracker.event(eventOf(m.buf[at : at+n]))); err != nil {
			return 0, err
		}
		at, m.seen = at+n, 0
	}
	m.buf = m.buf[:copy(m.buf, m.buf[at:])]
	if len(m.buf) > maxEvent {
		m.open = true
		if err := m.rest(false); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// rest writes what is left of the answer.
func (m *Merger) rest(look bool) error {
	last := m.buf
	m.buf, m.seen = nil, 0
	if look && len(last) > 0 {
		last = m.tracker.event(eventOf(last))
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

// eventEnd returns the length of the first event in b, up to and with the empty
// line; 0 when it has not ended.
func (m *Merger) eventEnd(b []byte) int {
	for i := m.seen; i < len(b); i++ {
		if b[i] != '\n' && b[i] != '\r' {
			continue
		}
		after := lineEnd(b, i)
		if after == len(b) || b[after] == '\r' && after+1 == len(b) { // a line feed may follow
			m.seen = i
			return 0
		}
		if c := b[after]; c == '\n' || c == '\r' {
			return lineEnd(b, after)
		}
		i = after - 1
	}
	m.seen = len(b)
	return 0
}

// lineEnd returns where the end of line that begins at i ends.
func lineEnd(b []byte, i int) int {
	if b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n' {
		return i + 2
	}
	return i + 1
}

// event is one server-sent event.
type event struct {
	raw  []byte
	data []byte // nil when it has none
	from int    // where its data lines begin in raw, and where the last one ends
	to   int
}

func eventOf(raw []byte) event {
	e := event{raw: raw, from: -1}
	for at := 0; at < len(raw); {
		end := len(raw)
		if i := bytes.IndexAny(raw[at:], "\r\n"); i >= 0 {
			end = at + i
		}
		if line, ok := bytes.CutPrefix(raw[at:end], []byte("data:")); ok {
			line = bytes.TrimPrefix(line, []byte(" "))
			if e.from < 0 {
				e.from, e.data = at, line
			} else {
				e.data = append(append(bytes.Clone(e.data), '\n'), line...)
			}
			e.to = end
		}
		at = end + 1
	}
	return e
}

// with returns the event with other data; as it is when data is nil.
func (e event) with(data []byte) []byte {
	if data == nil || e.from < 0 {
		return e.raw
	}
	out := append(make([]byte, 0, len(e.raw)+len(data)), e.raw[:e.from]...)
	out = append(out, "data: "...)
	for _, c := range data {
		if c != '\n' && c != '\r' { // they stand between values only
			out = append(out, c)
		}
	}
	return append(out, e.raw[e.to:]...)
}

// clone returns an event that can be kept.
func (e event) clone() event { return eventOf(bytes.Clone(e.raw)) }
