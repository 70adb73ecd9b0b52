package conversation

import (
	"context"

	"precis"
)

// Change is an edit that was asked for, and what it led to.
type Change struct {
	Edit   EditInfo      `json:"edit"`
	Status precis.Status `json:"status"`
}

// Undo takes back edits: those with the IDs, or with none the last run.
func Undo(ctx context.Context, h Home, id string, edits ...string) (Change, error) {
	return change(ctx, h, id, func(s *Subject) (precis.Edit, error) { return s.Manager.Undo(ctx, s.Conversation, edits...) })
}

// Pin marks messages or blocks as important: no later run hides or cuts them.
func Pin(ctx context.Context, h Home, id string, handles ...precis.Handle) (Change, error) {
	return change(ctx, h, id, func(s *Subject) (precis.Edit, error) { return s.Manager.Pin(ctx, s.Conversation, handles...) })
}

// Restore shows hidden messages, or a block, to the model again.
func Restore(ctx context.Context, h Home, id string, handle precis.Handle) (Change, error) {
	return change(ctx, h, id, func(s *Subject) (precis.Edit, error) { return s.Manager.Restore(ctx, s.Conversation, handle) })
}

// Rewind hides all but the first n messages and takes back the edits made since.
// Undoing it brings all of it back. What the client says next comes after.
func Rewind(ctx context.Context, h Home, id string, n int) (Change, error) {
	return change(ctx, h, id, func(s *Subject) (precis.Edit, error) { return s.Manager.Rewind(ctx, s.Conversation, n) })
}

// change makes one edit.
func change(ctx context.Context, h Home, id string, f func(*Subject) (precis.Edit, error)) (c Change, err error) {
	err = h.Edit(ctx, id, func(s *Subject) error {
		if err := s.editable(); err != nil {
			return err
		}
		before, err := s.status()
		if err != nil {
			return err
		}
		e, err := f(s)
		if err != nil {
			return err
		}
		c.Edit = editInfos(s.Conversation.Edits, []precis.Edit{e})[0]
		if c.Status, err = s.status(); err != nil {
			return err
		}
		s.resize(before.Tokens, c.Status.Tokens)
		return nil
	})
	return c, err
}

// TakenBack is what [UndoAll] took back.
type TakenBack struct {
	Edits  []EditInfo    `json:"edits"` // oldest first
	Status precis.Status `json:"status"`
}

// UndoAll takes back every edit, those too that a rewind took back: the view is
// the transcript again. The error is [precis.CodeNotFound] when nothing is in force.
func UndoAll(ctx context.Context, h Home, id string) (t TakenBack, err error) {
	_, err = change(ctx, h, id, func(s *Subject) (last precis.Edit, err error) {
		had := s.Conversation.Edits
		// Undoing a rewind puts the edits in force that it took back, and these are
		// undone in the next round. None comes back twice, so the loop ends.
		for active := precis.Active(had); len(active) > 0; active = precis.Active(s.Conversation.Edits) {
			ids := make([]string, len(active))
			for i, e := range active {
				ids[i] = e.ID
			}
			if last, err = s.Manager.Undo(ctx, s.Conversation, ids...); err != nil {
				return last, err
			}
		}
		if last.ID == "" {
			return last, precis.Errorf(precis.CodeNotFound, "undo", "no edit is in force")
		}
		t.Edits = undoneSince(had, s.Conversation.Edits)
		t.Status, err = s.status()
		return last, err
	})
	return t, err
}

// undoneSince returns the edits of had that were taken back by edits made since.
func undoneSince(had, now []precis.Edit) []EditInfo {
	made := map[string]bool{}
	for _, e := range now[len(had):] {
		made[e.ID] = true
	}
	out := []EditInfo{}
	for _, info := range editInfos(now, had) {
		if made[info.UndoneBy] && info.Kind != precis.KindUndo {
			out = append(out, info)
		}
	}
	return out
}
