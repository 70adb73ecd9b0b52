package hook

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/wire/chat"
)

// Hermes lets a context engine, a Python class, choose the messages of each request, and keeps
// every message itself. The class passes them in the format of the engine endpoint; precis stores
// the edits here.

// hermesInput is the input from the class.
type hermesInput struct {
	Session  string          `json:"conversation"`
	Model    string          `json:"model"`
	Window   int             `json:"window"` // in tokens; 0: unknown
	Now      bool            `json:"now"`    // reduce now, whatever the threshold
	Focus    string          `json:"focus"`
	Messages json.RawMessage `json:"messages"` // in the format of Chat Completions
	Handle   precis.Handle   `json:"handle"`
	Offset   int             `json:"offset"` // in bytes
}

// hermesCall is a call of the class with the parts that answer it.
type hermesCall struct {
	hermesInput
	gateway  *gateway.Gateway // used without an upstream
	assembly gateway.Assembly
	request  *http.Request // asks the gateway for the view
}

// hermes reads the input. The caller must close the gateway of the result.
func (c *call) hermes(ctx context.Context) (h hermesCall, err error) {
	if json.Unmarshal(c.raw, &h.hermesInput) != nil {
		return h, errNothing("its input is not understood")
	}
	if len(h.Messages) == 0 {
		return h, errNothing("there are no messages")
	}
	c.input.Session = h.Session
	c.entry.Session = sessionHash(h.Session)
	body := struct {
		Model    string          `json:"model,omitempty"`
		Messages json.RawMessage `json:"messages"`
	}{h.Model, h.Messages}
	h.assembly = gateway.Assembly{Dialect: chat.Dialect{}, Body: line(body), Window: max(h.Window, 0),
		ReduceNow: h.Now, Focus: h.Focus}
	if h.request, err = http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/",
		nil); err != nil {
		return h, err
	}
	manager, err := preset.New(preset.Options{})
	if err != nil {
		return h, err
	}
	window := func(_ context.Context, model string) precis.Window { return c.o.Window(model) }
	h.gateway, err = gateway.New(gateway.Options{Local: true, InProcess: true, Manager: manager,
		Window: window})
	return h, err
}

// close closes the gateway, which has no store.
func (h hermesCall) close(ctx context.Context) { _ = h.gateway.Close(ctx) }

// hermesAnswer is a view in the format of the engine endpoint.
type hermesAnswer struct {
	Changed  bool            `json:"changed"` // it differs from the input
	Acted    bool            `json:"acted"`   // this call reduced the conversation
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
		c.tryUpdate(ctx, func(s *state) { s.Edits, s.Compactions = json.RawMessage(line(v.Edits)), s.Compactions+1 })
		c.entry.Did, c.entry.Compaction = Replaced, true
	}
	return line(hermesAnswer{v.Changed, v.Acted, v.Messages}), nil
}

// hermesExpand answers with the original content of a handle.
func hermesExpand(ctx context.Context, c *call) ([]byte, error) {
	h, err := c.hermes(ctx)
	if err != nil {
		return nil, err
	}
	defer h.close(ctx)
	if h.Handle.To == 0 {
		return nil, errNothing("no handle is named")
	}
	var out conversation.TextPiece
	err = h.gateway.WithTemporaryHome(h.request, h.assembly,
		func(home conversation.Home, id string) (err error) {
			out, err = conversation.Read(ctx, home, id, h.Handle, conversation.ReadOptions{Offset: h.Offset})
			out.Conversation = "" // the conversation ends with the call
			return err
		})
	if err != nil {
		return nil, err
	}
	return line(out), nil
}
