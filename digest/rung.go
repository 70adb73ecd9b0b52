package digest

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
)

// Rung is the rung of the ladder that replaces the oldest messages by a digest, if the view then
// keeps more worth than with previews of their results. Kept messages stay in place; later rungs
// shorten the rest.
type Rung struct{}

// leastDigest is the least useful size of a digest, in tokens.
const leastDigest = 100

// Name returns "digest".
func (Rung) Name() string { return "digest" }

// Traits returns what the ladder has to know of the rung.
func (Rung) Traits() policy.Traits { return policy.Traits{TakesRange: true} }

// Propose condenses the oldest messages, or the requested ones.
func (r Rung) Propose(_ context.Context, s *policy.Situation) (precis.Edit, error) {
	b := newBoundary(s)
	if s.To > 0 {
		return b.replaceRequested(r.Name()), nil
	}
	hide, size := b.bestBoundary()
	e := b.edit(r.Name(), hide, size, "previews of single results keep more")
	if n := b.withRest(e, hide); n < hide {
		if more := b.edit(r.Name(), n, size, ""); len(more.Replace) > 0 {
			e = more
		}
	}
	return e, nil
}

// A digest of a range takes 1/rangeShare of its tokens, of a short range up to leastRange tokens.
const (
	rangeShare = 5
	leastRange = 1000
)

// replaceRequested returns the edit that replaces the requested messages.
func (b *boundary) replaceRequested(rung string) precis.Edit {
	_, hidden, saved := b.spans(len(b.groups))
	e := b.edit(rung, len(b.groups), max(saved/rangeShare, leastRange), "a digest would be no shorter")
	if len(e.Replace) > 0 {
		e.Report.Reason = fmt.Sprintf("%d messages became a digest", hidden)
	}
	return e
}

// worthwhile: a digest is rewritten to free 1/worthwhile of the target; more often is no better.
const worthwhile = 16

// withRest returns how many groups to hide if the room left by a digest of the first n goes to
// whole groups, the newest of them. Measured with views of half the window: .817 to .824 of
// verbatim repetitions, facts unchanged. More lines in the digest instead lose facts.
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

// MoreRung is the rung for views that are still over their target after previews: the oldest messages
// become a digest, or join the existing one. Hiding them with only a marker would lose the user's
// text.
type MoreRung struct{}

// Name returns "digest-more".
func (MoreRung) Name() string { return "digest-more" }

// Traits returns what the ladder has to know of the rung.
func (MoreRung) Traits() policy.Traits { return policy.Traits{HidesMessages: true} }

// Propose condenses the fewest of the oldest messages that suffice. In a view that fits the window,
// content is worth more than meeting the target: an existing digest is not rewritten shorter.
func (m MoreRung) Propose(_ context.Context, s *policy.Situation) (precis.Edit, error) {
	b := newBoundary(s)
	hide, saved, messages := 0, 0, 0
	excess, surplus := max(s.Excess(), 0), s.ExcessMessages()
	if excess < s.Target/littleLeft && surplus == 0 {
		return b.edit(m.Name(), 0, 0, "cutting a little will do"), nil
	}
	for hide < len(b.groups) && (saved*2 < excess*5 || surplus > 0 && messages <= surplus) {
		// a digest is a message, too
		saved += b.groups[hide].tokens
		messages += b.groups[hide].units[1] - b.groups[hide].units[0]
		hide++
	}
	if s.Automatic && surplus == 0 && s.Used <= s.Fit() && !b.original(hide) {
		return b.edit(m.Name(), 0, 0, "what is old is in a digest already, and the view fits"), nil
	}
	for n := b.hiddenTogether(hide); hide < n; hide++ {
		saved += b.groups[hide].tokens
	}
	least := saved / leastShare
	if s.Used <= s.Limit && s.Used < s.Trigger {
		least = saved / leastWhereItFits
	}
	return b.edit(m.Name(), hide, max(saved-excess-excess/20, least), "too little is old enough to condense"),
		nil
}

// A digest has at least 1/leastShare of the tokens it replaces, 1/leastWhereItFits if the view fits
// the window, where content is worth more than the target. Measured turn by turn with 32,000
// tokens, 1/4 and 1/2: facts .937 and .940, older facts .889 and .896, cache breaks once in 11.2
// and 11.0 turns.
const (
	leastShare       = 4
	leastWhereItFits = 2
)

// littleLeft: an excess below 1/littleLeft of the target is cut instead.
const littleLeft = 20

// isDigest reports whether a rung writes digests.
func isDigest(rung string) bool { return rung == Rung{}.Name() || rung == MoreRung{}.Name() }

// edit returns the edit that replaces the first n groups by a digest of the
// given number of tokens; an empty edit, with the given reason, if the digest
// would not help.
func (b *boundary) edit(rung string, n, size int, nothing string) precis.Edit {
	e := precis.Edit{Kind: precis.KindCondensation}
	s, x := b.s, b.x
	n = b.hiddenTogether(n)
	spans, hidden, saved := b.spans(n)
	digests := b.digests(n) // rewritten, they may be as long as before
	if size = min(size, digests+(saved-digests)*3/5); size < leastDigest {
		e.Report.Reason = nothing
		return e
	}
	in := input{
		x: x, worth: b.worth, reuse: b.reuse, copies: shownLines(s, spans),
		cover: coverageOutside(s, x, spans), messages: b.alive, read: b.read, tokens: size,
		userTokens: min(int(userShare*float64(s.Target)), size*2/3),
		covered:    func(i int) bool { return within(spans, i) },
		count:      func(t string) int { return s.Meter.Block(precis.RoleUser, precis.Text{Text: t}) },
		lines:      b.linesOf,
		carried:    s.Holds,
	}
	in.previous = EarlierSummaries(s, spans)
	content := []precis.Block{precis.Text{Text: in.digest()}}
	written := 0
	for i, span := range spans {
		p := precis.Replacement{From: span[0], To: span[1]}
		m := precis.Message{Role: precis.RoleUser, Content: content}
		if i > 0 {
			m = precis.NewText(precis.RoleUser,
				fmt.Sprintf("[%s: see the digest above.]", precis.SpanHandle(span[0], span[1])))
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

// hiddenTogether returns how many groups must be hidden along with the first n: a summary of several
// spans is shown in the first span, and the others only refer to it.
func (b *boundary) hiddenTogether(n int) int {
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

// EarlierSummaries returns the model-written summaries in the hidden spans, including those that digests
// replaced. Digests are excluded: they are rewritten from the original messages.
func EarlierSummaries(s *policy.Situation, spans [][2]int) string {
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

// original reports whether the first n groups show an unchanged message.
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

// coverageOutside returns the coverage of the view outside the spans, and of the items in force inside.
func coverageOutside(s *policy.Situation, x *retain.Index, spans [][2]int) *retain.Coverage {
	c := x.NewCoverage()
	c.AddUnits(unitsOutside(s, spans))
	c.AddMessages(itemsInForce(s, spans))
	return c
}

// shownLines returns the lines that the view shows outside the spans, and the lines of items in
// force inside.
func shownLines(s *policy.Situation, spans [][2]int) *retain.LineSet {
	c := retain.NewLineSet()
	c.AddMessages(messagesOutside(s, spans))
	c.AddMessages(itemsInForce(s, spans))
	return c
}

// itemsInForce returns the messages with the items in force of the spans.
func itemsInForce(s *policy.Situation, spans [][2]int) (out []precis.Message) {
	for _, span := range spans {
		out = append(out, s.HeldMessages(span[0], span[1])...)
	}
	return out
}
