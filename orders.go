package precis

import (
	"fmt"
	"slices"
)

// An order is an edit by which a person says what is to be done with a place of the
// conversation, now and later: a pin, an exclusion, a restore, and the taking back of
// such an edit. It is bound to that place, not to the moment when it was given: who goes
// back to an earlier message keeps the orders for what stays.

// orders finds the orders of a conversation that stay in force when it goes on from its
// first n messages.
type orders struct {
	edits []Edit
	n     int
	stays map[string]bool // by the ID of the edit
	gone  []Edit          // reductions made after the first n messages
	left  []Handle        // places of orders that go
}

// ordersBefore returns the orders among edits that were given after the first n messages and
// are about them alone. Pins of several places stay for those before n.
func ordersBefore(edits []Edit, n int) *orders {
	o := &orders{edits: edits, n: n, stays: map[string]bool{}}
	undone := Undone(edits)
	for _, e := range edits {
		if e.Seen > n && e.reduces() {
			o.gone = append(o.gone, e)
		}
	}
	for _, e := range edits {
		if e.Seen <= n {
			continue
		}
		o.stays[e.ID] = o.staysInForce(e)
		if _, back := undone[e.ID]; !back {
			o.note(e)
		}
	}
	return o
}

func (o *orders) staysInForce(e Edit) bool {
	switch e.Kind {
	case KindPin:
		return slices.ContainsFunc(e.Pins, o.before)
	case KindExclude, KindRestore:
		return e.Report.Rung == "" && !slices.ContainsFunc(e.Replace, func(r Replacement) bool { return r.To > o.n || o.stoodFor(r) })
	case KindUndo:
		return len(e.Undoes) > 0 && !slices.ContainsFunc(e.Undoes, func(id string) bool { return !o.ofAnOrder(id) })
	}
	return false
}

func (o *orders) before(h Handle) bool { return h.To <= o.n }

// stoodFor reports whether a reduction that goes had to do with what an order is about: the
// order may have been for the text in the place of messages.
func (o *orders) stoodFor(r Replacement) bool {
	return slices.ContainsFunc(o.gone, func(e Edit) bool {
		return slices.ContainsFunc(e.Replace, func(p Replacement) bool { return p.Block == nil && p.From < r.To && r.From < p.To })
	})
}

// ofAnOrder reports whether an edit with the ID is an order about messages that stay.
func (o *orders) ofAnOrder(id string) bool {
	i := slices.IndexFunc(o.edits, func(e Edit) bool { return e.ID == id })
	if i < 0 {
		return false
	}
	switch e := o.edits[i]; e.Kind {
	case KindPin, KindExclude, KindRestore:
		return e.Report.Rung == "" && (e.Seen <= o.n || o.stays[id])
	}
	return false
}

// note takes down what of an order goes.
func (o *orders) note(e Edit) {
	switch e.Kind {
	case KindPin:
		for _, h := range e.Pins {
			if !o.before(h) {
				o.left = append(o.left, h)
			}
		}
	case KindExclude, KindRestore:
		if e.Report.Rung == "" && !o.stays[e.ID] {
			for _, r := range e.Replace {
				o.left = append(o.left, SpanHandle(r.From, r.To))
			}
		}
	}
}

// notes says what goes, one line for each kind of order.
func (o *orders) notes() []string {
	if len(o.left) == 0 {
		return nil
	}
	const most = 8
	text := ""
	for i, h := range o.left {
		if i == most {
			text += fmt.Sprintf(" and %d more", len(o.left)-most)
			break
		}
		if i > 0 {
			text += ", "
		}
		text += h.String()
	}
	return []string{"pins, exclusions and restores that go with what is left: " + text}
}

// BranchedAt returns the conversation as it goes on from its first n messages: these, the
// edits made at or before that point, and the pins, exclusions and restores that were
// made later and are about these messages alone, bound to that point. left names the
// places of those that are not. The original is unchanged; n is clamped.
func BranchedAt(conv *Conversation, n int) (branch *Conversation, left []Handle) {
	n = min(max(n, 0), conv.Transcript.Len())
	out := *conv
	out.Transcript, out.Edits = conv.Transcript.Prefix(n), nil
	o := ordersBefore(conv.Edits, n)
	check := NewChecker(out.Transcript, nil)
	for _, e := range conv.Edits {
		if e.Seen > n {
			if !o.stays[e.ID] {
				continue
			}
			e.Seen, e.At = n, out.Transcript.Fingerprint(n)
			e.Pins = slices.DeleteFunc(slices.Clone(e.Pins), func(h Handle) bool { return !o.before(h) })
			if check.Add(e) != nil {
				for _, r := range e.Replace {
					o.left = append(o.left, SpanHandle(r.From, r.To))
				}
				continue
			}
			out.Edits = append(out.Edits, e)
			continue
		}
		_ = check.Add(e) // it was recorded: what does not fit has no effect
		out.Edits = append(out.Edits, e)
	}
	return &out, o.left
}
