package wire

import (
	"bytes"
	"cmp"
)

// maxEvent is the default length of the longest event that is parsed, in bytes. Longer events carry
// content, not status.
const maxEvent = 4 << 20

// Events finds the server-sent events in a passing stream, as defined by the HTML standard. Lines
// that begin with "error:", which llama.cpp uses for errors, count as events named "error". It
// neither changes nor delays the stream. The zero value is ready to use; it is not safe for
// concurrent use.
type Events struct {
	// Each is called with the name and the data of each event. The bytes are valid only during the
	// call.
	Each func(name string, data []byte)
	// Max is the longest event that is kept, in bytes; 0 means 4 MB. Each gets only the beginning
	// of a longer one.
	Max int

	line []byte // received part of the current line
	name string
	data []byte
	has  bool // a data line was received
	cr   bool // the last byte was a carriage return
}

// Write processes the next bytes of the stream. It never fails.
func (e *Events) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexAny(p, "\n\r")
		if i < 0 {
			e.add(p)
			break
		}
		if e.cr && i == 0 && p[0] == '\n' {
			e.cr = false // the end of a CRLF
			p = p[1:]
			continue
		}
		line := p[:i]
		if len(e.line) > 0 {
			e.add(line)
			line = e.line
		}
		e.cr = p[i] == '\r'
		p = p[i+1:]
		e.end(line)
		e.line = e.line[:0]
	}
	return n, nil
}

func (e *Events) add(p []byte) {
	e.cr = false
	if len(e.line)+len(p) <= e.most() {
		e.line = append(e.line, p...)
	}
}

func (e *Events) most() int { return cmp.Or(e.Max, maxEvent) }

// end processes a complete line.
func (e *Events) end(line []byte) {
	if len(line) == 0 {
		e.Flush()
		return
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "event":
		e.name = string(value)
	case "data", "error":
		if len(field) == len("error") {
			e.name = "error"
		}
		if e.has {
			e.data = append(e.data, '\n')
		}
		e.has = true
		if len(e.data)+len(value) <= e.most() {
			e.data = append(e.data, value...)
		}
	}
}

// Flush ends the current event. Use it at the end of a stream, where the last empty line is often
// missing.
func (e *Events) Flush() {
	if e.has && e.Each != nil {
		e.Each(e.name, e.data)
	}
	e.name, e.data, e.has = "", e.data[:0], false
}
