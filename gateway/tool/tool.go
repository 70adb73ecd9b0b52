package tool

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
)

// Tool is the definition of a tool for the model. All fields are required.
type Tool struct {
	Name        string
	Description string
	Schema      string // of the input: a JSON Schema, as JSON
}

// Names are the names of the tools that the gateway answers.
type Names []string

func (n Names) has(name string) bool { return slices.Contains(n, name) }

// NamesOf returns the names of tools; nil for none.
func NamesOf(tools []Tool) (out Names) {
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return out
}

// definition returns the tool in a dialect, always with the same bytes.
func (t Tool) definition(dialect string) []byte {
	about := jsonspan.AppendStringField(nil, "name", t.Name)
	about = jsonspan.AppendStringField(about, "description", t.Description)
	switch dialect {
	case anthropic.Format:
		return []byte(`{` + string(about) + `,"input_schema":` + t.Schema + `}`)
	case chat.Format:
		return []byte(`{"type":"function","function":{` + string(about) + `,"parameters":` + t.Schema + `}}`)
	}
	return []byte(`{"type":"function",` + string(about) + `,"parameters":` + t.Schema + `,"strict":false}`)
}

// Available returns the tools with names that are not used in a request's list of tools; nil when the
// list is empty, missing or unreadable, because a request without tools does not come from an
// agent.
func Available(list json.RawMessage, tools []Tool) []Tool {
	free, n := slices.Clone(tools), 0
	for s, err := range jsonspan.Array(list) {
		if err != nil {
			return nil
		}
		n++
		name, _ := jsonspan.String(jsonspan.Field(s.Raw, "name"))
		inner, _ := jsonspan.String(jsonspan.Field(jsonspan.Field(s.Raw, "function"), "name"))
		free = slices.DeleteFunc(free, func(t Tool) bool { return t.Name == name || t.Name == inner })
	}
	if n == 0 {
		return nil
	}
	return free
}

// Offer returns a non-empty list of tools with others appended; nil when it is no list.
func Offer(list json.RawMessage, dialect string, tools []Tool) []byte {
	end := bytes.LastIndexByte(list, ']')
	if end < 0 {
		return nil
	}
	out := append(make([]byte, 0, len(list)+len(tools)<<11), list[:end]...)
	for _, t := range tools {
		out = append(append(out, ','), t.definition(dialect)...)
	}
	return append(out, list[end:]...)
}

// with returns an object with members set; nil for any other value.
func with(object []byte, set func(d *wire.Draft)) []byte {
	b, err := wire.Parse(object, "", nil)
	if err != nil {
		return nil
	}
	d := b.Draft()
	set(d)
	return d.Bytes()
}

// kindOf returns the type of an object.
func kindOf(object []byte) string {
	kind, _ := jsonspan.String(jsonspan.Field(object, "type"))
	return kind
}

// list returns an array of values.
func list(values ...json.RawMessage) []byte {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}
