package tool

import (
	"bytes"
	"encoding/json"

	"precis/internal/jsonspan"
	"precis/wire"
)

// In the Responses API reasoning and the item that it led to stand and fall
// together. Where that item was a call of one of the tools, which the client never sees,
// its reasoning is marked on the way to the client, and left out when it comes
// back. The mark stands in the item itself, so nobody has to remember it.

// leftOut is the encrypted content of reasoning that is to be left out.
const leftOut = "precis-recall: left out, it led to a call that is not in the conversation"

// mark returns an item of reasoning with the mark; nil when it is no object.
func mark(item json.RawMessage) json.RawMessage {
	return with(item, func(d *wire.Draft) { d.Set("encrypted_content", jsonspan.AppendString(nil, leftOut)) })
}

// markBefore returns an item, marked when it is reasoning that led to the first of
// what follows, and that is a call of one of the tools.
func markBefore(item json.RawMessage, then []json.RawMessage, names Names) json.RawMessage {
	if len(then) == 0 || !names.item(then[0]) || kindOf(item) != "reasoning" {
		return item
	}
	if marked := mark(item); marked != nil {
		return marked
	}
	return item
}

// Marked reports whether a body may hold marked reasoning.
func Marked(body []byte) bool { return bytes.Contains(body, []byte(leftOut)) }

// Unmark returns the items of a request without marked reasoning. What was made
// of it loses its ID, by which the API would look for the reasoning.
func Unmark(input json.RawMessage) json.RawMessage {
	if !Marked(input) {
		return input
	}
	var out []json.RawMessage
	made := false
	for _, item := range itemsOf(input) {
		role, _ := jsonspan.String(jsonspan.Field(item, "role"))
		content, _ := jsonspan.String(jsonspan.Field(item, "encrypted_content"))
		switch kind := kindOf(item); {
		case kind == "reasoning" && content == leftOut:
			made = true
			continue
		case kind == "reasoning", role != "" && role != "assistant", bytes.HasSuffix([]byte(kind), []byte("_output")):
			made = false
		case made:
			if bare := with(item, func(d *wire.Draft) { d.Remove("id") }); bare != nil {
				item = bare
			}
		}
		out = append(out, item)
	}
	return list(out...)
}
