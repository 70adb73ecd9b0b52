// Package anthropic converts between messages and the bytes of the Anthropic Messages API. Start
// with [DecodeMessages] and [AppendMessages]. Unknown content is kept as [precis.Opaque]; unchanged
// content is written with its original bytes. The functions are pure and safe for concurrent use.
//
// Format: the request body of POST /v1/messages, as documented by Anthropic and typed in its Go
// SDK.
package anthropic

import (
	"encoding/json"
	"fmt"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Format is the name of the dialect, in [precis.Message.Format] and elsewhere.
const Format = "anthropic"

// DecodeMessages reads the JSON array of a request's messages. The error is
// [precis.CodeInvalid] and names the message and byte at fault.
func DecodeMessages(raw []byte) ([]precis.Message, error) {
	var out []precis.Message
	for span, err := range jsonspan.Array(raw) {
		if err != nil {
			return nil, invalid("messages", err)
		}
		m, err := DecodeMessage(span.Raw)
		if err != nil {
			return nil, invalid(fmt.Sprintf("message %d at byte %d", len(out), span.Offset), err)
		}
		out = append(out, m)
	}
	return out, nil
}

func invalid(place string, err error) error {
	return &precis.Error{Code: precis.CodeInvalid, Op: "read", Place: place, Err: err}
}

// DecodeMessage decodes one message object. The message retains raw.
func DecodeMessage(raw []byte) (precis.Message, error) {
	m := precis.Message{Raw: raw, Format: Format}
	hasRole := false
	for f, err := range jsonspan.Object(raw) {
		if err != nil {
			return m, err
		}
		switch f.Name {
		case "role":
			role, ok := jsonspan.String(f.Raw)
			if !ok {
				return m, fmt.Errorf("role is no string")
			}
			m.Role, hasRole = precis.Role(role), true
		case "id":
			m.ID, _ = jsonspan.String(f.Raw)
		case "content":
			if m.Content, err = DecodeContent(f.Raw); err != nil {
				return m, fmt.Errorf("content: %w", err)
			}
		case "type":
		default:
			m.Fields = content.Keep(m.Fields, f.Name, f.Raw)
		}
	}
	if !hasRole {
		return m, fmt.Errorf("the message has no role")
	}
	return m, nil
}

// DecodeContent reads a message's or tool result's content: a string, which
// counts as one text block, an array of blocks, or null. An empty string has no
// blocks.
func DecodeContent(raw []byte) ([]precis.Block, error) {
	return content.Decode(raw, "block", DecodeBlock)
}

// DecodeBlock decodes one content block. A block of an unknown type is [precis.Opaque]; fields with
// the wrong shape in a known type are an error.
func DecodeBlock(raw []byte) (precis.Block, error) {
	if jsonspan.Kind(raw) == '"' {
		s, _ := jsonspan.String(raw)
		return precis.Text{Text: s, Raw: raw}, nil
	}
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return nil, err
	}
	kind, ok := jsonspan.String(f["type"])
	if !ok {
		return nil, fmt.Errorf("the block has no type")
	}
	r := fieldReader{fields: f, kind: kind}
	var b precis.Block
	switch kind {
	case "text":
		b = precis.Text{Text: r.text("text"), Raw: raw}
	case "thinking":
		b = precis.Thinking{Text: r.text("thinking"), Signature: r.text("signature"), Raw: raw}
	case "redacted_thinking":
		b = precis.RedactedThinking{Data: r.text("data"), Raw: raw}
	case "tool_use":
		b = precis.ToolUse{ID: r.text("id"), Name: r.text("name"), Input: present(f["input"]), Raw: raw,
			Fields: content.Unread(f, "type", "id", "name", "input", Breakpoint)}
	case "tool_result":
		b = r.toolResult(raw)
	case "image":
		b = r.image(raw)
	case "document":
		b = r.document(raw)
	default:
		b = precis.Opaque{Type: kind, Raw: raw}
	}
	return b, r.err
}

// fieldReader reads the fields of a block and keeps the first error.
type fieldReader struct {
	fields map[string]json.RawMessage
	kind   string
	err    error
}

// text returns a string field; "" when it is absent or null.
func (r *fieldReader) text(name string) string {
	raw := present(r.fields[name])
	if raw == nil {
		return ""
	}
	s, ok := jsonspan.String(raw)
	if !ok && r.err == nil {
		r.err = fmt.Errorf("%s of a %s block is no string", name, r.kind)
	}
	return s
}

func (r *fieldReader) toolResult(raw []byte) precis.Block {
	b := precis.ToolResult{ToolUseID: r.text("tool_use_id"), Raw: raw,
		Fields: content.Unread(r.fields, "type", "tool_use_id", "content", "is_error", Breakpoint)}
	b.IsError = jsonspan.Kind(r.fields["is_error"]) == 't'
	if content := present(r.fields["content"]); content != nil {
		blocks, err := decodeResult(content)
		if err != nil && r.err == nil {
			r.err = fmt.Errorf("content of a tool_result block: %w", err)
		}
		b.Content = blocks
	}
	return b
}

// decodeResult decodes the content of a tool result. A nested tool result, which the API refuses,
// stays opaque: decoding each level again for the one above would take quadratic time.
func decodeResult(raw []byte) ([]precis.Block, error) {
	return content.Decode(raw, "block", func(raw []byte) (precis.Block, error) {
		const nested = "tool_result"
		if kind, _ := jsonspan.String(jsonspan.Field(raw, "type")); kind == nested {
			return precis.Opaque{Type: nested, Raw: raw}, nil
		}
		return DecodeBlock(raw)
	})
}

// source reads the source object of an image or document; a source of another
// shape leaves it unknown.
func (r *fieldReader) source() (s struct{ kind, media, data, url string }) {
	if jsonspan.Kind(r.fields["source"]) != '{' {
		return s
	}
	f, err := jsonspan.Fields(r.fields["source"])
	if err != nil {
		return s
	}
	s.kind, _ = jsonspan.String(f["type"])
	s.media, _ = jsonspan.String(f["media_type"])
	s.data, _ = jsonspan.String(f["data"])
	s.url, _ = jsonspan.String(f["url"])
	return s
}

func (r *fieldReader) image(raw []byte) precis.Block {
	s := r.source()
	return precis.Image{MediaType: s.media, Data: s.data, URL: s.url, Raw: raw}
}

func (r *fieldReader) document(raw []byte) precis.Block {
	s := r.source()
	d := precis.Document{MediaType: s.media, Title: r.text("title"), URL: s.url, Raw: raw}
	if s.kind == "text" {
		d.Text = s.data
	} else {
		d.Data = s.data
	}
	return d
}

// present returns nil for JSON null and for an absent field.
func present(raw json.RawMessage) json.RawMessage {
	if jsonspan.Kind(raw) == 'n' {
		return nil
	}
	return raw
}
