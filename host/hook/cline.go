package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"strings"

	"precis"
	"precis/archive"
	"precis/preset"
	"precis/wire/anthropic"
)

// Cline's plugin hands over all messages before each request and sends what it is given:
// here precis works as it does in the gateway. The program keeps nothing, so the edits are
// remembered here. It asks twice for one request: with the messages as it records them,
// and as it sends them, without names and with turns of one role put together. Each form
// is a conversation of its own here.

// unknownWindow is the context window of a model that nobody knows, in tokens.
const unknownWindow = 128_000

// window returns the context window of a model.
func (c *call) window(model string) precis.Window {
	if c.o.Window != nil {
		if w := c.o.Window(model); w > 0 {
			return precis.Window{Tokens: w}
		}
	}
	return precis.Window{Tokens: unknownWindow}
}

// clineInput is what the plugin says.
type clineInput struct {
	Session  string            `json:"session"` // of the plugin: one run of the program
	Model    string            `json:"model"`   // that answered last, in either form
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
	c.input.Model = in.Model
	var first clineMessage
	_ = json.Unmarshal(in.Messages[0], &first) // then it has no name
	c.input.Session = in.Session + "\n" + first.ID
	if first.ID == "" { // sub-agents of one run begin with something else
		c.input.Session += string(in.Messages[0])
	}
	c.entry.Session = short(c.input.Session)
	list, err := json.Marshal(in.Messages)
	if err != nil {
		return nil, err
	}
	doc := append(append([]byte(`{"updated_at":"","messages":`), list...), '}') // in this order
	r, err := c.recordOf(archive.Source{Path: "session.messages.json", Data: doc})
	if err != nil {
		return nil, err
	}
	conv := r.conv
	if conv.Transcript.Len() != len(in.Messages) {
		return nil, errNothing("some messages are not understood")
	}
	conv.Edits = c.ownEdits(conv.Transcript)
	made, err := c.manage(ctx, conv, in.Messages)
	if err != nil && !made {
		return nil, err
	}
	if made {
		c.try(ctx, func(s *state) { s.Edits, s.Compactions = json.RawMessage(line(conv.Edits)), s.Compactions+1 })
		c.entry.Did, c.entry.Compaction = Replaced, first.ID == "" // the form that is sent
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
	request := precis.Request{Conversation: conv, Profile: c.input.Model}
	for i := len(raw) - 1; i >= 0 && request.Reported == 0; i-- {
		var said clineMessage
		if json.Unmarshal(raw[i], &said) == nil {
			request.Profile = cmp.Or(said.Model.ID, request.Profile)
			request.Reported = said.Metrics.Input + said.Metrics.Read + said.Metrics.Write
		}
	}
	request.Window = c.window(request.Profile)
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
		for _, m := range u.Messages {
			text := string(anthropic.AppendMessage(nil, m))
			if u.Changed && u.To == u.From+1 {
				text = likeOriginal(text, raw[u.From])
			}
			out = append(out, text)
		}
	}
	return out
}

// likeOriginal gives a message with other blocks the members that the original has
// besides its content, and so each result of a tool.
func likeOriginal(text string, original json.RawMessage) string {
	type object = map[string]json.RawMessage
	var now, was object
	var blocks, before []object
	if json.Unmarshal([]byte(text), &now) != nil || json.Unmarshal(original, &was) != nil ||
		json.Unmarshal(now["content"], &blocks) != nil || json.Unmarshal(was["content"], &before) != nil {
		return text
	}
	for i, b := range blocks {
		id := string(b["tool_use_id"])
		for _, w := range before {
			if id != "" && string(w["tool_use_id"]) == id {
				blocks[i] = merged(w, b)
			}
		}
	}
	now["content"] = json.RawMessage(line(blocks))
	return strings.TrimSpace(string(line(merged(was, now))))
}

// merged is an object with the members of another, and its own where both have one.
func merged(other, own map[string]json.RawMessage) map[string]json.RawMessage {
	out := maps.Clone(other)
	maps.Copy(out, own)
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
