package provider

import (
	"bytes"
	"encoding/json"
	"fmt"

	"precis/internal/jsonspan"
)

// object is a JSON object that can be changed without touching a byte of what
// stays.
type object struct {
	raw     []byte
	members []jsonspan.Member
	end     int               // where a further member is written
	changed map[string][]byte // new values by name
	added   []string          // names among them that were not there
}

// parseObject reads an object. A name that stands twice is an error: which of
// the two an API reads is anybody's guess.
func parseObject(raw []byte) (*object, error) {
	o := &object{raw: raw, changed: map[string][]byte{}}
	seen := map[string]bool{}
	for m, err := range jsonspan.Object(raw) {
		if err != nil {
			return nil, err
		}
		if seen[m.Name] {
			return nil, fmt.Errorf("byte %d: a field stands twice", m.Offset)
		}
		seen[m.Name] = true
		o.members = append(o.members, m)
		o.end = m.Offset + len(m.Raw)
	}
	if len(o.members) == 0 {
		o.end = bytes.IndexByte(raw, '{') + 1
	}
	if rest := bytes.Trim(raw[o.end:], " \t\r\n"); string(rest) != "}" {
		return nil, fmt.Errorf("more text after the end of the object")
	}
	return o, nil
}

// get returns a value as it was read; nil when it is absent or null.
func (o *object) get(name string) json.RawMessage {
	for _, m := range o.members {
		if m.Name == name && jsonspan.Kind(m.Raw) != 'n' {
			return m.Raw
		}
	}
	return nil
}

// set gives a member another value and adds it at the end where it is missing.
func (o *object) set(name string, value []byte) {
	if _, again := o.changed[name]; !again && !o.has(name) {
		o.added = append(o.added, name)
	}
	o.changed[name] = value
}

func (o *object) has(name string) bool {
	for _, m := range o.members {
		if m.Name == name {
			return true
		}
	}
	return false
}

// bytes returns the object with its changes.
func (o *object) bytes() []byte {
	size := len(o.raw)
	for name, value := range o.changed {
		size += len(name) + len(value) + len(`,"":`)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, m := range o.members {
		if value, ok := o.changed[m.Name]; ok {
			out = append(append(out, o.raw[at:m.Offset]...), value...)
			at = m.Offset + len(m.Raw)
		}
	}
	out = append(out, o.raw[at:o.end]...)
	for _, name := range o.added {
		out = append(jsonspan.AppendField(out, name), o.changed[name]...)
	}
	return append(out, o.raw[o.end:]...)
}
