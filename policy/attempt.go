package policy

import (
	"context"
	"regexp"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/inforce"
)

// attempt is one climb of the ladder.
type attempt struct {
	s        Situation
	steps    []precis.RungResult
	edits    []precis.Edit
	err      error
	warnings []string   // of hooks that failed
	retained *Retention // nil: the gate is not an [Auditor], or there is no edit
}

// climb reduces the view in two ways: on top of earlier runs of the ladder, and anew from the
// originals. It takes the view that keeps more. So a conversation that is reduced for the tenth
// time keeps as much as one reduction of the whole would. If a model writes the summaries, or no
// [Auditor] can compare the views, it only does the former.
func (p *pass) climb(ctx context.Context, rungs []Strategy) error {
	best := p.attempt(ctx, p.s, rungs)
	_, audits := p.m.o.Gate.(Auditor)
	if made := p.earlierReductions(); best.err == nil && p.r.To == 0 && p.s.Excess() > 0 && audits &&
		len(made) > 0 && !slices.ContainsFunc(rungs, usesModel) {
		if anew := p.climbAnew(ctx, rungs, made); anew.isBetterThan(&best) {
			best = anew
		}
	}
	p.s, p.edits, p.retained = best.s, best.edits, best.retained
	p.steps = append(p.steps, best.steps...)
	p.warnings = append(p.warnings, best.warnings...)
	return best.err
}

func (p *pass) attempt(ctx context.Context, s Situation, rungs []Strategy) attempt {
	tail := min(int(p.settings.KeepShare*float64(p.r.Window.Tokens)/p.factor), s.Target/5)
	if s.ExcessMessages() > 0 {
		tail = 0 // too many messages, whatever their size
	}
	switch {
	case p.r.To > 0:
		s.Kept = p.keptOfRange(&s)
	case p.r.Limits != Limits{}: // only the newest group has to stay
		s.Kept = Keep(s.Transcript, s.Edits, s.Meter, 1, 0)
	default:
		s.Kept = keep(s.Transcript, s.Edits, s.Meter, p.settings.KeepMessages, tail,
			!slices.ContainsFunc(rungs, isLastResort))
		s.Kept.first(p.settings.KeepFirst)
	}
	head := 0
	if p.r.To == 0 {
		head = min(int(p.settings.KeepHead*float64(p.r.Window.Tokens)/p.factor), s.Target/5)
	}
	var law []inforce.Item
	if p.m.o.ItemSource != nil {
		law = p.m.o.ItemSource.Items(&s)
	}
	s.Kept.keepInForce(s.Transcript, s.Edits, s.Meter, head, p.standingRoom(), law)
	if p.settings.Pin != "" {
		s.Kept.PinMatching(s.Transcript, regexp.MustCompile(p.settings.Pin)) // Validate compiled it before
	}
	l := ladder{s: &s, gate: p.m.o.Gate, arm: p.m.o.Variant, now: p.m.o.Now,
		onStep: func(s precis.RungResult) { p.bookCall(ctx, s) }, hooks: p.m.o.Hooks,
		trigger: p.r.TriggeredBy}
	a := attempt{err: l.climb(ctx, rungs)}
	a.s, a.steps, a.edits, a.warnings = s, l.steps, l.edits, l.warnings
	if audit, ok := p.m.o.Gate.(Auditor); ok && len(a.edits) > 0 {
		r := audit.Audit(&a.s, a.edits)
		a.retained = &r
	}
	return a
}

// standingShare is the share of the window up to which items in force are kept word for word; they
// take at most a fifth of the target. A small window keeps leastStanding tokens of them, but at
// most a third of the room for messages.
const (
	standingShare = 0.1
	leastStanding = 4000
)

// standingRoom returns the tokens up to which items in force are kept word for word.
func (p *pass) standingRoom() int {
	free := max(float64(p.s.Limit-p.s.Budget.Overhead), 0)
	share := min(standingShare*float64(p.r.Window.Tokens)/p.factor, float64(p.s.Target)/5)
	return int(max(share, min(leastStanding, free/3)))
}

// earlierReductions returns the edits in force of earlier runs with rungs of this ladder that call no model.
// Model-written summaries are excluded, so that they are not paid for twice.
func (p *pass) earlierReductions() []precis.Edit {
	var out []precis.Edit
	for _, e := range precis.Active(p.s.Edits) {
		i := slices.IndexFunc(p.m.o.Strategies, func(s Strategy) bool { return s.Name() == e.Report.Rung })
		if e.Reduces() && i >= 0 && !usesModel(p.m.o.Strategies[i]) {
			out = append(out, e)
		}
	}
	return out
}

// anewRung names the edit of a run that undoes the edits of earlier runs.
const anewRung = "anew"

// climbAnew climbs as though the edits of earlier runs had not been made. Its first edit undoes them and
// belongs to the run, so that undoing the run restores them.
func (p *pass) climbAnew(ctx context.Context, rungs []Strategy, made []precis.Edit) attempt {
	back := precis.Edit{Kind: precis.KindUndo,
		Report: precis.EditReport{Rung: anewRung,
			Reason: "earlier reductions are done anew from the originals"}}
	for _, e := range made {
		back.Undoes = append(back.Undoes, e.ID)
	}
	s := p.s
	if err := back.Identify(s.Transcript); err != nil {
		return attempt{err: err}
	}
	back.ID = unused(s.Edits, back.ID)
	if err := precis.CheckEdit(s.Transcript, s.Edits, back); err != nil {
		return attempt{err: err}
	}
	edits := append(s.Edits[:len(s.Edits):len(s.Edits)], back)
	s.Units = precis.Units(s.Transcript, edits)
	s.Used = p.s.Used - p.s.tokens(p.s.Units) + s.tokens(s.Units)
	back.Report.TokensBefore, back.Report.TokensAfter = p.s.Used, s.Used
	edits[len(edits)-1], s.Edits = back, edits
	a := p.attempt(ctx, s, rungs)
	if len(a.edits) > 0 {
		a.edits = append([]precis.Edit{back}, a.edits...)
		a.steps = append([]precis.RungResult{{Rung: anewRung, Outcome: precis.OutcomeAccepted,
			Reason: back.Report.Reason, Before: p.s.Used, After: s.Used}}, a.steps...)
	}
	return a
}

// isBetterThan reports whether the view of an attempt is better than b's.
func (a *attempt) isBetterThan(b *attempt) bool {
	if a.err != nil || len(a.edits) == 0 || a.s.Used > a.s.Limit && b.s.Used <= b.s.Limit {
		return false
	}
	if a.s.Used <= a.s.Limit && b.s.Used > b.s.Limit {
		return true
	}
	if b.retained == nil { // b found no reduction
		return a.s.Excess() <= 0
	}
	if scant := a.s.Used < a.s.Target/2; scant != (b.s.Used < b.s.Target/2) {
		return !scant // much was hidden to save little
	}
	if lost, others := len(a.retained.RulesLost), len(b.retained.RulesLost); lost != others {
		return lost < others
	}
	return a.retained.Share > b.retained.Share+.01
}
