package roo

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/precis-dev/precis/internal/jsonspan"
)

// RequestOptions describe the capabilities of the model that receives a request.
type RequestOptions struct {
	Images            bool // it accepts images
	PreserveReasoning bool // plain reasoning is sent back to it
}

// Request returns the messages that Roo would send for the history: the effective messages since
// the last summary, with consecutive user messages merged, images replaced by notes if not
// supported, and storage fields removed.
func (h *History) Request(o RequestOptions) ([]json.RawMessage, error) {
	msgs, err := h.Effective()
	if err != nil {
		return nil, err
	}
	msgs = DropImages(Merge(SinceLastSummary(msgs), "user"), o.Images)
	var out []json.RawMessage
	for _, raw := range msgs {
		out = append(out, sendable(raw, o)...)
	}
	return out, nil
}

// Merge joins consecutive messages of one of the given roles: it concatenates their contents as
// blocks and keeps the later time. A summary absorbs the messages that follow it but is not
// joined to earlier ones; markers are not joined.
func Merge(msgs []json.RawMessage, roles ...string) []json.RawMessage {
	var out []json.RawMessage
	for _, raw := range msgs {
		e := scanEntry(raw)
		n := len(out)
		if n == 0 || !slices.Contains(roles, e.role) || e.summary || e.marker {
			out = append(out, raw)
			continue
		}
		prev := scanEntry(out[n-1])
		if prev.role != e.role || prev.marker {
			out = append(out, raw)
			continue
		}
		blocks := slices.Concat(contentBlocks(out[n-1]), contentBlocks(raw))
		merged := setMember(out[n-1], "content", joinBlocks(blocks))
		if prev.hasTS || e.hasTS {
			merged = setMember(merged, "ts", strconv.AppendFloat(nil, max(prev.ts, e.ts), 'f', -1, 64))
		}
		out[n-1] = merged
	}
	return out
}

// DropImages replaces image blocks by a note, unless images are supported. Images inside tool
// results stay.
func DropImages(msgs []json.RawMessage, supported bool) []json.RawMessage {
	if supported {
		return msgs
	}
	out := make([]json.RawMessage, len(msgs))
	for i, raw := range msgs {
		blocks, changed := blocksOf(raw), false
		for k, b := range blocks {
			if b.kind == "image" {
				blocks[k], changed = textBlock(quote("[Referenced image in conversation]")), true
			}
		}
		if out[i] = raw; changed {
			out[i] = setMember(raw, "content", joinBlocks(blocks))
		}
	}
	return out
}

// sendable converts a stored message to the items to send: zero, one, or two when encrypted
// reasoning becomes a separate item.
func sendable(raw json.RawMessage, o RequestOptions) []json.RawMessage {
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return nil
	}
	if kind, _ := jsonspan.String(f["type"]); kind == "reasoning" && f["role"] == nil {
		if !truthy(f["encrypted_content"]) {
			return nil
		}
		return []json.RawMessage{reasoningItem(f)}
	}
	role, _ := jsonspan.String(f["role"])
	content, items := f["content"], []json.RawMessage(nil)
	if blocks := blocksOf(raw); role == "assistant" && len(blocks) > 0 {
		content, items = withoutReasoning(f, blocks, o)
	}
	out := jsonspan.AppendStringField([]byte{'{'}, "role", role)
	out = append(jsonspan.AppendField(out, "content"), content...)
	if details := f["reasoning_details"]; details != nil {
		out = append(jsonspan.AppendField(out, "reasoning_details"), details...)
	}
	return append(items, append(out, '}'))
}

// withoutReasoning removes an assistant's leading reasoning block if it cannot be sent back, and
// returns encrypted reasoning as a separate item. A single remaining text block becomes a string.
func withoutReasoning(f map[string]json.RawMessage, blocks []rawBlock,
	o RequestOptions) (json.RawMessage, []json.RawMessage) {
	first := blocks[0]
	if first.kind != "reasoning" || truthy(f["reasoning_details"]) {
		return f["content"], nil
	}
	fields, err := jsonspan.Fields(first.raw)
	if err != nil {
		return f["content"], nil
	}
	var items []json.RawMessage
	switch {
	case truthy(fields["encrypted_content"]):
		items = []json.RawMessage{reasoningItem(fields)}
	case o.PreserveReasoning:
		return f["content"], nil
	}
	rest := blocks[1:]
	if len(rest) == 0 {
		return json.RawMessage(`""`), items
	}
	if len(rest) == 1 && rest[0].kind == "text" {
		if text, err := jsonspan.Fields(rest[0].raw); err == nil {
			return text["text"], items
		}
	}
	return joinBlocks(rest), items
}

func reasoningItem(f map[string]json.RawMessage) json.RawMessage {
	out := []byte(`{"type":"reasoning"`)
	if summary := f["summary"]; jsonspan.Kind(summary) == '[' {
		out = append(jsonspan.AppendField(out, "summary"), summary...)
	} else {
		out = append(out, `,"summary":[]`...)
	}
	for _, name := range []string{"encrypted_content", "id"} {
		if f[name] != nil && jsonspan.Kind(f[name]) != 'n' {
			out = append(jsonspan.AppendField(out, name), f[name]...)
		}
	}
	return append(out, '}')
}

// AnswerTools repairs the tool results of a user message before it is stored after the history.
// It removes duplicates, gives results with an unknown ID the ID of the unanswered call at the
// same position, removes results that match no call, and adds an "interrupted" result for each
// unanswered call.
func AnswerTools(user json.RawMessage, history []json.RawMessage) json.RawMessage {
	blocks := blocksOf(user)
	uses := lastUses(history)
	if blocks == nil || len(uses) == 0 {
		return user
	}
	a := answering{uses: uses, taken: map[string]bool{}}
	out := a.match(blocks)
	if missing := a.missing(); len(missing) > 0 || a.changed {
		out = slices.Concat(missing, out)
		return setMember(user, "content", joinBlocks(out))
	}
	return user
}

// lastUses returns the IDs of the tool uses of the last assistant message.
func lastUses(history []json.RawMessage) []string {
	for _, raw := range slices.Backward(history) {
		if scanEntry(raw).role != "assistant" {
			continue
		}
		var ids []string
		for _, b := range blocksOf(raw) {
			if b.kind == "tool_use" {
				ids = append(ids, b.id)
			}
		}
		return ids
	}
	return nil
}

type answering struct {
	uses    []string
	taken   map[string]bool
	changed bool
}

func (a *answering) match(blocks []rawBlock) []rawBlock {
	given := map[string]bool{}
	position := -1
	var out []rawBlock
	for _, b := range blocks {
		if b.kind != "tool_result" {
			out = append(out, b)
			continue
		}
		if given[b.answers] {
			a.changed = true
			continue
		}
		given[b.answers] = true
		position++
		id := a.idFor(b.answers, position)
		if id == "" {
			a.changed = true
			continue
		}
		if id != b.answers {
			b.raw, a.changed = setMember(b.raw, "tool_use_id", quote(id)), true
		}
		a.taken[id] = true
		out = append(out, b)
	}
	return out
}

// idFor returns the call ID for a result: its own if that call is unanswered, else the ID of an
// unanswered call at the same position, else "".
func (a *answering) idFor(own string, position int) string {
	if slices.Contains(a.uses, own) && !a.taken[own] {
		return own
	}
	if position < len(a.uses) && !a.taken[a.uses[position]] {
		return a.uses[position]
	}
	return ""
}

func (a *answering) missing() []rawBlock {
	var out []rawBlock
	for _, id := range a.uses {
		if !a.taken[id] {
			raw := append([]byte(`{"type":"tool_result","tool_use_id":`), quote(id)...)
			raw = append(raw, `,"content":"Tool execution was interrupted before completion."}`...)
			out = append(out, rawBlock{raw: raw, kind: "tool_result", answers: id})
		}
	}
	return out
}
