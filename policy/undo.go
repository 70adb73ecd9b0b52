package policy

import (
	"context"
	"fmt"
	"slices"

	"github.com/precis-dev/precis"
)

// Undo undoes edits of a conversation: the given IDs, or, without IDs, the last run that reduced it. It
// appends one edit of kind [precis.KindUndo] and returns it. The error is [precis.CodeNotFound] when
// there is no edit to undo.
func (m *Manager) Undo(ctx context.Context, conv *precis.Conversation, ids ...string) (precis.Edit, error) {
	if conv == nil || conv.Transcript == nil {
		return precis.Edit{}, precis.Errorf(precis.CodeInvalid, "undo", "the conversation has no transcript")
	}
	if len(ids) == 0 {
		ids = precis.LastRun(conv.Edits)
	}
	if len(ids) == 0 {
		return precis.Edit{}, precis.Errorf(precis.CodeNotFound, "undo", "no edit is in force")
	}
	return m.add(ctx, conv, precis.Edit{Kind: precis.KindUndo, Undoes: ids})
}

// Restore shows hidden content again, from now on: whole messages with the tool uses and results
// that belong to them, or one block. A block of a message that is hidden as a whole comes back with
// its message. The error is [precis.CodeNotFound] when all of it is shown unchanged.
func (m *Manager) Restore(ctx context.Context, conv *precis.Conversation,
	h precis.Handle) (precis.Edit, error) {
	t := conv.Transcript
	if err := t.CheckHandle(h); err != nil {
		return precis.Edit{}, err
	}
	e := precis.Edit{Kind: precis.KindRestore, Report: precis.EditReport{Reason: "asked for: " + h.String()}}
	shown := precis.ShownBy(t, conv.Edits)
	r := precis.Replacement{From: h.From, To: h.To, Restore: true}
	hidden := false
	if h.Block >= 0 && shown.Message(h.From).Unit.Original() {
		r.Block = precis.ReplaceBlock(t, h.From, h.Block, nil).Block
		hidden = !shown.Whole([]precis.Handle{h})
	} else {
		k := Kept{groups: append(precis.GroupStarts(t.Messages()), t.Len())}
		r.From, _ = k.Group(h.From)
		_, r.To = k.Group(h.To - 1)
		hidden = slices.ContainsFunc(shown.Units,
			func(u precis.Unit) bool {
				return u.To > r.From && u.From < r.To &&
					(!u.Original() || u.Changed)
			})
	}
	if !hidden {
		return precis.Edit{}, precis.Errorf(precis.CodeNotFound, "restore", "%s is shown as it was said", h)
	}
	e.Replace = []precis.Replacement{r}
	return m.add(ctx, conv, e)
}

// Pin marks messages or a block as important: no later run hides or cuts them. Content that is
// hidden already comes back with the next run that reduces the view, or at once with
// [Manager.Restore].
func (m *Manager) Pin(ctx context.Context, conv *precis.Conversation,
	handles ...precis.Handle) (precis.Edit, error) {
	if len(handles) == 0 {
		return precis.Edit{}, precis.Errorf(precis.CodeInvalid, "pin", "no handle is given")
	}
	for _, h := range handles {
		if err := conv.Transcript.CheckHandle(h); err != nil {
			return precis.Edit{}, err
		}
	}
	return m.add(ctx, conv, precis.Edit{Kind: precis.KindPin, Pins: handles})
}

// Rewind records the edit of [precis.NewRewind]: it hides the messages from n on, reversibly. To drop them
// for good use [precis.BranchedAt]. The error is [precis.CodeNotFound] when there is nothing to hide.
func (m *Manager) Rewind(ctx context.Context, conv *precis.Conversation, n int) (precis.Edit, error) {
	e, err := precis.NewRewind(conv, n)
	if err != nil {
		return precis.Edit{}, err
	}
	return m.add(ctx, conv, e)
}

// add checks, identifies and records an edit.
func (m *Manager) add(ctx context.Context, conv *precis.Conversation, e precis.Edit) (precis.Edit, error) {
	e.Time = m.o.Now()
	e.Report.Trigger = string(precis.TriggeredManual)
	if err := e.Identify(conv.Transcript); err != nil {
		return precis.Edit{}, err
	}
	e.ID = unused(conv.Edits, e.ID)
	if err := precis.CheckEdit(conv.Transcript, conv.Edits, e); err != nil {
		return precis.Edit{}, err
	}
	countReplaced(&e)
	if err := m.recorder().record(ctx, conv, e); err != nil {
		return precis.Edit{}, err
	}
	return e, nil
}

// unused returns id, or id with a number when an edit, undone since, has it.
func unused(edits []precis.Edit, id string) string {
	name := id
	for n := 2; slices.ContainsFunc(edits, func(e precis.Edit) bool { return e.ID == name }); n++ {
		name = fmt.Sprintf("%s-%d", id, n)
	}
	return name
}

// Exclude hides messages that the user does not want in the view, reversibly and without a marker.
// Tool uses and results that belong to them are hidden, too. The error is [precis.CodeNotFound] when all
// of them are hidden already, and [precis.CodeConflict] when one of them must stay: the last user turn,
// pins, and the newest group, which the model is to answer.
func (m *Manager) Exclude(ctx context.Context, conv *precis.Conversation,
	h precis.Handle) (precis.Edit, error) {
	const op = "exclude"
	t := conv.Transcript
	if err := t.CheckHandle(h); err != nil {
		return precis.Edit{}, err
	}
	if h.Block >= 0 {
		return precis.Edit{}, precis.Errorf(precis.CodeInvalid, op,
			"%s is a block: whole messages are excluded", h)
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
		original := slices.ContainsFunc(units,
			func(u precis.Unit) bool { return u.From == i && u.Original() })
		if kept.Pinned(i) || original && kept.Message(i) {
			return precis.Edit{}, precis.Errorf(precis.CodeConflict, op,
				"%s must stay: it is pinned, the last user turn, or what is to be answered",
				precis.MessageHandle(i))
		}
	}
	e := precis.Edit{Kind: precis.KindExclude, Replace: []precis.Replacement{{From: from, To: to}},
		Report: precis.EditReport{Reason: "asked for: " + h.String()}}
	return m.add(ctx, conv, e)
}
