package hook

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
)

// Claude Code runs PreCompact, writes the summary, then runs SessionStart with source "compact" and
// last PostCompact with the summary. precis gives its digest at SessionStart, unless it made the
// compaction itself, see [claudeView]. Claude Code shows the user the commands and output of
// PostCompact, so no hook is installed there: precis reads the summary once the recording has it,
// and then gives the facts missing from both summary and digest.

// note prints and stores no text: its output would become part of the prompt for the summary.
func note(context.Context, *call) ([]byte, error) { return nil, errNothing("") }

// claudeStart gives the digest. Hooks of earlier versions ask for two parts; the first has it all.
func claudeStart(ctx context.Context, c *call) ([]byte, error) {
	second := len(c.Args) == 2 && c.Args[1] == "2"
	if c.input.Source != "compact" || second {
		return nil, errNothing("")
	}
	if c.state().Own {
		return nil, cmp.Or[error](c.update(ctx, func(s *state) { s.Own = false }), errNothing(""))
	}
	r, err := c.open()
	if err != nil {
		return nil, err
	}
	most := claudePart - units(c.intro(heldBefore))
	text, err := r.digest(ctx, min(c.size(r), most/4), besideSummary) // a token is four characters
	if err != nil {
		return nil, err
	}
	text = fit(text, most)
	c.tryUpdate(ctx, func(s *state) {
		s.Compactions, s.Digest, s.Pending = s.Compactions+1, text, ""
		s.Due, s.Tried = true, 0
	})
	_ = os.Remove(filepath.Join(c.o.State, busyFolder)) // left by a run that was killed
	c.entry.Compaction = true
	return c.answerEvent("SessionStart", c.intro(heldBefore)+text), nil
}

// answerEvent answers an event with text for the model.
func (c *call) answerEvent(event, text string) []byte {
	c.entry.Did = Gave
	c.entry.Tokens = (units(text) + 3) / 4
	return contextFor(event, text)
}

// claudeCompacted checks the summary and stores the facts it lacks for the next occasion. Hooks
// installed by earlier versions run it at PostCompact. It prints no text, because the user would
// see it.
func claudeCompacted(ctx context.Context, c *call) ([]byte, error) {
	if c.input.Summary == "" {
		return nil, errNothing("the event has no summary")
	}
	r, err := c.open()
	if err != nil {
		return nil, err
	}
	more := c.missingText(r, c.input.Summary, c.state().Digest, roomForMore)
	c.entry.Did = Gated
	return nil, c.update(ctx, func(s *state) { s.Pending, s.Due, s.Summary = more, false, sessionHash(c.input.Summary) })
}

// mostTries is how many times precis looks for a summary that is not in the recording yet.
const mostTries = 3

// pending gives stored text, and first checks the summary if that is due.
func pending(ctx context.Context, c *call) ([]byte, error) {
	was := c.state()
	more, found := "", false
	switch {
	case was.Due:
		r, err := c.open()
		if err != nil {
			return nil, errors.Join(err, c.update(ctx, func(s *state) { s.Due = false }))
		}
		if summary, shown, _ := r.shown(); summary != "" && sessionHash(summary) != was.Summary {
			more, found = c.missingText(r, summary, shown+was.Digest, roomForMore), true
			was.Summary = sessionHash(summary)
		}
	case was.Pending == "":
		c.recordWaiting(false)
		return nil, errNothing("")
	}
	text := ""
	err := c.update(ctx, func(s *state) {
		switch {
		case s.Due && found:
			s.Due, s.Summary, text = false, was.Summary, more
		case s.Due:
			s.Tried++
			s.Due = s.Tried < mostTries
		default:
			text, s.Pending = s.Pending, ""
		}
	})
	switch {
	case err != nil:
		return nil, err
	case text == "" && found:
		c.entry.Did = Gated
		return nil, nil
	case text == "": // another hook was faster, or the summary is checked later
		return nil, errNothing("")
	}
	return c.answerEvent(c.input.Event, c.intro(lacks)+fit(text, claudePart-units(c.intro(lacks)))), nil
}
