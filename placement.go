package precis

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
)

// formatMessages is [Message.Format] of messages of the Anthropic Messages API, the only API that
// refuses a system message because of its place.
const formatMessages = "anthropic"

// CheckPlacement returns the system messages that the Messages API refuses because of their place
// in the view. One must follow a user message, or an assistant message that ends with the result of
// a tool that the server ran, and it must be the last message or be followed by an assistant
// message. So it may not be first, nor between a tool use and its result, nor after another. System
// messages that came from other dialects are sent to that API as the user's and have no rule; the
// other dialects take them anywhere.
//
// Source: Anthropic's documentation of system messages within a conversation.
func CheckPlacement(view []Message) []Breach {
	var out []Breach
	for i, m := range view {
		if m.Role != RoleSystem || m.Format != formatMessages {
			continue
		}
		switch {
		case i == 0:
			out = append(out, Breach{i, rulePlacement, "a system message is the first"})
		case view[i-1].Role == RoleSystem:
			out = append(out, Breach{i, rulePlacement, "a system message follows another"})
		case view[i-1].Role == RoleAssistant && !endsWithServerTool(view[i-1]):
			out = append(out, Breach{i, rulePlacement, "a system message follows an assistant message"})
		case i+1 < len(view) && view[i+1].Role == RoleUser:
			out = append(out, Breach{i, rulePlacement, "a system message is followed by a user message"})
		}
	}
	return out
}

const rulePlacement = "placement"

// endsWithServerTool reports whether the last block is the result of a tool that the
// provider's server ran: a type that ends with _tool_result.
func endsWithServerTool(m Message) bool {
	if len(m.Content) == 0 {
		return false
	}
	o, ok := m.Content[len(m.Content)-1].(Opaque)
	return ok && strings.HasSuffix(o.Type, "_tool_result")
}

// envelope is the members of a message other than role and content that precis does not read, in
// order.
type envelope []Field

// envelopeOf returns the envelope of a message of the Messages API; nil for other dialects.
// Messages that were stored before fields were kept are parsed again.
func envelopeOf(m Message) (e envelope) {
	switch {
	case m.Format != formatMessages:
		return nil
	case m.Fields != nil || len(m.Raw) == 0:
		return m.Fields
	}
	d := json.NewDecoder(bytes.NewReader(m.Raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil
		}
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			return nil
		}
		switch name {
		case "role", "content", "id", "type":
		default:
			e = append(e, Field{name, raw})
		}
	}
	return e
}

// set returns the envelope with a field. Objects are merged: the newer one inherits the members
// that it does not name from the older.
func (e envelope) set(name string, raw json.RawMessage) envelope {
	for i := range e {
		if e[i].Name == name {
			e[i].Raw = merged(e[i].Raw, raw)
			return e
		}
	}
	return append(e, Field{name, raw})
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

func (e envelope) get(name string) json.RawMessage {
	for _, f := range e {
		if f.Name == name {
			return f.Raw
		}
	}
	return nil
}

// SetsOnly reports whether a message only carries settings: a system message of the Messages API
// without content, or with blank text alone, that has members other than role and content, such as
// output_config.
func (m Message) SetsOnly() bool {
	if m.Role != RoleSystem {
		return false
	}
	for _, b := range m.Content {
		if t, ok := b.(Text); !ok || !blank(t.Text) {
			return false
		}
	}
	return len(envelopeOf(m)) > 0
}

// joinSystem returns one system message of the Messages API with the content of all msgs, in order.
// Of a member other than role and content the last value counts. Blocks keep their raw bytes. A
// single message is returned unchanged.
func joinSystem(msgs []Message) Message {
	if len(msgs) == 1 {
		return msgs[0]
	}
	out := Message{Role: RoleSystem, Format: formatMessages, ID: msgs[len(msgs)-1].ID}
	var content [][]byte
	var fields envelope
	for _, m := range msgs {
		for _, b := range m.Content {
			raw := rawBlock(b)
			if raw == nil {
				continue
			}
			out.Content, content = append(out.Content, b), append(content, raw)
		}
		for _, f := range envelopeOf(m) {
			if f.Name != clearAt {
				fields = fields.set(f.Name, f.Raw)
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

// rawBlock returns the bytes of a block of a system message: text or opaque. A text that was the
// whole content as a string becomes a block.
func rawBlock(b Block) []byte {
	switch b := b.(type) {
	case Text:
		if len(b.Raw) > 0 && b.Raw[0] == '{' {
			return b.Raw
		}
		raw, err := json.Marshal(map[string]string{"type": "text", "text": b.Text})
		if err != nil {
			return nil
		}
		return raw
	case Opaque:
		return b.Raw
	}
	return nil
}
