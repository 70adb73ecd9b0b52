package polyfill

import (
	"encoding/json"
	"strconv"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
)

// Response adds the compaction item to a complete response of the Responses API; nil for any other
// body.
func (a *Answer) Response(body []byte) []byte {
	if object, _ := jsonspan.String(jsonspan.Field(body, "object")); object != "response" || a.Made == nil {
		return nil
	}
	return a.withItem(body)
}

// withItem returns a response object with the compaction item first.
func (a *Answer) withItem(response []byte) []byte {
	return with(response, func(d *wire.Draft) { d.Set("output", putFirst(a.item(), d.Get("output"))) })
}

// responseStream adds the compaction item to a stream of the Responses API.
type responseStream struct {
	*Answer
	events int // number of events added to the stream so far
}

// ResponseEvents returns the changes for a stream of the Responses API, see
// [Rewriter.Change].
func (a *Answer) ResponseEvents() func(data []byte) (before, instead []byte) {
	return (&responseStream{Answer: a}).change
}

func (s *responseStream) change(data []byte) (before, instead []byte) {
	kind, _ := jsonspan.String(jsonspan.Field(data, "type"))
	switch kind {
	case "response.created", "response.in_progress", "response.queued", "error", "":
		if s.events == 0 || s.Made == nil {
			return nil, nil
		}
	}
	if s.Made == nil {
		return nil, nil
	}
	if s.events == 0 && kind != "response.failed" {
		before = s.itemEvents(jsonspan.Int(jsonspan.Field(data, "sequence_number")))
		s.events = 2
	}
	if s.events == 0 {
		return nil, nil
	}
	for name, by := range map[string]int{"sequence_number": s.events, "output_index": 1} {
		if out := withRaised(data, name, by); out != nil {
			data, instead = out, out
		}
	}
	if response := jsonspan.Field(data, "response"); jsonspan.Kind(response) == '{' {
		if whole := s.withItem(response); whole != nil {
			instead = with(data, func(d *wire.Draft) { d.Set("response", whole) })
		}
	}
	return before, instead
}

// itemEvents returns the events of the compaction item.
func (a *Answer) itemEvents(number int) []byte {
	var dst []byte
	for i, kind := range []string{"response.output_item.added", "response.output_item.done"} {
		data := strconv.AppendInt([]byte(`{"type":"`+kind+`","sequence_number":`), int64(number+i), 10)
		data = append(append(data, `,"output_index":0,"item":`...), a.item()...)
		dst = wire.AppendEvent(dst, kind, append(data, '}'))
	}
	return dst
}

// usage returns the usage of making the summary.
func (a *Answer) usage() []byte {
	dst := appendInt([]byte("{"), "input_tokens", a.Usage.Input)
	dst = append(jsonspan.AppendField(dst, "input_tokens_details"), '{')
	dst = appendInt(dst, "cached_tokens", a.Usage.CacheRead)
	dst = append(appendInt(dst, "cache_write_tokens", a.Usage.CacheWrite), '}')
	dst = appendInt(dst, "output_tokens", a.Usage.Output)
	dst = append(dst, `,"output_tokens_details":{"reasoning_tokens":0}`...)
	return append(appendInt(dst, "total_tokens", a.Usage.Input+a.Usage.Output), '}')
}

// Compacted returns the answer of POST /v1/responses/compact: the user's messages, as items, and
// the compaction item.
func (a *Answer) Compacted(user []json.RawMessage) []byte {
	dst := jsonspan.AppendStringField([]byte("{"), "id", "resp_"+a.ID)
	dst = jsonspan.AppendStringField(dst, "object", "response.compaction")
	dst = appendInt(dst, "created_at", int(a.Created))
	dst = append(jsonspan.AppendField(dst, "output"), '[')
	for _, item := range user {
		dst = append(append(dst, item...), ',')
	}
	dst = append(append(dst, a.item()...), ']')
	return append(append(jsonspan.AppendField(dst, "usage"), a.usage()...), '}')
}

// response returns a response object that holds only the compaction item, or that has just begun.
func (a *Answer) response(done bool) []byte {
	status, output, usage := "in_progress", []byte("[]"), []byte("null")
	if done {
		status, output, usage = "completed", append(append([]byte("["), a.item()...), ']'), a.usage()
	}
	dst := jsonspan.AppendStringField([]byte("{"), "id", "resp_"+a.ID)
	dst = jsonspan.AppendStringField(dst, "object", "response")
	dst = appendInt(dst, "created_at", int(a.Created))
	dst = jsonspan.AppendStringField(dst, "status", status)
	dst = jsonspan.AppendStringField(dst, "model", a.Model)
	dst = append(append(jsonspan.AppendField(dst, "output"), output...),
		`,"error":null,"incomplete_details":null,"instructions":null,"metadata":{},"parallel_tool_calls":true,"tool_choice":"auto","tools":[]`...)
	return append(append(jsonspan.AppendField(dst, "usage"), usage...), '}')
}

// Triggered returns the answer to a compaction_trigger: one compaction item.
func (a *Answer) Triggered() []byte { return a.response(true) }

// TriggeredEvents returns the answer to a triggered compaction as a stream of events; the method
// before it returns it whole.
func (a *Answer) TriggeredEvents() []byte {
	event := func(dst []byte, kind string, number int) []byte {
		data := strconv.AppendInt([]byte(`{"type":"`+kind+`","sequence_number":`), int64(number), 10)
		data = append(append(data, `,"response":`...), a.response(kind == "response.completed")...)
		return wire.AppendEvent(dst, kind, append(data, '}'))
	}
	dst := event(nil, "response.created", 0)
	dst = event(dst, "response.in_progress", 1)
	dst = append(dst, a.itemEvents(2)...)
	return event(dst, "response.completed", 4)
}
