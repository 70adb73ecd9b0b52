package polyfill

import (
	"bytes"
	"io"
)

// Rewriter passes a stream of server-sent events on and changes single ones. An
// event is written as soon as its last byte came; what is not changed keeps its
// bytes. It is not safe for concurrent use.
type Rewriter struct {
	To io.Writer
	// Change returns what is written before an event, and its data instead of its
	// own; nil leaves each as it is. The bytes are only good during the call.
	Change func(data []byte) (before, instead []byte)

	held []byte // of the event that has not ended
	seen int    // bytes of held that were looked through
	rest bool   // the event is too long to be held; the rest of it is passed on
}

// maxEvent is the longest event that is held, in bytes. What is longer is passed
// on as it is.
const maxEvent = 16 << 20

// Write takes in the next bytes. The error is that of To.
func (r *Rewriter) Write(p []byte) (int, error) {
	r.held = append(r.held, p...)
	for {
		end := r.end()
		if end < 0 {
			break
		}
		if err := r.event(r.held[:end]); err != nil {
			return 0, err
		}
		r.held, r.seen = r.held[:copy(r.held, r.held[end:])], 0
	}
	if len(r.held) > maxEvent || r.rest {
		r.rest = true
		keep := min(3, len(r.held)) // an end of line may be cut
		if _, err := r.To.Write(r.held[:len(r.held)-keep]); err != nil {
			return 0, err
		}
		r.held, r.seen = r.held[:copy(r.held, r.held[len(r.held)-keep:])], 0
	}
	return len(p), nil
}

// Close writes what was held of an event that did not end.
func (r *Rewriter) Close() error {
	if len(r.held) == 0 {
		return nil
	}
	err := r.event(r.held)
	r.held, r.seen = nil, 0
	return err
}

// end returns where the first event ends: after an empty line. -1: it has not.
func (r *Rewriter) end() int {
	for i := r.seen; i < len(r.held); i++ {
		if r.held[i] != '\n' && r.held[i] != '\r' {
			continue
		}
		after := lineEnd(r.held, i)
		if after < 0 { // a carriage return at the end: more may follow
			r.seen = i
			return -1
		}
		if after == len(r.held) {
			r.seen = i
			return -1
		}
		if c := r.held[after]; c == '\n' || c == '\r' {
			if end := lineEnd(r.held, after); end > 0 {
				return end
			}
			r.seen = i
			return -1
		}
		i = after - 1
	}
	r.seen = len(r.held)
	return -1
}

// lineEnd returns where the end of line that begins at i ends; -1 when that is
// not known yet.
func lineEnd(b []byte, i int) int {
	if b[i] == '\n' {
		return i + 1
	}
	if i+1 == len(b) {
		return -1
	}
	if b[i+1] == '\n' {
		return i + 2
	}
	return i + 1
}

// event writes one event.
func (r *Rewriter) event(raw []byte) error {
	if r.rest {
		r.rest = false
		_, err := r.To.Write(raw)
		return err
	}
	from, to := dataOf(raw)
	if from < 0 {
		_, err := r.To.Write(raw)
		return err
	}
	before, instead := r.Change(raw[from:to])
	if before == nil && instead == nil {
		_, err := r.To.Write(raw)
		return err
	}
	out := append([]byte(nil), before...)
	if instead == nil {
		instead = raw[from:to]
	}
	out = append(append(append(out, raw[:from]...), instead...), raw[to:]...)
	_, err := r.To.Write(out)
	return err
}

// dataOf returns where the data of an event is, when it has one line of it; -1
// otherwise.
func dataOf(raw []byte) (from, to int) {
	from = -1
	for at := 0; at < len(raw); {
		end := at + bytes.IndexAny(raw[at:], "\r\n")
		if end < at {
			end = len(raw)
		}
		if line := raw[at:end]; bytes.HasPrefix(line, []byte("data:")) {
			if from >= 0 {
				return -1, -1
			}
			from, to = at+len("data:"), end
			if from < to && raw[from] == ' ' {
				from++
			}
		}
		at = end + 1
	}
	return from, to
}
