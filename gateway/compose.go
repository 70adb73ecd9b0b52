package gateway

import (
	"bytes"
	"encoding/json"
	"sync"

	"precis"
	"precis/internal/jsonspan"
	"precis/wire"
	"precis/wire/anthropic"
)

// compose returns the body to forward: the client's own while its messages are
// shown as they were said, else with those of the view in their place. Messages
// that are shown whole have the bytes of this request. The same view gives the
// same bytes, whatever the client changed in what is hidden.
func (t *turn) compose(res precis.Result) []byte {
	d := t.found.Body.Draft()
	if t.edited(res) || t.plain {
		view := t.view(res)
		if t.plain {
			view = withoutThinking(view)
		}
		list := t.dialect.AppendMessages(make([]byte, 0, len(t.body)), view)
		d.Set(t.dialect.List(), list)
		t.bindThinking(d)
	}
	t.strip(d)
	t.offer(d)
	return d.Bytes()
}

// edited reports whether the view differs from what was said. What the client
// itself sent wrong is the upstream's to refuse.
func (t *turn) edited(res precis.Result) bool {
	for _, u := range res.Units {
		if !u.Original() || u.Changed {
			return true
		}
	}
	return false
}

// view returns the messages to send, the system prompt among the messages
// included.
func (t *turn) view(res precis.Result) []precis.Message {
	name := t.dialect.Name()
	out := make([]precis.Message, 0, t.found.Lead+len(res.Units))
	for i := range t.found.Lead {
		m := t.found.Prompt.Lead[i]
		m.Raw = json.RawMessage(t.found.Body.Item(i))
		out = append(out, m)
	}
	if len(res.Report.Repairs) > 0 {
		return append(out, unmarkAll(res.View)...)
	}
	last := -1 // the last message that is not as it was said
	for _, u := range res.Units {
		if u.Original() && !u.Changed {
			m := u.Messages[0]
			m.Raw, m.Format = json.RawMessage(t.found.Item(u.From)), name
			out = append(out, m)
			continue
		}
		for _, m := range u.Messages {
			out, last = append(out, t.held.written.message(name, m)), len(out)
		}
	}
	if name == anthropic.Format && last >= 0 {
		t.mark(out, last)
	}
	return out
}

// written remembers how messages that are not shown as they were said are
// written, so that a long digest is not written anew with every request. It is
// safe for concurrent use.
type written struct {
	mu     sync.Mutex
	raw    map[*precis.Block]json.RawMessage
	marked map[*precis.Block]marked
}

type marked struct {
	with string // the breakpoint's value
	raw  json.RawMessage
}

// forget drops everything, when other messages are shown from now on.
func (w *written) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.raw, w.marked = nil, nil
}

// message returns a message without breakpoints; in Anthropic's dialect, where
// messages are written each by itself, as its bytes.
func (w *written) message(dialect string, m precis.Message) precis.Message {
	if dialect != anthropic.Format || len(m.Content) == 0 {
		return unmark(m)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	key := &m.Content[0]
	raw, ok := w.raw[key]
	if !ok {
		raw = anthropic.AppendMessage(nil, unmark(m))
		if w.raw == nil {
			w.raw = map[*precis.Block]json.RawMessage{}
		}
		w.raw[key] = raw
	}
	m.Raw, m.Format = raw, anthropic.Format
	return m
}

func unmarkAll(msgs []precis.Message) []precis.Message {
	out := make([]precis.Message, len(msgs))
	for i, m := range msgs {
		out[i] = unmark(m)
	}
	return out
}

// unmark returns a message without cache breakpoints: where the client has put
// them moves, and what is shown of old messages must not.
func unmark(m precis.Message) precis.Message {
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
			continue // it was decoded before
		}
		m.Content = append(append(append([]precis.Block{}, m.Content[:i]...), again), m.Content[i+1:]...)
	}
	return m
}

// mark puts a breakpoint of ours at the end of what is edited, in the client's
// own form, if the client caches messages and leaves one of the four unused: the
// prefix that stays the same over the turns to come is then found however much
// a turn adds.
func (t *turn) mark(view []precis.Message, last int) {
	body := t.found.Body
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
	if own != nil && used < anthropic.MaxBreakpoints && len(view[last].Content) > 0 {
		view[last].Raw = t.held.written.mark(view[last], own)
	}
}

// mark returns a written message with a breakpoint on its last block, or as it is
// when that cannot carry one.
func (w *written) mark(m precis.Message, with json.RawMessage) json.RawMessage {
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
