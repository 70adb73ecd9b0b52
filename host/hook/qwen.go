package hook

import "context"

// Qwen Code runs PreCompact, PostCompact with the summary, and SessionStart with source "compact".
// It adds the text of SessionStart to the system prompt from the second request on. The first
// request has only the summary, so the hook asks for the most important facts in the summary's
// prompt.

// qwenRequest is the most tokens added to the prompt of the summary.
const qwenRequest = 600

func qwenBefore(ctx context.Context, c *call) ([]byte, error) {
	r, err := c.open()
	if err != nil {
		return nil, err
	}
	text, err := r.digest(ctx, qwenRequest, besideSummary)
	if err != nil {
		return nil, err
	}
	return c.answerEvent("PreCompact",
		"Keep in the summary, word for word, what this record says of the user's rules and requests, of files and of errors:\n"+text), nil
}

func qwenCompacted(ctx context.Context, c *call) ([]byte, error) {
	if c.input.Summary == "" {
		return nil, errNothing("the event has no summary")
	}
	c.entry.Did = Noted
	return nil, c.update(ctx, func(s *state) { s.Summary = c.input.Summary })
}

func qwenStart(ctx context.Context, c *call) ([]byte, error) {
	if c.input.Source != "compact" {
		return nil, errNothing("")
	}
	r, err := c.open()
	if err != nil {
		return nil, err
	}
	summary, beside := c.state().Summary, ""
	if summary == "" {
		summary, beside, _ = r.shown()
	}
	return c.start(ctx, r, summary, beside, qwenMost)
}
