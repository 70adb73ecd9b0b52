package inforce

import (
	"fmt"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/visible"
	"github.com/precis-dev/precis/measure"
)

// Carrier shows items in force again after an edit has hidden their messages.
type Carrier struct {
	Content  *Content
	Head     map[int]bool     // the user's messages before the first answer that stay in place
	Messages []precis.Message // the transcript
	Units    []precis.Unit    // the view that the edit changes
	Meter    *measure.Meter
	Target   int                        // tokens of the view to come down to, as the Meter counts
	Keeps    func(i int) bool           // whether message i is kept whole
	Group    func(i int) (from, to int) // the messages that are hidden or kept together with message i

	edit     *precis.Edit
	noteRoom int // tokens left for notes
}

// Carry returns the edit with the items in force of each hidden span appended to the text that
// replaces the span: first blocks of the user's role, then system messages unchanged, then calls
// that loaded tools, with their results. Calling it twice has no further effect.
//
// An item that a caller named and that is too large to keep is stated in a note, unless the replacing
// text states it; for a shortened block the note is at its end.
//
// The Messages API takes system messages only after a user message and before an assistant's, see
// [precis.CheckPlacement]. If a user message follows the span, the span is cut before its last answer, so
// that this answer stays; if the answer is too long, the words go into a user message. A span that
// begins right after such a system message includes it.
func (c Carrier) Carry(e precis.Edit) precis.Edit {
	if c.Content.Empty() || e.Kind == precis.KindRewind || e.Kind == precis.KindExclude {
		return e
	}
	e.Replace = slices.Clone(e.Replace)
	c.edit, c.noteRoom = &e, c.Target/noteShare
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

// carried is the items in force of a span, by position.
type carried struct {
	head   []precis.Message // the user's messages before the first answer: placed first
	user   []precis.Message // texts of the program in the user's role
	system []precis.Message
	calls  []precis.Message // answers and results
}

func (c *Carrier) heldItems(from, to int) (out carried) {
	for _, i := range c.Content.In(from, to) {
		m := c.Content.Of(c.Messages, i)
		switch {
		case c.Head[i]:
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

func (c *Carrier) span(r *precis.Replacement) {
	c.startAfterHead(r)
	if i, ok := c.unitBefore(r.From); ok && strictlyPlaced(c.Units[i].Messages) &&
		c.Content.Whole(c.Units[i].From) {
		r.From = c.Units[i].From
	}
	held := c.heldItems(r.From, r.To)
	r.With = held.without(r.With)
	if !strictlyPlaced(held.system) {
		r.With = c.with(r, held)
		return
	}
	held.system = []precis.Message{Join(held.system)}
	to, short := c.lastAnswer(r)
	behind := c.roleBehind(r)
	switch {
	case len(r.With) > 0 && r.With[0].Role == precis.RoleAssistant:
		r.With = slices.Concat(held.head, held.system, r.With, held.user, held.calls)
		return
	case len(held.calls) > 0 && held.calls[0].Role == precis.RoleAssistant,
		behind != precis.RoleUser && behind != precis.RoleSystem:
	case short:
		r.To = to
		if held = c.heldItems(r.From, to); len(held.system) > 0 {
			held.system = []precis.Message{Join(held.system)}
		}
	case !c.hasDefinitions(r): // words cannot replace a definition
		words := harness.Reminder(held.system[0].PlainText())
		held.user = append(held.user, precis.NewText(precis.RoleUser, words))
		held.system = nil
	}
	r.With = c.with(r, held)
}

// startAfterHead moves the start of a span past the user's messages before the first answer, if the
// view shows these.
func (c *Carrier) startAfterHead(r *precis.Replacement) {
	if c.edit.Kind == precis.KindClip {
		return
	}
	for i := r.To - 1; i >= r.From; i-- {
		if c.Head[i] && c.original(i) {
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
func (c *Carrier) listTooLarge(r *precis.Replacement) string {
	var lines []string
	n, all := 0, 0
	for _, h := range c.Content.Items {
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
			said := Excerpt(c.Messages[at.From], at.From, map[int]bool{at.Block: true})
			line, _, _ = strings.Cut(strings.TrimSpace(harness.ReminderContent(said.PlainText())), "\n")
		}
		lines = append(lines, fmt.Sprintf("%s: %s", at, visible.Cut(line, 100)))
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
func (c *Carrier) with(r *precis.Replacement, held carried) []precis.Message {
	if left := c.listTooLarge(r); left != "" {
		held.user = append(held.user, precis.NewText(precis.RoleUser, left))
	}
	hidden := func(at precis.Handle) bool {
		return at.From >= r.From && at.From < r.To && !c.Content.Holds(at, true)
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
func (c *Carrier) unitBefore(i int) (int, bool) {
	for k, u := range c.Units {
		if u.To == i && u.Original() && len(u.Messages) == 1 {
			return k, !c.hides(u.From) && !c.Keeps(u.From)
		}
	}
	return 0, false
}

// original reports whether the view shows message i itself.
func (c *Carrier) original(i int) bool {
	return slices.ContainsFunc(c.Units, func(u precis.Unit) bool { return u.From == i && u.Original() })
}

func (c *Carrier) hides(i int) bool {
	return slices.ContainsFunc(c.edit.Replace,
		func(r precis.Replacement) bool { return r.Block == nil && r.From <= i && i < r.To })
}

// roleBehind returns the role of the message after a span; "" at the end.
func (c *Carrier) roleBehind(r *precis.Replacement) precis.Role {
	for _, u := range c.Units {
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
func (c *Carrier) lastAnswer(r *precis.Replacement) (to int, ok bool) {
	units, size := c.Units, 0
	for k := len(units) - 1; k >= 0 && units[k].From > r.From; k-- {
		u := units[k]
		if u.From >= r.To {
			continue
		}
		if size += c.Meter.View(u.Messages); size > c.Target/answerShare && !c.hasDefinitions(r) {
			return 0, false
		}
		from, _ := c.Group(u.From)
		if u.Original() && len(u.Messages) > 0 && u.Messages[0].Role == precis.RoleAssistant &&
			from == u.From {
			return u.From, true
		}
	}
	return 0, false
}

// hasDefinitions reports whether a system message in force in a span defines tools or settings, which
// words cannot replace.
func (c *Carrier) hasDefinitions(r *precis.Replacement) bool {
	return slices.ContainsFunc(c.heldItems(r.From, r.To).system, func(m precis.Message) bool {
		return SetsOutput(m) || slices.ContainsFunc(m.Content, func(b precis.Block) bool {
			o, ok := b.(precis.Opaque)
			return ok && DefinesTools(o.Type)
		})
	})
}
