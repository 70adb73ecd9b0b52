package keeper

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"precis"
	"precis/conversation"
	"precis/gateway"
	"precis/wire/anthropic"
)

// Conversation is a conversation that the program calls by a name. It is safe for
// concurrent use; there is one for each name.
type Conversation struct {
	k    *Keeper
	name string

	mu     sync.Mutex // guards what follows
	id     string     // in the store; "": no view was asked for yet
	model  string
	system string
	tools  json.RawMessage
	msgs   []precis.Message
}

// View is what is to be sent to the model now.
type View struct {
	Messages []precis.Message
	JSON     json.RawMessage            // the same, as the Messages API has it
	Set      map[string]json.RawMessage // further fields that the request then needs, for models that bind their reasoning to what came before; nil: none
	Beta     string                     // a beta that the request then needs, see Set; "": none
	Tokens   int                        // of the request, the system prompt and tools included
	Acted    bool                       // something was reduced for it
	Report   precis.Report
	Warnings []string
}

// Conversation returns the conversation of a name, of at most [gateway.MostName] bytes: one
// that is held already, one that the file has, or a new one. Messages are stored with
// each [Conversation.View]. Only one program at a time may add to a conversation: of two that
// do, the file leads to what the last one stored, and what only the other said is not found
// by its name any more. Any number may look.
func (k *Keeper) Conversation(ctx context.Context, name string) (*Conversation, error) {
	if name == "" || len(name) > gateway.MostName {
		return nil, precis.Errorf(precis.CodeInvalid, "open conversation", "the name has %d bytes, want 1 to %d", len(name), gateway.MostName)
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

// load reads what the store has of it.
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

// ID returns its ID in the file, which the verbs take; "" before the first view.
func (c *Conversation) ID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.id
}

// Len returns how many messages were said.
func (c *Conversation) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.msgs)
}

// With sets the model, the system prompt and the definitions of tools, as a JSON list,
// which count in the window; "" and nil leave what was set before. They are not stored.
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

// Append adds what was said. Messages are stored with the next view.
func (c *Conversation) Append(msgs ...precis.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.msgs = append(c.msgs, msgs...)
}

// Set takes the whole list of what was said, for programs that keep it themselves. A list
// that goes on from the one before is the same conversation; one that leaves it on the way is
// a branch, which the name stands for from then on.
func (c *Conversation) Set(msgs []precis.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.msgs = append(c.msgs[:0:0], msgs...)
}

// AppendJSON adds messages as the Messages API has them: one, or a list. What is not
// understood is kept as it is. The error names the place.
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

// View returns what to send to the model now, reduced when that is due. The same
// messages give the same view, and between two reductions each view begins with the one
// before, so that prompt caches hold. The error is [precis.CodeInvalid] without a
// message, and [precis.CodeOverBudget] when nothing that could be cut makes it fit.
func (c *Conversation) View(ctx context.Context) (View, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.msgs) == 0 {
		return View{}, precis.Errorf(precis.CodeInvalid, "assemble view", "nothing was said in %q yet", c.name)
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
	out, err := c.k.gateway.Assemble(r, gateway.Assembly{Dialect: anthropic.Dialect{}, Body: data, Name: c.name})
	if err != nil {
		return View{}, err
	}
	msgs, err := anthropic.DecodeMessages(out.Messages)
	if err != nil {
		return View{}, err
	}
	c.id = out.ID
	return View{Messages: msgs, JSON: out.Messages, Set: out.Set, Beta: out.Beta, Tokens: out.Report.Status.Tokens, Acted: out.Acted, Report: out.Report, Warnings: out.Warnings}, nil
}

// Status says who fills the window, and how far the next reduction is. The error is
// [precis.CodeNotFound] before the first view.
func (c *Conversation) Status(ctx context.Context) (conversation.Details, error) {
	return conversation.Status(ctx, c.k.Home(), c.ID())
}

// Undo takes back edits, by ID or short name; without any the newest one. The next view
// shows the originals again as far as the window allows.
func (c *Conversation) Undo(ctx context.Context, edits ...string) (conversation.Change, error) {
	return conversation.Undo(ctx, c.k.Home(), c.ID(), edits...)
}

// Pin keeps messages or blocks in every view.
func (c *Conversation) Pin(ctx context.Context, handles ...precis.Handle) (conversation.Change, error) {
	return conversation.Pin(ctx, c.k.Home(), c.ID(), handles...)
}

// Show returns what a handle names, as it was said.
func (c *Conversation) Show(ctx context.Context, handle precis.Handle) (conversation.Originals, error) {
	return conversation.Show(ctx, c.k.Home(), c.ID(), handle)
}
