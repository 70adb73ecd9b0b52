package tool

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/responses"
)

// responsesStream parses streams of the Responses API.
type responsesStream struct {
	names        Names
	answers      int
	base         int               // number of items of earlier answers that the client received
	got          []json.RawMessage // items that the client received, complete
	earlierUsage json.RawMessage   // usage of earlier answers
	changed      bool              // an item was hidden: later events are renumbered
	number       int               // of the next event

	// State of the current answer:
	items         []json.RawMessage // complete
	began         int
	hiddenIndexes []int // indexes of items hidden from the client
	// the end of a reasoning item and later events, until the item that follows from it is known
	pendingEvents []wire.Event
	size          int
	others        bool
	ended         bool
	usage         json.RawMessage
	held          []wire.Event
}

// item reports whether an item of the Responses API is a call of one of the tools.
func (n Names) item(item []byte) bool {
	name, _ := jsonspan.String(jsonspan.Field(item, "name"))
	return kindOf(item) == "function_call" && n.has(name)
}

// clientCalls are the items that a client has to answer.
var clientCalls = []string{"function_call", "custom_tool_call", "local_shell_call", "shell_call",
	"apply_patch_call", "computer_call", "mcp_approval_request"}

const (
	itemAdded = "response.output_item.added"
	itemDone  = "response.output_item.done"
)

func (s *responsesStream) event(e wire.Event) []byte {
	kind := kindOf(e.Data)
	if len(s.pendingEvents) == 0 {
		return s.take(e, kind)
	}
	if !strings.HasPrefix(kind, "response.") && kind != "error" { // a keep-alive event
		s.pendingEvents = append(s.pendingEvents, e.Clone())
		return nil
	}
	item := jsonspan.Field(e.Data, "item")
	out := s.releaseHeld((kind == itemAdded || kind == itemDone) && s.names.item(item))
	return append(out, s.take(e, kind)...)
}

// releaseHeld returns the held end of a reasoning item. It is marked if it led to a call of one of our
// tools: the client does not send that call back, so the API would refuse the reasoning.
func (s *responsesStream) releaseHeld(ours bool) []byte {
	e, rest := s.pendingEvents[0], s.pendingEvents[1:]
	s.pendingEvents = nil
	item := jsonspan.Field(e.Data, "item")
	data := e.Data
	if ours {
		if marked := mark(item); marked != nil {
			item = marked
			data = with(data, func(d *wire.Draft) { d.Set("item", marked) })
			s.changed = true
		}
	}
	s.got = append(s.got, bytes.Clone(item))
	out := bytes.Clone(s.numbered(e, data))
	for _, e := range rest {
		out = append(out, s.numbered(e, e.Data)...)
	}
	return out
}

func (s *responsesStream) take(e wire.Event, kind string) []byte {
	i, has := jsonspan.Int(jsonspan.Field(e.Data, "output_index")), jsonspan.Field(e.Data,
		"output_index") != nil
	item := jsonspan.Field(e.Data, "item")
	switch kind {
	case "response.created", "response.in_progress", "response.queued":
		if s.answers > 0 {
			return nil
		}
	case itemAdded:
		s.began++
		if s.names.item(item) {
			return s.leaveOut(i)
		}
	case itemDone:
		return s.done(e, i, item)
	case "response.completed", "response.incomplete":
		return s.end(e, kind)
	}
	if has && slices.Contains(s.hiddenIndexes, i) {
		return nil
	}
	return s.numbered(e, e.Data)
}

// leaveOut hides an item from the client.
func (s *responsesStream) leaveOut(i int) []byte {
	s.changed = true
	if !slices.Contains(s.hiddenIndexes, i) {
		s.hiddenIndexes = append(s.hiddenIndexes, i)
	}
	return nil
}

// done processes a complete item.
func (s *responsesStream) done(e wire.Event, i int, item json.RawMessage) []byte {
	switch {
	case item == nil:
		return s.numbered(e, e.Data)
	case s.names.item(item):
		s.keep(item)
		return s.leaveOut(i)
	case kindOf(item) == "reasoning":
		s.keep(item)
		s.pendingEvents = []wire.Event{e.Clone()}
		return nil
	}
	s.keep(item)
	s.got = append(s.got, bytes.Clone(item))
	return s.numbered(e, e.Data)
}

// keep stores an item for sending it back.
func (s *responsesStream) keep(item json.RawMessage) {
	if s.size += len(item); s.size <= maxAnswer {
		s.items = append(s.items, bytes.Clone(item))
	}
	s.others = s.others || !s.names.item(item) && slices.Contains(clientCalls, kindOf(item))
}

// numbered returns an event with other data, and with the client's numbers for it and its item.
func (s *responsesStream) numbered(e wire.Event, data []byte) []byte {
	number := jsonspan.Field(e.Data, "sequence_number")
	if !s.changed {
		if number != nil {
			s.number = jsonspan.Int(number) + 1
		}
		return e.Raw
	}
	index := jsonspan.Field(e.Data, "output_index")
	out := with(data, func(d *wire.Draft) {
		if number != nil {
			d.Set("sequence_number", strconv.AppendInt(nil, int64(s.number), 10))
			s.number++
		}
		if index != nil {
			i := jsonspan.Int(index)
			to := s.base + i
			for _, g := range s.hiddenIndexes {
				if g < i {
					to--
				}
			}
			d.Set("output_index", strconv.AppendInt(nil, int64(to), 10))
		}
	})
	return e.With(out)
}

// end processes the end of an answer.
func (s *responsesStream) end(e wire.Event, kind string) []byte {
	response := jsonspan.Field(e.Data, "response")
	s.usage = latest(s.usage, bytes.Clone(jsonspan.Field(response, "usage")))
	s.ended = kind == "response.completed"
	if len(s.items) == 0 { // some servers do not announce single items
		all := itemsOf(jsonspan.Field(response, "output"))
		for i, item := range all {
			s.keep(item)
			if s.names.item(item) {
				s.changed = true
				continue
			}
			s.got = append(s.got, bytes.Clone(markBefore(item, all[i+1:], s.names)))
		}
	}
	if s.answer().onlyOurCalls() {
		s.held = append(s.held, e.Clone())
		return nil
	}
	return s.summed(e)
}

func itemsOf(output json.RawMessage) (out []json.RawMessage) {
	for s, err := range jsonspan.Array(output) {
		if err != nil {
			return out
		}
		out = append(out, s.Raw)
	}
	return out
}

// summed returns the end of the response with all items that the client received, and the total
// usage.
func (s *responsesStream) summed(e wire.Event) []byte {
	if !s.changed {
		return s.numbered(e, e.Data)
	}
	data := with(e.Data, func(d *wire.Draft) {
		response := with(d.Get("response"), func(d *wire.Draft) {
			d.Set("output", list(s.got...))
			if usage := sum(s.earlierUsage, s.usage); usage != nil {
				d.Set("usage", usage)
			}
		})
		if response != nil {
			d.Set("response", response)
		}
	})
	return s.numbered(e, data)
}

func (s *responsesStream) flush() []byte {
	if len(s.pendingEvents) == 0 {
		return nil
	}
	return s.releaseHeld(false)
}

func (s *responsesStream) answer() *Answer {
	return s.names.answerOf(s.items, s.others, s.ended, s.size > maxAnswer)
}

// answerOf returns the answer with the given items.
func (n Names) answerOf(items []json.RawMessage, others, ended, lost bool) *Answer {
	a := &Answer{dialect: responses.Format, Others: others, ended: ended, lost: lost}
	for _, item := range items {
		if n.item(item) {
			name, _ := jsonspan.String(jsonspan.Field(item, "name"))
			id, _ := jsonspan.String(jsonspan.Field(item, "call_id"))
			input, _ := jsonspan.String(jsonspan.Field(item, "arguments"))
			a.Calls = append(a.Calls, Call{Name: name, ID: id, Input: json.RawMessage(input)})
		}
	}
	if a.Due() {
		all := list(items...)
		a.elements = all[1 : len(all)-1]
	}
	return a
}

func (s *responsesStream) next() {
	*s = responsesStream{
		names: s.names, answers: s.answers + 1, base: s.base + s.began - len(s.hiddenIndexes), got: s.got,
		earlierUsage: sum(s.earlierUsage, s.usage), changed: true, number: s.number,
	}
}

func (s *responsesStream) finish() (out []byte) {
	for _, e := range s.held {
		out = append(out, s.summed(e)...)
	}
	s.held = nil
	return out
}
