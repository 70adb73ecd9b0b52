package roo

import (
	"context"
	"slices"
	"time"

	"precis"
	"precis/archive"
)

// A run that goes on from the original messages takes back what earlier runs did. Tags
// and events say only what is in force, so that the sidecar keeps what the run took back:
// whoever undoes the run has it again.

// replaced is what a run took back.
type replaced struct {
	Undo  precis.Edit   `json:"undo"` // the edit of the run that did
	Edits []precis.Edit `json:"edits"`
}

// Replace writes the edits of a run whose first edit, back, takes back those of earlier
// runs, in one change: the files have the edits of the run in the place of the former
// ones, which [Task.Undo] of back brings again. Its errors are those of [Task.Record] and
// of [Task.Undo].
func (t *Task) Replace(ctx context.Context, back precis.Edit, edits []precis.Edit, now time.Time) error {
	if err := t.made(edits); err != nil {
		return err
	}
	was := replaced{Undo: back}
	for _, e := range t.Conversation.Edits {
		if slices.Contains(back.Undoes, e.ID) {
			was.Edits = append(was.Edits, e)
		}
	}
	return t.write(ctx, func() error {
		if err := t.remove(back.Undoes); err != nil {
			return err
		}
		t.sidecar.Replaced = append(t.sidecar.Replaced, was)
		return t.record(edits, now)
	})
}

// again records what the given entries of the sidecar took back, as far as the messages
// it was made on are there.
func (t *Task) again(entries []replaced, messages int) error {
	for _, r := range slices.Backward(entries) {
		for _, e := range r.Edits {
			if e.Seen > messages {
				continue
			}
			if err := t.record([]precis.Edit{e}, e.Time); err != nil {
				return err
			}
		}
	}
	return nil
}

// back removes the entry of a run from the sidecar and returns it, if the edit with that
// ID is what took back.
func (s *sidecar) back(id string) []replaced {
	i := slices.IndexFunc(s.Replaced, func(r replaced) bool { return r.Undo.ID == id })
	if i < 0 {
		return nil
	}
	out := s.Replaced[i : i+1 : i+1]
	s.Replaced = slices.Concat(s.Replaced[:i], s.Replaced[i+1:])
	return out
}

// seenBeyond removes the entries of runs made on more than n messages, and returns them.
func (s *sidecar) seenBeyond(n int) (gone []replaced) {
	s.Replaced = slices.DeleteFunc(slices.Clone(s.Replaced), func(r replaced) bool {
		if r.Undo.Seen > n {
			gone = append(gone, r)
			return true
		}
		return false
	})
	return gone
}

// living returns the entries whose runs have edits in force, or what a later one of them
// took back.
func (s *sidecar) living() []replaced {
	runs := map[string]bool{}
	for _, e := range s.Edits {
		runs[e.Run] = true
	}
	for _, e := range s.Tagged {
		runs[e.Run] = true
	}
	var out []replaced
	for _, r := range slices.Backward(s.Replaced) {
		if runs[r.Undo.Run] {
			out = append(out, r)
			for _, e := range r.Edits {
				runs[e.Run] = true
			}
		}
	}
	slices.Reverse(out)
	return out
}

// joinReplaced adds what runs took back to a conversation, each before the first edit of
// its run. What does not fit the messages is left out with a warning.
func (s *sidecar) joinReplaced(conv *precis.Conversation, rec *archive.Recording) {
	for _, r := range slices.Backward(s.living()) {
		at := slices.IndexFunc(conv.Edits, func(e precis.Edit) bool { return e.Run == r.Undo.Run })
		if at < 0 {
			continue
		}
		checker := precis.NewChecker(conv.Transcript, conv.Edits[:at])
		edits := append(slices.Clip(r.Edits), r.Undo)
		if i := slices.IndexFunc(edits, func(e precis.Edit) bool {
			return e.Seen > conv.Transcript.Len() || conv.Transcript.Fingerprint(e.Seen) != e.At || checker.Add(e) != nil
		}); i >= 0 {
			rec.Warn(SidecarName, "edit %s, which a later run replaced, is left out: it does not fit the messages", edits[i].ID)
			continue
		}
		conv.Edits = slices.Insert(conv.Edits, at, edits...)
	}
}
