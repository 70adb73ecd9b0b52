package archive

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"github.com/precis-dev/precis/internal/jsonspan"
)

// Line is one line of a line format.
type Line struct {
	Number int // from 1
	Offset int // of its first byte
	Raw    []byte
}

// Lines yields the lines of data that are JSON objects. It passes over blank lines. It skips lines
// that are no JSON object, such as a truncated last line, and records them in r. Several objects in
// one line, as left by two concurrent writers, are yielded one by one; so is a record that follows
// a damaged one. Numbers invalid in JSON become null.
func Lines(data []byte, r *Recording) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		all := RecordPrefixesOf(data)
		for n, off := 1, 0; off < len(data); n++ {
			end := bytes.IndexByte(data[off:], '\n')
			next := off + end + 1
			if end < 0 {
				end, next = len(data)-off, len(data)
			}
			raw := bytes.TrimSpace(data[off : off+end : off+end])
			raw = bytes.TrimLeft(raw, recordMark)
			if len(raw) > 0 {
				err := objectLine(raw)
				if err == nil && !yield(Line{Number: n, Offset: off, Raw: raw}) {
					return
				}
				if err != nil && !all.glued(Line{Number: n, Offset: off, Raw: raw}, err, r, yield) {
					return
				}
			}
			off = next
		}
	}
}

// recordMark begins each line of a JSON text sequence (RFC 7464).
const recordMark = "\x1e"

// glued yields the objects of a malformed line: those at its beginning and the one at its end. It
// records the rest in r and reports whether the caller wants more.
func (all *RecordPrefixes) glued(l Line, fault error, r *Recording, yield func(Line) bool) bool {
	if raw := MendJSON(l.Raw); raw != nil && objectLine(raw) == nil {
		r.malformed(l.Number, "read with what is no JSON changed: %v", fault)
		return yield(Line{Number: l.Number, Offset: l.Offset, Raw: raw})
	}
	objects := 0
	for v, err := range jsonspan.Values(l.Raw) {
		if err == nil && jsonspan.Kind(v.Raw) != '{' {
			err = errNoObject
		}
		if err != nil {
			if objects > 0 {
				fault = fmt.Errorf("after %d objects in one line: %w", objects, err)
			}
			r.Skip(l.Number, fault)
			if at := all.LastRecordOffset(l.Raw); at >= 0 && at >= v.Offset {
				return yield(Line{Number: l.Number, Offset: l.Offset + at, Raw: l.Raw[at:]})
			}
			return true
		}
		objects++
		if !yield(Line{Number: l.Number, Offset: l.Offset + v.Offset, Raw: v.Raw}) {
			return false
		}
	}
	r.malformed(l.Number, "%d objects in one line", objects)
	return true
}

var errNoObject = errors.New("no JSON object")

func objectLine(raw []byte) error {
	if raw[0] != '{' {
		return errNoObject
	}
	return jsonspan.Valid(raw)
}

// FirstLines returns up to n valid JSON objects from the beginning of data, for Detect; for a list
// of objects it returns none. It gives up after a hundred lines without an object.
func FirstLines(data []byte, n int) [][]byte {
	const most = 1 << 20
	if list, ok := bytes.CutPrefix(bytes.TrimSpace(data), []byte{'['}); ok && jsonspan.Kind(list) == '{' {
		return nil
	}
	if len(data) > most {
		if cut := bytes.IndexByte(data[most:], '\n'); cut >= 0 {
			data = data[:most+cut]
		}
	}
	var out [][]byte
	var r Recording
	for l := range Lines(data, &r) {
		out = append(out, l.Raw)
		if len(out) == n {
			break
		}
		if r.Skipped > 100 {
			break
		}
	}
	return out
}
