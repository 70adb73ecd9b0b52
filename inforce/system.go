package inforce

import (
	"bytes"
	"encoding/json"
	"maps"

	"github.com/precis-dev/precis"
)

// Join returns one system message of the Messages API with the content of all msgs, in order.
// Of a member other than role and content the last value counts. Blocks keep their raw bytes. A
// single message is returned unchanged.
func Join(msgs []precis.Message) precis.Message {
	if len(msgs) == 1 {
		return msgs[0]
	}
	out := precis.Message{Role: precis.RoleSystem, Format: precis.FormatMessages, ID: msgs[len(msgs)-1].ID}
	var content [][]byte
	var fields []precis.Field
	for _, m := range msgs {
		for _, b := range m.Content {
			raw := rawBlock(b)
			if raw == nil {
				continue
			}
			out.Content, content = append(out.Content, b), append(content, raw)
		}
		for _, f := range m.Envelope() {
			if f.Name != clearAt {
				fields = set(fields, f.Name, f.Raw)
			}
		}
	}
	raw := append([]byte(`{"role":"system","content":[`), bytes.Join(content, []byte{','})...)
	raw = append(raw, ']')
	for _, f := range fields {
		name, _ := json.Marshal(f.Name) // a string always can be
		raw = append(append(append(append(raw, ','), name...), ':'), f.Raw...)
	}
	out.Raw, out.Fields = append(raw, '}'), fields
	return out
}

// set returns the envelope with a field. Objects are merged: the newer one inherits the members
// that it does not name from the older.
func set(e []precis.Field, name string, raw json.RawMessage) []precis.Field {
	for i := range e {
		if e[i].Name == name {
			e[i].Raw = merged(e[i].Raw, raw)
			return e
		}
	}
	return append(e, precis.Field{Name: name, Raw: raw})
}

// merged returns newer; if both are objects, with the members of older that newer lacks.
func merged(older, newer json.RawMessage) json.RawMessage {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(older, &a) != nil || json.Unmarshal(newer, &b) != nil || a == nil || b == nil {
		return newer
	}
	maps.Copy(a, b)
	out, err := json.Marshal(a)
	if err != nil {
		return newer
	}
	return out
}

// rawBlock returns the bytes of a block of a system message: text or opaque. A text that was the
// whole content as a string becomes a block.
func rawBlock(b precis.Block) []byte {
	switch b := b.(type) {
	case precis.Text:
		if len(b.Raw) > 0 && b.Raw[0] == '{' {
			return b.Raw
		}
		raw, err := json.Marshal(map[string]string{"type": "text", "text": b.Text})
		if err != nil {
			return nil
		}
		return raw
	case precis.Opaque:
		return b.Raw
	}
	return nil
}

// fieldOf returns the value of a field; nil if there is none of that name.
func fieldOf(fields []precis.Field, name string) json.RawMessage {
	for _, f := range fields {
		if f.Name == name {
			return f.Raw
		}
	}
	return nil
}

// SetsOutput reports whether a message sets the output of the requests after it.
func SetsOutput(m precis.Message) bool { return fieldOf(m.Envelope(), outputConfig) != nil }
