package cline

import (
	"encoding/json"

	"github.com/precis-dev/precis/internal/jsonspan"
)

// plainContent returns content with each tool result converted to the form of the Messages API.
func plainContent(raw json.RawMessage) (json.RawMessage, error) {
	if jsonspan.Kind(raw) != '[' {
		return raw, nil
	}
	out := []byte{'['}
	for span, err := range jsonspan.Array(raw) {
		if err != nil {
			return nil, err
		}
		block := span.Raw
		if f := jsonspan.Members(block); f != nil {
			if kind, _ := jsonspan.String(f["type"]); kind == "tool_result" {
				if block, err = plainResult(f); err != nil {
					return nil, err
				}
			}
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, block...)
	}
	return append(out, ']'), nil
}

// plainResult converts a result with its queries and answers to text.
func plainResult(f map[string]json.RawMessage) ([]byte, error) {
	out := jsonspan.AppendStringField([]byte{'{'}, "type", "tool_result")
	out = append(jsonspan.AppendField(out, "tool_use_id"), orNull(f["tool_use_id"])...)
	failed := jsonspan.Kind(f["is_error"]) == 't'
	content := f["content"]
	if jsonspan.Kind(content) == '[' {
		list := []byte{'['}
		for span, err := range jsonspan.Array(content) {
			if err != nil {
				return nil, err
			}
			item, bad := plainItem(span.Raw)
			failed = failed || bad
			if len(list) > 1 {
				list = append(list, ',')
			}
			list = append(list, item...)
		}
		content = append(list, ']')
	}
	if content != nil && jsonspan.Kind(content) != 'n' {
		out = append(jsonspan.AppendField(out, "content"), content...)
	}
	if failed {
		out = append(jsonspan.AppendField(out, "is_error"), "true"...)
	}
	return append(out, '}'), nil
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}

// plainItem converts one item of a result: a block stays as it is, an answer becomes its text,
// and anything else becomes JSON in a text.
func plainItem(raw []byte) (item []byte, failed bool) {
	f := jsonspan.Members(raw)
	if f["type"] != nil {
		return raw, false
	}
	failed = jsonspan.Kind(f["success"]) == 'f'
	for _, name := range []string{"result", "error", "output"} {
		if text, ok := jsonspan.String(f[name]); ok && text != "" {
			return textBlock(text), failed || name == "error"
		}
		if jsonspan.Kind(f[name]) == '[' {
			return textBlock(string(f[name])), failed
		}
	}
	if text, ok := jsonspan.String(raw); ok {
		return textBlock(text), false
	}
	return textBlock(string(raw)), failed
}

func textBlock(text string) []byte {
	out := jsonspan.AppendStringField([]byte{'{'}, "type", "text")
	return append(jsonspan.AppendStringField(out, "text", text), '}')
}
