package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/wire/anthropic"
)

// Cline's plugin passes all messages before each request and sends the messages it gets back, so
// precis works as in the gateway. Cline does not keep the edits; precis stores them here. Cline
// asks twice for each request: with the messages as recorded, and as sent, without names and with
// turns of one role joined. precis treats each form as a conversation of its own.

// clineInput is the input from the plugin.
type clineInput struct {
	Session  string            `json:"session"` // ID of one run of the program, by the plugin
	Model    string            `json:"model"`   // the model that answered last, in either form
	Messages []json.RawMessage `json:"messages"`
}

// clineMessage holds the fields of a message that are needed besides its content.
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

// clineView answers with the messages to send, or with no output if they are unchanged.
func clineView(ctx context.Context, c *call) ([]byte, error) {
	var in clineInput
	if json.Unmarshal(c.raw, &in) != nil || len(in.Messages) == 0 {
		return nil, errNothing("there are no messages")
	}
	c.input.Model = in.Model
	var first clineMessage
	_ = json.Unmarshal(in.Messages[0], &first) // on an error the ID is empty
	c.input.Session = in.Session + "\n" + first.ID
	if first.ID == "" { // sub-agents of one run have different first messages
		c.input.Session += string(in.Messages[0])
	}
	c.entry.Session = sessionHash(c.input.Session)
	list, err := json.Marshal(in.Messages)
	if err != nil {
		return nil, err
	}
	doc := append(append([]byte(`{"updated_at":"","messages":`), list...), '}') // members in this order
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
		c.tryUpdate(ctx, func(s *state) { s.Edits, s.Compactions = json.RawMessage(line(conv.Edits)), s.Compactions+1 })
		c.entry.Did, c.entry.Compaction = Replaced, first.ID == "" // the form that Cline sends
	}
	if len(precis.Active(conv.Edits)) == 0 {
		return nil, errNothing("")
	}
	return append([]byte("["+strings.Join(clineMessages(conv, in.Messages), ",")), "]\n"...), nil
}

// manage reduces the conversation if that is due, and reports whether it did.
func (c *call) manage(ctx context.Context, conv *precis.Conversation, raw []json.RawMessage) (bool, error) {
	m, err := preset.New(preset.Options{})
	if err != nil {
		return false, err
	}
	request := policy.Request{Conversation: conv, Profile: c.input.Model}
	for i := len(raw) - 1; i >= 0 && request.Reported == 0; i-- {
		var said clineMessage
		if json.Unmarshal(raw[i], &said) == nil {
			request.Profile = cmp.Or(said.Model.ID, request.Profile)
			request.Reported = said.Metrics.Input + said.Metrics.Read + said.Metrics.Write
		}
	}
	request.Window = c.o.Window(request.Profile)
	before := len(conv.Edits)
	_, err = m.Manage(ctx, request)
	return len(conv.Edits) > before, err
}

// clineMessages writes the view. Unchanged messages keep their original bytes.
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

// likeOriginal adds to a message with replaced blocks the other members of the original, and
// likewise to each tool result.
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

// merged returns an object with the members of both; own takes precedence.
func merged(other, own map[string]json.RawMessage) map[string]json.RawMessage {
	out := maps.Clone(other)
	maps.Copy(out, own)
	return out
}

// fitting returns the edits that fit the start of the transcript. When a user goes back in the
// program, later edits no longer apply.
func fitting(t *precis.Transcript, edits []precis.Edit) []precis.Edit {
	for i, e := range edits {
		if e.Seen > t.Len() || t.Fingerprint(e.Seen) != e.At {
			return edits[:i:i]
		}
	}
	return edits
}
