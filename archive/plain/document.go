package plain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/precis-dev/precis/internal/jsonspan"
)

// document holds the relevant members of the JSON document.
type document struct {
	name                 string        // name of the list's member; "" for a bare array
	list                 jsonspan.Span // the messages or items
	system, instructions json.RawMessage
	tools                json.RawMessage
	texts                map[string]string
	wrong                string // the reason why the list has no messages; "": it was not meant to have any
}

func (d *document) text(name string) string { return d.texts[name] }

// parse reads the whole document. Of several lists it uses the first with messages.
func parse(data []byte) (*document, error) {
	d := &document{texts: map[string]string{}}
	if jsonspan.Kind(data) == '[' {
		d.list.Raw = data
		return d, jsonspan.Valid(data)
	}
	end := 0
	for m, err := range jsonspan.Object(data) {
		if err != nil {
			return nil, err
		}
		end = m.Offset + len(m.Raw)
		switch m.Name {
		case "system":
			d.system = m.Raw
		case "instructions":
			d.instructions = m.Raw
		case "tools":
			if jsonspan.Kind(m.Raw) == '[' {
				d.tools = m.Raw
			}
		case "model", "id", "title", "name":
			d.texts[m.Name], _ = jsonspan.String(m.Raw)
		case "messages", "traj", "input":
			bare := m.Name == "input" && jsonspan.Kind(m.Raw) == '"'
			switch {
			case d.name != "":
			case bare || messageList(m.Raw):
				d.name, d.list = m.Name, m.Span
			case m.Name == "messages":
				d.wrong = listFault(m.Raw)
			}
		}
	}
	if rest := bytes.TrimSpace(data[end:]); end > 0 && string(rest) != "}" {
		return nil, &jsonspan.Error{Offset: int64(end),
			Err: errors.New("more text after the end of the value")}
	}
	return d, nil
}

// listFault returns the reason why a value is not a list of messages.
func listFault(raw []byte) string {
	if jsonspan.Kind(raw) != '[' {
		return "the messages are no list"
	}
	for first, err := range jsonspan.Array(raw) {
		f, broken := jsonspan.Fields(first.Raw)
		role, isText := jsonspan.String(f["role"])
		switch {
		case err != nil || broken != nil:
			return "message 0 is no object"
		case f["role"] == nil:
			return "message 0 has no role"
		case !isText || !roles[role]:
			return fmt.Sprintf("message 0: %.40s is no role: it is user, assistant, system, developer or tool", f["role"])
		}
		return "message 0 has no content"
	}
	return "the list of messages is empty"
}

var roles = map[string]bool{"user": true, "assistant": true, "system": true, "developer": true, "tool": true,
	"function": true}

// style is the API that a document is for.
type style int

const (
	unknown     style = iota
	either            // text only, which is the same in all APIs
	messages          // Anthropic
	completions       // OpenAI Chat Completions
	items             // OpenAI Responses
)

// style finds the API of the list by the first message specific to one. A leading system or
// developer message is only a hint: the Messages API has neither.
func (d *document) style() style {
	if d.name == "input" {
		return items
	}
	if len(d.system) == 0 && d.chatTools() {
		return completions
	}
	found := unknown
	for span, err := range jsonspan.Array(d.list.Raw) {
		if err != nil {
			return unknown
		}
		f, err := jsonspan.Fields(span.Raw)
		if err != nil {
			break // the decoder reports the place
		}
		s := styleOf(f)
		if s > either {
			return s
		}
		role, _ := jsonspan.String(f["role"])
		switch {
		case role == "developer", role == "system" && found == unknown:
			found = completions
		case found == unknown:
			found = s
		}
	}
	if found == either {
		return messages
	}
	return found
}

// chatTools reports whether the tools are in the format of Chat Completions.
func (d *document) chatTools() bool {
	for span, err := range jsonspan.Array(d.tools) {
		if err != nil || jsonspan.Kind(span.Raw) != '{' {
			return false
		}
		f, err := jsonspan.Fields(span.Raw)
		return err == nil && f["function"] != nil
	}
	return false
}

// chatFields are members that only messages of Chat Completions have.
var chatFields = []string{"tool_calls", "tool_call_id", "function_call", "reasoning_content"}

// styleOf returns the style of a message; unknown for other values.
func styleOf(f map[string]json.RawMessage) style {
	role, _ := jsonspan.String(f["role"])
	kind, _ := jsonspan.String(f["type"])
	switch role {
	case "tool", "function":
		return completions
	case "user", "assistant", "system", "developer":
	default:
		if itemTypes[kind] {
			return items
		}
		return unknown
	}
	if kind == "message" && f["model"] == nil || itemTypes[kind] {
		return items
	}
	for _, name := range chatFields {
		if k := jsonspan.Kind(f[name]); k != 0 && k != 'n' {
			return completions
		}
	}
	if f["content"] == nil {
		return unknown
	}
	return contentStyle(f["content"])
}

// itemTypes are types of items other than messages that may begin a list.
var itemTypes = map[string]bool{
	"additional_tools": true, "reasoning": true, "function_call": true, "function_call_output": true,
	"custom_tool_call":        true,
	"custom_tool_call_output": true, "local_shell_call": true, "compaction": true, "item_reference": true,
}

// partStyles maps the type of a content block to its style.
var partStyles = map[string]style{
	"image_url": completions, "input_audio": completions, "file": completions, "refusal": completions,
	"input_text": items, "output_text": items, "input_image": items, "input_file": items,
	"tool_use": messages, "tool_result": messages, "image": messages, "document": messages,
	"thinking": messages, "redacted_thinking": messages, "server_tool_use": messages,
}

func contentStyle(raw []byte) style {
	if jsonspan.Kind(raw) != '[' {
		return either
	}
	for span, err := range jsonspan.Array(raw) {
		if err != nil || jsonspan.Kind(span.Raw) != '{' {
			return either
		}
		for m, err := range jsonspan.Object(span.Raw) {
			if err != nil {
				return either
			}
			if m.Name != "type" {
				continue
			}
			kind, _ := jsonspan.String(m.Raw)
			if s, ok := partStyles[kind]; ok {
				return s
			}
		}
	}
	return either
}
