package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/inforce"
	"github.com/precis-dev/precis/internal/harness"
)

// Carry returns the edit with the items in force of each hidden span appended to the text that
// replaces the span: first blocks of the user's role, then system messages unchanged, then calls
// that loaded tools, with their results. A Strategy need not call it: the ladder does so for every
// edit, after the gate; a strategy may call it to measure its edit. Calling it twice has no further
// effect.
//
// An item of a [ItemSource] that is too large to keep is stated in a note, unless the replacing text
// states it; for a shortened block the note is at its end.
//
// The Messages API takes system messages only after a user message and before an assistant's, see
// [precis.CheckPlacement]. If a user message follows the span, the span is cut before its last answer, so
// that this answer stays; if the answer is too long, the words go into a user message. A span that
// begins right after such a system message includes it.
func (s *Situation) Carry(e precis.Edit) precis.Edit {
	nothing := s.Kept == nil || s.Kept.inForce.Empty()
	if nothing || e.Kind == precis.KindRewind || e.Kind == precis.KindExclude {
		return e
	}
	e.Replace = slices.Clone(e.Replace)
	c := carrier{s: s, edit: &e, lawRoom: s.Target / lawShare}
	for i := range e.Replace {
		switch r := &e.Replace[i]; {
		case r.Restore:
		case r.Block != nil:
			c.block(r)
		case r.From < r.To:
			c.span(r)
		}
	}
	return e
}

// HeldTokens returns the tokens that Carry would add if the messages [from,to) were hidden.
func (s *Situation) HeldTokens(from, to int) (n int) {
	for _, m := range s.HeldMessages(from, to) {
		n += s.Meter.View([]precis.Message{m})
	}
	return n
}

// HeldMessages returns the messages that Carry would add if the messages [from,to) were hidden, in order.
func (s *Situation) HeldMessages(from, to int) (out []precis.Message) {
	if s.Kept == nil {
		return nil
	}
	for _, i := range s.Kept.inForce.In(from, to) {
		out = append(out, s.Kept.inForce.Of(s.Transcript.Messages(), i))
	}
	return out
}

// Holds reports whether Carry keeps a message or block whole when its messages are hidden.
func (s *Situation) Holds(h precis.Handle) bool {
	if s.Kept == nil {
		return false
	}
	return s.Kept.inForce.Block(h.From, h.Block)
}

// carrier adds the items in force to the spans of one edit.
type carrier struct {
	s       *Situation
	edit    *precis.Edit
	lawRoom int // tokens left for notes
}

// carried is the items in force of a span, by position.
type carried struct {
	head   []precis.Message // the user's messages before the first answer: placed first
	user   []precis.Message // texts of the program in the user's role
	system []precis.Message
	calls  []precis.Message // answers and results
}

func (c *carrier) heldItems(from, to int) (out carried) {
	msgs := c.s.Transcript.Messages()
	for _, i := range c.s.Kept.inForce.In(from, to) {
		m := c.s.Kept.inForce.Of(msgs, i)
		switch {
		case c.s.Kept.head[i]:
			if c.edit.Kind != precis.KindClip || !c.original(i) { // it hides them only as a last resort
				out.head = append(out.head, m)
			}
		case m.Role == precis.RoleSystem:
			out.system = append(out.system, m)
		case m.Role == precis.RoleUser && !m.HasToolResult() && len(out.calls) == 0:
			out.user = append(out.user, m)
		default:
			out.calls = append(out.calls, m)
		}
	}
	return out
}

func (c *carrier) span(r *precis.Replacement) {
	c.startAfterHead(r)
	if i, ok := c.unitBefore(r.From); ok && strictlyPlaced(c.s.Units[i].Messages) &&
		c.s.Kept.inForce.Whole(c.s.Units[i].From) {
		r.From = c.s.Units[i].From
	}
	held := c.heldItems(r.From, r.To)
	r.With = held.without(r.With)
	if !strictlyPlaced(held.system) {
		r.With = c.with(r, held)
		return
	}
	held.system = []precis.Message{inforce.Join(held.system)}
	to, short := c.lastAnswer(r)
	behind := c.roleAfter(r)
	switch {
	case len(r.With) > 0 && r.With[0].Role == precis.RoleAssistant:
		r.With = slices.Concat(held.head, held.system, r.With, held.user, held.calls)
		return
	case len(held.calls) > 0 && held.calls[0].Role == precis.RoleAssistant,
		behind != precis.RoleUser && behind != precis.RoleSystem:
	case short:
		r.To = to
		if held = c.heldItems(r.From, to); len(held.system) > 0 {
			held.system = []precis.Message{inforce.Join(held.system)}
		}
	case !c.hasDefinitions(r): // words cannot replace a definition
		held.user = append(held.user, precis.NewText(precis.RoleUser, reminderOf(held.system[0])))
		held.system = nil
	}
	r.With = c.with(r, held)
}

// startAfterHead moves the start of a span past the user's messages before the first answer, if the
// view shows these.
func (c *carrier) startAfterHead(r *precis.Replacement) {
	if c.edit.Kind == precis.KindClip {
		return
	}
	for i := r.To - 1; i >= r.From; i-- {
		if c.s.Kept.head[i] && c.original(i) {
			if i+1 < r.To {
				r.From = i + 1
			}
			return
		}
	}
}

// without returns the messages that replaced a span before Carry added any.
func (h *carried) without(with []precis.Message) []precis.Message {
	there := map[precis.Fingerprint]bool{}
	for _, list := range [][]precis.Message{h.head, h.user, h.system, h.calls} {
		for _, m := range list {
			there[precis.HashMessage(m)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(with), func(m precis.Message) bool {
		text := m.PlainText()
		return there[precis.HashMessage(m)] || strictlyPlaced([]precis.Message{m}) || precis.IsNote(text)
	})
}

// mostLeft is the most items that the note lists.
const mostLeft = 12

// listTooLarge lists the items in force of a span that are too large to keep; "" for none.
func (c *carrier) listTooLarge(r *precis.Replacement) string {
	msgs := c.s.Transcript.Messages()
	var lines []string
	n, all := 0, 0
	for _, h := range c.s.Kept.inForce.Items {
		if h.Named() {
			continue
		}
		all++
		at := h.At[len(h.At)-1]
		if at.From < r.From || at.From >= r.To {
			continue
		}
		if n++; n > mostLeft {
			continue
		}
		line := h.Name
		if line == "" {
			said := inforce.Excerpt(msgs[at.From], at.From, map[int]bool{at.Block: true})
			line, _, _ = strings.Cut(strings.TrimSpace(harness.ReminderContent(said.PlainText())), "\n")
		}
		lines = append(lines, fmt.Sprintf("%s: %s", at, shortened(line, 100)))
	}
	if n == 0 {
		return ""
	}
	c.report(fmt.Sprintf("in force and too long to be held, named by their handles: %d", all))
	slices.Sort(lines)
	if n > mostLeft {
		lines = append(lines, fmt.Sprintf("and %d more", n-mostLeft))
	}
	return precis.HeadLeftOut + ": read it again by its handle.\n" + strings.Join(lines, "\n") + "]"
}

// with returns the messages that replace a span: its own, and the items in force.
func (c *carrier) with(r *precis.Replacement, held carried) []precis.Message {
	if left := c.listTooLarge(r); left != "" {
		held.user = append(held.user, precis.NewText(precis.RoleUser, left))
	}
	hidden := func(at precis.Handle) bool {
		return at.From >= r.From && at.From < r.To && !c.s.Kept.inForce.Holds(at, true)
	}
	var said []precis.Message // by the whole edit: a digest of several spans is in the first of them
	for _, other := range c.edit.Replace {
		if other.Block == nil {
			said = append(said, other.With...)
		}
	}
	if note := c.noteOnUnstated(said, hidden); note != "" {
		held.user = append(held.user, precis.NewText(precis.RoleUser, note))
	}
	own := r.With
	if len(own) == 0 && len(held.user) == 0 && len(held.system) > 0 {
		own = []precis.Message{precis.NewText(precis.RoleUser,
			fmt.Sprintf("[Hidden to save room: %s.]", precis.SpanHandle(r.From, r.To)))}
	}
	return slices.Concat(held.head, own, held.user, held.system, held.calls)
}

// strictlyPlaced reports whether the messages are system messages that the API accepts in some
// places only.
func strictlyPlaced(msgs []precis.Message) bool {
	return len(msgs) > 0 && msgs[0].Role == precis.RoleSystem && msgs[0].Format == precis.FormatMessages
}

// unitBefore returns the unit of the view before message i when it is an original
// message that the edit does not hide.
func (c *carrier) unitBefore(i int) (int, bool) {
	for k, u := range c.s.Units {
		if u.To == i && u.Original() && len(u.Messages) == 1 {
			return k, !c.hides(u.From) && !c.s.Kept.Message(u.From)
		}
	}
	return 0, false
}

// original reports whether the view shows message i itself.
func (c *carrier) original(i int) bool {
	return slices.ContainsFunc(c.s.Units, func(u precis.Unit) bool { return u.From == i && u.Original() })
}

func (c *carrier) hides(i int) bool {
	return slices.ContainsFunc(c.edit.Replace,
		func(r precis.Replacement) bool { return r.Block == nil && r.From <= i && i < r.To })
}

// roleAfter returns the role of the message after a span; "" at the end.
func (c *carrier) roleAfter(r *precis.Replacement) precis.Role {
	for _, u := range c.s.Units {
		if u.From < r.To || len(u.Messages) == 0 {
			continue
		}
		for _, other := range c.edit.Replace {
			if other.Block == nil && other.From == u.From && len(other.With) > 0 {
				return other.With[0].Role
			}
		}
		if !c.hides(u.From) {
			return u.Messages[0].Role
		}
	}
	return ""
}

// answerShare is the largest share of the target of an answer that stays because of the system
// message before it.
const answerShare = 8

// lastAnswer returns the end of the span before its last answer, if that and the messages after it
// are short enough to stay. An answer of any length may stay if the system message defines tools.
func (c *carrier) lastAnswer(r *precis.Replacement) (to int, ok bool) {
	units, size := c.s.Units, 0
	for k := len(units) - 1; k >= 0 && units[k].From > r.From; k-- {
		u := units[k]
		if u.From >= r.To {
			continue
		}
		if size += c.s.Meter.View(u.Messages); size > c.s.Target/answerShare && !c.hasDefinitions(r) {
			return 0, false
		}
		from, _ := c.s.Kept.Group(u.From)
		if u.Original() && len(u.Messages) > 0 && u.Messages[0].Role == precis.RoleAssistant &&
			from == u.From {
			return u.From, true
		}
	}
	return 0, false
}

// hasDefinitions reports whether a system message in force in a span defines tools or settings, which
// words cannot replace.
func (c *carrier) hasDefinitions(r *precis.Replacement) bool {
	return slices.ContainsFunc(c.heldItems(r.From, r.To).system, func(m precis.Message) bool {
		return inforce.SetsOutput(m) || slices.ContainsFunc(m.Content, func(b precis.Block) bool {
			o, ok := b.(precis.Opaque)
			return ok && inforce.DefinesTools(o.Type)
		})
	})
}

// reminderOf returns the words of a system message for a place that only accepts a user message.
func reminderOf(m precis.Message) string { return harness.Reminder(m.PlainText()) }
