package polyfill

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/wire/anthropic"
)

// View is the view of a request while it is planned. Its conversation is locked.
type View interface {
	// Conversation returns the conversation; its edits change with Apply.
	Conversation() *precis.Conversation
	// Result returns the newest pass of the manager over the view.
	Result() policy.Result
	// Meter counts as the manager does.
	Meter() *measure.Meter
	// Apply puts edits in force. They have an identity and do not cross others.
	Apply(ctx context.Context, edits []precis.Edit) error
	// KeepAlive sends keep-alive bytes to the client until stop is called.
	KeepAlive() (stop func())
}

// Emulator carries out one request. Request and View are required.
type Emulator struct {
	*Request
	View       View
	Live       *policy.LiveRequest  // for summary requests to extend; nil: they stand alone
	Reasoning  precis.ReasoningRule // which signed reasoning stays when the messages before it change
	Summarizer policy.Summarizer    // if it is nil or fails, a digest is made
	// Keep stores the first end messages, which the client is about to replace by a summary, and
	// books the cost of the summary; nil: not stored.
	Keep   func(ctx context.Context, end int, s policy.Summary)
	Logger *slog.Logger
	Now    func() time.Time
}

// Emulate makes the edits that the request asks for, before the view is planned.
func (e *Emulator) Emulate(ctx context.Context) error {
	if err := (restorer{e}).applyReturned(ctx); err != nil {
		return err
	}
	for _, kind := range e.Edits.Order {
		if err := e.emulate(ctx, kind); err != nil {
			return err
		}
	}
	if e.Dialect != anthropic.Format && e.compact != nil {
		if err := (compactor{e}).compactOver(ctx); err != nil {
			return err
		}
	}
	if e.Mode == Window || e.Mode == Trigger {
		return compactor{e}.compactAll(ctx)
	}
	return nil
}

func (e *Emulator) emulate(ctx context.Context, kind string) error {
	switch kind {
	case TypeClearThinking:
		return clearer{e}.clearThinking(ctx)
	case TypeClearTools:
		return clearer{e}.clearTools(ctx)
	case TypeCompact:
		return compactor{e}.compactOver(ctx)
	}
	return nil
}

func (e *Emulator) transcript() *precis.Transcript { return e.View.Conversation().Transcript }

func (e *Emulator) edits() []precis.Edit { return e.View.Conversation().Edits }

func (e *Emulator) units() []precis.Unit { return e.View.Result().Units }

// apply puts an edit in force, together with edits that must follow it. It reports whether that was
// possible; smaller demands that the view shrinks.
func (e *Emulator) apply(ctx context.Context, edit precis.Edit, smaller bool) (bool, error) {
	t, had := e.transcript(), e.edits()
	known := func(o precis.Edit) bool { return o.ID == edit.ID }
	if edit.Identify(t) != nil || slices.ContainsFunc(had, known) || precis.CheckEdit(t, had, edit) != nil {
		return false, nil // it crosses a later edit, or was undone
	}
	batch := []precis.Edit{edit}
	if u := e.unbound(slices.Concat(had, batch)); len(u.Replace) > 0 && u.Identify(t) == nil &&
		precis.CheckEdit(t, slices.Concat(had, batch), u) == nil {
		batch = append(batch, u)
	}
	before, after := e.counted(had), e.counted(slices.Concat(had, batch))
	if smaller && after >= before {
		return false, nil
	}
	for i := range batch {
		r := &batch[i].Report
		batch[i].Run, batch[i].Time = batch[0].ID, e.Now()
		r.Trigger, r.TokensBefore, r.TokensAfter = string(precis.TriggeredManual), before, after
		if i > 0 {
			r.Rung, r.TokensBefore = batch[0].Report.Rung, after
		}
	}
	if err := e.View.Apply(ctx, batch); err != nil {
		return false, err
	}
	return slices.ContainsFunc(e.edits(), known), nil
}

// counted returns the tokens of the view with edits, as the meter counts.
func (e *Emulator) counted(edits []precis.Edit) int {
	m := e.View.Meter()
	n := m.Overhead(e.View.Conversation()).Sum()
	for _, u := range precis.Units(e.transcript(), edits) {
		n += m.View(u.Messages)
	}
	return n
}

// calibrated converts counted tokens to the provider's count.
func (e *Emulator) calibrated(n int) int { return int(float64(n) * e.View.Result().Report.Calibration) }

// tokens returns the current size of the view.
func (e *Emulator) tokens() int { return e.View.Result().Report.After.Tokens }

// unbound returns the edit that leaves out signed reasoning after the first change of a view, if
// the model binds reasoning to the messages before it.
func (e *Emulator) unbound(edits []precis.Edit) precis.Edit {
	edit := precis.Edit{Kind: precis.KindThinking,
		Report: precis.EditReport{Reason: "its signature binds it to messages that are no longer shown as they were"}}
	rule := e.Reasoning
	if rule == precis.ReasoningStays {
		return edit
	}
	units := precis.Units(e.transcript(), edits)
	loop := len(units)
	if rule == precis.ReasoningLoop {
		from := groupOf(e.Messages, max(precis.LastUserTurn(e.Messages), 0))
		loop = slices.IndexFunc(units, func(u precis.Unit) bool { return u.From >= from })
	}
	changed := false
	for k, u := range units {
		if k == loop {
			break
		}
		if changed && u.Original() {
			edit.Replace = append(edit.Replace, e.reasoningOf(u, true)...)
		}
		changed = changed || !u.Original() || u.Changed
	}
	return edit
}

// reasoningOf returns replacements that leave out the shown reasoning of a message.
func (e *Emulator) reasoningOf(u precis.Unit, signed bool) (out []precis.Replacement) {
	for i, b := range e.transcript().At(u.From).Content {
		th, visible := b.(precis.Thinking)
		_, redacted := b.(precis.RedactedThinking)
		if !visible && !redacted || signed && visible && th.Signature == "" ||
			u.Changed && !slices.Contains(u.OriginalIndexes, i) {
			continue
		}
		out = append(out, precis.ReplaceBlock(e.transcript(), u.From, i, nil))
	}
	return out
}

// tokensSavedBy returns how many tokens the edits of a rung that are in force saved when they were made.
func (e *Emulator) tokensSavedBy(rung string, kind precis.EditKind) int {
	n := 0
	for _, edit := range precis.Active(e.edits()) {
		if edit.Report.Rung == rung && edit.Kind == kind {
			n += edit.Report.Saved()
		}
	}
	return e.calibrated(n)
}
