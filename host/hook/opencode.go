package hook

import (
	"context"
	"encoding/json"

	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/digest"
)

// opencode's plugin passes a session's messages and replaces the summary by the answer.

// opencodeDigest writes the summary. Its argument is the name of the session.
func opencodeDigest(ctx context.Context, c *call) ([]byte, error) {
	r, err := c.opencode(c.raw)
	if err != nil {
		return nil, err
	}
	return c.replace(ctx, r)
}

// opencodeGate completes the program's own summary with the facts it lacks. The input is
// {"messages": […], "summary": "…"}.
func opencodeGate(ctx context.Context, c *call) ([]byte, error) {
	var in struct {
		Messages json.RawMessage `json:"messages"`
		Summary  string          `json:"summary"`
	}
	if json.Unmarshal(c.raw, &in) != nil || in.Summary == "" {
		return nil, errNothing("there is no summary")
	}
	r, err := c.opencode(in.Messages)
	if err != nil {
		return nil, err
	}
	more := c.missingText(r, in.Summary, "", roomForMore)
	c.tryUpdate(ctx, func(s *state) { s.Compactions++ })
	c.entry.Did, c.entry.Compaction = Gated, true
	if more == "" {
		return []byte(in.Summary), nil
	}
	c.entry.Tokens = (units(more) + 3) / 4
	return []byte(in.Summary + "\n\n" + c.intro(lacks) + more), nil
}

// opencode reads the messages of a session.
func (c *call) opencode(messages []byte) (record, error) {
	if len(c.Args) != 1 {
		return record{}, errNothing("its arguments are not understood")
	}
	c.input.Session = c.Args[0]
	c.entry.Session = sessionHash(c.input.Session)
	if len(messages) == 0 || messages[0] != '[' {
		return record{}, errNothing("there are no messages")
	}
	info, err := json.Marshal(map[string]string{"id": c.input.Session})
	if err != nil {
		return record{}, err
	}
	data := append(append([]byte(`{"info":`), info...), `,"messages":`...)
	return c.recordOf(archive.Source{Path: "session.json", Data: append(append(data, messages...), '}')})
}

// replace answers with a summary by precis.
func (c *call) replace(ctx context.Context, r record) ([]byte, error) {
	text, err := r.digest(ctx, c.size(r), digest.Writer{})
	if err != nil {
		return nil, err
	}
	out := c.intro(heldBefore) + text
	c.tryUpdate(ctx, func(s *state) { s.Compactions++ })
	c.entry.Did, c.entry.Compaction, c.entry.Tokens = Replaced, true, (units(out)+3)/4
	return []byte(out), nil
}
