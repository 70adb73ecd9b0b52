package mcpserver

import (
	"context"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation/handoff"
)

type handoffIn struct {
	ID     string `json:"id,omitempty" jsonschema:"omitted: the newest"`
	Goal   string `json:"goal,omitempty" jsonschema:"what is to be done next"`
	Format string `json:"format,omitempty" jsonschema:"markdown, claude-code, codex, cline or roo"`
	Tokens int    `json:"tokens,omitempty"`
}

// The sizes of a brief, in tokens.
const (
	leastBrief = 200
	mostBrief  = 50_000
)

var handoffTool = tool[handoffIn, textOnly]{
	name: "handoff", description: "Write a brief for a new thread or another agent to go on with a session's work.",
	run: func(ctx context.Context, c *call, in handoffIn) (textOnly, string, error) {
		if in.Tokens > mostBrief {
			return nil, "", precis.Errorf(precis.CodeInvalid, "read arguments",
				"tokens is %d, want at most %d", in.Tokens, mostBrief)
		}
		w, err := c.which(ctx, in.ID)
		if err != nil {
			return nil, "", err
		}
		o := handoff.Options{Goal: in.Goal, Format: in.Format,
			Tokens: w.rest(in.Tokens, min(in.Tokens, leastBrief))}
		b, err := handoff.Write(ctx, c.home, w.id, o)
		if err != nil {
			return nil, "", err
		}
		return nil, w.line() + b.Text, nil
	},
}
