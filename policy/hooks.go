package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis"
)

// Hooks are called around each rung that the ladder climbs; nil hooks are skipped. They must be
// safe for concurrent use and respect the context. A run that is tried in two ways calls them for
// both. A [Request.DryRun] calls none. An error other than [ErrVeto] becomes a warning of the
// report, and the rung goes on.
type Hooks struct {
	// Before is called before a rung is tried. [ErrVeto] skips it.
	Before func(ctx context.Context, e RungEvent) error
	// After is called with the proposal of a rung, before the gate reads it and it is accepted. It
	// returns the text to show in the place of messages, "" for the proposed text; a text is
	// ignored if the proposal has none. [ErrVeto] refuses the proposal.
	After func(ctx context.Context, e RungEvent) (text string, err error)
}

// ErrVeto is the error of a hook that forbids a rung or a proposal.
var ErrVeto = errors.New("a hook said no")

// RungEvent is the input of a hook. Tokens are as the counter counts them.
type RungEvent struct {
	When         string             `json:"when"`                   // "before" or "after"
	Conversation string             `json:"conversation,omitempty"` // ID; "" when unknown
	Model        string             `json:"model,omitempty"`        // of the conversation
	Rung         string             `json:"rung"`
	TriggeredBy  precis.TriggeredBy `json:"triggered_by"`
	Tokens       int                `json:"tokens"` // of the view before the rung
	Target       int                `json:"target"` // to come down to
	Window       int                `json:"window"`
	Proposal     *Proposal          `json:"proposal,omitempty"` // set if the rung made a proposal
}

// Proposal is the edit that a rung proposes.
type Proposal struct {
	Kind    precis.EditKind `json:"kind"`
	Reason  string          `json:"reason,omitempty"`
	Handles []precis.Handle `json:"handles"`        // the messages and blocks that are shown otherwise
	Text    string          `json:"text,omitempty"` // shown in the place of messages
}

// rungEvent describes a rung to a hook.
func (l *ladder) rungEvent(rung Strategy, when string) RungEvent {
	s := l.s
	return RungEvent{When: when, Conversation: s.Conversation.ID, Model: s.Conversation.Model,
		Rung: rung.Name(), TriggeredBy: l.trigger, Tokens: s.Used, Target: s.Target,
		Window: s.Budget.Window.Tokens}
}

// before asks the hook whether a rung may be tried; the error is [ErrVeto].
func (l *ladder) before(ctx context.Context, rung Strategy) error {
	if l.hooks.Before == nil || l.s.DryRun {
		return nil
	}
	return l.handleHookError("before", rung, l.hooks.Before(ctx, l.rungEvent(rung, "before")))
}

// runAfterHook asks the hook about a proposal and returns the proposal with the hook's text; the error is
// [ErrVeto].
func (l *ladder) runAfterHook(ctx context.Context, rung Strategy, e precis.Edit) (precis.Edit, error) {
	if l.hooks.After == nil || l.s.DryRun || len(e.Replace) == 0 {
		return e, nil
	}
	ev := l.rungEvent(rung, "after")
	ev.Proposal = proposalOf(e)
	text, err := l.hooks.After(ctx, ev)
	if err == nil && !utf8.ValidString(text) {
		err = errors.New("its text is no UTF-8")
	}
	if failed := l.handleHookError("after", rung, err); failed != nil || err != nil ||
		strings.TrimSpace(text) == strings.TrimSpace(ev.Proposal.Text) || strings.TrimSpace(text) == "" {
		return e, failed
	}
	if edited, ok := withText(e, text); ok {
		edited.Report.Notes = append(slices.Clip(e.Report.Notes), "the text was edited by a hook")
		return edited, nil
	}
	return e, nil
}

// handleHookError returns a veto, and records any other error as a warning.
func (l *ladder) handleHookError(when string, rung Strategy, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, ErrVeto) {
		return &RungError{Reason: ReasonVetoed, Err: err}
	}
	if w := fmt.Sprintf("the hook %s the rung %s failed: %v", when, rung.Name(),
		err); !slices.Contains(l.warnings, w) {
		l.warnings = append(l.warnings, w)
	}
	return nil
}

// proposalOf describes an edit that is proposed.
func proposalOf(e precis.Edit) *Proposal {
	p := &Proposal{Kind: e.Kind, Reason: e.Report.Reason, Handles: []precis.Handle{}}
	for _, r := range e.Replace {
		h := precis.Handle{From: r.From, To: r.To, Block: -1}
		if r.Block != nil {
			h.Block = r.Block.Index
		} else if own := r.OwnIndex(); p.Text == "" && own >= 0 {
			p.Text = textOf(r.With[own])
		}
		p.Handles = append(p.Handles, h)
	}
	return p
}

// textOf returns the text of a message.
func textOf(m precis.Message) string {
	var out strings.Builder
	for _, b := range m.Content {
		if t, ok := b.(precis.Text); ok {
			out.WriteString(t.Text)
		}
	}
	return out.String()
}
