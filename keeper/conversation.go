package keeper

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/wire/anthropic"
)

// Conversation is a conversation with a name. It is safe for concurrent use; there is one for each
// name.
type Conversation struct {
	k    *Keeper
	name string

	mu     sync.Mutex // guards the following fields
	id     string     // in the store; "": before the first view
	model  string
	system string
	tools  json.RawMessage
	msgs   []precis.Message
}

// View is the content to send to the model now.
type View struct {
	Messages []precis.Message
	JSON     json.RawMessage // the same, in the format of the Messages API
	// other request fields that must change, for bound reasoning; nil: none
	Set      map[string]json.RawMessage
	Beta     string // beta that the request then needs, see Set; "": none
	Tokens   int    // of the request, the system prompt and tools included
	Acted    bool   // the view was reduced for this request
	Report   policy.Report
	Warnings []string
}

// Conversation returns the conversation with a name of at most [gateway.MostName] bytes: an open
// one, one in the file, or a new one. Messages are stored with each [Conversation.View]. Only one
// program at a time may add to a conversation: if two do, the name leads to the messages stored
// last, and the other program's messages can no longer be found by it. Any number of programs may
// read.
func (k *Keeper) Conversation(ctx context.Context, name string) (*Conversation, error) {
	if name == "" || len(name) > gateway.MaxNameBytes {
		return nil, precis.Errorf(precis.CodeInvalid, "open conversation",
			"the name has %d bytes, want 1 to %d", len(name), gateway.MaxNameBytes)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if c := k.named[name]; c != nil {
		return c, nil
	}
	c := &Conversation{k: k, name: name, model: k.o.Model}
	id, err := k.Find(ctx, name)
	switch {
	case precis.CodeOf(err) == precis.CodeNotFound:
	case err != nil:
		return nil, err
	default:
		if err := c.load(ctx, id); err != nil {
			return nil, err
		}
	}
	k.named[name] = c
	return c, nil
}

// load loads the conversation from the store.
func (c *Conversation) load(ctx context.Context, id string) error {
	return c.k.Home().Look(ctx, id, func(s *conversation.Subject) error {
		c.id = id
		c.msgs = s.Conversation.Transcript.Messages()
		if c.model == "" {
			c.model = s.Conversation.Model
		}
		return nil
	})
}

// ID returns the conversation's ID in the file, which the verbs accept; "" before the first view.
func (c *Conversation) ID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.id
}

// Len returns the number of messages.
func (c *Conversation) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.msgs)
}

// With sets the model, the system prompt and the tool definitions, as a JSON list, which count in
// the window; "" and nil leave the earlier value. They are not stored.
func (c *Conversation) With(model, system string, tools json.RawMessage) *Conversation {
	c.mu.Lock()
	defer c.mu.Unlock()
	if model != "" {
		c.model = model
	}
	if system != "" {
		c.system = system
	}
	if tools != nil {
		c.tools = tools
	}
	return c
}

// Append adds messages. They are stored with the next view.
func (c *Conversation) Append(msgs ...precis.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.msgs = append(c.msgs, msgs...)
}

// Set replaces the whole list of messages, for programs that keep it themselves. A list that
// extends the previous one is the same conversation; one that diverges is a branch, and the name
// then refers to it.
func (c *Conversation) Set(msgs []precis.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.msgs = append(c.msgs[:0:0], msgs...)
}

// AppendJSON adds one message or a list of messages in the format of the Messages API. Unknown
// content is kept unchanged. The error names the place.
func (c *Conversation) AppendJSON(data []byte) error {
	if m, err := anthropic.DecodeMessage(data); err == nil {
		c.Append(m)
		return nil
	}
	msgs, err := anthropic.DecodeMessages(data)
	if err == nil {
		c.Append(msgs...)
	}
	return err
}

// View returns the view to send to the model now, reduced if that is due. The same messages give
// the same view, and between two reductions each view begins with the previous one, so that prompt
// caches stay valid. The error is [precis.CodeInvalid] without a message, and
// [precis.CodeOverBudget] when the view does not fit even after all cuts.
func (c *Conversation) View(ctx context.Context) (View, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.msgs) == 0 {
		return View{}, precis.Errorf(precis.CodeInvalid, "assemble view", "nothing was said in %q yet",
			c.name)
	}
	body := struct {
		Model    string          `json:"model,omitempty"`
		System   string          `json:"system,omitempty"`
		Tools    json.RawMessage `json:"tools,omitempty"`
		Messages json.RawMessage `json:"messages"`
	}{c.model, c.system, c.tools, anthropic.AppendMessages(nil, c.msgs)}
	data, err := json.Marshal(body)
	if err != nil {
		return View{}, precis.Errorf(precis.CodeInvalid, "assemble view", "%w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/", nil)
	if err != nil {
		return View{}, precis.Errorf(precis.CodeInternal, "assemble view", "%w", err)
	}
	out, err := c.k.gateway.Assemble(r,
		gateway.Assembly{Dialect: anthropic.Dialect{}, Body: data, Name: c.name})
	if err != nil {
		return View{}, err
	}
	msgs, err := anthropic.DecodeMessages(out.Messages)
	if err != nil {
		return View{}, err
	}
	c.id = out.ID
	return View{Messages: msgs, JSON: out.Messages, Set: out.Set, Beta: out.Beta,
		Tokens: out.Report.Status.Tokens, Acted: out.Acted, Report: out.Report, Warnings: out.Warnings}, nil
}

// Status returns how the window is filled, and how far the next reduction is. The error is
// [precis.CodeNotFound] before the first view.
func (c *Conversation) Status(ctx context.Context) (conversation.Details, error) {
	return conversation.Status(ctx, c.k.Home(), c.ID())
}

// Undo undoes edits, by ID or short name; without arguments the newest one. The next view shows the
// originals again as far as the window allows.
func (c *Conversation) Undo(ctx context.Context, edits ...string) (conversation.Change, error) {
	return conversation.Undo(ctx, c.k.Home(), c.ID(), edits...)
}

// Pin keeps messages or blocks in every view.
func (c *Conversation) Pin(ctx context.Context, handles ...precis.Handle) (conversation.Change, error) {
	return conversation.Pin(ctx, c.k.Home(), c.ID(), handles...)
}

// Show returns the original content of a handle.
func (c *Conversation) Show(ctx context.Context, handle precis.Handle) (conversation.Originals, error) {
	return conversation.ReadOriginals(ctx, c.k.Home(), c.ID(), handle)
}
