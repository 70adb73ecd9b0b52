package mcpserver

import (
	"context"

	"precis"
	"precis/conversation/handoff"
)

type handoffIn struct {
	ID     string `json:"id,omitempty" jsonschema:"omitted: the newest"`
	Goal   string `json:"goal,omitempty" jsonschema:"what is to be done next"`
	Format string `json:"format,omitempty" jsonschema:"markdown, claude-code, codex, cline or roo"`
	Tokens int    `json:"tokens,omitempty"`
}

type handoffOut struct {
	ID     string `json:"id"`
	Goal   string `json:"goal"`
	Format string `json:"format"`
	Tokens int    `json:"tokens"`
	Brief  string `json:"brief"`
	Note   string `json:"note,omitempty"`
}

// mostBrief is the largest brief, in tokens.
const mostBrief = 50_000

var handoffTool = tool[handoffIn, handoffOut]{
	name: "handoff", about: "Write a brief for a new thread or another agent to go on with a session's work.",
	run: func(ctx context.Context, c *call, in handoffIn) (handoffOut, string, error) {
		if in.Tokens > mostBrief {
			return handoffOut{}, "", precis.Errorf(precis.CodeInvalid, "read arguments", "tokens is %d, want at most %d", in.Tokens, mostBrief)
		}
		w, err := c.which(ctx, in.ID)
		if err != nil {
			return handoffOut{}, "", err
		}
		b, err := handoff.Write(ctx, c.home, w.id, handoff.Options{Goal: in.Goal, Format: in.Format, Tokens: in.Tokens})
		if err != nil {
			return handoffOut{}, "", err
		}
		return handoffOut{ID: b.Conversation, Goal: b.Goal, Format: b.Format, Tokens: b.Tokens, Brief: b.Text, Note: w.note}, w.line() + b.Text, nil
	},
}
