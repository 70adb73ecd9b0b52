package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"precis"
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
	before.Edits = slices.DeleteFunc(slices.Clone(conv.Edits), func(e precis.Edit) bool { return e.ID == edit })
	r.Conversation = &before
	e, err := reworded(old, text)
	if err == nil {
		e, err = m.retext(ctx, r, e, text)
	}
	if err != nil {
		return precis.Edit{}, err
	}
	return m.add(ctx, conv, e)
}

// retext has the gate read an edit with a user's text, and refuses a text that is empty or too
// large. The conversation of the request lacks the edit.
func (m *Manager) retext(ctx context.Context, r Request, e precis.Edit, text string) (precis.Edit, error) {
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
		return precis.Edit{}, precis.Errorf(precis.CodeInvalid, op, "the text has %d tokens, the messages it stands for %d", e.Report.TokensAfter, e.Report.TokensBefore)
	}
	return e, nil
}

// reworded returns an edit over the same spans that shows another text.
func reworded(old precis.Edit, text string) (precis.Edit, error) {
	e := precis.Edit{Kind: old.Kind, Report: precis.EditReport{Rung: old.Report.Rung, Reason: fmt.Sprintf("the text of %s was edited", old.ID)}}
	for _, r := range old.Replace {
		if r.Block != nil || r.Restore {
			continue
		}
		e.Replace = append(e.Replace, r)
	}
	e, found := withText(e, text)
	if !found {
		return precis.Edit{}, precis.Errorf(precis.CodeInvalid, "reword", "edit %.80q shows no text in the place of messages", old.ID)
	}
	return e, nil
}

// withText returns an edit with another text where it shows one in the place of messages;
// ok is false when it shows none.
func withText(e precis.Edit, text string) (out precis.Edit, ok bool) {
	i := slices.IndexFunc(e.Replace, func(r precis.Replacement) bool { return r.Block == nil && !r.Restore && r.Own() >= 0 })
	if i < 0 {
		return e, false
	}
	e.Replace = slices.Clone(e.Replace)
	first := &e.Replace[i]
	own := first.Own()
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
