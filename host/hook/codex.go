package hook

import "context"

// Codex writes its summary into the recording before it runs SessionStart with source
// "compact", so that one hook does all. A summary that the provider keeps encrypted
// cannot be looked at; the digest is given all the same.
func codexStart(ctx context.Context, c *call) ([]byte, error) {
	if c.input.Source != "compact" {
		return nil, errNothing("")
	}
	r, err := c.open()
	if err != nil {
		return nil, err
	}
	return c.all(ctx, r, r.summary(), codexMost)
}

// all gives the digest, and what neither it nor the program's summary holds, in one text.
func (c *call) all(ctx context.Context, r record, summary string, limit int) ([]byte, error) {
	text, err := r.digest(ctx, c.size(r))
	if err != nil {
		return nil, err
	}
	if summary != "" {
		if more := c.gate(r, summary, text); more != "" {
			text = more + "\n\n" + text
		}
	}
	c.try(ctx, func(s *state) { s.Compactions, s.Summary = s.Compactions+1, "" })
	c.entry.Compaction = true
	intro := c.intro(heldBefore)
	return c.give("SessionStart", intro+fit(text, limit-units(intro))), nil
}
