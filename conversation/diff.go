package conversation

import (
	"iter"
	"slices"

	"precis"
)

// What becomes of a part of a view.
const (
	DiffSame     = "unchanged"
	DiffShorter  = "shortened" // blocks of a message are replaced
	DiffReplaced = "replaced"  // a marker, a summary or nothing stands for messages
)

// ViewChange is what becomes of a span of messages between two views. Tokens are
// as counted, not calibrated.
type ViewChange struct {
	Handle precis.Handle   `json:"handle"`
	Change string          `json:"change"` // see [DiffSame]
	Before int             `json:"tokens_before"`
	After  int             `json:"tokens_after"`
	Kind   precis.EditKind `json:"edit_kind,omitempty"`
	Rung   string          `json:"rung,omitempty"`
	Text   string          `json:"text,omitempty"` // of what stands for it, one line
}

// viewChanges says what edits would change in the view of a conversation.
func viewChanges(s *Subject, made []precis.Edit) []ViewChange {
	t, before := s.Conversation.Transcript, s.Conversation.Edits
	after := slices.Concat(before, made)
	rungs := rungsOf(after)
	shown := precis.ShownBy(t, after)
	var out []ViewChange
	for old, u := range aligned(precis.Units(t, before), shown.Units) {
		c := viewChange(s.meter(), old, u)
		if last := len(out) - 1; c.Change == DiffSame && last >= 0 && out[last].Change == DiffSame {
			out[last].Handle.To = c.Handle.To
			out[last].Before, out[last].After = out[last].Before+c.Before, out[last].After+c.After
			continue
		}
		if c.Change != DiffSame {
			by := shown.Message(u.From)
			c.Kind, c.Rung = by.Kind, rungs[by.Edit]
		}
		out = append(out, c)
	}
	return out
}

func viewChange(meter *precis.Meter, old []precis.Unit, u precis.Unit) ViewChange {
	c := ViewChange{Handle: precis.SpanHandle(u.From, u.To), Change: DiffReplaced, After: meter.View(u.Messages)}
	for _, o := range old {
		c.Before += meter.View(o.Messages)
	}
	switch one := sameUnit(old, u); {
	case one && c.Before == c.After && slices.Equal(old[0].Index, u.Index):
		c.Change = DiffSame
	case one && u.Original():
		c.Change = DiffShorter
	case len(u.Messages) > 0:
		c.Text = brief(u.Messages[0])
	}
	return c
}

// aligned yields each unit of a newer view with those of an older one that stood
// for the same messages.
func aligned(old, now []precis.Unit) iter.Seq2[[]precis.Unit, precis.Unit] {
	return func(yield func([]precis.Unit, precis.Unit) bool) {
		for _, u := range now {
			n := 0
			for n < len(old) && old[n].From < u.To {
				n++
			}
			if !yield(old[:n], u) {
				return
			}
			old = old[n:]
		}
	}
}

// sameUnit reports whether an older view had the one unit for the same span, by
// the same edit. Blocks of a message may differ.
func sameUnit(old []precis.Unit, u precis.Unit) bool {
	return len(old) == 1 && old[0].Edit == u.Edit && old[0].To == u.To
}

// rungsOf returns the rung that made each edit, by ID.
func rungsOf(edits []precis.Edit) map[string]string {
	rungs := map[string]string{}
	for _, e := range edits {
		rungs[e.ID] = e.Report.Rung
	}
	return rungs
}
