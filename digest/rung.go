package digest

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"precis"
	"precis/retain"
)

// Rung is the rung of the ladder that replaces the oldest messages by a digest,
// where the view then keeps more worth than with previews of their results.
// Kept messages stay in place; later rungs shorten the rest.
type Rung struct{}

// leastDigest is the least useful size of a digest, in tokens.
const leastDigest = 100

// Name returns "digest".
func (Rung) Name() string { return "digest" }

// Traits returns what the ladder has to know of the rung.
func (Rung) Traits() precis.Traits { return precis.Traits{TakesRange: true} }

// Propose condenses the oldest messages, or those that are asked for.
func (r Rung) Propose(_ context.Context, s *precis.Situation) (precis.Edit, error) {
	b := newBoundary(s)
	if s.To > 0 {
		return b.exactly(r.Name()), nil
	}
	hide, size := b.best()
	e := b.edit(r.Name(), hide, size, "previews of single results keep more")
	if n := b.withRest(e, hide); n < hide {
		if more := b.edit(r.Name(), n, size, ""); len(more.Replace) > 0 {
			e = more
		}
	}
	return e, nil
}

// rangeShare is the part of a range, one in so many, that its digest takes, and leastRange the
// tokens that it may take of a short one.
const (
	rangeShare = 5
	leastRange = 1000
)

// exactly returns the edit that replaces the messages that are asked for.
func (b *boundary) exactly(rung string) precis.Edit {
	_, hidden, saved := b.spans(len(b.groups))
	e := b.edit(rung, len(b.groups), max(saved/rangeShare, leastRange), "a digest would be no shorter")
	if len(e.Replace) > 0 {
		e.Report.Reason = fmt.Sprintf("%d messages became a digest", hidden)
	}
	return e
}

// worthwhile: a digest is written again when it leaves one part in so many of the target. Twice or more often is no better.
const worthwhile = 16

// withRest returns how many groups to hide when the room that a digest of the first n leaves goes to whole groups,
// the newest of them. Measured with views of half the window: from 0.817 to 0.824 of what is repeated word for word,
// the facts as before. More lines in the digest instead cost facts.
func (b *boundary) withRest(e precis.Edit, n int) int {
	if len(e.Replace) == 0 {
		return n
	}
	left := b.s.Target - b.s.Used
	for _, g := range b.groups[:n] {
		left += g.tokens
	}
	for _, p := range e.Replace {
		left -= b.s.Meter.View(p.With)
	}
	if left < b.s.Target/worthwhile {
		return n
	}
	for n > 0 && b.groups[n-1].tokens <= left {
		n--
		left -= b.groups[n].tokens
	}
	return n
}

// More is the rung for views that are still over their target after previews:
// the oldest messages become a digest, or join the existing one. Hiding them
// behind a marker would lose the user's text.
type More struct{}

// Name returns "digest-more".
func (More) Name() string { return "digest-more" }

// Traits returns what the ladder has to know of the rung.
func (More) Traits() precis.Traits { return precis.Traits{HidesMessages: true} }

// Propose condenses the fewest of the oldest messages that suffice. A view that fits is worth more than its target:
// what stands in a digest already is not written shorter for it.
func (m More) Propose(_ context.Context, s *precis.Situation) (precis.Edit, error) {
	b := newBoundary(s)
	hide, saved, messages := 0, 0, 0
	excess, surplus := max(s.Excess(), 0), s.Surplus()
	if excess < s.Target/littleLeft && surplus == 0 {
		return b.edit(m.Name(), 0, 0, "cutting a little will do"), nil
	}
	for hide < len(b.groups) && (saved*2 < excess*5 || surplus > 0 && messages <= surplus) { // a digest is a message, too
		saved += b.groups[hide].tokens
		messages += b.groups[hide].units[1] - b.groups[hide].units[0]
		hide++
	}
	if s.Automatic && surplus == 0 && s.Used <= s.Fit() && !b.original(hide) {
		return b.edit(m.Name(), 0, 0, "what is old is in a digest already, and the view fits"), nil
	}
	for n := b.together(hide); hide < n; hide++ {
		saved += b.groups[hide].tokens
	}
	least := saved / leastShare
	if s.Used <= s.Limit && s.Used < s.Trigger {
		least = saved / leastWhereItFits
	}
	return b.edit(m.Name(), hide, max(saved-excess-excess/20, least), "too little is old enough to condense"), nil
}

// A digest is at least one part in so many of what it stands for; of a view that fits it is the second: the target is
// not worth as much as what the digest holds. Measured turn by turn with 32,000 tokens, one in four and in two: facts
// .937 and .940, older ones .889 and .896, breaks of the cache one in 11.2 and 11.0 turns.
const (
	leastShare       = 4
	leastWhereItFits = 2
)

// littleLeft is the part of the target up to which the rest over the target is
// cut instead.
const littleLeft = 20

// isDigest reports whether a rung writes digests.
func isDigest(rung string) bool { return rung == Rung{}.Name() || rung == More{}.Name() }

// edit returns the edit that replaces the first n groups by a digest of the
// given number of tokens; an empty edit, with the given reason, if the digest
// would not help.
func (b *boundary) edit(rung string, n, size int, nothing string) precis.Edit {
	e := precis.Edit{Kind: precis.KindCondensation}
	s, x := b.s, b.x
	n = b.together(n)
	spans, hidden, saved := b.spans(n)
	digests := b.digests(n) // written anew, they may be as long as before
	if size = min(size, digests+(saved-digests)*3/5); size < leastDigest {
		e.Report.Reason = nothing
		return e
	}
	in := input{
		x: x, worth: b.worth, reuse: b.reuse, copies: shownLines(s, spans), cover: shown(s, x, spans), messages: b.alive, read: b.read, tokens: size, userTokens: min(int(userShare*float64(s.Target)), size*2/3),
		covered: func(i int) bool { return within(spans, i) },
		count:   func(t string) int { return s.Meter.Block(precis.RoleUser, precis.Text{Text: t}) },
		lines:   b.linesOf,
		carried: s.Holds,
	}
	in.previous = Earlier(s, spans)
	content := []precis.Block{precis.Text{Text: in.digest()}}
	written := 0
	for i, span := range spans {
		p := precis.Replacement{From: span[0], To: span[1]}
		m := precis.Message{Role: precis.RoleUser, Content: content}
		if i > 0 {
			m = precis.NewText(precis.RoleUser, fmt.Sprintf("[%s: see the digest above.]", precis.SpanHandle(span[0], span[1])))
		}
		p.With = []precis.Message{m}
		e.Replace = append(e.Replace, p)
		written += s.Meter.View(p.With)
	}
	if written >= saved { // as short as an earlier one already
		return precis.Edit{Kind: precis.KindCondensation, Report: precis.EditReport{Reason: nothing}}
	}
	e.Report.Rung = rung
	e.Report.Reason = fmt.Sprintf("the oldest %d messages became a digest", hidden)
	return e
}

// together returns how many groups must be hidden for the sake of the first n: what stands
// for several spans stands in the first of them, and the others only refer to it.
func (b *boundary) together(n int) int {
	summaries := map[string]bool{}
	for _, e := range b.s.Edits {
		summaries[e.ID] = e.Kind == precis.KindCondensation
	}
	edits := map[string]bool{}
	for k, g := range b.groups {
		for _, u := range b.s.Units[g.units[0]:g.units[1]] {
			switch {
			case u.Original() || !summaries[u.Edit]:
			case k < n:
				edits[u.Edit] = true
			case edits[u.Edit]:
				n = k + 1
			}
		}
	}
	return n
}

// Earlier returns the summaries written by a model that the spans hide, also
// those hidden by digests. Digests are not included: they are written anew from
// the original messages.
func Earlier(s *precis.Situation, spans [][2]int) string {
	var edits []precis.Edit
	summaries := map[string]bool{}
	for _, e := range precis.Active(s.Edits) {
		if e.Kind == precis.KindCondensation && isDigest(e.Report.Rung) {
			continue
		}
		edits = append(edits, e)
		summaries[e.ID] = e.Kind == precis.KindCondensation
	}
	var out []string
	for _, u := range precis.Units(s.Transcript, edits) {
		if !summaries[u.Edit] || !within(spans, u.From) {
			continue
		}
		for _, m := range u.Messages {
			out = append(out, m.PlainText())
		}
	}
	return strings.Join(out, "\n\n")
}

// spans returns the spans of the first n groups, how many messages they hold,
// and how many tokens hiding them saves.
func (b *boundary) spans(n int) (spans [][2]int, hidden, saved int) {
	for _, g := range b.groups[:n] {
		saved += g.tokens
		hidden += g.span[1] - g.span[0]
		if n := len(spans); n > 0 && spans[n-1][1] == g.span[0] {
			spans[n-1][1] = g.span[1]
		} else {
			spans = append(spans, g.span)
		}
	}
	return spans, hidden, saved
}

// original reports whether the first n groups show a message as it was said.
func (b *boundary) original(n int) bool {
	for _, g := range b.groups[:n] {
		if slices.ContainsFunc(b.s.Units[g.units[0]:g.units[1]], precis.Unit.Original) {
			return true
		}
	}
	return false
}

// digests returns the tokens of earlier digests and summaries in the first n groups.
func (b *boundary) digests(n int) (tokens int) {
	for _, g := range b.groups[:n] {
		for _, u := range b.s.Units[g.units[0]:g.units[1]] {
			if !u.Original() && len(u.Messages) > 0 {
				tokens += b.s.Meter.View(u.Messages)
			}
		}
	}
	return tokens
}

// within reports whether message i lies in one of the spans, which are in order.
func within(spans [][2]int, i int) bool {
	n := sort.Search(len(spans), func(k int) bool { return spans[k][1] > i })
	return n < len(spans) && spans[n][0] <= i
}

// shown returns the coverage of what the view shows outside the spans, and of what stays
// in force inside.
func shown(s *precis.Situation, x *retain.Index, spans [][2]int) *retain.Coverage {
	c := x.Cover()
	c.Units(unitsOutside(s, spans))
	c.Messages(heldIn(s, spans))
	return c
}

// shownLines returns the lines that the view shows outside the spans, and of what stays
// in force inside.
func shownLines(s *precis.Situation, spans [][2]int) *retain.Copies {
	c := retain.NewCopies()
	c.Messages(outside(s, spans))
	c.Messages(heldIn(s, spans))
	return c
}

// heldIn returns what stays in force of the spans.
func heldIn(s *precis.Situation, spans [][2]int) (out []precis.Message) {
	for _, span := range spans {
		out = append(out, s.Held(span[0], span[1])...)
	}
	return out
}
