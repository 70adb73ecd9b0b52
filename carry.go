package precis

import (
	"fmt"
	"slices"
	"strings"

	"precis/internal/harness"
)

// Carry returns the edit with what stays in force in every span that it hides, put
// behind the text that stands for the span: blocks of the user's role first, then
// system messages as they came, then calls that loaded tools, with their results. A
// Strategy need not call it: the ladder does, for every edit, after the gate; one that
// measures what its edit would save may. To carry twice is to carry once.
//
// What a [Law] holds and is too large to be kept is said in a note, where the text that
// stands for it does not say it; a block that is shortened says it at its end.
//
// System messages of the Messages API are put where that API takes them, see
// [CheckPlacement]: behind a user message and before an assistant's. Where a user
// message follows the span, the span ends before the last answer in it, so that this
// stays; where that is too long, the words go into a user message. A span that begins
// behind such a system message takes it in.
func (s *Situation) Carry(e Edit) Edit {
	nothing := s.Kept == nil || len(s.Kept.stands.order)+len(s.Kept.stands.items) == 0
	if nothing || e.Kind == KindRewind || e.Kind == KindExclude {
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

// HeldTokens returns the tokens of what would be carried if the messages [from,to) were
// hidden.
func (s *Situation) HeldTokens(from, to int) (n int) {
	for _, m := range s.Held(from, to) {
		n += s.Meter.View([]Message{m})
	}
	return n
}

// Held returns what would be carried if the messages [from,to) were hidden, in order.
func (s *Situation) Held(from, to int) (out []Message) {
	if s.Kept == nil {
		return nil
	}
	for _, i := range s.Kept.stands.in(from, to) {
		out = append(out, s.Kept.stands.of(s.Transcript.Messages(), i))
	}
	return out
}

// Holds reports whether what is named is carried whole when messages with it are hidden.
func (s *Situation) Holds(h Handle) bool {
	if s.Kept == nil {
		return false
	}
	return s.Kept.stands.block(h.From, h.Block)
}

// in returns the messages [from,to) of which something is held, in order.
func (st *standing) in(from, to int) []int {
	first, _ := slices.BinarySearch(st.order, from)
	last, _ := slices.BinarySearch(st.order, to)
	return st.order[min(first, last):last]
}

// carrier puts what is held into the spans of one edit.
type carrier struct {
	s       *Situation
	edit    *Edit
	lawRoom int // tokens left for notes of what holds
}

// carried is what is held of a span, by where it is put.
type carried struct {
	head   []Message // the user's messages before the first answer: before all else
	user   []Message // texts of the program in the user's role
	system []Message
	calls  []Message // answers and results
}

func (c *carrier) held(from, to int) (out carried) {
	msgs := c.s.Transcript.Messages()
	for _, i := range c.s.Kept.stands.in(from, to) {
		m := c.s.Kept.stands.of(msgs, i)
		switch {
		case c.s.Kept.head[i]:
			if c.edit.Kind != KindClip || !c.original(i) { // it hides them only where nothing else would do
				out.head = append(out.head, m)
			}
		case m.Role == RoleSystem:
			out.system = append(out.system, m)
		case m.Role == RoleUser && !m.HasToolResult() && len(out.calls) == 0:
			out.user = append(out.user, m)
		default:
			out.calls = append(out.calls, m)
		}
	}
	return out
}

func (c *carrier) span(r *Replacement) {
	c.behindHead(r)
	if i, ok := c.unitBefore(r.From); ok && strictlyPlaced(c.s.Units[i].Messages) && c.s.Kept.stands.whole(c.s.Units[i].From) {
		r.From = c.s.Units[i].From
	}
	held := c.held(r.From, r.To)
	r.With = held.without(r.With)
	if !strictlyPlaced(held.system) {
		r.With = c.with(r, held)
		return
	}
	held.system = []Message{joinSystem(held.system)}
	to, short := c.lastAnswer(r)
	behind := c.roleBehind(r)
	switch {
	case len(r.With) > 0 && r.With[0].Role == RoleAssistant:
		r.With = slices.Concat(held.head, held.system, r.With, held.user, held.calls)
		return
	case len(held.calls) > 0 && held.calls[0].Role == RoleAssistant, behind != RoleUser && behind != RoleSystem:
	case short:
		r.To = to
		if held = c.held(r.From, to); len(held.system) > 0 {
			held.system = []Message{joinSystem(held.system)}
		}
	case !c.defines(r): // what defines something, nothing else can say
		held.user = append(held.user, NewText(RoleUser, reminderOf(held.system[0])))
		held.system = nil
	}
	r.With = c.with(r, held)
}

// behindHead moves the beginning of a span behind the user's messages before the first
// answer, where the view shows these.
func (c *carrier) behindHead(r *Replacement) {
	if c.edit.Kind == KindClip {
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

// without returns the messages that stand for a span before anything was carried.
func (h *carried) without(with []Message) []Message {
	there := map[Fingerprint]bool{}
	for _, list := range [][]Message{h.head, h.user, h.system, h.calls} {
		for _, m := range list {
			there[HashMessage(m)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(with), func(m Message) bool {
		text := m.PlainText()
		return there[HashMessage(m)] || strictlyPlaced([]Message{m}) || isNote(text)
	})
}

// leftHead begins the note of what is in force and does not fit.
const leftHead = "[Also in force, said by the program, and too long to stand here"

// isNote reports whether a text is a note that [Situation.Carry] added.
func isNote(text string) bool {
	return strings.HasPrefix(text, leftHead) || strings.HasPrefix(text, lawHead)
}

// mostLeft is how many texts are named that stay in force and do not fit.
const mostLeft = 12

// leftOut names what of a span is in force and too large to be held; "" when nothing is.
func (c *carrier) leftOut(r *Replacement) string {
	msgs := c.s.Transcript.Messages()
	var lines []string
	n, all := 0, 0
	for _, h := range c.s.Kept.stands.items {
		if h.rank == lawRank {
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
			said := excerpt(msgs[at.From], at.From, map[int]bool{at.Block: true})
			line, _, _ = strings.Cut(strings.TrimSpace(harness.Inside(said.PlainText())), "\n")
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
	return leftHead + ": read it again by its handle.\n" + strings.Join(lines, "\n") + "]"
}

// with returns the messages that stand for a span: its own, and what is held.
func (c *carrier) with(r *Replacement, held carried) []Message {
	if left := c.leftOut(r); left != "" {
		held.user = append(held.user, NewText(RoleUser, left))
	}
	hidden := func(at Handle) bool { return at.From >= r.From && at.From < r.To && !c.s.Kept.stands.holds(at, true) }
	var said []Message // by all that the edit shows: a digest of several spans stands in the first of them
	for _, other := range c.edit.Replace {
		if other.Block == nil {
			said = append(said, other.With...)
		}
	}
	if note := c.unsaid(said, hidden); note != "" {
		held.user = append(held.user, NewText(RoleUser, note))
	}
	own := r.With
	if len(own) == 0 && len(held.user) == 0 && len(held.system) > 0 {
		own = []Message{NewText(RoleUser, fmt.Sprintf("[Hidden to save room: %s.]", SpanHandle(r.From, r.To)))}
	}
	return slices.Concat(held.head, own, held.user, held.system, held.calls)
}

// strictlyPlaced reports whether the messages are system messages that the API takes in
// some places only.
func strictlyPlaced(msgs []Message) bool {
	return len(msgs) > 0 && msgs[0].Role == RoleSystem && msgs[0].Format == formatMessages
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
	return slices.ContainsFunc(c.s.Units, func(u Unit) bool { return u.From == i && u.Original() })
}

func (c *carrier) hides(i int) bool {
	return slices.ContainsFunc(c.edit.Replace, func(r Replacement) bool { return r.Block == nil && r.From <= i && i < r.To })
}

// roleBehind returns who speaks behind a span; "" when it is the end.
func (c *carrier) roleBehind(r *Replacement) Role {
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

// answerShare is the largest share of the target that an answer may have which stays
// for the sake of the system message before it.
const answerShare = 8

// lastAnswer returns the end of the span before the last answer in it that is short
// enough to stay, with what follows it. What defines tools is worth any answer.
func (c *carrier) lastAnswer(r *Replacement) (to int, ok bool) {
	units, size := c.s.Units, 0
	for k := len(units) - 1; k >= 0 && units[k].From > r.From; k-- {
		u := units[k]
		if u.From >= r.To {
			continue
		}
		if size += c.s.Meter.View(u.Messages); size > c.s.Target/answerShare && !c.defines(r) {
			return 0, false
		}
		from, _ := c.s.Kept.Group(u.From)
		if u.Original() && len(u.Messages) > 0 && u.Messages[0].Role == RoleAssistant && from == u.From {
			return u.From, true
		}
	}
	return 0, false
}

// defines reports whether a system message that is held of a span defines tools or
// settings, which words cannot do.
func (c *carrier) defines(r *Replacement) bool {
	return slices.ContainsFunc(c.held(r.From, r.To).system, func(m Message) bool {
		return envelopeOf(m).get(outputConfig) != nil || slices.ContainsFunc(m.Content, func(b Block) bool {
			o, ok := b.(Opaque)
			return ok && definesTools(o.Type)
		})
	})
}

// reminderOf returns the words of a system message for a place where only a user
// message may stand.
func reminderOf(m Message) string { return harness.Reminder(m.PlainText()) }
