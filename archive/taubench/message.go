package taubench

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/chat"
)

// simulation reads one simulation. The error is invalid.
func (r *reader) simulation(span jsonspan.Span) (*precis.Conversation, error) {
	f, err := jsonspan.Fields(span.Raw)
	if err != nil {
		return nil, archive.Invalid(fmt.Sprintf("byte %d", span.Offset), err)
	}
	list := member(span.Raw, "traj")
	if list.Raw == nil {
		list = member(span.Raw, "messages")
	}
	b := archive.NewBuilder(r.rec)
	c := b.Conv
	c.ID, c.Model = jsonspan.Text(f, "id"), r.model
	if task := strings.Trim(string(f["task_id"]), `" `); task != "" {
		c.Title = "task " + task
	}
	err = eachMessage(list.Raw, func(raw []byte, offset int) error {
		place := fmt.Sprintf("message at byte %d", span.Offset+list.Offset+offset)
		m, model, err := decode(raw)
		if err != nil {
			return archive.Invalid(place, err)
		}
		if model != "" {
			c.Model = model
		}
		b.Append(m)
		return nil
	})
	if err != nil {
		return nil, err
	}
	system, msgs := chat.SplitSystem(c.Transcript.Messages())
	c.System, c.Transcript = system, precis.NewTranscript(msgs...)
	return c, nil
}

// eachMessage calls read for every message of a list, also for those inside a "tool_messages"
// bundle, with its offset. Results of parallel calls, which tau2 bundles, are passed one by one.
func eachMessage(raw []byte, read func(raw []byte, offset int) error) error {
	for span, err := range jsonspan.Array(raw) {
		if err != nil {
			return archive.Invalid("messages", err)
		}
		bundle := member(span.Raw, "tool_messages")
		if jsonspan.Kind(span.Raw) != '{' || jsonspan.Kind(bundle.Raw) != '[' {
			if err := read(span.Raw, span.Offset); err != nil {
				return err
			}
			continue
		}
		for inner, err := range jsonspan.Array(bundle.Raw) {
			if err == nil {
				err = read(inner.Raw, span.Offset+bundle.Offset+inner.Offset)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// decode decodes a message and returns the model that wrote it.
func decode(raw []byte) (m precis.Message, model string, err error) {
	m, err = chat.DecodeMessage(raw)
	if err != nil {
		return m, "", err
	}
	f := jsonspan.Members(raw)
	m.Raw, m.Fields, m.Format = nil, nil, "" // drop members that no API accepts
	m.Time = archive.ParseTime(jsonspan.Text(f, "timestamp"))
	user := m.Role == precis.RoleUser &&
		(jsonspan.Text(f, "role") == "user" || jsonspan.Text(f, "requestor") == "user")
	for i, b := range m.Content {
		switch b := b.(type) {
		case precis.ToolUse:
			if user {
				m.Content[i] = precis.Text{Text: fmt.Sprintf("[The user runs %s] %s", b.Name, b.Input)}
			}
		case precis.ToolResult:
			b.IsError = jsonspan.Kind(f["error"]) == 't'
			m.Content[i] = b
			if user {
				m.Content[i] = precis.Text{Text: "[What the user's tool returned]\n" + b.Text()}
			}
		}
	}
	if m.Role == precis.RoleAssistant {
		model = modelOf(f["raw_data"])
	}
	return m, model, nil
}

func modelOf(raw json.RawMessage) string { return jsonspan.Text(jsonspan.Members(raw), "model") }
