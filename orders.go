package precis

import (
	"fmt"
	"slices"
	"strings"
)

// An order is an edit that records a person's lasting decision about a place of the conversation: a
// pin, an exclusion, a restore, and the undo of such an edit. It is bound to that place, not to the
// moment of the edit: going back to an earlier message keeps the orders about messages that stay.

// orders are the orders of a conversation that stay in force when it continues from its first n
// messages.
type orders struct {
	staying map[string]bool // later edits that stay, by ID
	dropped []Handle        // places of orders that are dropped
}

// isOrder reports whether an edit is a person's order about a place.
func (e Edit) isOrder() bool {
	return e.Kind == KindPin || (e.Kind == KindExclude || e.Kind == KindRestore) && e.Report.Rung == ""
}

// places returns the places of an order.
func (e Edit) places() []Handle {
	out := slices.Clone(e.Pins)
	for _, r := range e.Replace {
		out = append(out, SpanHandle(r.From, r.To))
	}
	return out
}

// ordersBefore returns the orders among edits that were given after the first n messages and
// concern only those messages. Of a pin of several places the part before n stays.
func ordersBefore(edits []Edit, n int) *orders {
	o := &orders{staying: map[string]bool{}}
	undone := Undone(edits)
	gone := slices.DeleteFunc(slices.Clone(edits), func(e Edit) bool { return e.Seen <= n || !e.Reduces() })
	kept := map[string]bool{} // orders that were given before, or stay
	goes := func(id string) bool { return !kept[id] }
	for _, e := range edits {
		stays := e.Seen <= n
		switch {
		case stays:
		case e.Kind == KindPin:
			stays = slices.ContainsFunc(e.Pins, func(h Handle) bool { return h.To <= n })
		case e.isOrder():
			stays = !slices.ContainsFunc(e.Replace,
				func(r Replacement) bool { return r.To > n || coveredOrder(gone, r) })
		case e.Kind == KindUndo:
			stays = len(e.Undoes) > 0 && !slices.ContainsFunc(e.Undoes, goes)
		}
		kept[e.ID] = stays && e.isOrder()
		if e.Seen <= n {
			continue
		}
		o.staying[e.ID] = stays
		if _, back := undone[e.ID]; !back && e.isOrder() {
			o.dropped = append(o.dropped, slices.DeleteFunc(e.places(), func(h Handle) bool {
				return stays && (e.Kind != KindPin || h.To <= n)
			})...)
		}
	}
	return o
}

// coveredOrder reports whether a dropped reduction covered the place of an order: the order may have
// been about the text in the place of messages.
func coveredOrder(gone []Edit, r Replacement) bool {
	return slices.ContainsFunc(gone, func(e Edit) bool {
		return slices.ContainsFunc(e.Replace,
			func(p Replacement) bool { return p.Block == nil && p.From < r.To && r.From < p.To })
	})
}

// notes describes the dropped orders, one line for each kind.
func (o *orders) notes() []string {
	if len(o.dropped) == 0 {
		return nil
	}
	const most = 8
	var names []string
	for _, h := range o.dropped[:min(len(o.dropped), most)] {
		names = append(names, h.String())
	}
	text := strings.Join(names, ", ")
	if n := len(o.dropped) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return []string{"pins, exclusions and restores that go with what is left: " + text}
}

// BranchedAt returns the conversation as it continues from its first n messages: these, the edits
// made at or before that point, and the later pins, exclusions and restores that concern only these
// messages, bound to that point. left names the places of the others. The original is unchanged; n
// is clamped.
func BranchedAt(conv *Conversation, n int) (branch *Conversation, left []Handle) {
	n = min(max(n, 0), conv.Transcript.Len())
	out := *conv
	out.Transcript, out.Edits = conv.Transcript.Prefix(n), nil
	o := ordersBefore(conv.Edits, n)
	check := NewEditChecker(out.Transcript, nil)
	for _, e := range conv.Edits {
		later := e.Seen > n
		if later && !o.staying[e.ID] {
			continue
		}
		if later {
			e.Seen, e.At = n, out.Transcript.Fingerprint(n)
			e.Pins = slices.DeleteFunc(slices.Clone(e.Pins), func(h Handle) bool { return h.To > n })
		}
		if err := check.Add(e); err != nil && later {
			// an edit that was recorded before and does not fit has no effect
			o.dropped = append(o.dropped, e.places()...)
			continue
		}
		out.Edits = append(out.Edits, e)
	}
	return &out, o.dropped
}

// Rewound returns the conversation as it was when it had n messages: the first n and the edits made
// at or before that point. Its edits are always valid. The original is unchanged; n is clamped. To
// continue from there use [BranchedAt].
func Rewound(conv *Conversation, n int) *Conversation {
	out := *conv
	out.Transcript = conv.Transcript.Prefix(n)
	out.Edits = nil
	for _, e := range conv.Edits {
		if e.Seen <= n {
			out.Edits = append(out.Edits, e)
		}
	}
	return &out
}

// boundary returns the last place at or before n where the messages may be cut without separating a
// call from its results.
func boundary(msgs []Message, n int) int {
	if n >= len(msgs) {
		return n
	}
	at := 0
	for _, g := range GroupStarts(msgs) {
		if g > n {
			break
		}
		at = g
	}
	return at
}

// NewRewind returns the edit that hides the messages from n on, reversibly: undoing the edit brings
// them back. A call and its results stay together: if n lies between them, the call is hidden, too, and
// the edit's reason says so. Edits made after message n are undone, but for pins, exclusions and
// restores of messages that stay; the edit's notes name the orders that are lost. To drop the messages
// for good use [BranchedAt].
func NewRewind(conv *Conversation, n int) (Edit, error) {
	t := conv.Transcript
	if n < 0 || n > t.Len() {
		return Edit{}, Errorf(CodeNotFound, "rewind", "message %d: the conversation has %d", n, t.Len())
	}
	e := Edit{Kind: KindRewind}
	asked := n
	if n = boundary(t.Messages(), n); n == asked {
		e.Report.Reason = fmt.Sprintf("rewound to message %d", n)
	} else {
		e.Report.Reason = fmt.Sprintf("rewound to message %d: a call and its results go together, and %s to %s are one", n, MessageHandle(n), MessageHandle(asked))
	}
	changes := n < t.Len()
	gone, o := Undone(conv.Edits), ordersBefore(conv.Edits, n)
	for _, later := range conv.Edits {
		if later.Seen > n && !o.staying[later.ID] {
			// undo edits too: edits that they undid after message n are in force again
			e.Undoes = append(e.Undoes, later.ID)
			_, undone := gone[later.ID]
			changes = changes || !undone
		}
	}
	e.Report.Notes = o.notes()
	if n < t.Len() {
		e.Replace = []Replacement{{From: n, To: t.Len()}}
	}
	if !changes {
		return Edit{}, Errorf(CodeNotFound, "rewind", "the conversation is at message %d already", n)
	}
	return e, nil
}
