package precis

import (
	"bytes"
	"encoding/json"
	"strings"
)

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
		if m.Role != RoleSystem || m.Format != FormatMessages {
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

// Envelope returns the members of a message of the Messages API other than its role and content, in
// order; nil for other dialects. Messages that were stored before fields were kept are parsed again.
func (m Message) Envelope() (e []Field) {
	switch {
	case m.Format != FormatMessages:
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
			e = append(e, Field{Name: name, Raw: raw})
		}
	}
	return e
}

// OnlySettings reports whether a message only carries settings: a system message of the Messages API
// without content, or with blank text alone, that has members other than role and content, such as
// output_config.
func (m Message) OnlySettings() bool {
	if m.Role != RoleSystem {
		return false
	}
	for _, b := range m.Content {
		if t, ok := b.(Text); !ok || !blank(t.Text) {
			return false
		}
	}
	return len(m.Envelope()) > 0
}
