package hook

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Claude Code runs PreCompact, writes the summary, then runs SessionStart with source
// "compact" and last PostCompact, which has the summary. So the digest is given at
// SessionStart, and what neither it nor the summary holds at the next occasion.

// note remembers nothing and says nothing: what it printed would become a part of the
// prompt for the summary.
func note(context.Context, *call) ([]byte, error) { return nil, errNothing("") }

// claudeStart gives one part of the digest.
func claudeStart(ctx context.Context, c *call) ([]byte, error) {
	if c.input.Source != "compact" {
		return nil, errNothing("")
	}
	part, err := c.part()
	if err != nil {
		return nil, err
	}
	r, err := c.open()
	if err != nil {
		return nil, err
	}
	text, err := r.digest(ctx, c.size(r))
	if err != nil {
		return nil, err
	}
	all := parts(text, claudeParts, claudePart-units(c.intro(heldBefore)))
	if part == 1 {
		c.try(ctx, func(s *state) { s.Compactions, s.Digest, s.Pending = s.Compactions+1, strings.Join(all, "\n"), "" })
		c.entry.Compaction = true
	}
	if part > len(all) {
		return nil, errNothing("")
	}
	what := heldBefore
	if len(all) > 1 {
		what += fmt.Sprintf(", part %d of %d", part, len(all))
	}
	return c.give("SessionStart", c.intro(what)+all[part-1]), nil
}

// part is the number of the part that this hook gives.
func (c *call) part() (int, error) {
	if len(c.Args) == 0 {
		return 1, nil
	}
	if len(c.Args) == 2 && c.Args[0] == "--part" {
		if n, err := strconv.Atoi(c.Args[1]); err == nil && n >= 1 && n <= claudeParts {
			return n, nil
		}
	}
	return 0, errNothing("its arguments are not understood")
}

// give answers an event with text for the model.
func (c *call) give(event, text string) []byte {
	c.entry.Did = Gave
	c.entry.Tokens = (units(text) + 3) / 4
	return contextFor(event, text)
}

// claudeCompacted looks at the summary and keeps what it lacks for the next occasion.
func claudeCompacted(ctx context.Context, c *call) ([]byte, error) {
	if c.input.Summary == "" {
		return nil, errNothing("the event has no summary")
	}
	r, err := c.open()
	if err != nil {
		return nil, err
	}
	given := c.state().Digest
	more := c.gate(r, c.input.Summary, given, roomForMore)
	c.entry.Did = Gated
	if more == "" && given == "" {
		return nil, nil
	}
	if err := c.update(ctx, func(s *state) { s.Pending = more }); err != nil {
		return nil, err
	}
	lost := c.entry.Facts - c.entry.Held
	return line(map[string]string{
		"systemMessage": fmt.Sprintf("precis: the summary lacks %d of %d facts likely to be needed; %d of them were given back", lost, c.entry.Facts, c.entry.Back),
	}), nil
}

// pending gives what waits.
func pending(ctx context.Context, c *call) ([]byte, error) {
	if c.state().Pending == "" {
		return nil, errNothing("")
	}
	text := ""
	if err := c.update(ctx, func(s *state) { text, s.Pending = s.Pending, "" }); err != nil {
		return nil, err
	}
	if text == "" { // another hook was faster
		return nil, errNothing("")
	}
	return c.give(c.input.Event, c.intro(lacks)+fit(text, claudePart-units(c.intro(lacks)))), nil
}
