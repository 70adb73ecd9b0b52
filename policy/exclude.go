package policy

import (
	"context"
	"slices"

	"precis"
)

// Exclude hides messages that the user does not want in the view, reversibly and without a marker.
// Tool uses and results that belong to them are hidden, too. The error is [precis.CodeNotFound] when all
// of them are hidden already, and [precis.CodeConflict] when one of them must stay: the last user turn,
// pins, and the newest group, which the model is to answer.
func (m *Manager) Exclude(ctx context.Context, conv *precis.Conversation, h precis.Handle) (precis.Edit, error) {
	const op = "exclude"
	t := conv.Transcript
	if err := t.CheckHandle(h); err != nil {
		return precis.Edit{}, err
	}
	if h.Block >= 0 {
		return precis.Edit{}, precis.Errorf(precis.CodeInvalid, op, "%s is a block: whole messages are excluded", h)
	}
	kept := Keep(t, conv.Edits, m.NewMeter(), 1, 0)
	from, _ := kept.Group(h.From)
	_, to := kept.Group(h.To - 1)
	units := precis.Units(t, conv.Edits)
	hidden := true
	for _, u := range units {
		if u.To <= from || u.From >= to {
			continue
		}
		from, to = min(from, u.From), max(to, u.To) // a summarized span is excluded as a whole
		hidden = hidden && !u.Original() && len(u.Messages) == 0
	}
	if hidden {
		return precis.Edit{}, precis.Errorf(precis.CodeNotFound, op, "%s is hidden already", h)
	}
	for i := from; i < to; i++ {
		original := slices.ContainsFunc(units, func(u precis.Unit) bool { return u.From == i && u.Original() })
		if kept.Pinned(i) || original && kept.Message(i) {
			return precis.Edit{}, precis.Errorf(precis.CodeConflict, op, "%s must stay: it is pinned, the last user turn, or what is to be answered", precis.MessageHandle(i))
		}
	}
	e := precis.Edit{Kind: precis.KindExclude, Replace: []precis.Replacement{{From: from, To: to}}, Report: precis.EditReport{Reason: "asked for: " + h.String()}}
	return m.add(ctx, conv, e)
}
