package wire

import "bytes"

// Frames cuts a stream of server-sent events into events and keeps their bytes,
// so that single ones can be changed on the way. [Events] is for whoever only
// looks. The zero value is ready to use; it is not safe for concurrent use.
type Frames struct {
	buf  []byte
	at   int // where the first event begins that was not returned yet
	seen int // where to look on for its end
}

// Add takes in the next bytes of the stream. It ends the life of what the other
// methods returned.
func (f *Frames) Add(p []byte) {
	if f.at > 0 {
		f.buf, f.seen, f.at = f.buf[:copy(f.buf, f.buf[f.at:])], f.seen-f.at, 0
	}
	f.buf = append(f.buf, p...)
}

// Next returns the bytes of the next event, up to and with the empty line; false
// when it has not ended. A carriage return at the end of what came does not end
// it: a line feed may follow.
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

// Len returns how many bytes came of the event that has not ended.
func (f *Frames) Len() int { return len(f.buf) - f.at }

// Rest returns what came of the event that has not ended, and forgets it.
func (f *Frames) Rest() []byte {
	rest := f.buf[f.at:]
	f.at, f.seen = len(f.buf), len(f.buf)
	return rest
}

// Spill is Rest for an event that is too long to be kept: the last bytes stay,
// since they may be the beginning of its end.
func (f *Frames) Spill() []byte {
	spilled := f.buf[f.at : len(f.buf)-min(3, f.Len())]
	f.at += len(spilled)
	f.seen = f.at
	return spilled
}

// lineEnd returns where the end of line that begins at i ends.
func lineEnd(b []byte, i int) int {
	if b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n' {
		return i + 2
	}
	return i + 1
}

// Event is one server-sent event.
type Event struct {
	Raw  []byte // all of it
	Data []byte // its data lines, joined by line feeds; nil when it has none

	from, to int // where the value of its first data line begins in Raw, and where the last one ends
	lines    int // of data
}

// ParseEvent reads the data of an event. What it returns shares the bytes of raw.
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

// With returns the event with other data, which is JSON; as it is when data is nil
// or it has none. All but its data lines keeps its bytes.
func (e Event) With(data []byte) []byte {
	if data == nil || e.lines == 0 {
		return e.Raw
	}
	out := append(make([]byte, 0, len(e.Raw)+len(data)+1), e.Raw[:e.from]...)
	if out[len(out)-1] == ':' && bytes.HasPrefix(bytes.TrimLeft(data, "\r\n"), []byte(" ")) {
		out = append(out, ' ') // the first space behind the colon is not of the data
	}
	return append(appendUnbroken(out, data), e.Raw[e.to:]...)
}

// Clone returns an event that can be kept.
func (e Event) Clone() Event { return ParseEvent(bytes.Clone(e.Raw)) }

// AppendEvent appends a server-sent event whose data is JSON, without an event
// line when the name is "".
func AppendEvent(dst []byte, name string, data []byte) []byte {
	if name != "" {
		dst = append(append(append(dst, "event: "...), name...), '\n')
	}
	return append(appendUnbroken(append(dst, "data: "...), data), "\n\n"...)
}

// appendUnbroken appends JSON without its line breaks, which stand between values
// only.
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
