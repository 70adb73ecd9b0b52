// Package gemini reads conversations in the form of the Gemini API and the sessions that Gemini
// CLI records. Start with [Format].
//
//   - a JSON array of contents, {role, parts}, or an object with such an array under
//     contents or history, as in a request's body or a saved checkpoint
//   - {sessionId, messages: [{type, content, toolCalls, thoughts}]}, a recorded
//     session, and its newer form of JSON lines
//
// When Gemini CLI compresses a session, it rewrites all messages and begins with a snapshot. This
// becomes an edit, so that the hidden messages are preserved.
//
// Calls and answers without an ID are paired by name and order. Reasoning is unsigned: a thought
// signature is valid only for the model's own API.
package gemini

import (
	"fmt"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Format is the reader of Gemini's conversations.
type Format struct{}

// Name returns "gemini".
func (Format) Name() string { return "gemini" }

// Detect looks for contents with parts, or for members specific to a session.
func (Format) Detect(_ string, data []byte) bool {
	if jsonspan.Kind(data) == '[' {
		return contentList(data)
	}
	if jsonspan.Kind(data) != '{' {
		return false
	}
	if lines := archive.FirstLines(data, 1); len(lines) == 1 && header(lines[0]) {
		return true
	}
	session := false
	for m, err := range jsonspan.Object(data) {
		switch {
		case err != nil:
			return false
		case m.Name == "sessionId":
			session = jsonspan.Kind(m.Raw) == '"'
		case m.Name == "contents", m.Name == "history":
			if contentList(m.Raw) {
				return true
			}
		case m.Name == "messages":
			if session && recordList(m.Raw) {
				return true
			}
		}
	}
	return false
}

// contentList reports whether raw is an array that begins with a content.
func contentList(raw []byte) bool {
	f := jsonspan.First(raw)
	role := jsonspan.Text(f, "role")
	return jsonspan.Kind(f["parts"]) == '[' && (f["role"] == nil || slices.Contains(roles, role))
}

var roles = []string{"user", "model", "function", "system"}

// recordList reports whether raw is an array that begins with a session's
// message.
func recordList(raw []byte) bool {
	f := jsonspan.First(raw)
	return f["content"] != nil && slices.Contains(recordTypes, jsonspan.Text(f, "type"))
}

var recordTypes = []string{"user", "gemini", "info", "error", "warning"}

// header reports whether a line is the first of a session's lines.
func header(raw []byte) bool {
	f := jsonspan.Members(raw)
	return jsonspan.Text(f, "sessionId") != "" && jsonspan.Text(f, "projectHash") != "" &&
		f["messages"] == nil
}

// Read reads a conversation or a session. Malformed lines of a session are
// skipped; a malformed document is an error that names the place.
func (Format) Read(src archive.Source) (*archive.Recording, error) {
	rec := &archive.Recording{}
	if jsonspan.Kind(src.Data) == '{' {
		if lines := archive.FirstLines(src.Data, 1); len(lines) == 1 && header(lines[0]) {
			readLines(src.Data, rec)
			return rec, nil
		}
	}
	if err := jsonspan.Valid(src.Data); err != nil {
		return nil, archive.Invalid("", err)
	}
	b := newBuilder(rec)
	rec.Conversation = b.Conv
	if jsonspan.Kind(src.Data) == '[' {
		return rec, b.contents(jsonspan.Span{Raw: src.Data})
	}
	return rec, b.document(src.Data)
}

// document reads an object: a request's body, a checkpoint or a session.
func (b *builder) document(data []byte) error {
	var list jsonspan.Span
	read := b.contents
	for m, err := range jsonspan.Object(data) {
		if err != nil {
			return archive.Invalid("", err)
		}
		switch m.Name {
		case "contents", "history":
			list, read = m.Span, b.contents
		case "messages":
			list, read = m.Span, b.records
		case "systemInstruction", "system_instruction":
			b.Conv.System = instruction(m.Raw)
		case "tools":
			if jsonspan.Kind(m.Raw) == '[' {
				b.Conv.Tools = m.Raw
			}
		case "model":
			b.Conv.Model, _ = jsonspan.String(m.Raw)
		case "sessionId":
			b.Conv.ID, _ = jsonspan.String(m.Raw)
		case "summary":
			b.Conv.Title, _ = jsonspan.String(m.Raw)
		}
	}
	if list.Raw == nil {
		return archive.Invalid("", fmt.Errorf("no contents"))
	}
	return read(list)
}

// contents reads an array of contents.
func (b *builder) contents(list jsonspan.Span) error {
	return archive.Each(list, "content", func(raw []byte) error {
		f, err := jsonspan.Fields(raw)
		if err != nil {
			return err
		}
		role := precis.RoleUser
		switch name := jsonspan.Text(f, "role"); {
		case name == "model":
			role = precis.RoleAssistant
		case name == "system":
			role = precis.RoleSystem
		case !slices.Contains(roles, name) && name != "":
			return fmt.Errorf("unknown role %q", name)
		}
		blocks, err := b.parts(f["parts"], role)
		if err != nil {
			return err
		}
		b.addMessage(precis.Message{Role: role, Content: blocks})
		return nil
	})
}
