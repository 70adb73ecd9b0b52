package gateway

import (
	"context"
	"slices"

	"precis"
	"precis/gateway/polyfill"
	"precis/wire/anthropic"
)

// emulate makes the edits that the request asks for, before anything else is
// decided about its view.
func (m *job) emulate(ctx context.Context) error {
	e := &m.poly
	if !e.active {
		return nil
	}
	if !m.own {
		m.copyEdits(nil)
	}
	if err := m.look(ctx); err != nil {
		return err
	}
	if err := m.takeBack(ctx); err != nil {
		return err
	}
	for _, kind := range e.edits.Order {
		if err := m.emulateEdit(ctx, kind); err != nil {
			return err
		}
	}
	if m.dialect.Name() != anthropic.Format && e.compact != nil {
		if err := m.compactOver(ctx); err != nil {
			return err
		}
	}
	if e.mode == modeWindow || e.mode == modeTrigger {
		return m.compactAll(ctx)
	}
	return nil
}

func (m *job) emulateEdit(ctx context.Context, kind string) error {
	switch kind {
	case polyfill.TypeClearThinking:
		return m.clearThinking(ctx)
	case polyfill.TypeClearTools:
		return m.clearTools(ctx)
	case polyfill.TypeCompact:
		return m.compactOver(ctx)
	}
	return nil
}

// copyEdits lets the job work on a copy of the conversation, with more edits.
func (m *job) copyEdits(more []precis.Edit) {
	c := *m.conv
	c.Edits = slices.Concat(c.Edits, more)
	m.conv, m.req.Conversation = &c, &c
}

// adoptMade takes over the edits that an earlier try of this request has made and
// nothing has recorded.
func (m *job) adoptMade() {
	if !m.own && len(m.poly.made) > 0 {
		m.copyEdits(m.poly.made)
	}
}

// apply puts an edit in force, with what must follow it, and looks again. It
// reports whether the edit was possible; smaller demands that the view shrinks.
func (m *job) apply(ctx context.Context, e precis.Edit, smaller bool) (bool, error) {
	t := m.conv.Transcript
	before := m.counted(m.conv.Edits)
	if e.Identify(t) != nil || slices.ContainsFunc(m.conv.Edits, func(o precis.Edit) bool { return o.ID == e.ID }) || precis.CheckEdit(t, m.conv.Edits, e) != nil {
		return false, nil // it crosses an edit made since, or was undone
	}
	batch := []precis.Edit{e}
	if u := m.unbound(slices.Concat(m.conv.Edits, batch)); len(u.Replace) > 0 && u.Identify(t) == nil && precis.CheckEdit(t, slices.Concat(m.conv.Edits, batch), u) == nil {
		batch = append(batch, u)
	}
	after := m.counted(slices.Concat(m.conv.Edits, batch))
	if smaller && after >= before {
		return false, nil
	}
	for i := range batch {
		r := &batch[i].Report
		batch[i].Run, batch[i].Time = batch[0].ID, m.g.o.Now()
		r.Trigger, r.TokensBefore, r.TokensAfter = string(precis.TriggeredManual), before, after
		if i > 0 {
			r.Rung, r.TokensBefore = batch[0].Report.Rung, after
		}
	}
	if err := m.keepEdits(ctx, batch); err != nil {
		return false, err
	}
	m.held.written.forget()
	made := slices.ContainsFunc(m.conv.Edits, func(o precis.Edit) bool { return o.ID == batch[0].ID })
	if made {
		m.action = actionReduced
	}
	return made, m.look(ctx)
}

// keepEdits records edits, or keeps them for this request.
func (m *job) keepEdits(ctx context.Context, batch []precis.Edit) error {
	if !m.own {
		m.poly.made = append(m.poly.made, batch...)
		m.conv.Edits = append(m.conv.Edits, batch...)
		return nil
	}
	err := m.mgr.Record(ctx, m.conv, batch...)
	switch precis.CodeOf(err) {
	case "":
	case precis.CodeConflict: // another replica was faster: its edits count
		m.refresh(ctx)
	case precis.CodeCanceled:
		return err
	default:
		m.g.o.Logger.ErrorContext(ctx, "edits are not recorded", "conversation", m.conv.ID, "error", err)
		left := slices.DeleteFunc(batch, func(e precis.Edit) bool {
			return slices.ContainsFunc(m.conv.Edits, func(o precis.Edit) bool { return o.ID == e.ID })
		})
		m.held.unsaved = true
		return m.mgr.With(nil).Record(ctx, m.conv, left...)
	}
	return nil
}

// counted returns the tokens of the view with edits, as the meter counts.
func (m *job) counted(edits []precis.Edit) int {
	n := m.req.Meter.Overhead(m.conv)
	for _, u := range precis.Units(m.conv.Transcript, edits) {
		n += m.req.Meter.View(u.Messages)
	}
	return n
}

// calibrated turns counted tokens into those of the provider.
func (m *job) calibrated(n int) int { return int(float64(n) * m.res.Report.Calibration) }

// tokens is the size of the view now.
func (m *job) tokens() int { return m.res.Report.After.Tokens }

// unbound returns the edit that leaves out signed reasoning after the first
// change of a view, where the model binds it to what came before.
func (m *job) unbound(edits []precis.Edit) precis.Edit {
	e := precis.Edit{Kind: precis.KindThinking, Report: precis.EditReport{Reason: "its signature binds it to messages that are no longer shown as they were"}}
	rule := m.req.Reasoning
	if rule == precis.ReasoningStays {
		return e
	}
	units := precis.Units(m.conv.Transcript, edits)
	loop := len(units)
	if rule == precis.ReasoningLoop {
		from := groupOf(m.found.Messages, lastTurnAt(m.found.Messages))
		loop = slices.IndexFunc(units, func(u precis.Unit) bool { return u.From >= from })
	}
	changed := false
	for k, u := range units {
		if k == loop {
			break
		}
		if changed && u.Original() {
			e.Replace = append(e.Replace, m.reasoningOf(u, true)...)
		}
		changed = changed || !u.Original() || u.Changed
	}
	return e
}

// reasoningOf returns replacements that leave the reasoning of a message out, as
// far as it is shown.
func (m *job) reasoningOf(u precis.Unit, signed bool) (out []precis.Replacement) {
	for i, b := range m.conv.Transcript.At(u.From).Content {
		th, visible := b.(precis.Thinking)
		_, redacted := b.(precis.RedactedThinking)
		if !visible && !redacted || signed && visible && th.Signature == "" || u.Changed && !slices.Contains(u.Index, i) {
			continue
		}
		out = append(out, precis.ReplaceBlock(m.conv.Transcript, u.From, i, nil))
	}
	return out
}

// lastTurnAt returns the index of the last message in which the user speaks.
func lastTurnAt(msgs []precis.Message) int {
	for i := len(msgs) - 1; i > 0; i-- {
		if msgs[i].IsUserTurn() {
			return i
		}
	}
	return 0
}

// saved returns how many tokens the edits of a rung that are in force saved when
// they were made.
func (m *job) saved(rung string, kind precis.EditKind) int {
	n := 0
	for _, e := range precis.Active(m.conv.Edits) {
		if e.Report.Rung == rung && e.Kind == kind {
			n += e.Report.Saved()
		}
	}
	return m.calibrated(n)
}
