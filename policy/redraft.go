package policy

import (
	"context"
	"fmt"
	"slices"

	"precis"
	"precis/internal/number"
)

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
		return Result{}, precis.Errorf(precis.CodeInvalid, op, "edit %.80q shows no text in the place of messages", edit)
	}
	e.Report = precis.EditReport{}
	e, err := m.retext(ctx, r, e, text)
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
			return Result{}, precis.Errorf(precis.CodeConflict, op, "the conversation was edited meanwhile: %w", err)
		}
		edits := slices.Concat(p.s.Edits, run.Edits[k:k+1])
		units := precis.Units(t, edits)
		e.Report.TokensBefore = p.s.Used
		p.s.Used += p.s.tokens(units) - p.s.tokens(p.s.Units)
		e.Report.TokensAfter = p.s.Used
		p.s.Edits, p.s.Units = edits, units
	}
	if broken := parted(p.s.Transcript, started, p.s.Units); broken != "" {
		return Result{}, precis.Errorf(precis.CodeInvalid, op, "%s", broken)
	}
	for k := range run.Edits {
		run.Edits[k].Run = run.Edits[0].ID
	}
	p.view, p.repairs = p.s.Repair(p.s.Transcript.Show(p.s.Units))
	run.View, run.Units = slices.Clone(p.view), p.s.Units
	rep := &run.Report
	rep.After, rep.Edits, rep.Repairs, rep.Retention, rep.Status = p.size(p.s.Used, p.view), summarize(run.Edits, p.factor), p.repairs, nil, p.status()
	rep.Outcome = fmt.Sprintf("reduced from %s to %s tokens by %s", number.Thousands(rep.Before.Tokens), number.Thousands(rep.After.Tokens), edits(len(run.Edits)))
	return run, nil
}
