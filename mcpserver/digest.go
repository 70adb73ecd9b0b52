package mcpserver

import (
	"cmp"
	"context"

	"precis"
	"precis/conversation"
	"precis/digest"
)

type digestIn struct {
	ID     string `json:"id,omitempty" jsonschema:"omitted: the newest"`
	Tokens int    `json:"tokens,omitempty" jsonschema:"size at most"`
	Focus  string `json:"focus,omitempty" jsonschema:"words that part of it is about"`
}

type digestOut struct {
	ID     string       `json:"id"`
	Tokens int          `json:"tokens"`
	Digest string       `json:"digest"`
	State  digest.State `json:"state"`
	Note   string       `json:"note,omitempty"`
}

const (
	defaultDigest = 1500 // tokens
	leastDigest   = 50
	mostDigest    = 50_000
)

var digests = tool[digestIn, digestOut]{
	name: "digest", about: "Where a session stands: requests, rules, files, commands, open work, with handles.",
	run: func(ctx context.Context, c *call, in digestIn) (digestOut, string, error) {
		tokens := cmp.Or(in.Tokens, defaultDigest)
		if tokens < leastDigest || tokens > mostDigest {
			return digestOut{}, "", precis.Errorf(precis.CodeInvalid, "read arguments", "tokens is %d, want %d to %d", in.Tokens, leastDigest, mostDigest)
		}
		w, err := c.which(ctx, in.ID)
		if err != nil {
			return digestOut{}, "", err
		}
		d, err := conversation.Digest(ctx, c.home, w.id, conversation.DigestOptions{Tokens: tokens, Focus: in.Focus})
		if err != nil {
			return digestOut{}, "", err
		}
		return digestOut{ID: d.Conversation, Tokens: d.Tokens, Digest: d.Text, State: bounded(d.State), Note: w.note}, w.line() + d.Text, nil
	},
}

// bounded returns a state with the newest of each list: the whole of a long conversation
// would be longer than what it is asked for.
func bounded(s digest.State) digest.State {
	const most = 40
	s.Requests, s.Files, s.Commands, s.Waiting = newest(s.Requests, most/2), newest(s.Files, most), newest(s.Commands, most/2), newest(s.Waiting, most)
	return s
}

func newest[T any](list []T, most int) []T { return list[max(len(list)-most, 0):] }
