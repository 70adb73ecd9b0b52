// Package hermes reads the sessions of Hermes Agent: one JSON document, or JSON lines that
// begin with one of the role "session_meta". Start with [Format].
//
//   - {session_id, model, platform, system_prompt, tools, messages: […]}
//   - {"role":"session_meta", tools, model, platform}, then a message on each line
//
// Messages have the form of Chat Completions with additional times and IDs. No API accepts these,
// so the messages are without their original bytes here.
package hermes

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/chat"
)

// Format is the reader of sessions.
type Format struct{}

// Name returns "hermes".
func (Format) Name() string { return "hermes" }

const (
	header   = "session_meta"
	messages = "messages"
)

// Detect looks for the first line of a session, or for a document with a session's ID beside
// its messages and its system prompt or platform.
func (Format) Detect(_ string, data []byte) bool {
	if jsonspan.Kind(data) != '{' {
		return false
	}
	for _, raw := range archive.FirstLines(data, 1) {
		if role, _ := jsonspan.String(jsonspan.Field(raw, "role")); role == header {
			return true
		}
	}
	seen := map[string]bool{}
	for m, err := range jsonspan.Object(data) {
		if err != nil && m.Name != messages { // data may end within the list
			return false
		}
		seen[m.Name] = true
		if seen["session_id"] && seen[messages] && (seen["system_prompt"] || seen["platform"]) {
			return true
		}
	}
	return false
}

// Read reads a session. The error names the place; lines that hold no message are skipped.
func (Format) Read(src archive.Source) (*archive.Recording, error) {
	r := &reader{rec: &archive.Recording{}, conv: &precis.Conversation{Transcript: &precis.Transcript{}}}
	r.rec.Conversation = r.conv
	for _, raw := range archive.FirstLines(src.Data, 1) {
		if role, _ := jsonspan.String(jsonspan.Field(raw, "role")); role == header {
			r.lines(src.Data)
			return r.rec, nil
		}
	}
	return r.rec, r.document(src.Data)
}

type reader struct {
	rec   *archive.Recording
	conv  *precis.Conversation
	names archive.CallIDs
}

func (r *reader) lines(data []byte) {
	for l := range archive.Lines(data, r.rec) {
		f, err := jsonspan.Fields(l.Raw)
		if err != nil {
			r.rec.Skip(l.Number, err)
			continue
		}
		if role, _ := jsonspan.String(f["role"]); role == header {
			r.rec.Ignored++
			r.meta(f)
			continue
		}
		if err := r.message(l.Raw); err != nil {
			r.rec.Skip(l.Number, err)
		}
	}
}

func (r *reader) document(data []byte) error {
	if err := jsonspan.Valid(data); err != nil {
		return archive.Invalid("", err)
	}
	for m, err := range jsonspan.Object(data) {
		if err != nil {
			return archive.Invalid("", err)
		}
		if m.Name != messages {
			r.meta(map[string]json.RawMessage{m.Name: m.Raw})
			continue
		}
		n := 0
		for span, err := range jsonspan.Array(m.Raw) {
			if err == nil {
				err = r.message(span.Raw)
			}
			if err != nil {
				return archive.Invalid(fmt.Sprintf("message %d at byte %d", n, m.Offset+span.Offset), err)
			}
			n++
		}
	}
	return nil
}

// meta reads properties of the session.
func (r *reader) meta(f map[string]json.RawMessage) {
	set := func(name string, to *string) {
		if s, _ := jsonspan.String(f[name]); s != "" {
			*to = s
		}
	}
	set("session_id", &r.conv.ID)
	set("model", &r.conv.Model)
	set("title", &r.conv.Title)
	if tools := f["tools"]; jsonspan.Kind(tools) == '[' {
		r.conv.Tools = tools
	}
	if s, _ := jsonspan.String(f["system_prompt"]); strings.TrimSpace(s) != "" {
		r.conv.System = precis.NewText(precis.RoleSystem, s)
	}
}

// message adds a message. A leading system message is the system prompt.
func (r *reader) message(raw []byte) error {
	m, err := chat.DecodeMessage(raw)
	if err != nil {
		return err
	}
	at, _ := jsonspan.String(jsonspan.Field(raw, "timestamp"))
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05"} {
		if m.Time, err = time.Parse(layout, at); err == nil {
			break
		}
	}
	m.Raw, m.Fields, m.Format = nil, nil, ""
	for i, b := range m.Content {
		switch b := b.(type) {
		case precis.ToolUse:
			b.Raw, b.Fields = nil, nil
			m.Content[i] = b
		case precis.ToolResult:
			b.Raw, b.Fields = nil, nil
			m.Content[i] = b
		}
	}
	m = r.names.Assign(archive.WithoutBlank(m))
	switch {
	case len(m.Content) == 0:
		r.rec.Ignored++
	case m.Role == precis.RoleSystem && r.conv.Transcript.Len() == 0 && !r.conv.HasSystem():
		r.conv.System = m
	default:
		r.conv.Transcript.Append(m)
	}
	return nil
}
