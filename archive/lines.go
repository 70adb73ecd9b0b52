package archive

import (
	"bytes"
	"errors"
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
// line that was cut off is one of those.
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
				if err := objectLine(raw); err != nil {
					r.Skip(n, err)
				} else if !yield(Line{Number: n, Offset: off, Raw: raw}) {
					return
				}
			}
			off = next
		}
	}
}

func objectLine(raw []byte) error {
	if raw[0] != '{' {
		return errors.New("no JSON object")
	}
	return jsonspan.Valid(raw)
}

// FirstLines returns up to n valid JSON objects from the beginning of data, for
// Detect. It gives up after a hundred lines that are none.
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
