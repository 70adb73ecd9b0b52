package roo

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// UI is the content of ui_messages.json: the displayed messages and the records of condensations
// and truncations. A nil UI is empty. It is not safe for concurrent use.
type UI struct {
	list *list
	msgs []uiMessage
}

// uiMessage holds the members of one UI message that precis reads.
type uiMessage struct {
	ts           float64
	say          string
	text         string
	condenseID   string
	truncationID string
	event        event
	// Cline only: first and last stored message that it does not send; 0, 0 if it sends all
	deleted [2]int
}

// event is Roo's record of one condensation or truncation.
type event struct {
	ts            float64
	before, after int
	cost          float64
	hasAfter      bool
}

// ParseUI reads the file's content. The error is [precis.CodeInvalid].
func ParseUI(data []byte) (*UI, error) {
	l, err := parseList(data)
	if err != nil {
		return nil, precis.Errorf(precis.CodeInvalid, "read UI messages", "%w", err)
	}
	u := &UI{list: l}
	u.scan()
	return u, nil
}

// Bytes returns the file's content.
func (u *UI) Bytes() []byte { return u.list.bytes() }

// Len returns the number of UI messages; 0 for nil.
func (u *UI) Len() int {
	if u == nil {
		return 0
	}
	return len(u.msgs)
}

func (u *UI) scan() {
	u.msgs = make([]uiMessage, len(u.list.items))
	for i, it := range u.list.items {
		u.msgs[i] = scanUI(it.raw)
	}
}

func scanUI(raw json.RawMessage) uiMessage {
	var m uiMessage
	for f, err := range jsonspan.Object(raw) {
		if err != nil {
			break
		}
		switch f.Name {
		case "ts":
			m.ts = number(f.Raw)
		case "say":
			m.say, _ = jsonspan.String(f.Raw)
		case "text":
			m.text, _ = jsonspan.String(f.Raw)
		case "contextCondense":
			m.condenseID = m.readEvent(f.Raw, "condenseId")
		case "contextTruncation":
			m.truncationID = m.readEvent(f.Raw, "truncationId")
		case "conversationHistoryDeletedRange":
			m.deleted = rangeOf(f.Raw)
		}
	}
	m.event.ts = m.ts
	return m
}

func (m *uiMessage) readEvent(raw json.RawMessage, idName string) string {
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return ""
	}
	m.event.before = int(number(f["prevContextTokens"]))
	m.event.after = int(number(f["newContextTokens"]))
	m.event.hasAfter = f["newContextTokens"] != nil
	m.event.cost = number(f["cost"])
	id, _ := jsonspan.String(f[idName])
	return id
}

// rangeOf parses a list of two numbers; the zero value for anything else.
func rangeOf(raw json.RawMessage) (out [2]int) {
	var n []int
	if json.Unmarshal(raw, &n) == nil && len(n) == 2 && n[0] > 0 && n[0] <= n[1] {
		out = [2]int(n)
	}
	return out
}

// deleted returns the range (first and last stored message) that Cline does not send since its
// newest truncation, and the time of that truncation; not ok if it sends all. Cline records the
// range with each message that it shows.
func (u *UI) deleted() (span [2]int, ts float64, ok bool) {
	if u == nil {
		return span, 0, false
	}
	for i := len(u.msgs) - 1; i >= 0; i-- {
		m := u.msgs[i]
		if m.deleted == [2]int{} && span == m.deleted {
			continue // it records no range
		}
		if span != [2]int{} && m.deleted != span {
			break
		}
		span, ts = m.deleted, m.ts
	}
	return span, ts, span != [2]int{}
}

// events returns the recorded condensations and truncations by ID.
func (u *UI) events() map[string]event {
	out := map[string]event{}
	if u == nil {
		return out
	}
	for _, m := range u.msgs {
		for _, id := range []string{m.condenseID, m.truncationID} {
			if id != "" {
				out[id] = m.event
			}
		}
	}
	return out
}

// Record adds Roo's event for an edit that was applied to the history. Now is in milliseconds;
// the event's time is always after the last UI message.
func (u *UI) Record(e precis.Edit, now float64) {
	if n := len(u.msgs); n > 0 && u.msgs[n-1].ts >= now {
		now = u.msgs[n-1].ts + 1
	}
	r := e.Report
	say, name, body := "sliding_window_truncation", "contextTruncation", []byte{'{'}
	if e.Kind == precis.KindCondensation {
		say, name = "condense_context", "contextCondense"
		body = append(jsonspan.AppendField(body, "cost"), strconv.FormatFloat(r.CostUSD, 'f', -1, 64)...)
	} else {
		body = jsonspan.AppendStringField(body, "truncationId", e.ID)
		body = appendInt(body, "messagesRemoved", r.Messages)
	}
	body = appendInt(appendInt(body, "prevContextTokens", r.TokensBefore), "newContextTokens", r.TokensAfter)
	if e.Kind == precis.KindCondensation {
		body = jsonspan.AppendStringField(body, "summary", summaryOf(e))
		body = jsonspan.AppendStringField(body, "condenseId", e.ID)
	}
	raw := append(jsonspan.AppendField([]byte{'{'}, "ts"), strconv.FormatFloat(now, 'f', -1, 64)...)
	raw = jsonspan.AppendStringField(jsonspan.AppendStringField(raw, "type", "say"), "say", say)
	raw = append(append(jsonspan.AppendField(raw, name), append(body, '}')...), '}')
	u.list.insert(len(u.msgs), raw)
	u.scan()
}

// summaryOf returns the text that Roo displays for a condensation: the summary without its
// heading and its attachments for the model.
func summaryOf(e precis.Edit) string {
	for _, b := range e.Replace[0].With[0].Content {
		if text, ok := b.(precis.Text); ok {
			return strings.TrimPrefix(text.Text, "## Conversation Summary\n")
		}
	}
	return ""
}

func appendInt(dst []byte, name string, n int) []byte {
	return strconv.AppendInt(jsonspan.AppendField(dst, name), int64(n), 10)
}

// Forget removes the event of an edit, if there is one.
func (u *UI) Forget(id string) {
	u.list.keep(func(i int) bool { return u.msgs[i].condenseID != id && u.msgs[i].truncationID != id })
	u.scan()
}

// cutAt removes the UI messages from a time on and returns the IDs of the summaries and markers
// that they record. A time of 0 is unknown: it removes no message.
func (u *UI) cutAt(ts float64) map[string]bool {
	gone := map[string]bool{}
	if u == nil || ts == 0 {
		return gone
	}
	at := len(u.msgs)
	for i, m := range u.msgs {
		if m.ts >= ts {
			at = i
			break
		}
	}
	gone = u.recordedFrom(at)
	u.list.keep(func(i int) bool { return i < at })
	u.scan()
	return gone
}

// recordedFrom returns the IDs of summaries and markers that the UI messages from index i on
// record.
func (u *UI) recordedFrom(i int) map[string]bool {
	out := map[string]bool{}
	for _, m := range u.msgs[i:] {
		for _, id := range []string{m.condenseID, m.truncationID} {
			if id != "" {
				out[id] = true
			}
		}
	}
	return out
}
