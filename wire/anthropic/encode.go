package anthropic

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// AppendMessages appends the JSON array of a view's messages. Unchanged messages from this dialect
// are written with their own bytes. Messages without sendable content (only reasoning of another
// dialect) are omitted. System messages of another dialect are written as user messages, and never
// between a call and its result.
func AppendMessages(dst []byte, view []precis.Message) []byte {
	dst = append(dst, '[')
	first := true
	for _, m := range resultsFirst(view) {
		if !sendable(m) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = AppendMessage(dst, m)
	}
	return append(dst, ']')
}

// resultsFirst returns view with system messages of other dialects moved from between calls and
// results to after the results: written as user messages they would separate the two. The view
// itself is not changed.
func resultsFirst(view []precis.Message) []precis.Message {
	if !slices.ContainsFunc(view, foreignSystem) {
		return view
	}
	out := make([]precis.Message, 0, len(view))
	var held []precis.Message
	open := map[string]bool{} // calls of the model's turn without a result so far
	role := precis.RoleUser   // of the turn
	for _, m := range view {
		if foreignSystem(m) {
			if held = append(held, m); len(open) == 0 {
				out, held = append(out, held...), nil
			}
			continue
		}
		if m.Role == precis.RoleAssistant && role != m.Role {
			out, held = append(out, held...), nil
			if len(open) > 0 {
				open = map[string]bool{}
			}
		}
		out = append(out, m)
		if m.Role != precis.RoleSystem {
			role = m.Role
		}
		for _, b := range m.Content {
			switch b := b.(type) {
			case precis.ToolUse:
				open[b.ID] = true
			case precis.ToolResult:
				delete(open, b.ToolUseID)
			}
		}
		if len(open) == 0 {
			out, held = append(out, held...), nil
		}
	}
	return append(out, held...)
}

func foreignSystem(m precis.Message) bool {
	return m.Role == precis.RoleSystem && m.Format != Format
}

func sendable(m precis.Message) bool {
	if m.Format == Format {
		return true
	}
	for _, b := range m.Content {
		if _, thinking := b.(precis.Thinking); !thinking {
			return true
		}
	}
	return len(m.Content) == 0
}

// AppendMessage appends one message as a JSON object.
func AppendMessage(dst []byte, m precis.Message) []byte {
	if m.Format == Format && jsonspan.Clean(m.Raw) {
		return append(dst, m.Raw...)
	}
	role := m.Role
	if foreignSystem(m) {
		role = precis.RoleUser
	}
	dst = jsonspan.AppendStringField(append(dst, '{'), "role", string(role))
	dst = AppendContent(jsonspan.AppendField(dst, "content"), m.Content, m.Format)
	if m.Format == Format {
		dst = content.AppendFields(dst, m.Fields)
	}
	return append(dst, '}')
}

// AppendContent appends an array of blocks that came from the named dialect.
func AppendContent(dst []byte, blocks []precis.Block, format string) []byte {
	dst = append(dst, '[')
	for _, b := range blocks {
		if t, ok := b.(precis.Thinking); ok && format != Format && t.Signature == "" {
			continue // reasoning without a signature cannot be sent back
		}
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		dst = AppendBlock(dst, b, format)
	}
	return append(dst, ']')
}

// AppendBlock appends one block that came from the named dialect.
func AppendBlock(dst []byte, b precis.Block, format string) []byte {
	if raw := rawOf(b); format == Format && jsonspan.Clean(raw) {
		return append(dst, raw...)
	}
	dst = append(dst, '{')
	switch b := b.(type) {
	case precis.Text:
		dst = fields(dst, "type", "text", "text", b.Text)
	case precis.Thinking:
		dst = fields(dst, "type", "thinking", "thinking", b.Text, "signature", b.Signature)
	case precis.RedactedThinking:
		dst = fields(dst, "type", "redacted_thinking", "data", b.Data)
	case precis.ToolUse:
		dst = fields(dst, "type", "tool_use", "id", callID(b.ID, format), "name", b.Name)
		dst = append(jsonspan.AppendField(dst, "input"), Input(b.Input)...)
		if format == Format {
			dst = content.AppendFields(dst, b.Fields)
		}
	case precis.ToolResult:
		dst = appendResult(dst, b, format)
		if format == Format {
			dst = content.AppendFields(dst, b.Fields)
		}
	case precis.Image:
		dst = fields(dst, "type", "image")
		dst = appendSource(dst, "", b.MediaType, b.Data, b.URL)
	case precis.Document:
		dst = fields(dst, "type", "document")
		if b.Title != "" {
			dst = fields(dst, "title", b.Title)
		}
		dst = appendSource(dst, b.Text, b.MediaType, b.Data, b.URL)
	case precis.Opaque:
		dst = fields(dst, "type", "text", "text", "["+b.Type+"] "+string(b.Raw))
	}
	return append(dst, '}')
}

func appendResult(dst []byte, b precis.ToolResult, format string) []byte {
	dst = fields(dst, "type", "tool_result")
	if b.ToolUseID != "" { // some recordings have calls without an ID
		dst = fields(dst, "tool_use_id", callID(b.ToolUseID, format))
	}
	dst = jsonspan.AppendField(dst, "content")
	if len(b.Content) == 1 {
		if t, ok := b.Content[0].(precis.Text); ok {
			dst = jsonspan.AppendString(dst, t.Text)
			return appendIsError(dst, b.IsError)
		}
	}
	return appendIsError(AppendContent(dst, b.Content, format), b.IsError)
}

// callID returns a call ID of the named dialect in the Messages API's alphabet. It removes
// characters other than letters, digits, "_" and "-", and appends a checksum to keep IDs distinct.
func callID(id, format string) string {
	const most = 64
	other := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-')
	}
	if format == Format || len(id) <= most && !strings.ContainsFunc(id, other) {
		return id
	}
	fit := strings.Map(func(r rune) rune {
		if other(r) {
			return -1
		}
		return r
	}, id)
	return fmt.Sprintf("%.40s_%08x", fit, crc32.ChecksumIEEE([]byte(id)))
}

func appendIsError(dst []byte, isError bool) []byte {
	if isError {
		dst = append(jsonspan.AppendField(dst, "is_error"), "true"...)
	}
	return dst
}

func appendSource(dst []byte, text, media, data, url string) []byte {
	dst = append(jsonspan.AppendField(dst, "source"), '{')
	switch {
	case text != "":
		dst = fields(dst, "type", "text", "media_type", "text/plain", "data", text)
	case url != "":
		dst = fields(dst, "type", "url", "url", url)
	default:
		dst = fields(dst, "type", "base64", "media_type", media, "data", data)
	}
	return append(dst, '}')
}

func fields(dst []byte, pairs ...string) []byte {
	for i := 0; i < len(pairs); i += 2 {
		dst = jsonspan.AppendStringField(dst, pairs[i], pairs[i+1])
	}
	return dst
}

// Input returns a tool use's arguments as a JSON object, as the API requires: any other value is
// wrapped as {"input": …}, and an empty one becomes {}.
func Input(raw json.RawMessage) json.RawMessage {
	if strings.TrimSpace(string(raw)) == "" {
		return json.RawMessage("{}")
	}
	if jsonspan.Kind(raw) == '{' && jsonspan.Clean(raw) && jsonspan.Valid(raw) == nil {
		return raw
	}
	out := jsonspan.AppendField([]byte("{"), "input")
	if jsonspan.Clean(raw) && jsonspan.Valid(raw) == nil {
		out = append(out, raw...)
	} else {
		out = jsonspan.AppendString(out, string(raw))
	}
	return append(out, '}')
}

func rawOf(b precis.Block) json.RawMessage {
	switch b := b.(type) {
	case precis.Text:
		return b.Raw
	case precis.Thinking:
		return b.Raw
	case precis.RedactedThinking:
		return b.Raw
	case precis.ToolUse:
		return b.Raw
	case precis.ToolResult:
		return b.Raw
	case precis.Image:
		return b.Raw
	case precis.Document:
		return b.Raw
	case precis.Opaque:
		return b.Raw
	}
	return nil
}
