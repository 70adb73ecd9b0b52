package recall

import (
	"bytes"
	"encoding/json"
	"strconv"

	"precis/internal/jsonspan"
	"precis/wire"
	"precis/wire/chat"
)

// chatStream follows streams of the Chat Completions API, of one choice.
type chatStream struct {
	answers int
	id      json.RawMessage // of all chunks of one completion
	created json.RawMessage
	spent   json.RawMessage // usage of earlier answers

	// Of the present answer:
	calls []*chatCall
	said  pieces
	lists pieceLists
	size  int
	stop  string
	usage json.RawMessage
	held  []event
}

// pieceLists are members of a message that are lists and come bit by bit, such as
// reasoning_details.
type pieceLists struct {
	names []string
	lists map[string][]json.RawMessage
}

func (p *pieceLists) add(name string, piece json.RawMessage) (n int) {
	if p.lists == nil {
		p.lists = map[string][]json.RawMessage{}
	}
	if _, ok := p.lists[name]; !ok {
		p.names = append(p.names, name)
	}
	for s, err := range jsonspan.Array(piece) {
		if err != nil {
			return n
		}
		p.lists[name] = append(p.lists[name], bytes.Clone(s.Raw))
		n += len(s.Raw)
	}
	return n
}

func (s *chatStream) event(e event) []byte {
	if string(e.data) == "[DONE]" {
		if len(s.held) > 0 {
			s.held = append(s.held, e.clone())
			return nil
		}
		return e.raw
	}
	if s.answers == 0 && s.id == nil {
		s.id, s.created = bytes.Clone(jsonspan.Field(e.data, "id")), bytes.Clone(jsonspan.Field(e.data, "created"))
	}
	usage := jsonspan.Field(e.data, "usage")
	if usage != nil {
		s.usage = latest(s.usage, bytes.Clone(usage))
	}
	choice, ok := onlyChoice(jsonspan.Field(e.data, "choices"))
	switch {
	case !ok && len(s.held) > 0 && jsonspan.Field(e.data, "error") == nil:
		if usage != nil {
			s.held = append(s.held, e.clone())
		}
		return nil
	case !ok:
		return s.summed(e, nil)
	}
	return s.chunk(e, choice)
}

// onlyChoice returns the first choice, if it is the only one.
func onlyChoice(choices json.RawMessage) (first json.RawMessage, ok bool) {
	for s, err := range jsonspan.Array(choices) {
		if err != nil || first != nil || jsonspan.Int(jsonspan.Field(s.Raw, "index")) != 0 {
			return nil, false
		}
		first = s.Raw
	}
	return first, first != nil
}

// chunk takes in a piece of the answer.
func (s *chatStream) chunk(e event, choice json.RawMessage) []byte {
	delta := jsonspan.Field(choice, "delta")
	kept, dropped := s.take(delta)
	if stop, ok := jsonspan.String(jsonspan.Field(choice, "finish_reason")); ok && stop != "" {
		s.stop = stop
	}
	ends := s.stop != "" && len(s.held) == 0 && s.answer().alone()
	if s.answers == 0 && !dropped && !ends {
		return e.raw
	}
	if ends {
		s.held = append(s.held, event{raw: bytes.Clone(s.without(e, choice, []byte("{}"))), from: -1})
		s.held[len(s.held)-1] = eventOf(s.held[len(s.held)-1].raw)
		choice = with(choice, func(d *wire.Draft) { d.Set("finish_reason", []byte("null")) })
	}
	if empty(kept) && (ends || jsonspan.Field(choice, "finish_reason") == nil && jsonspan.Field(e.data, "usage") == nil) {
		return nil
	}
	return s.summed(e, with(choice, func(d *wire.Draft) { d.Set("delta", kept) }))
}

// without returns a chunk with another delta.
func (s *chatStream) without(e event, choice, delta json.RawMessage) []byte {
	choice = with(choice, func(d *wire.Draft) { d.Set("delta", delta) })
	return e.with(with(e.data, func(d *wire.Draft) { d.Set("choices", list(choice)) }))
}

// summed returns a chunk as one of the first answer's, with all that was used,
// and with another choice unless that is nil.
func (s *chatStream) summed(e event, choice json.RawMessage) []byte {
	if s.answers == 0 && choice == nil {
		return e.raw
	}
	return e.with(with(e.data, func(d *wire.Draft) {
		if choice != nil {
			d.Set("choices", list(choice))
		}
		if s.answers == 0 {
			return
		}
		if d.Get("id") != nil && s.id != nil {
			d.Set("id", s.id)
		}
		if d.Get("created") != nil && s.created != nil {
			d.Set("created", s.created)
		}
		if d.Get("usage") != nil {
			d.Set("usage", sum(s.spent, s.usage))
		}
	}))
}

// take takes in a delta and returns what the client gets of it, and whether that
// is less.
func (s *chatStream) take(delta json.RawMessage) (kept json.RawMessage, dropped bool) {
	for m, err := range jsonspan.Object(delta) {
		switch {
		case err != nil || s.size > maxAnswer:
		case m.Name == "role" || m.Name == "tool_calls":
		case jsonspan.Kind(m.Raw) == '"':
			s.size += s.said.add(m.Name, m.Raw)
		case jsonspan.Kind(m.Raw) == '[':
			s.size += s.lists.add(m.Name, m.Raw)
		}
	}
	var calls []json.RawMessage
	for c, err := range jsonspan.Array(jsonspan.Field(delta, "tool_calls")) {
		if err != nil {
			break
		}
		if raw := s.call(c.Raw); raw != nil {
			calls = append(calls, raw)
			dropped = dropped || len(raw) != len(c.Raw)
			continue
		}
		dropped = true
	}
	if !dropped && s.answers == 0 {
		return delta, false
	}
	return with(delta, func(d *wire.Draft) {
		if len(calls) > 0 {
			d.Set("tool_calls", list(calls...))
		} else {
			d.Remove("tool_calls")
		}
		if s.answers > 0 {
			d.Remove("role")
		}
	}), dropped
}

// call takes in a piece of a tool call and returns what the client gets of it;
// nil: nothing.
func (s *chatStream) call(raw json.RawMessage) json.RawMessage {
	c, before := s.callAt(raw)
	if s.size <= maxAnswer {
		s.size += c.input.add(arguments, jsonspan.Field(jsonspan.Field(raw, "function"), arguments))
	}
	switch {
	case c.ours:
		return nil
	case before == 0:
		return raw
	}
	to := strconv.Itoa(c.index - before)
	if out := with(raw, func(d *wire.Draft) { d.Set("index", []byte(to)) }); out != nil {
		return append(out, ' ') // known as changed by its length
	}
	return raw
}
