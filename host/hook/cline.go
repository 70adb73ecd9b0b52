package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"precis"
	"precis/archive"
	"precis/preset"
	"precis/wire/anthropic"
)

// Cline's plugin hands over all messages before each request and sends what it is given:
// here precis works as it does in the gateway. The program asks twice for one request and
// keeps nothing, so the edits are remembered here; the second time nothing is due.

// clineWindow is the context window of a model that nobody knows, in tokens.
const clineWindow = 128_000

// clineInput is what the plugin says.
type clineInput struct {
	Session  string            `json:"session"`
	Messages []json.RawMessage `json:"messages"`
}

// clineMessage is what matters of a message besides its content.
type clineMessage struct {
	ID    string `json:"id"`
	Model struct {
		ID string `json:"id"`
	} `json:"modelInfo"`
	Metrics struct {
		Input int `json:"inputTokens"`
		Read  int `json:"cacheReadTokens"`
		Write int `json:"cacheWriteTokens"`
	} `json:"metrics"`
}

// clineView answers with the messages to send, or with nothing where they are those that
// came.
func clineView(ctx context.Context, c *call) ([]byte, error) {
	var in clineInput
	if json.Unmarshal(c.raw, &in) != nil || len(in.Messages) == 0 {
		return nil, errNothing("there are no messages")
	}
	c.input.Session = in.Session
	if in.Session == "" { // the first message has an ID, which no other session has
		var first clineMessage
		_ = json.Unmarshal(in.Messages[0], &first) // then it has none
		c.input.Session = first.ID
	}
	c.entry.Session = short(c.input.Session)
	doc, err := json.Marshal(map[string]any{"updated_at": "", "messages": in.Messages})
	if err != nil {
		return nil, err
	}
	r, err := c.recordOf(archive.Source{Path: "session.messages.json", Data: doc})
	if err != nil {
		return nil, err
	}
	conv := r.conv
	if conv.Transcript.Len() != len(in.Messages) {
		return nil, errNothing("some messages are not understood")
	}
	if edits := c.state().Edits; len(edits) > 0 && json.Unmarshal(edits, &conv.Edits) != nil {
		conv.Edits = nil
	}
	conv.Edits = fitting(conv.Transcript, conv.Edits)
	made, err := c.manage(ctx, conv, in.Messages)
	if err != nil && !made {
		return nil, err
	}
	if made {
		c.try(ctx, func(s *state) { s.Edits, s.Compactions = json.RawMessage(line(conv.Edits)), s.Compactions+1 })
		c.entry.Did, c.entry.Compaction = Replaced, true
	}
	if len(precis.Active(conv.Edits)) == 0 {
		return nil, errNothing("")
	}
	return append([]byte("["+strings.Join(clineMessages(conv, in.Messages), ",")), "]\n"...), nil
}

// manage reduces the conversation when that is due, and reports whether it did.
func (c *call) manage(ctx context.Context, conv *precis.Conversation, raw []json.RawMessage) (bool, error) {
	m, err := preset.New(preset.Options{})
	if err != nil {
		return false, err
	}
	request := precis.Request{Conversation: conv, Window: precis.Window{Tokens: clineWindow}}
	for i := len(raw) - 1; i >= 0 && request.Profile == ""; i-- {
		var said clineMessage
		if json.Unmarshal(raw[i], &said) == nil && said.Model.ID != "" {
			request.Profile = said.Model.ID
			request.Reported = said.Metrics.Input + said.Metrics.Read + said.Metrics.Write
		}
	}
	if c.o.Window != nil {
		if w := c.o.Window(request.Profile); w > 0 {
			request.Window.Tokens = w
		}
	}
	before := len(conv.Edits)
	_, err = m.Manage(ctx, request)
	return len(conv.Edits) > before, err
}

// clineMessages writes the view: messages as they came where nothing changed.
func clineMessages(conv *precis.Conversation, raw []json.RawMessage) []string {
	var out []string
	for _, u := range precis.Units(conv.Transcript, conv.Edits) {
		if u.Original() && !u.Changed {
			for _, m := range raw[u.From:u.To] {
				out = append(out, string(m))
			}
			continue
		}
		for i, m := range u.Messages {
			text := string(anthropic.AppendMessage(nil, m))
			if rest, ok := strings.CutPrefix(text, "{"); ok {
				text = fmt.Sprintf(`{"id":"precis-%d-%d",%s`, u.From, i, rest)
			}
			out = append(out, text)
		}
	}
	return out
}

// fitting returns the edits that were made on what the transcript begins with: a user who
// goes back in the program ends those made later.
func fitting(t *precis.Transcript, edits []precis.Edit) []precis.Edit {
	for i, e := range edits {
		if e.Seen > t.Len() || t.Fingerprint(e.Seen) != e.At {
			return edits[:i:i]
		}
	}
	return edits
}
