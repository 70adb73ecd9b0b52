package roo

import (
	"bytes"
	"encoding/json"

	"github.com/precis-dev/precis/internal/jsonspan"
)

// setMember returns the object with the member set: replaced in place, or added
// at the end. All other bytes stay.
func setMember(raw json.RawMessage, name string, value []byte) json.RawMessage {
	if m, ok := findMember(raw, name); ok {
		return splice(raw, m.Offset, m.Offset+len(m.Raw), value)
	}
	end := bytes.LastIndexByte(raw, '}')
	at := len(bytes.TrimRight(raw[:end], " \t\r\n"))
	member := append(jsonspan.AppendString(nil, name), ':')
	member = append(member, value...)
	if raw[at-1] != '{' {
		member = append([]byte{','}, member...)
	}
	return splice(raw, at, at, member)
}

// dropMember returns the object without the member and the comma that belongs
// to it. All other bytes stay.
func dropMember(raw json.RawMessage, name string) json.RawMessage {
	m, ok := findMember(raw, name)
	if !ok {
		return raw
	}
	from := bytes.LastIndex(raw[:m.Offset], jsonspan.AppendString(nil, name))
	to := m.Offset + len(m.Raw)
	if from < 0 {
		return raw // the name is written with escapes: not ours
	}
	before := bytes.TrimRight(raw[:from], " \t\r\n")
	if before[len(before)-1] == ',' {
		return splice(raw, len(before)-1, to, nil)
	}
	if rest := bytes.TrimLeft(raw[to:], " \t\r\n"); len(rest) > 0 && rest[0] == ',' {
		to = len(raw) - len(rest) + 1
	}
	return splice(raw, from, to, nil)
}

func findMember(raw json.RawMessage, name string) (found jsonspan.Member, ok bool) {
	for m, err := range jsonspan.Object(raw) {
		if err != nil {
			break
		}
		if m.Name == name {
			found, ok = m, true
		}
	}
	return found, ok
}

func splice(raw []byte, from, to int, with []byte) json.RawMessage {
	out := make([]byte, 0, len(raw)-(to-from)+len(with))
	out = append(append(out, raw[:from]...), with...)
	return append(out, raw[to:]...)
}

// truthy is JavaScript's idea of a true value.
func truthy(raw json.RawMessage) bool {
	switch jsonspan.Kind(raw) {
	case 0, 'n', 'f':
		return false
	case '0':
		return number(raw) != 0
	case '"':
		s, _ := jsonspan.String(raw)
		return s != ""
	}
	return true
}

// number reads a JSON number; 0 for anything else.
func number(raw json.RawMessage) float64 {
	var f float64
	if json.Unmarshal(raw, &f) != nil {
		return 0
	}
	return f
}

// quote writes a JSON string.
func quote(s string) []byte { return jsonspan.AppendString(nil, s) }
