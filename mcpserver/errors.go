package mcpserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
)

// explain returns the error text for the client: the code, the fault, and a remedy.
func explain(err error) error {
	var own *precis.Error
	if loss, ok := errors.AsType[*conversation.LossError](err); ok {
		return errors.New(visible(fmt.Sprintf("%s: nothing was changed: %s; hint: choose a larger target, or ask the user and give force: true", precis.CodeWouldLose, loss.Quoted())))
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return errors.New("canceled: the request has ended")
	case !errors.As(err, &own):
		return errors.New(visible(fmt.Sprintf("%s: %v", precis.CodeInternal, err)))
	case own.Hint != "":
		return errors.New(visible(fmt.Sprintf("%s: %v; hint: %s", precis.CodeOf(err), err, own.Hint)))
	}
	return errors.New(visible(fmt.Sprintf("%s: %v", precis.CodeOf(err), err)))
}

// handleOf reads a handle.
func handleOf(s string) (precis.Handle, error) {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	h, err := precis.ParseHandle(s)
	if err != nil {
		return h, &precis.Error{Code: precis.CodeInvalid, Op: "read handle", Err: fmt.Errorf("%q is none", s),
			Hint: "m12 is a message, m12-m14 a span with the lower number first, m12.b3 a block of a message"}
	}
	return h, nil
}

// readOnly refuses an edit.
func (c *call) readOnly(op string) error {
	if c.edits {
		return nil
	}
	return &precis.Error{Code: precis.CodeInvalid, Op: op, Err: errors.New("this server is read-only"),
		Hint: "ask the user to allow edits: precis mcp --allow-edits FILE, or edits in gateway.tools"}
}
