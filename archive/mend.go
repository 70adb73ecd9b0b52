package archive

import (
	"bytes"
	"encoding/json"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/lazyregexp"
)

// MendJSON returns data as valid JSON where programs write more than JSON allows: NaN and infinite
// numbers become null, and a backslash that begins no escape is escaped. It returns nil when data
// has neither.
func MendJSON(data []byte) []byte {
	var out []byte
	done, inString := 0, false
	put := func(at, end int, text string) {
		out = append(append(out, data[done:at]...), text...)
		done = end
	}
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '\n', c == '"':
			inString = c == '"' && !inString // strings end at the end of a line
		case inString && c == '\\':
			if !escape.Match(data[i:]) {
				put(i, i, `\`)
				continue
			}
			i++
		case inString:
		case c == 'N', c == 'I', c == '-':
			for _, number := range []string{"NaN", "Infinity", "-Infinity", "-NaN"} {
				if bytes.HasPrefix(data[i:], []byte(number)) {
					put(i, i+len(number), "null")
					i += len(number) - 1
					break
				}
			}
		}
	}
	if out == nil {
		return nil
	}
	return append(out, data[done:]...)
}

// escape matches a valid JSON escape.
var escape = lazyregexp.New(`^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})`)

// asLines converts a list of records, or records over several lines, to one record per line. It
// returns nil for other data.
func asLines(data []byte) []byte {
	var out bytes.Buffer
	add := func(s jsonspan.Span, err error) bool {
		if err != nil || jsonspan.Kind(s.Raw) != '{' || json.Compact(&out, s.Raw) != nil {
			return false
		}
		out.WriteByte('\n')
		return true
	}
	values := jsonspan.Values(data)
	if jsonspan.Kind(data) == '[' {
		values = jsonspan.Array(data)
	}
	for s, err := range values {
		if !add(s, err) {
			return nil
		}
	}
	return out.Bytes() // nil without records
}

// RecordPrefixes holds the beginnings of a file's records: up to the first name, and up to the second
// name. Make one with [RecordPrefixesOf].
type RecordPrefixes struct {
	data   []byte
	begins map[string]bool
}

// RecordPrefixesOf returns the beginnings of a file, which is scanned at first use.
func RecordPrefixesOf(data []byte) *RecordPrefixes { return &RecordPrefixes{data: data} }

// LastRecordOffset returns the offset of the last record in a line after other text: half of another record,
// NULs, a program's message. That record begins like another one of the file and ends with the
// line. -1: not found.
func (r *RecordPrefixes) LastRecordOffset(raw []byte) int {
	const most = 100 // candidates to try
	if r.begins == nil {
		r.read()
	}
	tries := 0
	for at := 1; at < len(raw) && tries < most; at++ {
		next := bytes.IndexByte(raw[at:], '{')
		if next < 0 {
			break
		}
		at += next
		if !r.begins[beginning(raw[at:])] {
			continue
		}
		if tries++; objectLine(raw[at:]) == nil && r.begins[twoNames(raw[at:])] {
			return at
		}
	}
	return -1
}

// read collects the beginnings of the valid lines of the file.
func (r *RecordPrefixes) read() {
	r.begins = map[string]bool{}
	for line := range bytes.Lines(r.data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && objectLine(line) == nil {
			r.begins[beginning(line)], r.begins[twoNames(line)] = true, true
		}
	}
	delete(r.begins, "")
}

// beginning returns an object up to the end of its first name; "" if there is no name nearby.
func beginning(raw []byte) string {
	const longest = 100 // bytes to search
	before, name, _ := bytes.Cut(raw[:min(len(raw), longest)], []byte{'"'})
	name, _, ok := bytes.Cut(name, []byte{'"'})
	if !ok {
		return ""
	}
	return string(before) + `"` + string(name)
}

// twoNames returns an object up to the end of its second name.
func twoNames(raw []byte) string {
	n := 0
	for m, err := range jsonspan.Object(raw) {
		if n++; err != nil {
			return ""
		} else if n == 2 {
			return beginning(raw) + "\x00" + m.Name
		}
	}
	return beginning(raw) + "\x00"
}
