// Package plain reads a conversation from one JSON document: the body of a request to any of the
// three APIs, or its messages alone. It also reads one message per line. Start with [Format].
//
//   - {"system":…, "messages":[…], "tools":…, "model":…}, in the style of the
//     Messages API or of Chat Completions
//   - {"instructions":…, "input":…}, of the Responses API
//   - […], the messages or items alone
//   - {"role":…, "content":…}, a message or an item on each line
//
// The style is recognized by content. The list may also be called "traj", as in the trajectories of
// tau-bench.
package plain

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

// Format is the reader of plain conversations. Put it last in a list of formats, since many others
// are JSON documents with messages in them.
type Format struct{}

// Name returns "plain".
func (Format) Name() string { return "plain" }

// lists are the names of the member with the messages.
var lists = map[string]bool{"messages": true, "traj": true, "input": true}

// Detect looks for a list with a message or an item as its first element. If data ends within the
// list, the list's name suffices.
func (Format) Detect(_ string, data []byte) bool {
	switch jsonspan.Kind(data) {
	case '[':
		return messageList(data)
	case '{':
	default:
		return false
	}
	text, responses, wanted := false, false, false
	for m, err := range jsonspan.Object(data) {
		switch {
		case lists[m.Name] && err != nil:
			return true
		case err != nil:
			return messageLines(data)
		case lists[m.Name] && messageList(m.Raw):
			return true
		case m.Name == "messages" && namesRole(m.Raw):
			wanted = true // defects are reported by Read
		case m.Name == "input":
			text = jsonspan.Kind(m.Raw) == '"'
		case bodyFields[m.Name]:
			responses = true
		}
	}
	return text && responses || wanted || messageLines(data)
}

// bodyFields are the members that identify a Responses body with a text as input.
var bodyFields = map[string]bool{"instructions": true, "store": true, "max_output_tokens": true,
	"reasoning": true, "include": true, "previous_response_id": true}

// namesRole reports whether raw is an array and its first element has a role of any type.
func namesRole(raw []byte) bool {
	for span, err := range jsonspan.Array(raw) {
		if err != nil {
			return false
		}
		f, err := jsonspan.Fields(span.Raw)
		return err == nil && f["role"] != nil
	}
	return false
}

// messageList reports whether raw is an array that begins with a message or an item.
func messageList(raw []byte) bool {
	for span, err := range jsonspan.Array(raw) {
		if err != nil {
			return false
		}
		f, err := jsonspan.Fields(span.Raw)
		return err == nil && styleOf(f) != unknown
	}
	return false
}

// Read reads the document. The error names the place.
func (Format) Read(src archive.Source) (*archive.Recording, error) {
	rec := &archive.Recording{}
	d, err := parseAny(src.Data, rec)
	if err != nil {
		return nil, archive.Invalid("", err)
	}
	c := &precis.Conversation{Tools: d.tools, Model: d.text("model"), ID: d.text("id"),
		Title: d.text("title")}
	rec.Conversation = c
	if c.Title == "" {
		c.Title = d.text("name")
	}
	style := d.style()
	msgs, err := d.decode(style)
	if err != nil {
		return nil, err
	}
	if c.System, err = d.readSystem(style); err != nil {
		return nil, err
	}
	if !c.HasSystem() && style != messages {
		c.System, msgs = chat.SplitSystem(msgs)
	}
	c.Transcript = precis.NewTranscript(removeRefused(msgs, rec)...)
	return rec, nil
}

// parseAny reads a document, or one message per line.
func parseAny(data []byte, rec *archive.Recording) (*document, error) {
	if jsonspan.Kind(data) == '{' && messageLines(data) {
		return parseLines(data, rec), nil
	}
	return parse(data)
}

// removeRefused removes content that APIs refuse (blank text, and messages without content or settings), and
// names the calls without a name.
func removeRefused(msgs []precis.Message, rec *archive.Recording) []precis.Message {
	out := make([]precis.Message, 0, len(msgs))
	var names archive.CallIDs
	for _, m := range msgs {
		if !m.OnlySettings() {
			m = names.Assign(archive.WithoutBlank(m))
		}
		if len(m.Content) == 0 && !m.OnlySettings() {
			rec.Ignored++
			continue
		}
		out = append(out, m)
	}
	return out
}

// decode reads the list in its style.
func (d *document) decode(s style) ([]precis.Message, error) {
	var msgs []precis.Message
	var err error
	switch s {
	case messages:
		msgs, err = anthropic.DecodeMessages(d.list.Raw)
	case completions:
		msgs, err = chat.DecodeMessages(d.list.Raw)
	case items:
		msgs, err = responses.DecodeMessages(d.list.Raw)
	default:
		return nil, archive.Invalid("", errors.New(cmp.Or(d.wrong, "no list of messages")))
	}
	if err != nil && d.name != "" {
		err = archive.Invalid(fmt.Sprintf("%q, which begins at byte %d", d.name, d.list.Offset), err)
	}
	return msgs, err
}

// readSystem reads the system prompt next to the list. Its raw bytes are the exact value.
func (d *document) readSystem(s style) (precis.Message, error) {
	raw, name, format := d.system, "system", anthropic.Format
	switch s {
	case completions:
		format = chat.Format
	case items:
		raw, name, format = d.instructions, "instructions", responses.Format
	}
	if k := jsonspan.Kind(raw); k == 0 || k == 'n' {
		return precis.Message{}, nil
	}
	content, err := anthropic.DecodeContent(raw)
	if err != nil {
		return precis.Message{}, archive.Invalid(name, err)
	}
	if len(content) == 0 {
		return precis.Message{}, nil
	}
	return precis.Message{Role: precis.RoleSystem, Content: content, Raw: raw, Format: format}, nil
}
