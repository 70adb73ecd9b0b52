package tool

import (
	"bytes"
	"encoding/json"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
)

// In the Responses API, a reasoning item is valid only together with the item that follows from it.
// If that item was a call of one of our tools, which the client never sees, its reasoning is marked
// on the way to the client, and removed when it comes back. The mark is part of the item, so no
// state is needed.

// leftOut is the encrypted content of reasoning that is to be removed.
const leftOut = "precis-recall: left out, it led to a call that is not in the conversation"

// mark returns a marked reasoning item; nil for a value that is no object.
func mark(item json.RawMessage) json.RawMessage {
	return with(item, func(d *wire.Draft) { d.Set("encrypted_content", jsonspan.AppendString(nil, leftOut)) })
}

// markBefore returns an item. It is marked if it is reasoning and the first item of then is a call
// of one of the tools.
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

// Unmark returns the items of a request without marked reasoning. Items that followed from it lose
// their IDs, because the API would look up the reasoning by them.
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
		case kind == "reasoning", role != "" && role != "assistant",
			bytes.HasSuffix([]byte(kind), []byte("_output")):
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
