package roo

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/anthropic"
)

// History is the content of api_conversation_history.json: every message and the tags that hide
// some of them. Change it with [History.Apply], [History.Remove] and [Rewind]; unchanged messages
// keep their bytes. It is not safe for concurrent use.
type History struct {
	list    *list
	entries entries // of list.items, in order
}

// entries are the scanned stored messages, in order.
type entries []entry

// entry holds the members of one stored message that precis reads.
type entry struct {
	role             string
	ts               float64
	hasTS            bool // ts is a number
	strict           bool // isSummary is true
	summary          bool // isSummary is truthy
	condenseID       string
	condenseParent   string
	marker           bool // isTruncationMarker is truthy
	truncationID     string
	truncationParent string
}

// ParseHistory reads the file's content. The error is [precis.CodeInvalid] and
// names the byte at fault.
func ParseHistory(data []byte) (*History, error) {
	l, err := parseList(data)
	if err != nil {
		return nil, precis.Errorf(precis.CodeInvalid, "read history", "%w", err)
	}
	h := &History{list: l}
	h.scan()
	return h, nil
}

// Bytes returns the file's content.
func (h *History) Bytes() []byte { return h.list.bytes() }

// Len returns the number of stored messages, summaries and markers included.
func (h *History) Len() int { return len(h.entries) }

// Raw returns stored message i.
func (h *History) Raw(i int) json.RawMessage { return h.list.items[i].raw }

func (h *History) scan() {
	h.entries = make(entries, len(h.list.items))
	for i, it := range h.list.items {
		h.entries[i] = scanEntry(it.raw)
	}
}

func scanEntry(raw json.RawMessage) entry {
	var e entry
	for m, err := range jsonspan.Object(raw) {
		if err != nil {
			break
		}
		switch m.Name {
		case "role":
			e.role, _ = jsonspan.String(m.Raw)
		case "ts":
			if e.hasTS = jsonspan.Kind(m.Raw) == '0'; e.hasTS {
				e.ts = number(m.Raw)
			}
		case "isSummary":
			e.strict, e.summary = jsonspan.Kind(m.Raw) == 't', truthy(m.Raw)
		case "condenseId":
			e.condenseID, _ = jsonspan.String(m.Raw)
		case "condenseParent":
			e.condenseParent, _ = jsonspan.String(m.Raw)
		case "isTruncationMarker":
			e.marker = truthy(m.Raw)
		case "truncationId":
			e.truncationID, _ = jsonspan.String(m.Raw)
		case "truncationParent":
			e.truncationParent, _ = jsonspan.String(m.Raw)
		}
	}
	return e
}

// decode turns a stored message into one that can be sent: storage fields are
// gone, plain reasoning is [precis.Thinking] without a signature.
func (h *History) decode(i int) (precis.Message, error) {
	raw, e := h.Raw(i), h.entries[i]
	var m precis.Message
	if e.role == "" {
		f, err := jsonspan.Fields(raw)
		if err != nil {
			return m, err
		}
		kind, _ := jsonspan.String(f["type"])
		if kind != "reasoning" {
			return m, errors.New("the message has no role")
		}
		text, _ := jsonspan.String(f["text"])
		m = precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.Thinking{Text: text}}}
	} else {
		var err error
		if m, err = anthropic.DecodeMessage(raw); err != nil {
			return m, err
		}
		for k, b := range m.Content {
			m.Content[k] = reasoning(b)
		}
	}
	m.Raw, m.Fields, m.Format = nil, nil, anthropic.Format // the fields are the task's
	if e.hasTS && e.ts > 0 {
		m.Time = time.UnixMilli(int64(e.ts)).UTC()
	}
	return m, nil
}

// reasoning turns Roo's own reasoning blocks, which no API takes back as they
// are, into thinking without a signature.
func reasoning(b precis.Block) precis.Block {
	o, ok := b.(precis.Opaque)
	if !ok || o.Type != "reasoning" && o.Type != "thoughtSignature" {
		return b
	}
	f, err := jsonspan.Fields(o.Raw)
	if err != nil {
		return b
	}
	text, _ := jsonspan.String(f["text"])
	return precis.Thinking{Text: text}
}
