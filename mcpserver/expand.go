package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/precis-dev/precis/conversation"
)

type expandIn struct {
	ID     string `json:"id,omitempty" jsonschema:"session; omitted or @last: the newest"`
	Handle string `json:"handle" jsonschema:"m12, m12-m14, m12.b3, c3f9ab:m12"`
	Offset int    `json:"offset,omitempty" jsonschema:"of an earlier answer"`
	Lines  int    `json:"lines,omitempty"`
}

var expand = tool[expandIn, textOnly]{
	name: "expand", description: "Read original messages by handle, hidden or not, piece by piece.",
	run: func(ctx context.Context, c *call, in expandIn) (textOnly, string, error) {
		before, inner, ok := strings.Cut(in.Handle, ":")
		if !ok {
			before, inner = "", in.Handle
		}
		h, err := handleOf(inner)
		if err != nil {
			return nil, "", err
		}
		w, err := c.which(ctx, in.ID)
		if err == nil && ok {
			w.id, err = c.ancestor(ctx, w.id, before)
		}
		if err != nil {
			return nil, "", err
		}
		r, err := conversation.Read(ctx, c.home, w.id, h,
			conversation.ReadOptions{Offset: in.Offset, Lines: in.Lines})
		if err != nil {
			return nil, "", err
		}
		text := w.line() + r.Text
		if r.Next > 0 {
			text += fmt.Sprintf("\n[%d of %d bytes; more with offset %d]", r.Next, r.Total, r.Next)
		}
		return nil, text, nil
	},
}
