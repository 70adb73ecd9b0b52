package bridge

import (
	"context"
	"slices"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/registry"
)

const (
	mostBefore      = 8       // earlier conversations that facts are taken from
	mostBeforeBytes = 8 << 20 // total bytes of the earlier conversations
	mostCompared    = 16      // conversations compared with a text to find its origin
)

// chainTime is how long a turn waits for earlier conversations.
const chainTime = time.Second

// Chain returns the conversation with an ID, up to its first n messages (0: all), and its
// predecessors, the oldest first, as far as memory or the store has them.
func Chain(ctx context.Context, all *registry.Registry, owner, id string, n int) []Part {
	ctx, cancel := context.WithTimeout(ctx, chainTime)
	defer cancel()
	var out []Part
	bytes := 0
	for len(out) < mostBefore && id != "" {
		c, err := all.Open(ctx, owner, id)
		if err != nil {
			break
		}
		conv := c.Snapshot().Conversation
		if n > 0 && n < conv.Transcript.Len() {
			conv = *precis.Rewound(&conv, n)
		}
		rec := c.Info()
		summary := -1
		if rec.Continues != "" {
			summary = rec.Summary
		}
		part := newPart(&conv, summary)
		if bytes += part.size(); bytes > mostBeforeBytes && len(out) > 0 {
			break
		}
		out = append(out, part)
		id, n = rec.Continues, 0
	}
	slices.Reverse(out)
	return out
}

// FindOrigin finds the conversation that a text was made from among the first of a list, and the number of
// its messages. It returns false when no conversation matches, or ctx ends.
func FindOrigin(ctx context.Context, all []*registry.Conversation, text string) (id string, messages int,
	found bool) {
	best := 0.0
	for _, c := range all[:min(len(all), mostCompared)] {
		if ctx.Err() != nil {
			return "", 0, false
		}
		t, rec, skip := c.Snapshot().Conversation.Transcript, c.Info(), -1
		if rec.Continues != "" {
			skip = rec.Summary
		}
		if share := ContainedShare(text, t.Messages(), skip); share > best {
			best, id, messages = share, c.ID(), t.Len()
		}
	}
	return id, messages, best > 0
}
