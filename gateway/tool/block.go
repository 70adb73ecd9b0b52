package tool

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
)

// pieces assembles the strings of an object that arrives in pieces. It joins their JSON, not the
// decoded text, so that signed text keeps its bytes.
type pieces struct {
	names  []string
	bodies map[string][]byte // JSON strings without their quotes
}

// add adds the next piece of a string and returns its length.
func (p *pieces) add(name string, piece json.RawMessage) int {
	body := bare(piece)
	if p.bodies == nil {
		p.bodies = map[string][]byte{}
	}
	if _, ok := p.bodies[name]; !ok {
		p.names = append(p.names, name)
	}
	p.bodies[name] = append(p.bodies[name], body...)
	return len(body)
}

// get returns a string as JSON.
func (p *pieces) get(name string) json.RawMessage {
	return append(append([]byte{'"'}, p.bodies[name]...), '"')
}

// text returns a string.
func (p *pieces) text(name string) string {
	s, _ := jsonspan.String(p.get(name))
	return s
}

// bare returns a JSON string without its quotes; nil for any other value.
func bare(raw json.RawMessage) []byte {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	return raw[1 : len(raw)-1]
}

// block is a content block of the Messages API that arrives in pieces.
type block struct {
	start     json.RawMessage
	ours      bool // a call of one of the tools
	name      string
	text      pieces
	citations []json.RawMessage
}

const partialInput = "partial_json"

func newBlock(start json.RawMessage, names Names) *block {
	b := &block{start: bytes.Clone(start)}
	b.name, _ = jsonspan.String(jsonspan.Field(start, "name"))
	b.ours = kindOf(start) == "tool_use" && names.has(b.name)
	return b
}

// add appends a delta: each string in it extends the member of that name.
func (b *block) add(delta json.RawMessage) (n int) {
	for m, err := range jsonspan.Object(delta) {
		switch {
		case err != nil:
			return n
		case m.Name == "type":
		case m.Name == "citation":
			b.citations = append(b.citations, bytes.Clone(m.Raw))
			n += len(m.Raw)
		case jsonspan.Kind(m.Raw) == '"':
			if !slices.Contains(b.text.names, m.Name) {
				n += b.text.add(m.Name, jsonspan.Field(b.start, m.Name))
			}
			n += b.text.add(m.Name, m.Raw)
		}
	}
	return n
}

// whole returns the block in the form for sending it back.
func (b *block) whole() json.RawMessage {
	out := with(b.start, func(d *wire.Draft) {
		for _, name := range b.text.names {
			if name == partialInput {
				if input := b.text.text(name); jsonspan.Kind([]byte(input)) == '{' &&
					jsonspan.Valid([]byte(input)) == nil {
					d.Set("input", []byte(input))
				}
				continue
			}
			d.Set(name, b.text.get(name))
		}
		if len(b.citations) > 0 {
			d.Set("citations", list(b.citations...))
		}
	})
	if out == nil {
		return b.start
	}
	return out
}

// call returns the block as a call.
func (b *block) call() Call {
	id, _ := jsonspan.String(jsonspan.Field(b.start, "id"))
	c := Call{Name: b.name, ID: id, Input: json.RawMessage(b.text.text(partialInput))}
	if len(c.Input) == 0 {
		c.Input = jsonspan.Field(b.start, "input")
	}
	return c
}
