package hook

import "context"

// Codex writes its summary into the recording before it runs SessionStart with source "compact", so
// one hook suffices. A summary that the provider keeps encrypted cannot be checked; precis then
// gives the digest.
func codexStart(ctx context.Context, c *call) ([]byte, error) {
	if c.input.Source != "compact" {
		return nil, errNothing("")
	}
	r, err := c.open()
	if err != nil {
		return nil, err
	}
	summary, shown, _ := r.shown()
	return c.start(ctx, r, summary, shown, codexMost)
}

// missingFacts returns the facts missing from the program's summary and from the text shown beside it. If
// the summary cannot be read, it returns the digest instead. With a readable summary, the missing
// facts alone preserve more old content in the same space than a digest would.
func (c *call) missingFacts(ctx context.Context, r record, summary, beside string,
	limit int) (string, error) {
	if summary == "" {
		head := c.intro(heldBefore)
		// a token is four characters
		text, err := r.digest(ctx, min(c.size(r), (limit-units(head))/4), besideSummary)
		if err != nil {
			return "", err
		}
		return head + fit(text, limit-units(head)), nil
	}
	head := c.intro(lacks)
	more := c.missingText(r, summary, beside, min(roomForMore, (limit-units(head))/4))
	if more == "" {
		return "", errNothing("the summary lacks nothing")
	}
	return head + fit(more, limit-units(head)), nil
}

// start answers the event that follows a compaction.
func (c *call) start(ctx context.Context, r record, summary, beside string, limit int) ([]byte, error) {
	c.tryUpdate(ctx, func(s *state) { s.Compactions, s.Summary = s.Compactions+1, "" })
	c.entry.Compaction = true
	text, err := c.missingFacts(ctx, r, summary, beside, limit)
	if err != nil {
		return nil, err
	}
	return c.answerEvent("SessionStart", text), nil
}
