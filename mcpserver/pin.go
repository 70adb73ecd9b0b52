package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
)

type pinIn struct {
	ID      string   `json:"id,omitempty" jsonschema:"omitted: the newest"`
	Handles []string `json:"handles,omitempty"`
	Quote   string   `json:"quote,omitempty" jsonschema:"words that the user typed: pins the place where they stand"`
	Unpin   bool     `json:"unpin,omitempty"`
}

type pinOut struct {
	ID      string   `json:"id"`
	Edit    string   `json:"edit"`
	Handles []string `json:"handles"`
	// pinned but not shown now; the next condensation shows it
	Hidden []conversation.HiddenPart `json:"hidden"`
	Tokens int                       `json:"tokens"` // of the view
	Note   string                    `json:"note,omitempty"`
}

var pin = tool[pinIn, pinOut]{
	name: "pin", description: "Keep messages or blocks in view for good, or unpin them.", changes: true,
	idempotent: true,
	run: func(ctx context.Context, c *call, in pinIn) (out pinOut, text string, err error) {
		if err := c.readOnly("pin"); err != nil {
			return out, "", err
		}
		handles := make([]precis.Handle, len(in.Handles))
		for i, s := range in.Handles {
			if handles[i], err = handleOf(s); err != nil {
				return out, "", err
			}
		}
		w, err := c.which(ctx, in.ID)
		if err != nil {
			return out, "", err
		}
		if in.Quote != "" {
			h, err := conversation.FindTyped(ctx, c.home, w.id, in.Quote)
			if err != nil {
				return out, "", err
			}
			handles, in.Handles = append(handles, h), append(in.Handles, h.String())
		}
		verb, done := conversation.Pin, "pinned"
		if in.Unpin {
			verb, done = conversation.Unpin, "unpinned"
		}
		change, err := verb(ctx, c.home, w.id, handles...)
		if err != nil {
			return out, "", err
		}
		c.edited(ctx, w.id, change.Edit)
		hidden, err := conversation.HiddenParts(ctx, c.home, w.id, handles...)
		if err != nil {
			return out, "", err
		}
		out = pinOut{ID: w.id, Edit: change.Edit.ID, Handles: in.Handles,
			Hidden: append([]conversation.HiddenPart{}, hidden...), Tokens: change.Status.Tokens,
			Note: w.note}
		text = fmt.Sprintf("%s%s %s\n", w.line(), done, strings.Join(in.Handles, ", "))
		return out, text + lines(out.Hidden, func(p conversation.HiddenPart) string {
			return fmt.Sprintf("%s is %s now, by %s", p.Handle, p.State, p.By)
		}), nil
	},
}
