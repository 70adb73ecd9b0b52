package roo

import (
	"encoding/json"
	"slices"

	"github.com/precis-dev/precis/internal/jsonspan"
)

// Effective returns the stored messages that Roo would send: the view of the tags. After a
// summary, it drops tool results that have no call from the summary on, and messages that become
// empty. A result is sent even if a marker hides its call, as Roo does; precis repairs that in
// its own views.
func (h *History) Effective() ([]json.RawMessage, error) {
	r, err := h.read(nil)
	if err != nil {
		return nil, err
	}
	var out []json.RawMessage
	for _, i := range r.shown() {
		out = append(out, h.Raw(i))
	}
	if last := h.entries.lastSummary(); last >= 0 {
		out = dropOrphans(out, h.Stored()[last:])
	}
	return out, nil
}

// SinceLastSummary returns the stored messages from the last summary on, the summary included;
// all if there is no summary.
func SinceLastSummary(msgs []json.RawMessage) []json.RawMessage {
	for i := len(msgs) - 1; i >= 0; i-- {
		if scanEntry(msgs[i]).summary {
			return msgs[i:]
		}
	}
	return msgs
}

// Stored returns all stored messages.
func (h *History) Stored() []json.RawMessage {
	out := make([]json.RawMessage, h.Len())
	for i := range out {
		out[i] = h.Raw(i)
	}
	return out
}

// dropOrphans removes results that have no call among the stored messages.
func dropOrphans(msgs, stored []json.RawMessage) []json.RawMessage {
	uses := map[string]bool{}
	for _, raw := range stored {
		if scanEntry(raw).role != "assistant" {
			continue
		}
		for _, b := range blocksOf(raw) {
			if b.kind == "tool_use" && b.id != "" {
				uses[b.id] = true
			}
		}
	}
	var out []json.RawMessage
	for _, raw := range msgs {
		blocks := blocksOf(raw)
		if scanEntry(raw).role != "user" || blocks == nil {
			out = append(out, raw)
			continue
		}
		kept := slices.DeleteFunc(slices.Clone(blocks),
			func(b rawBlock) bool { return b.kind == "tool_result" && !uses[b.answers] })
		if len(kept) == 0 {
			continue
		}
		if len(kept) < len(blocks) {
			raw = setMember(raw, "content", joinBlocks(kept))
		}
		out = append(out, raw)
	}
	return out
}

// rawBlock is one content block of a stored message.
type rawBlock struct {
	raw     json.RawMessage
	kind    string
	id      string // of a tool use
	answers string // ID of the tool use that a result answers
}

// blocksOf returns the content blocks of a stored message; nil when its content
// is no array. An empty array gives an empty, non-nil slice.
func blocksOf(raw json.RawMessage) []rawBlock {
	m, ok := findMember(raw, "content")
	if !ok || jsonspan.Kind(m.Raw) != '[' {
		return nil
	}
	out := []rawBlock{}
	for span, err := range jsonspan.Array(m.Raw) {
		if err != nil {
			break
		}
		out = append(out, scanBlock(span.Raw))
	}
	return out
}

func scanBlock(raw json.RawMessage) rawBlock {
	b := rawBlock{raw: raw}
	if jsonspan.Kind(raw) != '{' {
		return b
	}
	for f, err := range jsonspan.Object(raw) {
		if err != nil {
			break
		}
		switch f.Name {
		case "type":
			b.kind, _ = jsonspan.String(f.Raw)
		case "id":
			b.id, _ = jsonspan.String(f.Raw)
		case "tool_use_id":
			b.answers, _ = jsonspan.String(f.Raw)
		}
	}
	return b
}

// contentBlocks returns the content as blocks; a string counts as one.
func contentBlocks(raw json.RawMessage) []rawBlock {
	if blocks := blocksOf(raw); blocks != nil {
		return blocks
	}
	m, ok := findMember(raw, "content")
	if !ok || jsonspan.Kind(m.Raw) != '"' {
		return nil
	}
	return []rawBlock{textBlock(m.Raw)}
}

// textBlock makes a text block of a JSON string.
func textBlock(quoted json.RawMessage) rawBlock {
	raw := append(append([]byte(`{"type":"text","text":`), quoted...), '}')
	return rawBlock{raw: raw, kind: "text"}
}

func joinBlocks(blocks []rawBlock) []byte {
	out := []byte{'['}
	for i, b := range blocks {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, b.raw...)
	}
	return append(out, ']')
}
