package hook

import (
	"context"
	"encoding/json"
	"net/http"

	"precis"
	"precis/conversation"
	"precis/gateway"
	"precis/preset"
	"precis/wire/chat"
)

// Hermes lets a context engine, which is a class in Python, choose the messages of each
// request, and keeps every message itself. The class hands them over in the words of the
// engine endpoint; the edits are remembered here.

// hermesInput is what the class says.
type hermesInput struct {
	Session  string          `json:"conversation"`
	Model    string          `json:"model"`
	Window   int             `json:"window"` // in tokens; 0: unknown
	Now      bool            `json:"now"`    // reduce now, whatever the threshold
	Focus    string          `json:"focus"`
	Messages json.RawMessage `json:"messages"` // as Chat Completions have them
	Handle   precis.Handle   `json:"handle"`
	Offset   int             `json:"offset"` // in bytes
}

// hermesCall is a call of the class with what answers it.
type hermesCall struct {
	hermesInput
	gateway  *gateway.Gateway // forwards nothing
	assembly gateway.Assembly
	request  *http.Request // by which the view is asked for
}

// hermes reads the input. The gateway of the result must be closed.
func (c *call) hermes(ctx context.Context) (h hermesCall, err error) {
	if json.Unmarshal(c.raw, &h.hermesInput) != nil {
		return h, errNothing("its input is not understood")
	}
	if len(h.Messages) == 0 {
		return h, errNothing("there are no messages")
	}
	c.input.Session = h.Session
	c.entry.Session = short(h.Session)
	body := struct {
		Model    string          `json:"model,omitempty"`
		Messages json.RawMessage `json:"messages"`
	}{h.Model, h.Messages}
	h.assembly = gateway.Assembly{Dialect: chat.Dialect{}, Body: line(body), Window: max(h.Window, 0), Now: h.Now, Focus: h.Focus}
	if h.request, err = http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/", nil); err != nil {
		return h, err
	}
	manager, err := preset.New(preset.Options{})
	if err != nil {
		return h, err
	}
	window := func(_ context.Context, model string) precis.Window { return c.window(model) }
	h.gateway, err = gateway.New(gateway.Options{Local: true, InProcess: true, Manager: manager, Window: window})
	return h, err
}

// close ends the gateway, which has stored nothing.
func (h hermesCall) close(ctx context.Context) { _ = h.gateway.Close(ctx) }

// hermesAnswer is a view, in the words of the engine endpoint.
type hermesAnswer struct {
	Changed  bool            `json:"changed"` // it is not what came
	Acted    bool            `json:"acted"`   // something was reduced for it
	Messages json.RawMessage `json:"messages"`
}

// hermesAssemble answers with the messages to send.
func hermesAssemble(ctx context.Context, c *call) ([]byte, error) {
	h, err := c.hermes(ctx)
	if err != nil {
		return nil, err
	}
	defer h.close(ctx)
	if edits := c.state().Edits; len(edits) > 0 && json.Unmarshal(edits, &h.assembly.Edits) != nil {
		h.assembly.Edits = nil
	}
	v, err := h.gateway.Assemble(h.request, h.assembly)
	if err != nil {
		return nil, err
	}
	if v.Acted {
		c.try(ctx, func(s *state) { s.Edits, s.Compactions = json.RawMessage(line(v.Edits)), s.Compactions+1 })
		c.entry.Did, c.entry.Compaction = Replaced, true
	}
	return line(hermesAnswer{v.Changed, v.Acted, v.Messages}), nil
}

// hermesExpand answers with what a handle names, as it was said.
func hermesExpand(ctx context.Context, c *call) ([]byte, error) {
	h, err := c.hermes(ctx)
	if err != nil {
		return nil, err
	}
	defer h.close(ctx)
	if h.Handle.To == 0 {
		return nil, errNothing("no handle is named")
	}
	var out conversation.Reading
	err = h.gateway.Listed(h.request, h.assembly, func(home conversation.Home, id string) (err error) {
		out, err = conversation.Read(ctx, home, id, h.Handle, conversation.ReadOptions{Offset: h.Offset})
		out.Conversation = "" // it ends with the call
		return err
	})
	if err != nil {
		return nil, err
	}
	return line(out), nil
}
