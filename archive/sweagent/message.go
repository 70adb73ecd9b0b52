package sweagent

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

// reader collects the messages of one trajectory.
type reader struct {
	*archive.Builder
	model string // named by the newest response
}

// message reads one message.
func (r *reader) message(raw []byte) error {
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return err
	}
	extra := jsonspan.Members(f["extra"])
	at := when(extra, jsonspan.Members(extra["response"]))
	if model := jsonspan.Text(jsonspan.Members(extra["response"]), "model"); model != "" {
		r.model = model
	}
	if f["role"] == nil && (f["type"] != nil || f["output"] != nil) {
		return r.items(raw, f, at)
	}
	if jsonspan.Text(f, "role") == "exit" { // how the run ended; the model never saw it
		r.Rec.Ignored++
		return nil
	}
	m, err := chat.DecodeMessage(raw)
	if err != nil {
		return err
	}
	setToolUseID(&m, f["tool_call_ids"])
	m.Content = append(thoughts(m, f["thinking_blocks"]), m.Content...)
	if words := thoughtAndAction(f); len(m.Content) == 0 && words != "" {
		m.Content = []precis.Block{precis.Text{Text: words}}
	}
	r.add(m, at)
	return nil
}

// add appends a message without its raw bytes, which have members that no API accepts.
func (r *reader) add(m precis.Message, at time.Time) {
	m.Raw, m.Fields, m.Format, m.Time = nil, nil, "", at
	r.Append(m)
}

// items reads mini-SWE-agent's messages in the Responses API: an input item, or a response with
// items as output.
func (r *reader) items(raw []byte, f map[string]json.RawMessage, at time.Time) error {
	list := f["output"]
	if jsonspan.Kind(list) != '[' || f["type"] != nil {
		list = slices.Concat([]byte("["), raw, []byte("]"))
	}
	if model := jsonspan.Text(f, "model"); model != "" {
		r.model = model
	}
	msgs, err := responses.DecodeMessages(list)
	if err != nil {
		return err
	}
	for _, m := range msgs {
		r.add(m, at)
	}
	return nil
}

// setToolUseID sets the ID of a tool's answer from SWE-agent's list of IDs.
func setToolUseID(m *precis.Message, ids json.RawMessage) {
	for i, b := range m.Content {
		r, ok := b.(precis.ToolResult)
		if !ok || r.ToolUseID != "" || jsonspan.Kind(ids) != '[' {
			continue
		}
		for span, err := range jsonspan.Array(ids) {
			if err == nil {
				r.ToolUseID, _ = jsonspan.String(span.Raw)
			}
			break
		}
		m.Content[i] = r
	}
}

// thoughts reads the signed reasoning that SWE-agent stores beside a message, unless the message
// has reasoning already.
func thoughts(m precis.Message, raw json.RawMessage) []precis.Block {
	for _, b := range m.Content {
		if _, ok := b.(precis.Thinking); ok {
			return nil
		}
	}
	return archive.DecodeReasoning(raw)
}

// thoughtAndAction returns the text of a message that has only a thought and an action.
func thoughtAndAction(f map[string]json.RawMessage) string {
	thought, action := strings.TrimSpace(jsonspan.Text(f, "thought")), strings.TrimSpace(jsonspan.Text(f,
		"action"))
	if action != "" {
		action = "```\n" + action + "\n```"
	}
	return strings.TrimSpace(thought + "\n\n" + action)
}

// when returns the time in a message's extra members, which is in seconds.
func when(extra, response map[string]json.RawMessage) time.Time {
	for _, raw := range []json.RawMessage{extra["timestamp"], response["created"], response["created_at"]} {
		s, err := strconv.ParseFloat(string(raw), 64)
		if err == nil && s > 0 && s < 1<<40 {
			return time.UnixMicro(int64(s * 1e6)).UTC()
		}
	}
	return time.Time{}
}
