package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
)

const arguments = "arguments"

// chatCall is a tool call of the Chat Completions API that arrives in pieces.
type chatCall struct {
	index int
	id    string
	name  string
	start json.RawMessage
	ours  bool
	input pieces
}

// callAt returns the call of a piece, which may be new. Some servers omit the index.
func (s *chatStream) callAt(piece json.RawMessage) *chatCall {
	id, _ := jsonspan.String(jsonspan.Field(piece, "id"))
	raw, n := jsonspan.Field(piece, "index"), len(s.calls)
	i := jsonspan.Int(raw)
	if raw == nil {
		if i = n; n > 0 && (id == "" || id == s.calls[n-1].id) {
			return s.calls[n-1]
		}
	}
	for _, c := range s.calls {
		if c.index == i {
			return c
		}
	}
	return s.begin(piece, i)
}

// begin begins a call.
func (s *chatStream) begin(piece json.RawMessage, i int) *chatCall {
	id, _ := jsonspan.String(jsonspan.Field(piece, "id"))
	name, _ := jsonspan.String(jsonspan.Field(jsonspan.Field(piece, "function"), "name"))
	c := &chatCall{index: i, id: id, name: name, start: bytes.Clone(piece), ours: s.names.has(name)}
	if id == "" && c.ours {
		c.id = fmt.Sprintf("call_%s_%d_%d", name, s.answers, i)
	}
	s.calls = append(s.calls, c)
	return c
}

// call processes a piece of a tool call. It returns the piece for the client, nil for a call of our
// own tools, and whether it is unchanged.
func (s *chatStream) call(piece json.RawMessage) (out json.RawMessage, same bool) {
	c := s.callAt(piece)
	if s.size <= maxAnswer {
		s.size += c.input.add(arguments, jsonspan.Field(jsonspan.Field(piece, "function"), arguments))
	}
	if c.ours {
		return nil, false
	}
	to := c.index
	for _, o := range s.calls {
		if o.ours && o.index < c.index {
			to--
		}
	}
	if to != c.index {
		out = with(piece, func(d *wire.Draft) { d.Set("index", []byte(strconv.Itoa(to))) })
	}
	if out == nil {
		return piece, true
	}
	return out, false
}

// whole returns the call in the form for sending it back. Servers would refuse arguments that
// are not JSON.
func (c *chatCall) whole() json.RawMessage {
	input := c.input.get(arguments)
	if text := []byte(c.input.text(arguments)); jsonspan.Kind(text) != '{' || jsonspan.Valid(text) != nil {
		input = []byte(`"{}"`)
	}
	out := with(c.start, func(d *wire.Draft) {
		d.Remove("index")
		d.Set("id", jsonspan.AppendString(nil, c.id))
		d.Set("type", []byte(`"function"`))
		d.Set("function", with(d.Get("function"), func(d *wire.Draft) { d.Set(arguments, input) }))
	})
	if out == nil {
		return c.start
	}
	return out
}

func (c *chatCall) call() Call {
	return Call{Name: c.name, ID: c.id, Input: json.RawMessage(c.input.text(arguments))}
}
