package roo

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/anthropic"
)

// Roo's tags can hide messages but cannot shorten one block. Edits that shorten blocks are
// written into the history file itself as patches: the file holds the short form and the sidecar
// the original bytes. In memory the history always holds the originals: reading undoes the
// patches, writing applies them.

// patch is one content block that the file holds in another form.
type patch struct {
	Message int    `json:"message"` // stored message, from 0
	Block   int    `json:"block"`   // index in its content
	Was     string `json:"was"`     // the original bytes of the block
	Now     string `json:"now"`     // the bytes in the file
}

// CanPatch reports whether an edit can be written into the history file: it must shorten results
// or texts in place, as selective condensation does.
func CanPatch(e precis.Edit) bool {
	if e.Kind != precis.KindPruning || len(e.Replace) == 0 {
		return false
	}
	return !slices.ContainsFunc(e.Replace, func(r precis.Replacement) bool {
		switch r.WithBlock.(type) {
		case precis.ToolResult, precis.Text:
			return r.Block == nil || r.Restore
		}
		return true
	})
}

// unpatch restores the original blocks in the history after reading. A block that the editor has
// changed since the patch stays as it is, with a warning.
func (t *Task) unpatch(rec *archive.Recording) {
	for _, p := range slices.Backward(t.sidecar.Patches) {
		i, found := t.History.find(p)
		if !found {
			rec.Warn(SidecarName, "the patch of message %d, block %d is left out: the block has changed",
				p.Message, p.Block)
			continue
		}
		m, span, _ := blockAt(t.History.Raw(i), p.Block)
		at := m.Offset + span.Offset
		t.History.list.items[i].raw = splice(t.History.Raw(i), at, at+len(span.Raw), []byte(p.Was))
	}
	t.History.scan()
}

// find returns the stored message that contains a patched block. The message may have moved
// since, and its JSON may be formatted differently.
func (h *History) find(p patch) (int, bool) {
	if p.Message < h.Len() && h.holds(p.Message, p) {
		return p.Message, true
	}
	for i := range h.Len() {
		if h.holds(i, p) {
			return i, true
		}
	}
	return 0, false
}

func (h *History) holds(i int, p patch) bool {
	_, span, ok := blockAt(h.Raw(i), p.Block)
	return ok && (string(span.Raw) == p.Now || sameJSON(span.Raw, []byte(p.Now)))
}

// sameJSON reports whether two JSON texts encode the same value.
func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	one, err := json.Marshal(x)
	if err != nil {
		return false
	}
	two, err := json.Marshal(y)
	return err == nil && string(one) == string(two)
}

// blockAt returns the content of a stored message and the position of block n in it. A string
// content counts as a single block.
func blockAt(raw json.RawMessage, n int) (content jsonspan.Member, span jsonspan.Span, ok bool) {
	content, ok = findMember(raw, "content")
	if ok && n == 0 && jsonspan.Kind(content.Raw) == '"' {
		return content, jsonspan.Span{Raw: content.Raw}, true
	}
	if !ok || jsonspan.Kind(content.Raw) != '[' {
		return content, span, false
	}
	i := 0
	for s, err := range jsonspan.Array(content.Raw) {
		if err != nil {
			return content, span, false
		}
		if i == n {
			return content, s, true
		}
		i++
	}
	return content, span, false
}

// place is a block of the transcript.
type place struct{ message, block int }

// shortened returns the blocks to patch, with the newest edit of each. Blocks restored since are
// left out.
func (s *sidecar) shortened() map[place]precis.Replacement {
	out := map[place]precis.Replacement{}
	for _, e := range s.Edits {
		for _, r := range e.Replace {
			switch {
			case r.Restore && r.Block != nil:
				delete(out, place{r.From, r.Block.Index})
			case r.Restore:
				maps.DeleteFunc(out, func(p place,
					_ precis.Replacement) bool {
					return r.From <= p.message && p.message < r.To
				})
			case r.Block != nil && slices.Contains(s.Patched, e.ID):
				out[place{r.From, r.Block.Index}] = r
			}
		}
	}
	return out
}

// patched returns the bytes of the history file with patches applied, and records the patches in
// the sidecar. A block that differs from the one its edit was made on stays as it is.
func (t *Task) patched() ([]byte, error) {
	t.sidecar.Patches = nil
	want := t.sidecar.shortened()
	if len(want) == 0 {
		return t.History.Bytes(), nil
	}
	r, err := t.History.read(t.UI)
	if err != nil {
		return nil, err
	}
	list := *t.History.list
	list.items = slices.Clone(list.items)
	places := slices.SortedFunc(maps.Keys(want), func(a, b place) int {
		if a.message != b.message {
			return a.message - b.message
		}
		return a.block - b.block
	})
	for _, p := range places {
		if p.message >= len(r.entryOf) {
			continue
		}
		said := r.transcript.At(p.message).Content
		if p.block >= len(said) || precis.HashBlock(said[p.block]) != want[p].Block.Hash {
			continue
		}
		k := r.entryOf[p.message]
		was, now, raw, ok := patchBlock(list.items[k].raw, p.block, want[p].WithBlock)
		if !ok {
			return nil, precis.Errorf(precis.CodeInvalid, "patch history",
				"block %d of stored message %d cannot be replaced in its place", p.block, k)
		}
		list.items[k].raw = raw
		t.sidecar.Patches = append(t.sidecar.Patches, patch{Message: k, Block: p.block, Was: was, Now: now})
	}
	return list.bytes(), nil
}

// patchBlock replaces block n of a stored message by with, and returns the block's bytes before
// and after. All other bytes stay. Not ok: the result would not decode to with.
func patchBlock(raw json.RawMessage, n int,
	with precis.Block) (was, now string, out json.RawMessage, ok bool) {
	content, span, ok := blockAt(raw, n)
	kind := jsonspan.Kind(span.Raw)
	var block json.RawMessage
	switch b := with.(type) {
	case precis.ToolResult:
		if kind == '{' {
			block = setMember(span.Raw, "content", anthropic.AppendContent(nil, b.Content, anthropic.Format))
		}
	case precis.Text:
		if block = quote(b.Text); kind == '{' {
			block = setMember(span.Raw, "text", block)
		}
	}
	if !ok || block == nil {
		return "", "", raw, false
	}
	at := content.Offset + span.Offset
	out = splice(raw, at, at+len(span.Raw), block)
	m, err := anthropic.DecodeMessage(out)
	if err != nil || n >= len(m.Content) || !precis.EqualBlocks(m.Content[n], with) {
		return "", "", raw, false
	}
	return string(span.Raw), string(block), out, true
}
