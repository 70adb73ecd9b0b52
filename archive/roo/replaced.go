package roo

import (
	"context"
	"slices"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
)

// A run that starts again from the original messages revokes the edits of earlier runs. Tags and
// UI events record only edits in force, so the sidecar keeps the revoked edits, and undoing the
// run restores them.

// replaced holds the edits that a run revoked.
type replaced struct {
	Undo  precis.Edit   `json:"undo"` // the edit of the run that revoked them
	Edits []precis.Edit `json:"edits"`
}

// Replace writes, in one change, the edits of a run and back, the run's first edit, which revokes
// edits of earlier runs. The new edits replace the revoked ones in the files; [Task.Undo] of back
// restores them. Its errors are the same as of [Task.Record] and [Task.Undo].
func (t *Task) Replace(ctx context.Context, back precis.Edit, edits []precis.Edit, now time.Time) error {
	if err := t.checkEdits(edits); err != nil {
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

// recordRevokedAgain records the revoked edits of the given entries anew, except edits made on more messages
// than there are now.
func (t *Task) recordRevokedAgain(entries []replaced, messages int) error {
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

// takeRevoked removes and returns the sidecar entry of the run with the revoking edit id; nil if there
// is no such entry.
func (s *sidecar) takeRevoked(id string) []replaced {
	i := slices.IndexFunc(s.Replaced, func(r replaced) bool { return r.Undo.ID == id })
	if i < 0 {
		return nil
	}
	out := s.Replaced[i : i+1 : i+1]
	s.Replaced = slices.Concat(s.Replaced[:i], s.Replaced[i+1:])
	return out
}

// takeLaterThan removes and returns the entries of runs made on more than n messages.
func (s *sidecar) takeLaterThan(n int) (gone []replaced) {
	s.Replaced = slices.DeleteFunc(slices.Clone(s.Replaced), func(r replaced) bool {
		if r.Undo.Seen > n {
			gone = append(gone, r)
			return true
		}
		return false
	})
	return gone
}

// living returns the entries of runs that have edits in force, or edits revoked by such a run,
// directly or through further runs.
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

// joinReplaced adds revoked edits to a conversation, before the first edit of the run that
// revoked them. Entries that do not fit the messages are left out with a warning.
func (s *sidecar) joinReplaced(conv *precis.Conversation, rec *archive.Recording) {
	for _, r := range slices.Backward(s.living()) {
		at := slices.IndexFunc(conv.Edits, func(e precis.Edit) bool { return e.Run == r.Undo.Run })
		if at < 0 {
			continue
		}
		checker := precis.NewEditChecker(conv.Transcript, conv.Edits[:at])
		edits := append(slices.Clip(r.Edits), r.Undo)
		if i := slices.IndexFunc(edits, func(e precis.Edit) bool {
			return e.Seen > conv.Transcript.Len() || conv.Transcript.Fingerprint(e.Seen) != e.At ||
				checker.Add(e) != nil
		}); i >= 0 {
			rec.Warn(SidecarName, "edit %s, which a later run replaced, is left out: it does not fit the messages", edits[i].ID)
			continue
		}
		conv.Edits = slices.Insert(conv.Edits, at, edits...)
	}
}
