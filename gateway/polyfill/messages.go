package polyfill

import (
	"encoding/json"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
)

// Message adds the fields to a complete message of the Messages API; nil when body is no message.
func (a *Answer) Message(body []byte) []byte {
	if kind, _ := jsonspan.String(jsonspan.Field(body, "type")); kind != "message" {
		return nil
	}
	model, _ := jsonspan.String(jsonspan.Field(body, "model"))
	return with(body, func(d *wire.Draft) {
		if a.Made != nil {
			d.Set("content", putFirst(a.block(), d.Get("content")))
			a.reportUsage(d, model, usageOf(d.Get("usage")))
		}
		if a.Reports {
			d.Set("context_management", a.management(d.Get("context_management")))
		}
	})
}

// reportUsage adds the iterations to the usage of a message.
func (a *Answer) reportUsage(d *wire.Draft, model string, u precis.Usage) {
	usage := d.Get("usage")
	if jsonspan.Kind(usage) != '{' {
		usage = json.RawMessage("{}")
	}
	reported := with(usage, func(d *wire.Draft) {
		d.Set("iterations",
			a.iterations(model, u, d.Get("iterations")))
	})
	if reported != nil {
		d.Set("usage", reported)
	}
}

func usageOf(raw json.RawMessage) (u precis.Usage) {
	n := func(name string) int { return jsonspan.Int(jsonspan.Field(raw, name)) }
	return precis.Usage{
		Input: n("input_tokens"), Output: n("output_tokens"), CacheRead: n("cache_read_input_tokens"),
		CacheWrite: n("cache_creation_input_tokens"),
	}
}

// messageStream adds the fields to a stream of the Messages API.
type messageStream struct {
	*Answer
	begun bool // message_start was seen
	put   bool // the block was written
	model string
	usage precis.Usage
}

// MessageEvents returns the changes for a stream of the Messages API, see [Rewriter.Change].
func (a *Answer) MessageEvents() func(data []byte) (before, instead []byte) {
	return (&messageStream{Answer: a}).change
}

func (s *messageStream) change(data []byte) (before, instead []byte) {
	kind, _ := jsonspan.String(jsonspan.Field(data, "type"))
	if kind == "message_start" {
		m := jsonspan.Field(data, "message")
		s.model, _ = jsonspan.String(jsonspan.Field(m, "model"))
		s.usage, s.begun = usageOf(jsonspan.Field(m, "usage")), true
		return nil, nil
	}
	if s.Made != nil && s.begun && !s.put && kind != "ping" && kind != "error" {
		s.put = true
		before = s.blockEvents()
	}
	switch kind {
	case "content_block_start", "content_block_delta", "content_block_stop":
		if s.put {
			instead = withRaised(data, "index", 1)
		}
	case "message_delta":
		instead = s.end(data)
	}
	return before, instead
}

// end adds the fields to message_delta.
func (s *messageStream) end(data []byte) []byte {
	return with(data, func(d *wire.Draft) {
		if s.put {
			last := usageOf(d.Get("usage"))
			for at, n := range map[*int]int{
				&s.usage.Input: last.Input, &s.usage.Output: last.Output, &s.usage.CacheRead: last.CacheRead,
				&s.usage.CacheWrite: last.CacheWrite,
			} {
				if n > 0 {
					*at = n
				}
			}
			s.reportUsage(d, s.model, s.usage)
		}
		if s.Reports {
			d.Set("context_management", s.management(d.Get("context_management")))
		}
	})
}

// blockEvents returns the events of the compaction block, which is sent in one piece.
func (a *Answer) blockEvents() []byte {
	delta := jsonspan.AppendStringField([]byte(`{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta"`), "content", a.Made.Text)
	delta = append(jsonspan.AppendStringField(delta, "encrypted_content", a.sealed()), "}}"...)
	dst := wire.AppendEvent(nil, "content_block_start",
		[]byte(`{"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":null,"encrypted_content":null}}`))
	dst = wire.AppendEvent(dst, "content_block_delta", delta)
	return wire.AppendEvent(dst, "content_block_stop", []byte(`{"type":"content_block_stop","index":0}`))
}

const noUsage = `{"input_tokens":0,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0`

// paused returns a message without its content and end.
func (a *Answer) paused() []byte {
	dst := jsonspan.AppendStringField([]byte("{"), "id", "msg_"+a.ID)
	dst = append(dst, `,"type":"message","role":"assistant"`...)
	return jsonspan.AppendStringField(dst, "model", a.Model)
}

func (a *Answer) compactionAlone() []byte {
	return append(append([]byte("["), iteration("compaction", "", a.Usage)...), ']')
}

// Paused returns the message that holds only the compaction block.
func (a *Answer) Paused() []byte {
	dst := append(jsonspan.AppendField(a.paused(), "content"), '[')
	dst = append(append(dst, a.block()...),
		`],"stop_reason":"compaction","stop_sequence":null,"usage":`+noUsage+`,"iterations":`...)
	dst = append(append(dst, a.compactionAlone()...), '}')
	return append(append(jsonspan.AppendField(dst, "context_management"), a.management(nil)...), '}')
}

// PausedEvents returns the same message as a stream.
func (a *Answer) PausedEvents() []byte {
	start := append([]byte(`{"type":"message_start","message":`), a.paused()...)
	start = append(start, `,"content":[],"stop_reason":null,"stop_sequence":null,"usage":`+noUsage+"}}}"...)
	end := append([]byte(`{"type":"message_delta","delta":{"stop_reason":"compaction","stop_sequence":null},"usage":`+noUsage+`,"iterations":`), a.compactionAlone()...)
	end = append(jsonspan.AppendField(append(end, '}'), "context_management"), a.management(nil)...)
	dst := wire.AppendEvent(nil, "message_start", start)
	dst = append(dst, a.blockEvents()...)
	dst = wire.AppendEvent(dst, "message_delta", append(end, '}'))
	return wire.AppendEvent(dst, "message_stop", []byte(`{"type":"message_stop"}`))
}
