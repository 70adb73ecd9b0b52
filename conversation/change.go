package conversation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
)

// Change is an edit that a user asked for, and its result.
type Change struct {
	Edit   EditInfo      `json:"edit"`
	Status policy.Status `json:"status"`
}

// Verb names a change of a conversation, see [EditRequest].
type Verb string

// The verbs of an [EditRequest].
const (
	VerbUndo    Verb = "undo"
	VerbPin     Verb = "pin"
	VerbRestore Verb = "restore"
	VerbExclude Verb = "exclude"
	VerbRewind  Verb = "rewind"
	VerbReword  Verb = "reword"
)

// EditRequest is a change that a user asks for. Only the fields of its verb are read.
type EditRequest struct {
	Verb     Verb
	Edits    []string        // for undo: none means the last run; for reword: exactly one
	Text     string          // for reword
	Handles  []precis.Handle // for pin: any number; for restore or exclude: exactly one
	Messages int             // for rewind: the length to return to
	Force    bool            // for exclude and reword: accept a total loss, see [LossError]
}

// Undo takes back edits by ID or short name; without any, it takes back the last run.
func Undo(ctx context.Context, h Home, id string, edits ...string) (Change, error) {
	return Apply(ctx, h, id, EditRequest{Verb: VerbUndo, Edits: edits})
}

// Pin marks messages or blocks as important: no later run hides or cuts them.
func Pin(ctx context.Context, h Home, id string, handles ...precis.Handle) (Change, error) {
	return Apply(ctx, h, id, EditRequest{Verb: VerbPin, Handles: handles})
}

// Restore shows hidden messages, or a block, to the model again.
func Restore(ctx context.Context, h Home, id string, handle precis.Handle) (Change, error) {
	return Apply(ctx, h, id, EditRequest{Verb: VerbRestore, Handles: []precis.Handle{handle}})
}

// Exclude hides messages and the tool uses and results that belong to them. It refuses content that
// must stay with [precis.CodeConflict], see [policy.Manager.Exclude], and a total loss with
// [precis.CodeWouldLose]; an [EditRequest] can force the latter.
func Exclude(ctx context.Context, h Home, id string, handle precis.Handle) (Change, error) {
	return Apply(ctx, h, id, EditRequest{Verb: VerbExclude, Handles: []precis.Handle{handle}})
}

// Rewind hides all but the first n messages and takes back the edits made since. Undoing the rewind
// restores both. The client's next messages follow the n that stay.
func Rewind(ctx context.Context, h Home, id string, n int) (Change, error) {
	return Apply(ctx, h, id, EditRequest{Verb: VerbRewind, Messages: n})
}

// Reword replaces the text of the summary that an edit shows. The gate adds the facts that the new
// text lacks, see [policy.Manager.Reword].
func Reword(ctx context.Context, h Home, id, edit, text string) (Change, error) {
	return Apply(ctx, h, id, EditRequest{Verb: VerbReword, Edits: []string{edit}, Text: text})
}

// Apply makes the edit that a user asks for.
func Apply(ctx context.Context, h Home, id string, i EditRequest) (Change, error) {
	return change(ctx, h, id, func(s *Subject) (precis.Edit, error) {
		if err := i.guard(ctx, s); err != nil {
			return precis.Edit{}, err
		}
		return i.apply(ctx, s)
	})
}

// guard refuses changes that would lose content altogether, see [Guard].
func (i EditRequest) guard(ctx context.Context, s *Subject) error {
	if i.Force || i.Verb != VerbExclude && i.Verb != VerbReword {
		return nil
	}
	tried := s.trialCopy()
	if _, err := i.apply(ctx, tried); err != nil {
		return err
	}
	return errLoss(string(i.Verb), contentRemovedByTrial(s, tried))
}

// trialCopy returns a copy of the subject for trial edits, which are not recorded.
func (s *Subject) trialCopy() *Subject {
	tried, conv := *s, *s.Conversation
	conv.Edits = slices.Clip(conv.Edits)
	tried.Conversation, tried.Manager = &conv, s.Manager.WithoutRecording()
	tried.Template.Meter = nil // the meter of the conversation must not count trial messages
	return &tried
}

// contentRemovedByTrial returns the content that the edits of a trial copy remove from the view altogether.
func contentRemovedByTrial(s, tried *Subject) policy.Loss {
	return contentRemoved(s.Conversation, tried.Conversation.Edits[len(s.Conversation.Edits):],
		s.Manager.NewMeter())
}

// apply makes the edit through the manager of the subject.
func (i EditRequest) apply(ctx context.Context, s *Subject) (precis.Edit, error) {
	if one := i.Verb == VerbRestore || i.Verb == VerbExclude; one && len(i.Handles) != 1 {
		return precis.Edit{}, precis.Errorf(precis.CodeInvalid, string(i.Verb),
			"%d handles are given, want one", len(i.Handles))
	}
	switch i.Verb {
	case VerbUndo:
		ids, err := editIDs(s.Conversation.Edits, i.Edits)
		if err != nil {
			return precis.Edit{}, err
		}
		return s.Manager.Undo(ctx, s.Conversation, ids...)
	case VerbPin:
		return s.Manager.Pin(ctx, s.Conversation, i.Handles...)
	case VerbRestore:
		return s.Manager.Restore(ctx, s.Conversation, i.Handles[0])
	case VerbExclude:
		return s.Manager.Exclude(ctx, s.Conversation, i.Handles[0])
	case VerbReword:
		if len(i.Edits) != 1 {
			return precis.Edit{}, precis.Errorf(precis.CodeInvalid, string(i.Verb),
				"%d edits are named, want one", len(i.Edits))
		}
		return s.Manager.Reword(ctx, s.request(), i.Edits[0], i.Text)
	case VerbRewind:
		return s.Manager.Rewind(ctx, s.Conversation, i.Messages)
	}
	return precis.Edit{}, precis.Errorf(precis.CodeInvalid, "edit conversation", "there is no verb %.40q",
		i.Verb)
}

// change makes one edit.
func change(ctx context.Context, h Home, id string,
	f func(*Subject) (precis.Edit, error)) (c Change, err error) {
	err = h.Edit(ctx, id, func(s *Subject) error {
		_, err := s.changed(f, &c)
		if err == nil {
			s.resize(c.Status.Tokens)
		}
		return err
	})
	return c, err
}

// changed makes one edit and reports it in c. It returns the status before it.
func (s *Subject) changed(f func(*Subject) (precis.Edit, error),
	c *Change) (before policy.Status, err error) {
	if err = s.editable(); err != nil {
		return before, err
	}
	if before, err = s.status(); err != nil {
		return before, err
	}
	e, err := f(s)
	if err != nil {
		return before, err
	}
	c.Edit = editInfos(s.Conversation.Edits, []precis.Edit{e})[0]
	c.Status, err = s.status()
	return before, err
}

// Forecast is what an edit would do.
type Forecast struct {
	Change
	Before policy.Status `json:"before"`
	// Loses is content that the view would lose altogether, see [policy.Gone.Refuses]; nil: none.
	Loses *policy.Loss `json:"would_lose,omitempty"`
}

// PreviewEdit returns the result that [Apply] would have, and changes no edit.
func PreviewEdit(ctx context.Context, h Home, id string, i EditRequest) (Forecast, error) {
	return look(ctx, h, id, func(s *Subject) (f Forecast, err error) {
		tried := s.trialCopy()
		if f.Before, err = tried.changed(func(s *Subject) (precis.Edit, error) { return i.apply(ctx, s) },
			&f.Change); err != nil {
			return f, err
		}
		if i.Verb == VerbExclude || i.Verb == VerbReword {
			if g := contentRemovedByTrial(s, tried); !g.Empty() {
				f.Loses = &g
			}
		}
		return f, err
	})
}

// UndoResult is what [UndoAll] took back.
type UndoResult struct {
	Edits  []EditInfo    `json:"edits"` // oldest first
	Status policy.Status `json:"status"`
}

// UndoAll takes back every edit, including edits that a rewind took back, so that the view is the
// transcript again. The error is [precis.CodeNotFound] when no edit is in force.
func UndoAll(ctx context.Context, h Home, id string) (t UndoResult, err error) {
	_, err = change(ctx, h, id, func(s *Subject) (last precis.Edit, err error) {
		had := s.Conversation.Edits
		// Undoing a rewind puts the edits back in force that it took back. The next round undoes
		// these. No edit comes back twice, so the loop ends.
		for active := s.undoable(); len(active) > 0; active = s.undoable() {
			ids := make([]string, len(active))
			for i, e := range active {
				ids[i] = e.ID
			}
			if last, err = s.Manager.Undo(ctx, s.Conversation, ids...); err != nil {
				return last, err
			}
		}
		if last.ID == "" {
			return last, s.nothingToUndo()
		}
		t.Edits = undoneSince(had, s.Conversation.Edits)
		t.Status, err = s.status()
		return last, err
	})
	return t, err
}

// undoable returns the edits in force that [UndoAll] takes back.
func (s *Subject) undoable() []precis.Edit {
	active := precis.Active(s.Conversation.Edits)
	if s.InPlace {
		active = slices.DeleteFunc(slices.Clone(active), isRecorded)
	}
	return active
}

func isRecorded(e precis.Edit) bool { return e.Report.Trigger == string(precis.TriggeredRecorded) }

func (s *Subject) nothingToUndo() error {
	err := &precis.Error{Code: precis.CodeNotFound, Op: "undo", Err: errors.New("no edit is in force")}
	if len(precis.Active(s.Conversation.Edits)) > 0 {
		err.Err, err.Hint = errors.New("no edit of precis is in force"), "what the editor itself condensed is taken back by name: precis inspect lists it"
	}
	return err
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

// Unpin removes every pin in force on the given handles. Other handles of the same pin edits stay
// pinned. If one of the handles is not pinned, the error is [precis.CodeNotFound] and no pin
// changes.
func Unpin(ctx context.Context, h Home, id string, handles ...precis.Handle) (Change, error) {
	return change(ctx, h, id, func(s *Subject) (precis.Edit, error) {
		undo, keep, err := unpinned(s.Conversation.Edits, handles)
		if err != nil {
			return precis.Edit{}, err
		}
		if len(keep) > 0 { // pin first, so that no message loses its pin in between
			if _, err := s.Manager.Pin(ctx, s.Conversation, keep...); err != nil {
				return precis.Edit{}, err
			}
		}
		return s.Manager.Undo(ctx, s.Conversation, undo...)
	})
}

// unpinned returns the pin edits to undo, and the other handles that those edits pin.
func unpinned(edits []precis.Edit, handles []precis.Handle) (undo []string, keep []precis.Handle, err error) {
	if len(handles) == 0 {
		return nil, nil, precis.Errorf(precis.CodeInvalid, "unpin", "no handle is given")
	}
	pinned := precis.Pinned(edits)
	for _, h := range handles {
		if !slices.Contains(pinned, h) {
			return nil, nil, &precis.Error{Code: precis.CodeNotFound, Op: "unpin",
				Err:  fmt.Errorf("%s is not pinned by that name", h),
				Hint: "the edits of kind pin name what is pinned"}
		}
	}
	for _, e := range precis.Active(edits) {
		if e.Kind != precis.KindPin ||
			!slices.ContainsFunc(e.Pins, func(p precis.Handle) bool { return slices.Contains(handles, p) }) {
			continue
		}
		undo = append(undo, e.ID)
		for _, p := range e.Pins {
			if !slices.Contains(handles, p) && !slices.Contains(keep, p) {
				keep = append(keep, p)
			}
		}
	}
	return undo, keep, nil
}
