package tool

import (
	"bytes"
	"encoding/json"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/chat"
)

// chatStream parses streams of the Chat Completions API with a single choice.
type chatStream struct {
	names        Names
	answers      int
	id           json.RawMessage // of all chunks of one completion
	created      json.RawMessage
	earlierUsage json.RawMessage // usage of earlier answers

	// State of the current answer:
	calls   []*chatCall
	message pieces
	lists   pieceLists
	size    int
	stop    string
	usage   json.RawMessage
	held    []wire.Event
}

// pieceLists are list members of a message that arrive in pieces, such as reasoning_details.
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

func (s *chatStream) event(e wire.Event) []byte {
	if string(e.Data) == "[DONE]" {
		if len(s.held) > 0 {
			s.held = append(s.held, e.Clone())
			return nil
		}
		return e.Raw
	}
	if s.answers == 0 && s.id == nil {
		s.id, s.created = bytes.Clone(jsonspan.Field(e.Data, "id")), bytes.Clone(jsonspan.Field(e.Data,
			"created"))
	}
	usage := jsonspan.Field(e.Data, "usage")
	if usage != nil {
		s.usage = latest(s.usage, bytes.Clone(usage))
	}
	choice, ok := onlyChoice(jsonspan.Field(e.Data, "choices"))
	switch {
	case !ok && len(s.held) > 0 && jsonspan.Field(e.Data, "error") == nil:
		if usage != nil {
			s.held = append(s.held, e.Clone())
		}
		return nil
	case !ok && s.answers == 0:
		return e.Raw
	case !ok:
		return s.rewrite(e, bytes.Clone(e.Data), false)
	}
	return s.chunk(e, choice)
}

// onlyChoice returns the first choice if there is no other.
func onlyChoice(choices json.RawMessage) (first json.RawMessage, ok bool) {
	for s, err := range jsonspan.Array(choices) {
		if err != nil || first != nil || jsonspan.Int(jsonspan.Field(s.Raw, "index")) != 0 {
			return nil, false
		}
		first = s.Raw
	}
	return first, first != nil
}

// chunk processes a piece of the answer.
func (s *chatStream) chunk(e wire.Event, choice json.RawMessage) []byte {
	kept, changed := s.filterDelta(jsonspan.Field(choice, "delta"))
	stop, _ := jsonspan.String(jsonspan.Field(choice, "finish_reason"))
	if stop != "" {
		s.stop = stop
	}
	ends := stop != "" && s.answer().onlyOurCalls()
	if ends {
		s.held = append(s.held, wire.ParseEvent(bytes.Clone(e.With(choose(e.Data,
			with(choice, func(d *wire.Draft) { d.Set("delta", []byte("{}")) }))))))
	}
	more := stop != "" && !ends || jsonspan.Field(e.Data, "usage") != nil && !ends
	switch {
	case kept == nil && jsonspan.Field(choice, "delta") != nil:
		return e.Raw // it cannot be changed
	case !more && (changed || ends || s.answers > 0) && empty(kept):
		return nil
	case s.answers == 0 && !changed && !ends:
		return e.Raw
	}
	choice = with(choice, func(d *wire.Draft) {
		if changed || s.answers > 0 {
			d.Set("delta", kept)
		}
		if ends {
			d.Set("finish_reason", []byte("null"))
		}
	})
	return s.rewrite(e, choose(e.Data, choice), ends)
}

// choose returns a chunk with another choice; nil for an invalid choice or chunk.
func choose(chunk []byte, choice json.RawMessage) []byte {
	if choice == nil {
		return nil
	}
	return with(chunk, func(d *wire.Draft) { d.Set("choices", list(choice)) })
}

// rewrite returns an event with other data as part of the completion that the client knows: with
// its ID and the total usage or, if more follows, without usage.
func (s *chatStream) rewrite(e wire.Event, data []byte, more bool) []byte {
	if data == nil || s.answers == 0 && !more {
		return e.With(data)
	}
	return e.With(with(data, func(d *wire.Draft) {
		if more {
			d.Remove("usage")
		}
		if s.answers == 0 {
			return
		}
		for name, value := range map[string]json.RawMessage{"id": s.id, "created": s.created} {
			if value != nil && d.Get(name) != nil {
				d.Set(name, value)
			}
		}
		if d.Get("usage") != nil {
			d.Set("usage", sum(s.earlierUsage, s.usage))
		}
	}))
}

// empty reports whether a delta has no content.
func empty(delta json.RawMessage) bool {
	for m, err := range jsonspan.Object(delta) {
		if err != nil {
			return false
		}
		if v := string(bytes.TrimSpace(m.Raw)); v != "null" && v != `""` && v != "[]" {
			return false
		}
	}
	return true
}

// filterDelta processes a delta. It returns the part for the client, nil when the delta cannot be changed,
// and whether calls were removed from it.
func (s *chatStream) filterDelta(delta json.RawMessage) (kept json.RawMessage, changed bool) {
	for m, err := range jsonspan.Object(delta) {
		switch {
		case err != nil || s.size > maxAnswer:
		case m.Name == "role" || m.Name == "tool_calls":
		case jsonspan.Kind(m.Raw) == '"':
			s.size += s.message.add(m.Name, m.Raw)
		case jsonspan.Kind(m.Raw) == '[':
			s.size += s.lists.add(m.Name, m.Raw)
		}
	}
	var calls []json.RawMessage
	for c, err := range jsonspan.Array(jsonspan.Field(delta, "tool_calls")) {
		if err != nil {
			break
		}
		raw, same := s.call(c.Raw)
		changed = changed || !same
		if raw != nil {
			calls = append(calls, raw)
		}
	}
	if !changed && s.answers == 0 {
		return delta, false
	}
	return with(delta, func(d *wire.Draft) {
		switch {
		case len(calls) > 0:
			d.Set("tool_calls", list(calls...))
		case changed:
			d.Remove("tool_calls")
		}
		if s.answers > 0 {
			d.Remove("role")
		}
	}), changed
}

func (s *chatStream) flush() []byte { return nil }

func (s *chatStream) answer() *Answer {
	a := &Answer{dialect: chat.Format, ended: s.stop == "tool_calls" || s.stop == "stop",
		lost: s.size > maxAnswer}
	for _, c := range s.calls {
		if c.ours {
			a.Calls = append(a.Calls, c.call())
		}
	}
	a.Others = len(s.calls) > len(a.Calls)
	if !a.Due() {
		return a
	}
	out := []byte(`{"role":"assistant"`)
	if len(s.message.bodies["content"]) == 0 {
		out = append(out, `,"content":null`...)
	}
	for _, name := range s.message.names {
		if len(s.message.bodies[name]) > 0 {
			out = append(jsonspan.AppendField(out, name), s.message.get(name)...)
		}
	}
	for _, name := range s.lists.names {
		out = append(jsonspan.AppendField(out, name), list(s.lists.lists[name]...)...)
	}
	var calls []json.RawMessage
	for _, c := range s.calls {
		calls = append(calls, c.whole())
	}
	a.elements = append(append(jsonspan.AppendField(out, "tool_calls"), list(calls...)...), '}')
	return a
}

func (s *chatStream) next() {
	*s = chatStream{names: s.names, answers: s.answers + 1, id: s.id, created: s.created,
		earlierUsage: sum(s.earlierUsage, s.usage)}
}

func (s *chatStream) finish() (out []byte) {
	for _, e := range s.held {
		choice, ok := onlyChoice(jsonspan.Field(e.Data, "choices"))
		if !ok {
			out = append(out, s.rewrite(e, bytes.Clone(e.Data), false)...)
			continue
		}
		choice = with(choice, func(d *wire.Draft) { d.Set("finish_reason", []byte(`"stop"`)) })
		out = append(out, s.rewrite(e, choose(e.Data, choice), false)...)
	}
	s.held = nil
	return out
}
