package wire

import (
	"bytes"
	"cmp"
)

// maxEvent is the longest event that is looked at, in bytes, where no other limit
// is set. What is longer is content, not a message about it.
const maxEvent = 4 << 20

// Events finds the events in a stream that passes by, as the HTML standard
// defines server-sent events, and lines that begin with "error:", as llama.cpp sends
// errors: events named "error". It changes and delays nothing. The zero value is
// ready to use; it is not safe for concurrent use.
type Events struct {
	// Each is called with the name and the data of each event. The bytes are
	// only good during the call.
	Each func(name string, data []byte)
	// Max is the longest event that is kept, in bytes; 0 means 4 MB. Of a longer one
	// Each gets only the beginning.
	Max int

	line []byte // what came of the line that is not ended
	name string
	data []byte
	has  bool // a data line came
	cr   bool // the last byte was a carriage return
}

// Write takes in the next bytes of the stream. It never fails.
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

// end takes in a whole line.
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

// Flush ends the event that came so far, as the end of a stream that lacks its
// last empty line does in practice.
func (e *Events) Flush() {
	if e.has && e.Each != nil {
		e.Each(e.name, e.data)
	}
	e.name, e.data, e.has = "", e.data[:0], false
}
