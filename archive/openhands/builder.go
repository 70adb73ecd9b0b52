package openhands

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"precis"
	"precis/archive"
	"precis/internal/jsonspan"
)

// builder puts the events of one conversation together.
type builder struct {
	rec  *archive.Recording
	conv *precis.Conversation

	events    []seen            // those that a model sees, in order
	uses      map[string]int    // tool use ID to the message that holds it
	answers   map[string]int    // tool use ID to the message that answers it
	renamed   map[string]string // a tool use ID that came again to what it is called now
	forgotten map[string]bool   // keys of events that condensations named
	spoken    map[string]bool   // responses of which an event was read
	summary   string            // of the newest condensation that has one
	offset    int               // how many events stand before it
}

// seen is an event that a model sees.
type seen struct {
	key string // its ID as written
	msg int    // its message; -1 for the system prompt
}

func newBuilder(rec *archive.Recording) *builder {
	return &builder{
		rec: rec, conv: &precis.Conversation{Transcript: &precis.Transcript{}},
		uses: map[string]int{}, answers: map[string]int{}, renamed: map[string]string{},
		forgotten: map[string]bool{}, spoken: map[string]bool{},
	}
}

// event reads one event of either generation.
func (b *builder) event(f map[string]json.RawMessage, place string) error {
	e := event{builder: b, fields: f, key: key(f["id"]), place: place, at: parseTime(jsonspan.Text(f, "timestamp"))}
	if jsonspan.Text(f, "kind") != "" {
		return e.sdk()
	}
	return e.old()
}

// event is the one being read.
type event struct {
	*builder
	fields map[string]json.RawMessage
	key    string
	place  string
	at     time.Time
}

func (e *event) text(name string) string { return jsonspan.Text(e.fields, name) }

// say appends the event's message. One without content is ignored.
func (e *event) say(role precis.Role, blocks ...precis.Block) {
	m := archive.WithoutBlank(precis.Message{Role: role, Content: blocks, Time: e.at})
	if len(m.Content) == 0 {
		e.rec.Ignored++
		return
	}
	n := e.conv.Transcript.Len()
	for i, block := range m.Content {
		switch block := block.(type) {
		case precis.ToolUse:
			block.ID = e.unused(block.ID)
			m.Content[i] = block
			e.uses[block.ID] = n
		case precis.ToolResult:
			e.answers[block.ToolUseID] = n
		}
	}
	e.conv.Transcript.Append(m)
	e.events = append(e.events, seen{e.key, n})
}

// unused returns the ID of a new tool use: the recorded one, with a number when
// it was used before.
func (b *builder) unused(id string) string {
	if _, used := b.uses[id]; !used {
		return id
	}
	for n := len(b.uses) + 1; ; n++ {
		name := fmt.Sprintf("%s_%d", id, n)
		if _, used := b.uses[name]; !used {
			b.renamed[id] = name
			return name
		}
	}
}

// result appends an answer to a tool use.
func (e *event) result(id string, failed bool, blocks ...precis.Block) error {
	return e.answer(precis.ToolResult{ToolUseID: id, Content: blocks, IsError: failed})
}

// answer says the result of a call.
func (e *event) answer(r precis.ToolResult) error {
	if r.ToolUseID == "" {
		return errors.New("the answer names no tool call")
	}
	if name, ok := e.renamed[r.ToolUseID]; ok {
		r.ToolUseID = name
	}
	r.Content = archive.WithoutBlank(precis.Message{Content: r.Content}).Content
	e.say(precis.RoleUser, r)
	return nil
}

// system takes the system prompt and the tools.
func (e *event) system(prompt string, tools json.RawMessage) {
	e.events = append(e.events, seen{e.key, -1})
	if strings.TrimSpace(prompt) != "" {
		e.conv.System = precis.NewText(precis.RoleSystem, prompt)
		e.conv.System.Time = e.at
	}
	if jsonspan.Kind(tools) == '[' {
		e.conv.Tools = tools
	}
}

// key is how an event's ID, a string or a number, is written.
func key(raw []byte) string { return string(bytes.TrimSpace(raw)) }

// parseTime reads a time with a zone, or without one, which is taken as UTC.
func parseTime(s string) time.Time {
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t
	}
	t, _ := time.Parse("2006-01-02T15:04:05.999999999", s)
	return t
}
