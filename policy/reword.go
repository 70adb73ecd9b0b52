package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/number"
)

// Reword replaces the summary or marker of an edit in force by another text. The gate reads it as
// it reads every summary, and adds missing facts. The old edit stays beneath: undoing the new one
// brings its text back. The error is [precis.CodeNotFound] for an edit that is not in force, and
// [precis.CodeInvalid] for one that shows no text in the place of messages, and for a text that is empty,
// not UTF-8, or larger than the messages it replaces.
func (m *Manager) Reword(ctx context.Context, r Request, edit, text string) (precis.Edit, error) {
	const op = "reword"
	conv := r.Conversation
	if conv == nil {
		return precis.Edit{}, precis.Errorf(precis.CodeInvalid, op, "Request.Conversation is missing")
	}
	i := slices.IndexFunc(precis.Active(conv.Edits), func(e precis.Edit) bool { return e.ID == edit })
	if i < 0 {
		return precis.Edit{}, precis.Errorf(precis.CodeNotFound, op, "there is no edit %.80q in force", edit)
	}
	old := precis.Active(conv.Edits)[i]
	before := *conv // as it is without the edit: the messages to replace
	before.Edits = slices.DeleteFunc(slices.Clone(conv.Edits),
		func(e precis.Edit) bool { return e.ID == edit })
	r.Conversation = &before
	e, err := reworded(old, text)
	if err == nil {
		e, err = m.gateText(ctx, r, e, text)
	}
	if err != nil {
		return precis.Edit{}, err
	}
	return m.add(ctx, conv, e)
}

// gateText has the gate read an edit with a user's text, and refuses a text that is empty or too
// large. The conversation of the request lacks the edit.
func (m *Manager) gateText(ctx context.Context, r Request, e precis.Edit, text string) (precis.Edit, error) {
	const op = "reword"
	if strings.TrimSpace(text) == "" || !utf8.ValidString(text) {
		return precis.Edit{}, precis.Errorf(precis.CodeInvalid, op, "the text is empty or no UTF-8")
	}
	r.TriggeredBy, r.Meter = precis.TriggeredManual, nil
	p, err := m.begin(r)
	if err != nil {
		return precis.Edit{}, err
	}
	if m.o.Gate != nil {
		if e, err = m.o.Gate.Admit(ctx, &p.s, e); err != nil {
			return precis.Edit{}, err
		}
	}
	e.Report.TokensBefore, e.Report.TokensAfter = p.sizesOf(e)
	if e.Report.TokensAfter > e.Report.TokensBefore {
		return precis.Edit{}, precis.Errorf(precis.CodeInvalid, op,
			"the text has %d tokens, the messages it stands for %d", e.Report.TokensAfter,
			e.Report.TokensBefore)
	}
	return e, nil
}

// reworded returns an edit over the same spans that shows another text.
func reworded(old precis.Edit, text string) (precis.Edit, error) {
	e := precis.Edit{Kind: old.Kind,
		Report: precis.EditReport{Rung: old.Report.Rung,
			Reason: fmt.Sprintf("the text of %s was edited", old.ID)}}
	for _, r := range old.Replace {
		if r.Block != nil || r.Restore {
			continue
		}
		e.Replace = append(e.Replace, r)
	}
	e, found := withText(e, text)
	if !found {
		return precis.Edit{}, precis.Errorf(precis.CodeInvalid, "reword",
			"edit %.80q shows no text in the place of messages", old.ID)
	}
	return e, nil
}

// withText returns an edit with another text where it shows one in the place of messages;
// ok is false when it shows none.
func withText(e precis.Edit, text string) (out precis.Edit, ok bool) {
	i := slices.IndexFunc(e.Replace,
		func(r precis.Replacement) bool { return r.Block == nil && !r.Restore && r.OwnIndex() >= 0 })
	if i < 0 {
		return e, false
	}
	e.Replace = slices.Clone(e.Replace)
	first := &e.Replace[i]
	own := first.OwnIndex()
	first.With = slices.Clone(first.With)
	first.With[own] = precis.NewText(first.With[own].Role, text)
	return e, true
}

// sizesOf counts the tokens in the view that an edit hides, and the tokens that it shows instead.
func (p *pass) sizesOf(e precis.Edit) (before, after int) {
	for _, r := range e.Replace {
		for _, u := range p.s.Units {
			if r.From <= u.From && u.To <= r.To {
				before += p.s.Meter.View(u.Messages)
			}
		}
		after += p.s.Meter.View(r.With)
	}
	return before, after
}

// Redraft returns the result of a run with [Request.Unrecorded] set, with another text in the place
// of the summary or marker of one of its edits. The conversation of the request lacks the run, and
// is not changed. The gate reads the text as it reads every summary and adds missing facts. The
// retention is not measured again. The errors are those from [Manager.Reword], and [precis.CodeConflict]
// when the run no longer fits the conversation.
func (m *Manager) Redraft(ctx context.Context, r Request, run Result, edit, text string) (Result, error) {
	const op = "redraft"
	conv := r.Conversation
	if conv == nil {
		return Result{}, precis.Errorf(precis.CodeInvalid, op, "Request.Conversation is missing")
	}
	i := slices.IndexFunc(run.Edits, func(e precis.Edit) bool { return e.ID == edit })
	if i < 0 {
		return Result{}, precis.Errorf(precis.CodeNotFound, op, "there is no edit %.80q in the run", edit)
	}
	before := *conv
	before.Edits = slices.Concat(conv.Edits, run.Edits[:i])
	r.Conversation = &before
	e, ok := withText(run.Edits[i], text)
	if !ok {
		return Result{}, precis.Errorf(precis.CodeInvalid, op,
			"edit %.80q shows no text in the place of messages", edit)
	}
	e.Report = precis.EditReport{}
	e, err := m.gateText(ctx, r, e, text)
	if err != nil {
		return Result{}, err
	}
	e.Report = redrafted(run.Edits[i].Report, e.Report)
	run.Edits = slices.Clone(run.Edits)
	run.Edits[i] = e
	r.TriggeredBy, r.Meter = precis.TriggeredManual, nil
	p, err := m.begin(r) // the conversation with the run up to i
	if err != nil {
		return Result{}, err
	}
	return p.redraft(run, i)
}

// redrafted returns the report of an edit after its text was changed: the origin of the edit with
// the gate's findings on the new text.
func redrafted(made, read precis.EditReport) precis.EditReport {
	out := made
	out.Likely, out.Held, out.Repaired = read.Likely, read.Held, read.Repaired
	out.Notes = append([]string{"the text was edited before it was applied"}, read.Notes...)
	return out
}

// redraft recomputes the identity and sizes of a run's edits, and the view and numbers of the run,
// after the i-th edit has changed. The edits before it are in force in p.
func (p *pass) redraft(run Result, i int) (Result, error) {
	const op = "redraft"
	t, started := p.s.Transcript, p.s.Units
	run.Edits[i].ID = ""
	if err := run.Edits[i].Identify(t); err != nil {
		return Result{}, err
	}
	run.Edits[i].ID = unused(p.s.Edits, run.Edits[i].ID)
	for k := i; k < len(run.Edits); k++ {
		e := &run.Edits[k]
		if err := precis.CheckEdit(t, p.s.Edits, *e); err != nil {
			return Result{}, precis.Errorf(precis.CodeConflict, op,
				"the conversation was edited meanwhile: %w", err)
		}
		edits := slices.Concat(p.s.Edits, run.Edits[k:k+1])
		units := precis.Units(t, edits)
		e.Report.TokensBefore = p.s.Used
		p.s.Used += p.s.tokens(units) - p.s.tokens(p.s.Units)
		e.Report.TokensAfter = p.s.Used
		p.s.Edits, p.s.Units = edits, units
	}
	if broken := newBreach(p.s.Transcript, started, p.s.Units); broken != "" {
		return Result{}, precis.Errorf(precis.CodeInvalid, op, "%s", broken)
	}
	for k := range run.Edits {
		run.Edits[k].Run = run.Edits[0].ID
	}
	p.view, p.repairs = p.s.Repair(p.s.Transcript.Render(p.s.Units))
	run.View, run.Units = slices.Clone(p.view), p.s.Units
	rep := &run.Report
	rep.After, rep.Edits, rep.Repairs, rep.Retention, rep.Status = p.size(p.s.Used,
		p.view), summarize(run.Edits, p.factor), p.repairs, nil, p.status()
	rep.Outcome = fmt.Sprintf("reduced from %s to %s tokens by %s", number.Thousands(rep.Before.Tokens),
		number.Thousands(rep.After.Tokens), edits(len(run.Edits)))
	return run, nil
}
