package tool

import (
	"encoding/json"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
)

// BodyMerger merges several answers in one piece each. Make one with its dialect and the names of the
// tools; it is not safe for concurrent use.
type BodyMerger struct {
	Dialect string
	Names   Names // of the tools with calls to be removed

	bodies []json.RawMessage // without the calls of the tools
	calls  bool              // an answer contained calls
	last   *Answer
}

// Add adds the next answer; it returns nil when body is no answer of the dialect. The body is
// retained.
func (w *BodyMerger) Add(body []byte) *Answer {
	var a *Answer
	var rest json.RawMessage
	switch w.Dialect {
	case anthropic.Format:
		a, rest = w.Names.takeMessage(body)
	case chat.Format:
		a, rest = w.Names.takeCompletion(body)
	default:
		a, rest = w.Names.takeResponse(body)
	}
	if a == nil || rest == nil {
		return nil
	}
	w.bodies, w.last = append(w.bodies, rest), a
	w.calls = w.calls || len(a.Calls) > 0
	return a
}

// Bytes returns the merged answer; nil when it equals the first one.
func (w *BodyMerger) Bytes() []byte {
	if !w.calls {
		return nil
	}
	out := w.bodies[0]
	for _, next := range w.bodies[1:] {
		var merged []byte
		switch w.Dialect {
		case anthropic.Format:
			merged = joinMessages(out, next)
		case chat.Format:
			merged = joinCompletions(out, next)
		default:
			merged = joinResponses(out, next)
		}
		if merged != nil {
			out = merged
		}
	}
	if w.last.onlyOurCalls() { // its calls were not answered
		return endWithoutCalls(w.Dialect, out)
	}
	return out
}

// endWithoutCalls returns an answer with the end of one without calls.
func endWithoutCalls(dialect string, body []byte) (out []byte) {
	switch dialect {
	case anthropic.Format:
		out = with(body, func(d *wire.Draft) { d.Set("stop_reason", []byte(`"end_turn"`)) })
	case chat.Format:
		choice, _ := onlyChoice(jsonspan.Field(body, "choices"))
		out = choose(body, with(choice, func(d *wire.Draft) { d.Set("finish_reason", []byte(`"stop"`)) }))
	}
	if out == nil {
		return body
	}
	return out
}

// takeMessage reads an answer of the Messages API.
func (n Names) takeMessage(body []byte) (*Answer, json.RawMessage) {
	if kindOf(body) != "message" {
		return nil, nil
	}
	stop, _ := jsonspan.String(jsonspan.Field(body, "stop_reason"))
	a := &Answer{dialect: anthropic.Format, ended: stop == "tool_use"}
	all := itemsOf(jsonspan.Field(body, "content"))
	var kept []json.RawMessage
	for _, raw := range all {
		b := newBlock(raw, n)
		if b.ours {
			a.Calls = append(a.Calls, b.call())
			continue
		}
		a.Others = a.Others || kindOf(raw) == "tool_use"
		kept = append(kept, raw)
	}
	if len(a.Calls) == 0 {
		return a, body
	}
	a.elements = assistant(all)
	return a, with(body, func(d *wire.Draft) { d.Set("content", list(kept...)) })
}

func joinMessages(a, b json.RawMessage) []byte {
	return with(a, func(d *wire.Draft) {
		d.Set("content", list(append(itemsOf(d.Get("content")), itemsOf(jsonspan.Field(b, "content"))...)...))
		for _, name := range []string{"stop_reason", "stop_sequence", "stop_details"} {
			if v := jsonspan.Field(b, name); v != nil {
				d.Set(name, v)
			} else if d.Get(name) != nil {
				d.Set(name, []byte("null"))
			}
		}
		setSum(d, "usage", jsonspan.Field(b, "usage"))
	})
}

// setSum adds to a usage member.
func setSum(d *wire.Draft, name string, more json.RawMessage) {
	if usage := sum(d.Get(name), more); usage != nil {
		d.Set(name, usage)
	}
}

// takeCompletion reads an answer of the Chat Completions API.
func (n Names) takeCompletion(body []byte) (*Answer, json.RawMessage) {
	choice, ok := onlyChoice(jsonspan.Field(body, "choices"))
	message := jsonspan.Field(choice, "message")
	if !ok || message == nil {
		return nil, nil
	}
	stop, _ := jsonspan.String(jsonspan.Field(choice, "finish_reason"))
	s := chatStream{names: n, stop: stop}
	var kept, all []json.RawMessage
	for i, raw := range itemsOf(jsonspan.Field(message, "tool_calls")) {
		c := s.begin(raw, i)
		c.input.add(arguments, jsonspan.Field(jsonspan.Field(raw, "function"), arguments))
		all = append(all, c.whole())
		if !c.ours {
			kept = append(kept, raw)
		}
	}
	a := s.answer()
	if len(a.Calls) == 0 {
		return a, body
	}
	a.elements = with(message, func(d *wire.Draft) { d.Set("tool_calls", list(all...)) })
	rest := with(choice, func(d *wire.Draft) {
		d.Set("message", with(message, func(d *wire.Draft) {
			if d.Remove("tool_calls"); len(kept) > 0 {
				d.Set("tool_calls", list(kept...))
			}
		}))
	})
	return a, choose(body, rest)
}

func joinCompletions(a, b json.RawMessage) []byte {
	first, _ := onlyChoice(jsonspan.Field(a, "choices"))
	last, _ := onlyChoice(jsonspan.Field(b, "choices"))
	message := with(jsonspan.Field(last, "message"), func(d *wire.Draft) {
		for m, err := range jsonspan.Object(jsonspan.Field(first, "message")) {
			now := d.Get(m.Name)
			switch {
			case err != nil || m.Name == "role":
			case jsonspan.Kind(m.Raw) == '"' && (now == nil || jsonspan.Kind(now) == '"'):
				d.Set(m.Name, append(append(append([]byte{'"'}, bare(m.Raw)...), bare(now)...), '"'))
			case jsonspan.Kind(m.Raw) == '[' && (now == nil || jsonspan.Kind(now) == '['):
				d.Set(m.Name, list(append(itemsOf(m.Raw), itemsOf(now)...)...))
			}
		}
	})
	if message == nil {
		return nil
	}
	choice := with(last, func(d *wire.Draft) { d.Set("message", message) })
	return with(a, func(d *wire.Draft) {
		d.Set("choices", list(choice))
		setSum(d, "usage", jsonspan.Field(b, "usage"))
	})
}

// takeResponse reads an answer of the Responses API.
func (n Names) takeResponse(body []byte) (*Answer, json.RawMessage) {
	if object, _ := jsonspan.String(jsonspan.Field(body, "object")); object != "response" {
		return nil, nil
	}
	status, _ := jsonspan.String(jsonspan.Field(body, "status"))
	s := responsesStream{names: n}
	var kept []json.RawMessage
	all := itemsOf(jsonspan.Field(body, "output"))
	for i, item := range all {
		s.keep(item)
		if !n.item(item) {
			kept = append(kept, markBefore(item, all[i+1:], n))
		}
	}
	a := n.answerOf(s.items, s.others, status == "completed", s.size > maxAnswer)
	if len(a.Calls) == 0 {
		return a, body
	}
	return a, with(body, func(d *wire.Draft) { d.Set("output", list(kept...)) })
}

// joinResponses keeps the ID of the later one: what the API has stored under it
// includes the earlier one.
func joinResponses(a, b json.RawMessage) []byte {
	return with(b, func(d *wire.Draft) {
		d.Set("output", list(append(itemsOf(jsonspan.Field(a, "output")), itemsOf(d.Get("output"))...)...))
		if usage := sum(jsonspan.Field(a, "usage"), d.Get("usage")); usage != nil {
			d.Set("usage", usage)
		}
	})
}
