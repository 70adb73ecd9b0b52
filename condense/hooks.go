package condense

import (
	"context"
	"errors"
	"fmt"

	"github.com/precis-dev/precis/policy"
)

// Hooks are called around each summary that a model writes; nil hooks are
// skipped. They must be safe for concurrent use and respect the context. Any
// error of a hook other than [ErrVeto] is ignored, with a warning in the
// report.
type Hooks struct {
	// Before returns text that the summarizer is shown in addition to the conversation, or "".
	Before func(ctx context.Context, e HookEvent) (context string, err error)
	// After returns the summary to use: e.Summary, or an edited one.
	After func(ctx context.Context, e HookEvent) (summary string, err error)
}

// HookEvent is the input of a hook.
type HookEvent struct {
	Conversation string `json:"conversation"` // ID; "" when unknown
	Model        string `json:"model"`        // the summarizer's
	Messages     int    `json:"messages"`     // to be replaced by the summary
	Automatic    bool   `json:"automatic"`
	Summary      string `json:"summary,omitempty"` // set for After
}

// ErrVeto is returned by a hook that forbids the condensation.
var ErrVeto = policy.ErrVeto

func (t *task) event(summary string) HookEvent {
	e := HookEvent{Model: t.call.Model, Messages: len(t.r.Messages), Automatic: t.r.Automatic,
		Summary: summary}
	if t.r.Conversation != nil {
		e.Conversation = t.r.Conversation.ID
	}
	return e
}

func (t *task) before(ctx context.Context) error {
	if t.c.Hooks.Before == nil {
		return nil
	}
	add, err := t.c.Hooks.Before(ctx, t.event(""))
	t.prompt.Context = add
	return t.hooked("before", err)
}

// runAfterHook returns the summary as edited by the hook; an empty result is ignored.
func (t *task) runAfterHook(ctx context.Context, text string) (string, error) {
	if t.c.Hooks.After == nil {
		return text, nil
	}
	edited, err := t.c.Hooks.After(ctx, t.event(text))
	if err != nil {
		return text, t.hooked("after", err)
	}
	if visible(edited) == "" {
		return text, t.hooked("after", errors.New("it returned no summary"))
	}
	return edited, nil
}

func (t *task) hooked(which string, err error) error {
	switch {
	case errors.Is(err, ErrVeto):
		return &policy.RungError{Reason: ReasonVetoed, Err: err}
	case err != nil:
		t.call.Warnings = append(t.call.Warnings,
			fmt.Sprintf("the hook %s a condensation failed: %v", which, err))
	}
	return nil
}
