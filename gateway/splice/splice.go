// Package splice writes the messages of a view into a client's own request. An unchanged message
// keeps the bytes of this request. A changed one is encoded once and keeps those bytes, without the
// client's cache breakpoints, so that prompt caches stay valid from turn to turn. Use [Messages].
package splice

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
)

// Request is the request that a view is written into.
type Request struct {
	Dialect string
	Body    *wire.Body
	Lead    []precis.Message // elements of the body's list that belong to the system prompt
}

// item returns the bytes of message i of the transcript in the request.
func (r Request) item(i int) []byte { return r.Body.Item(len(r.Lead) + i) }

// Messages returns the messages to send, including system prompt messages of the list. Cache holds
// the encoded messages of the conversation.
func Messages(r Request, res policy.Result, cache *Cache) []precis.Message {
	out := make([]precis.Message, 0, len(r.Lead)+len(res.Units))
	for i, m := range r.Lead {
		m.Raw = json.RawMessage(r.Body.Item(i))
		out = append(out, m)
	}
	if len(res.Report.Repairs) > 0 {
		return append(out, r.repaired(res)...)
	}
	last := -1 // index of the last changed message
	for _, u := range res.Units {
		if u.Original() && !u.Changed {
			m := u.Messages[0]
			m.Raw, m.Format = json.RawMessage(r.item(u.From)), r.Dialect
			out = append(out, m)
			continue
		}
		for _, m := range u.Messages {
			out, last = append(out, cache.message(r.Dialect, m)), len(out)
		}
	}
	if r.Dialect == anthropic.Format && last >= 0 {
		r.mark(out, last, cache)
	}
	return out
}

// Cache keeps the encoding of changed messages, so that a long digest is not encoded again for
// every request. The zero value is empty. It is safe for concurrent use.
type Cache struct {
	mu     sync.Mutex
	raw    map[*precis.Block]json.RawMessage
	marked map[*precis.Block]marked
}

type marked struct {
	with string // the breakpoint's value
	raw  json.RawMessage
}

// Forget drops all encoded messages, when the view shows other messages from now on.
func (w *Cache) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.raw, w.marked = nil, nil
}

// message returns a message without breakpoints. In Anthropic's dialect, where each message is
// encoded separately, it returns the encoded bytes.
func (w *Cache) message(dialect string, m precis.Message) precis.Message {
	if dialect != anthropic.Format || len(m.Content) == 0 {
		return withoutBreakpoints(m)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	key := &m.Content[0]
	raw, ok := w.raw[key]
	if !ok {
		raw = anthropic.AppendMessage(nil, withoutBreakpoints(m))
		if w.raw == nil {
			w.raw = map[*precis.Block]json.RawMessage{}
		}
		w.raw[key] = raw
	}
	m.Raw, m.Format = raw, anthropic.Format
	return m
}

// repaired returns the messages of a view that was not valid. Messages that the repair did not
// change have the bytes of this request.
func (r Request) repaired(res policy.Result) []precis.Message {
	said := map[*precis.Block]int{} // by the address of the first block; repaired messages have another one
	for _, u := range res.Units {
		if u.Original() && !u.Changed && len(u.Messages[0].Content) > 0 {
			said[&u.Messages[0].Content[0]] = u.From
		}
	}
	out := make([]precis.Message, len(res.View))
	for i, m := range res.View {
		if len(m.Content) > 0 {
			if from, ok := said[&m.Content[0]]; ok {
				m.Raw, m.Format = json.RawMessage(r.item(from)), r.Dialect
				out[i] = m
				continue
			}
		}
		out[i] = withoutBreakpoints(m)
	}
	return out
}

// withoutBreakpoints returns a message without cache breakpoints: clients move them, but the bytes of old
// messages must not change.
func withoutBreakpoints(m precis.Message) precis.Message {
	if m.Format != anthropic.Format {
		return m
	}
	if m.Raw != nil {
		if bytes.Contains(m.Raw, []byte(anthropic.Breakpoint)) {
			raw := anthropic.CapBreakpoints(append(append([]byte("["), m.Raw...), ']'), 0)
			m.Raw = raw[1 : len(raw)-1]
		}
		return m
	}
	for i, b := range m.Content {
		raw := anthropic.AppendBlock(nil, b, m.Format)
		if !bytes.Contains(raw, []byte(anthropic.Breakpoint)) {
			continue
		}
		list := append(append([]byte(`[{"content":[`), raw...), `]}]`...)
		list = anthropic.CapBreakpoints(list, 0)
		again, err := anthropic.DecodeBlock(list[len(`[{"content":[`) : len(list)-len(`]}]`)])
		if err != nil {
			continue // not expected: it was decoded before
		}
		m.Content = append(append(append([]precis.Block{}, m.Content[:i]...), again), m.Content[i+1:]...)
	}
	return m
}

// mark adds a cache breakpoint at the last changed message, in the client's own form, if the client
// caches messages and leaves one of the four breakpoints unused. The provider then finds the
// unchanged prefix however much a turn appends. It also does so if only that message was marked, as
// in a conversation that consists of a summary.
func (r Request) mark(view []precis.Message, last int, cache *Cache) {
	body := r.Body
	used := anthropic.CountBreakpoints(body.Get("tools")) + anthropic.CountBreakpoints(body.Get("system"))
	if body.Get(anthropic.Breakpoint) != nil {
		used++
	}
	var own json.RawMessage
	for _, m := range view {
		if m.Raw == nil || !bytes.Contains(m.Raw, []byte(anthropic.Breakpoint)) {
			continue
		}
		marks := anthropic.Breakpoints(append(append([]byte("["), m.Raw...), ']'))
		used += len(marks)
		if own == nil && len(marks) > 0 {
			own = marks[0].Raw
		}
	}
	for i := len(body.Items()) - 1; i >= 0 && own == nil; i-- {
		if raw := body.Item(i); bytes.Contains(raw, []byte(anthropic.Breakpoint)) {
			if marks := anthropic.Breakpoints(append(append([]byte("["), raw...), ']')); len(marks) > 0 {
				own = marks[0].Raw
			}
		}
	}
	if own != nil && used < anthropic.MaxBreakpoints && len(view[last].Content) > 0 {
		view[last].Raw = cache.mark(view[last], own)
	}
}

// mark returns an encoded message with a breakpoint on its last block, or unchanged when that block
// cannot carry one.
func (w *Cache) mark(m precis.Message, with json.RawMessage) json.RawMessage {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := &m.Content[0]
	if known, ok := w.marked[key]; ok && known.with == string(with) {
		return known.raw
	}
	raw := markLast(m.Raw, with)
	if w.marked == nil {
		w.marked = map[*precis.Block]marked{}
	}
	w.marked[key] = marked{string(with), raw}
	return raw
}

func markLast(raw, with json.RawMessage) json.RawMessage {
	var blocks []jsonspan.Span
	for b, err := range jsonspan.Array(jsonspan.Field(raw, "content")) {
		if err != nil {
			return raw
		}
		blocks = append(blocks, b)
	}
	if len(blocks) == 0 || !markable(blocks[len(blocks)-1].Raw) {
		return raw
	}
	message, err := wire.Parse(raw, "content", nil)
	if err != nil {
		return raw
	}
	last, err := wire.Parse(blocks[len(blocks)-1].Raw, "", nil)
	if err != nil {
		return raw
	}
	block := last.Draft()
	block.Set(anthropic.Breakpoint, with)
	list := []byte("[")
	for _, b := range blocks[:len(blocks)-1] {
		list = append(append(list, b.Raw...), ',')
	}
	whole := message.Draft()
	whole.Set("content", append(append(list, block.Bytes()...), ']'))
	return whole.Bytes()
}

// markable reports whether a block can carry a breakpoint.
func markable(raw []byte) bool {
	switch kind, _ := jsonspan.String(jsonspan.Field(raw, "type")); kind {
	case "text", "tool_use", "tool_result", "image", "document":
		return true
	}
	return false
}

// WithoutReasoning returns messages without signed reasoning.
func WithoutReasoning(view []precis.Message) []precis.Message {
	out := make([]precis.Message, 0, len(view))
	for _, m := range view {
		var content []precis.Block
		for _, b := range m.Content {
			switch b.(type) {
			case precis.Thinking, precis.RedactedThinking:
			default:
				content = append(content, b)
			}
		}
		if len(content) < len(m.Content) {
			if len(content) == 0 {
				continue
			}
			m.Content, m.Raw = content, nil
			m = withoutBreakpoints(m) // its breakpoints belong to the request it came with
		}
		out = append(out, m)
	}
	return out
}
