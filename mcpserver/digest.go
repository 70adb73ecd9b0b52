package mcpserver

import (
	"cmp"
	"context"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
)

type digestIn struct {
	ID     string `json:"id,omitempty" jsonschema:"omitted: the newest"`
	Tokens int    `json:"tokens,omitempty" jsonschema:"size at most"`
	Focus  string `json:"focus,omitempty" jsonschema:"words that part of it is about"`
}

const (
	defaultDigest = 1500 // tokens
	leastDigest   = 50
	mostDigest    = 50_000
)

var digests = tool[digestIn, textOnly]{
	name: "digest", description: "Where a session stands: requests, rules, files, commands, open work, with handles.",
	run: func(ctx context.Context, c *call, in digestIn) (textOnly, string, error) {
		tokens := cmp.Or(in.Tokens, defaultDigest)
		if tokens < leastDigest || tokens > mostDigest {
			return nil, "", precis.Errorf(precis.CodeInvalid, "read arguments", "tokens is %d, want %d to %d",
				in.Tokens, leastDigest, mostDigest)
		}
		w, err := c.which(ctx, in.ID)
		if err != nil {
			return nil, "", err
		}
		o := conversation.DigestOptions{Tokens: w.rest(tokens, leastDigest), Focus: in.Focus}
		d, err := conversation.Digest(ctx, c.home, w.id, o)
		if err != nil {
			return nil, "", err
		}
		return nil, w.line() + d.Text, nil
	},
}
