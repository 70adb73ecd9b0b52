package tool

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
)

// anthropicStream parses streams of the Messages API.
type anthropicStream struct {
	names        Names
	answers      int
	base         int             // number of blocks of earlier answers that the client received
	earlierUsage json.RawMessage // usage of earlier answers

	// State of the current answer:
	blocks        []*block
	at            map[int]*block // by index
	hiddenIndexes []int          // indexes of blocks hidden from the client
	size          int
	others        bool
	stop          string
	usage         json.RawMessage
	held          []wire.Event
}

func (s *anthropicStream) event(e wire.Event) []byte {
	switch kindOf(e.Data) {
	case "message_start":
		s.usage = latest(s.usage, bytes.Clone(jsonspan.Field(jsonspan.Field(e.Data, "message"), "usage")))
		if s.answers > 0 {
			return nil
		}
	case "content_block_start":
		return s.start(e)
	case "content_block_delta", "content_block_stop":
		return s.piece(e)
	case "message_delta":
		return s.end(e)
	case "message_stop":
		if len(s.held) > 0 {
			s.held = append(s.held, e.Clone())
			return nil
		}
	}
	return e.Raw
}

func (s *anthropicStream) start(e wire.Event) []byte {
	b := newBlock(jsonspan.Field(e.Data, "content_block"), s.names)
	i := jsonspan.Int(jsonspan.Field(e.Data, "index"))
	if s.at == nil {
		s.at = map[int]*block{}
	}
	s.at[i] = b
	s.blocks = append(s.blocks, b)
	s.size += len(b.start)
	if b.ours {
		s.hiddenIndexes = append(s.hiddenIndexes, i)
		return nil
	}
	s.others = s.others || kindOf(b.start) == "tool_use"
	return s.shifted(e, i)
}

func (s *anthropicStream) piece(e wire.Event) []byte {
	i := jsonspan.Int(jsonspan.Field(e.Data, "index"))
	b := s.at[i]
	if b == nil {
		return s.shifted(e, i)
	}
	if s.size <= maxAnswer {
		s.size += b.add(jsonspan.Field(e.Data, "delta"))
	}
	if b.ours {
		return nil
	}
	return s.shifted(e, i)
}

// shifted returns an event with the client's index of its block.
func (s *anthropicStream) shifted(e wire.Event, i int) []byte {
	to := s.base + i
	for _, g := range s.hiddenIndexes {
		if g < i {
			to--
		}
	}
	if to == i {
		return e.Raw
	}
	return e.With(with(e.Data, func(d *wire.Draft) { d.Set("index", strconv.AppendInt(nil, int64(to), 10)) }))
}

func (s *anthropicStream) end(e wire.Event) []byte {
	if stop, ok := jsonspan.String(jsonspan.Field(jsonspan.Field(e.Data, "delta"), "stop_reason")); ok {
		s.stop = stop
	}
	s.usage = latest(s.usage, bytes.Clone(jsonspan.Field(e.Data, "usage")))
	if s.answer().onlyOurCalls() {
		s.held = append(s.held, e.Clone())
		return nil
	}
	return s.summed(e, false)
}

// summed returns the end of an answer with the total usage.
func (s *anthropicStream) summed(e wire.Event, quiet bool) []byte {
	if s.answers == 0 && !quiet {
		return e.Raw
	}
	return e.With(with(e.Data, func(d *wire.Draft) {
		if s.answers > 0 {
			d.Set("usage", sum(s.earlierUsage, s.usage))
		}
		if quiet {
			d.Set("delta", with(d.Get("delta"),
				func(d *wire.Draft) { d.Set("stop_reason", []byte(`"end_turn"`)) }))
		}
	}))
}

func (s *anthropicStream) flush() []byte { return nil }

func (s *anthropicStream) answer() *Answer {
	a := &Answer{dialect: anthropic.Format, Others: s.others, ended: s.stop == "tool_use",
		lost: s.size > maxAnswer}
	var content []json.RawMessage
	for _, b := range s.blocks {
		if b.ours {
			a.Calls = append(a.Calls, b.call())
		}
	}
	if !a.Due() {
		return a
	}
	for _, b := range s.blocks {
		content = append(content, b.whole())
	}
	a.elements = assistant(content)
	return a
}

// assistant returns the message with content blocks. The API produces empty text blocks but refuses
// them.
func assistant(content []json.RawMessage) json.RawMessage {
	content = slices.DeleteFunc(content, func(b json.RawMessage) bool {
		text, _ := jsonspan.String(jsonspan.Field(b, "text"))
		return kindOf(b) == "text" && strings.TrimSpace(text) == ""
	})
	return append(append([]byte(`{"role":"assistant","content":`), list(content...)...), '}')
}

func (s *anthropicStream) next() {
	*s = anthropicStream{names: s.names, answers: s.answers + 1,
		base: s.base + len(s.blocks) - len(s.hiddenIndexes), earlierUsage: sum(s.earlierUsage, s.usage)}
}

func (s *anthropicStream) finish() (out []byte) {
	for _, e := range s.held {
		if kindOf(e.Data) == "message_delta" {
			out = append(out, s.summed(e, true)...)
			continue
		}
		out = append(out, e.Raw...)
	}
	s.held = nil
	return out
}
