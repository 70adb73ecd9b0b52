package openhands

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// builder assembles the events of one conversation.
type builder struct {
	*archive.Builder

	events        []visibleEvent    // events visible to a model, in order
	uses          map[string]int    // tool use ID to the message with the call
	answers       map[string]int    // tool use ID to the message with the answer
	renamed       map[string]string // by duplicate tool use ID: its new name
	forgotten     map[string]bool   // keys of events named by condensations
	readResponses map[string]bool   // IDs of model responses with an event already read
	summary       string            // of the newest condensation that has one
	offset        int               // number of events before the summary
}

// visibleEvent is an event visible to a model.
type visibleEvent struct {
	key string // its ID as written
	msg int    // its message; -1 for the system prompt
}

func newBuilder(rec *archive.Recording) *builder {
	return &builder{
		Builder: archive.NewBuilder(rec),
		uses:    map[string]int{}, answers: map[string]int{}, renamed: map[string]string{},
		forgotten: map[string]bool{}, readResponses: map[string]bool{},
	}
}

// event reads one event of either generation.
func (b *builder) event(f map[string]json.RawMessage, place string) error {
	e := event{builder: b, fields: f, key: key(f["id"]), place: place,
		at: archive.ParseTime(jsonspan.Text(f, "timestamp"))}
	if jsonspan.Text(f, "kind") != "" {
		return e.readSDK()
	}
	return e.readOld()
}

// event is the event being read.
type event struct {
	*builder
	fields map[string]json.RawMessage
	key    string
	place  string
	at     time.Time
}

func (e *event) text(name string) string { return jsonspan.Text(e.fields, name) }

// addMessage appends the event's message.
func (e *event) addMessage(role precis.Role, blocks ...precis.Block) {
	n := e.Conv.Transcript.Len()
	for i, block := range blocks {
		switch block := block.(type) {
		case precis.ToolUse:
			block.ID = e.unusedID(block.ID)
			blocks[i] = block
			e.uses[block.ID] = n
		case precis.ToolResult:
			e.answers[block.ToolUseID] = n
		}
	}
	if e.Append(precis.Message{Role: role, Content: blocks, Time: e.at}) {
		e.events = append(e.events, visibleEvent{e.key, n})
	}
}

// unusedID returns the ID of a new tool use: the recorded one, with a number appended if it is a
// duplicate.
func (b *builder) unusedID(id string) string {
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

// answer appends the result of a call.
func (e *event) answer(r precis.ToolResult) error {
	if r.ToolUseID == "" {
		return errors.New("the answer names no tool call")
	}
	if name, ok := e.renamed[r.ToolUseID]; ok {
		r.ToolUseID = name
	}
	r.Content = archive.WithoutBlank(precis.Message{Content: r.Content}).Content
	e.addMessage(precis.RoleUser, r)
	return nil
}

// system sets the system prompt and the tools.
func (e *event) system(prompt string, tools json.RawMessage) {
	e.events = append(e.events, visibleEvent{e.key, -1})
	if strings.TrimSpace(prompt) != "" {
		e.Conv.System = precis.NewText(precis.RoleSystem, prompt)
		e.Conv.System.Time = e.at
	}
	if jsonspan.Kind(tools) == '[' {
		e.Conv.Tools = tools
	}
}

// key returns an event's ID, a string or a number, as written.
func key(raw []byte) string { return string(bytes.TrimSpace(raw)) }
