package conformance

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/anthropic"
)

// shapingAdapters are those of the functions that shape what is condensed and
// what comes back after it.
func shapingAdapters() map[string]vectorRun {
	return map[string]vectorRun{
		"extractCommandBlocks":           {adaptCommands, nil},
		"injectSyntheticToolResults":     {adaptAnswerOpen, nil},
		"transformMessagesForCondensing": {adaptToolsAsText, nil},
		"generateFoldedFileContext":      {adaptFold, nil},
	}
}

// shapeInput is a conversation as Roo stores it.
type shapeInput struct {
	Messages []json.RawMessage `json:"messages"`
	Now      int64             `json:"now"`
}

// messages decodes stored messages. A reasoning item, which has no role, is an
// assistant message without content.
func (in shapeInput) messages(t *testing.T) []precis.Message {
	t.Helper()
	out := make([]precis.Message, len(in.Messages))
	for i, raw := range in.Messages {
		m, err := anthropic.DecodeMessage(raw)
		if err != nil && m.Role == "" && !strings.Contains(string(raw), `"role"`) {
			m, err = precis.Message{Role: precis.RoleAssistant, Raw: raw, Format: anthropic.Format}, nil
		}
		if err != nil {
			t.Fatal(err)
		}
		out[i] = m
	}
	return out
}

// stored writes a message as Roo stores it: with its own fields, and the
// content that it has now.
func stored(t *testing.T, m precis.Message, raw json.RawMessage) json.RawMessage {
	t.Helper()
	if m.Raw != nil {
		return m.Raw
	}
	fields := map[string]json.RawMessage{}
	if raw != nil {
		var err error
		if fields, err = jsonspan.Fields(raw); err != nil {
			t.Fatal(err)
		}
	} else {
		fields["role"], _ = json.Marshal(m.Role)
		fields["ts"], _ = json.Marshal(m.Time.UnixMilli())
	}
	fields["content"] = anthropic.AppendContent(nil, m.Content, m.Format)
	out, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func adaptAnswerOpen(t *testing.T, input json.RawMessage) any {
	c := in[shapeInput](t, input)
	msgs := c.messages(t)
	got := condense.AnswerOpenTools(msgs, time.UnixMilli(c.Now))
	out := list(c.Messages)
	for _, m := range got[len(msgs):] {
		out = append(out, stored(t, m, nil))
	}
	return map[string]any{"messages": out, "sameArray": len(got) == len(msgs)}
}

func adaptToolsAsText(t *testing.T, input json.RawMessage) any {
	c := in[shapeInput](t, input)
	out := []json.RawMessage{}
	for i, m := range condense.ToolsAsText(c.messages(t)) {
		out = append(out, stored(t, m, c.Messages[i]))
	}
	return map[string]any{"messages": out}
}

func adaptCommands(t *testing.T, input json.RawMessage) any {
	m, err := anthropic.DecodeMessage(in[struct {
		Message json.RawMessage `json:"message"`
	}](t, input).Message)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{"text": strings.Join(harness.Commands(m.PlainText()), "\n")}
}
