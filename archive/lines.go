package archive

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"precis/internal/jsonspan"
)

// Line is one line of a line format.
type Line struct {
	Number int // from 1
	Offset int // of its first byte
	Raw    []byte
}

// Lines yields the lines of data that hold a JSON object. Blank lines are
// passed over; lines that are no JSON object are skipped and noted in r. A last
// line that was cut off is one of those. A line of several objects, which two
// programs writing at once leave behind, is yielded object by object.
func Lines(data []byte, r *Recording) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		for n, off := 1, 0; off < len(data); n++ {
			end := bytes.IndexByte(data[off:], '\n')
			next := off + end + 1
			if end < 0 {
				end, next = len(data)-off, len(data)
			}
			raw := bytes.TrimSpace(data[off : off+end : off+end])
			if len(raw) > 0 {
				err := objectLine(raw)
				if err == nil && !yield(Line{Number: n, Offset: off, Raw: raw}) {
					return
				}
				if err != nil && !glued(Line{Number: n, Offset: off, Raw: raw}, err, r, yield) {
					return
				}
			}
			off = next
		}
	}
}

// glued yields the objects at the start of a malformed line and records the
// rest in r. It reports whether the caller wants more.
func glued(l Line, fault error, r *Recording, yield func(Line) bool) bool {
	if l.Raw[0] != '{' {
		r.Skip(l.Number, fault)
		return true
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
			return true
		}
		objects++
		if !yield(Line{Number: l.Number, Offset: l.Offset + v.Offset, Raw: v.Raw}) {
			return false
		}
	}
	r.Warn(fmt.Sprintf("line %d", l.Number), "%d objects in one line", objects)
	return true
}

var errNoObject = errors.New("no JSON object")

func objectLine(raw []byte) error {
	if raw[0] != '{' {
		return errNoObject
	}
	return jsonspan.Valid(raw)
}

// FirstLines returns up to n valid JSON objects from the beginning of data, for
// Detect. It gives up after a hundred lines without any.
func FirstLines(data []byte, n int) [][]byte {
	const most = 1 << 20
	if len(data) > most {
		if cut := bytes.LastIndexByte(data[:most], '\n'); cut > 0 {
			data = data[:cut]
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
