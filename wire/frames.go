package wire

import "bytes"

// Frames cuts a stream of server-sent events into events and keeps their bytes, so that single
// events can be changed. [Events] is for read-only use. The zero value is ready to use; it is not
// safe for concurrent use.
type Frames struct {
	buf  []byte
	at   int // start of the first event not returned yet
	seen int // where to continue searching for its end
}

// Add adds the next bytes of the stream. It invalidates the results of the other methods.
func (f *Frames) Add(p []byte) {
	if f.at > 0 {
		f.buf, f.seen, f.at = f.buf[:copy(f.buf, f.buf[f.at:])], f.seen-f.at, 0
	}
	f.buf = append(f.buf, p...)
}

// Next returns the bytes of the next event, including the empty line; false when it is incomplete.
// A carriage return at the end of the received bytes does not end it, because a line feed may
// follow.
func (f *Frames) Next() ([]byte, bool) {
	b := f.buf
	for i := f.seen; i < len(b); i++ {
		if b[i] != '\n' && b[i] != '\r' {
			continue
		}
		after := lineEnd(b, i)
		if after == len(b) || b[after] == '\r' && after+1 == len(b) {
			f.seen = i
			return nil, false
		}
		if c := b[after]; c == '\n' || c == '\r' {
			raw := b[f.at:lineEnd(b, after)]
			f.at += len(raw)
			f.seen = f.at
			return raw, true
		}
		i = after - 1
	}
	f.seen = len(b)
	return nil, false
}

// Len returns how many bytes of the incomplete event were received.
func (f *Frames) Len() int { return len(f.buf) - f.at }

// Rest returns the received bytes of the incomplete event, and forgets them.
func (f *Frames) Rest() []byte {
	rest := f.buf[f.at:]
	f.at, f.seen = len(f.buf), len(f.buf)
	return rest
}

// Spill is Rest for an event that is too long to be kept: it retains the last bytes, because they
// may be the beginning of the event's end.
func (f *Frames) Spill() []byte {
	spilled := f.buf[f.at : len(f.buf)-min(3, f.Len())]
	f.at += len(spilled)
	f.seen = f.at
	return spilled
}

// lineEnd returns the end of the line break that begins at i.
func lineEnd(b []byte, i int) int {
	if b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n' {
		return i + 2
	}
	return i + 1
}

// Event is one server-sent event.
type Event struct {
	Raw  []byte // all of its bytes
	Data []byte // its data lines, joined by line feeds; nil without data

	from, to int // range in Raw from the value of its first data line to the end of the last one
	lines    int // number of data lines
}

// ParseEvent parses an event. The result shares the bytes of raw.
func ParseEvent(raw []byte) Event {
	e := Event{Raw: raw}
	for at := 0; at < len(raw); {
		end := len(raw)
		if i := bytes.IndexAny(raw[at:], "\r\n"); i >= 0 {
			end = at + i
		}
		if line, ok := bytes.CutPrefix(raw[at:end], []byte("data:")); ok {
			line = bytes.TrimPrefix(line, []byte(" "))
			if e.lines == 0 {
				e.from, e.Data = end-len(line), line
			} else {
				e.Data = append(append(bytes.Clone(e.Data), '\n'), line...)
			}
			e.lines++
			e.to = end
		}
		at = end + 1
	}
	return e
}

// OneLine reports whether the data is in one line.
func (e Event) OneLine() bool { return e.lines == 1 }

// With returns the event with other data, which is JSON; unchanged when data is nil or the event
// has no data. Other lines keep their bytes.
func (e Event) With(data []byte) []byte {
	if data == nil || e.lines == 0 {
		return e.Raw
	}
	out := append(make([]byte, 0, len(e.Raw)+len(data)+1), e.Raw[:e.from]...)
	if out[len(out)-1] == ':' && bytes.HasPrefix(bytes.TrimLeft(data, "\r\n"), []byte(" ")) {
		out = append(out, ' ') // the first space after the colon does not belong to the data
	}
	return append(appendUnbroken(out, data), e.Raw[e.to:]...)
}

// Clone returns an event that can be kept.
func (e Event) Clone() Event { return ParseEvent(bytes.Clone(e.Raw)) }

// AppendEvent appends a server-sent event with JSON data, without an event line when the name is
// "".
func AppendEvent(dst []byte, name string, data []byte) []byte {
	if name != "" {
		dst = append(append(append(dst, "event: "...), name...), '\n')
	}
	return append(appendUnbroken(append(dst, "data: "...), data), "\n\n"...)
}

// appendUnbroken appends JSON without its line breaks, which occur only between values.
func appendUnbroken(dst, data []byte) []byte {
	for len(data) > 0 {
		i := bytes.IndexAny(data, "\r\n")
		if i < 0 {
			break
		}
		dst, data = append(dst, data[:i]...), data[i+1:]
	}
	return append(dst, data...)
}
