package reduce

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/workstate"
)

// Truncate hides the oldest turns and puts a marker in their place. The first message shown stays,
// as do the kept messages; tool uses and their results are hidden together. Messages that are
// hidden already are not counted as visible. It hides a share of the messages
// (Settings.Fractions.Truncate, rounded down to an even number), or all but the last
// Settings.Fractions.KeepLast, and then more until the view is at its target. If the view fits and
// only its target is missed, it hides no more than the target requires, unless Roo is set.
//
// The marker states what still holds of the hidden messages: open steps of the plan and background
// work, see [workstate.Reading.Lines], in at most a few hundred tokens.
type Truncate struct {
	// Roo selects Roo Code's marker, one for all hidden messages with a fixed text, and leaves
	// earlier markers in place.
	Roo bool
	// Leave lists messages that are neither counted nor hidden: those on which
	// an archive cannot write its tags without losing existing ones.
	Leave []int
	// Joined merges a marker and the items carried next to it; nil: they stay separate.
	Joined func([]precis.Message) precis.Message
	// ToFit stops at a view that fits, whatever its target.
	ToFit bool
}

// Name returns "truncate".
func (Truncate) Name() string { return "truncate" }

// Traits returns what the ladder has to know of the rung.
func (Truncate) Traits() policy.Traits { return policy.Traits{HidesMessages: true} }

// Join merges the messages in the place of a span, if Joined is set.
func (t Truncate) Join(with []precis.Message) (precis.Message, bool) {
	if t.Joined == nil {
		return precis.Message{}, false
	}
	return t.Joined(with), true
}

// Propose hides the oldest turns.
func (t Truncate) Propose(_ context.Context, s *policy.Situation) (precis.Edit, error) {
	if t.ToFit && s.Used <= s.Limit {
		return precis.Edit{Kind: precis.KindTruncation,
			Report: precis.EditReport{Code: policy.ReasonNothing, Reason: "the view fits as it is"}}, nil
	}
	tr := truncation{Truncate: t, s: s}
	tr.findMarkers()
	tr.room = min(mostHeld, s.Target/heldShare)
	tr.cost = s.Meter.View([]precis.Message{tr.markerFor(0, max(s.Transcript.Len(), 100_000))})
	tr.choose()
	e := precis.Edit{Kind: precis.KindTruncation, Replace: tr.replacements()}
	e.Report.Reason = "nothing is old enough to hide"
	if tr.hidden > 0 {
		e.Report.Reason = fmt.Sprintf("the oldest %s hidden", plural(tr.hidden, "message"))
	}
	return e, nil
}

// truncation is the state of one run. marker reports which units are markers of
// earlier truncations, hide which units are to be hidden.
type truncation struct {
	Truncate
	s         *policy.Situation
	marker    []bool
	hide      []bool
	summary   []bool // of an earlier condensation
	leftAlone []bool // neither counted nor hidden
	visible   int
	hidden    int // messages
	cost      int // tokens of a marker
	room      int // tokens for the work state, in all markers
}

// findMarkers finds the markers and counts the visible messages.
func (t *truncation) findMarkers() {
	kinds := map[string]precis.EditKind{}
	for _, e := range t.s.Edits {
		kinds[e.ID] = e.Kind
	}
	t.marker = make([]bool, len(t.s.Units))
	t.hide = make([]bool, len(t.s.Units))
	t.leftAlone = make([]bool, len(t.s.Units))
	t.summary = make([]bool, len(t.s.Units))
	for i, u := range t.s.Units {
		hidden := kinds[u.Edit] == precis.KindTruncation || len(u.Messages) == 0
		t.marker[i] = hidden
		t.summary[i] = kinds[u.Edit] == precis.KindCondensation
		t.leftAlone[i] = u.Original() && slices.Contains(t.Leave, u.From)
		if !hidden && !t.leftAlone[i] {
			t.visible++
		}
	}
}

// quota returns how many messages to hide regardless of tokens.
func (t *truncation) quota() int {
	f := t.s.Settings.RungSettings
	if f.KeepLast > 0 {
		return t.visible - 1 - f.KeepLast
	}
	if surplus := t.s.ExcessMessages(); surplus > 0 {
		return surplus + 1 // the marker is a message, too
	}
	if s := t.s; !t.Roo && s.Used <= s.Limit && s.Used < s.Trigger {
		return 0
	}
	n := int(math.Floor(float64(t.visible-1) * f.Truncate))
	return n - n%2
}

// choose marks units to hide, oldest group first.
func (t *truncation) choose() {
	saved := t.hideOldest(t.quota(), 0, false)
	if s := t.s; !t.Roo && t.summaries() > s.Limit*4/5 && (s.Used-s.Limit-saved)*leastOver > t.summaries() {
		// the last way
		t.hideOldest(0, saved, true)
	}
}

// leastOver: digests and summaries stay if the excess that hiding other messages cannot remove is
// below 1/leastOver of their tokens; [Clip] then shortens them by that much.
const leastOver = 2

// summaries returns the tokens of the system prompt, the tools and earlier
// condensations, which hiding other messages cannot save.
func (t *truncation) summaries() int {
	n := t.s.Budget.Overhead
	for i, u := range t.s.Units {
		if t.summary[i] {
			n += t.s.Meter.View(u.Messages)
		}
	}
	return n
}

// hideOldest marks units until quota and target are reached; summaries only if
// the argument summaries is set. It returns the tokens saved, including the
// given ones.
func (t *truncation) hideOldest(quota, saved int, summaries bool) int {
	first := true
	for i := 0; i < len(t.s.Units); {
		if t.marker[i] || t.leftAlone[i] {
			i++
			continue
		}
		end := t.groupEnd(i)
		if first {
			first = false
			i = end
			continue
		}
		size := end - i
		inQuota := t.hidden+size <= quota
		if !inQuota && saved >= t.s.Excess()+t.cost {
			return saved
		}
		if (t.Roo || summaries || !t.summary[i]) && !t.hide[i] && t.removable(i, end, t.Roo && inQuota) {
			for k := i; k < end; k++ {
				t.hide[k] = true
				saved += t.s.Meter.View(t.s.Units[k].Messages)
			}
			t.hidden += size
		}
		i = end
	}
	return saved
}

// groupEnd returns the end of the group of unit i: the first unit after it that
// may be hidden separately.
func (t *truncation) groupEnd(i int) int {
	u := t.s.Units[i]
	if !u.Original() {
		return i + 1
	}
	_, to := t.s.Kept.Group(u.From)
	for i++; i < len(t.s.Units) && t.s.Units[i].Original() && !t.leftAlone[i] && t.s.Units[i].From < to; i++ {
	}
	return i
}

// removable reports whether units may be hidden. Roo's share is taken from all
// messages that are not pinned; the ladder still refuses an edit that hides
// kept messages.
func (t *truncation) removable(from, to int, any bool) bool {
	for _, u := range t.s.Units[from:to] {
		for i := u.From; i < u.To; i++ {
			if t.s.Kept.Pinned(i) || !any && t.s.Kept.Message(i) {
				return false
			}
		}
	}
	return true
}

// replacements turns runs of hidden units into spans. Unless Roo is set, a span
// includes earlier markers next to it, so that markers do not accumulate.
func (t *truncation) replacements() []precis.Replacement {
	var out []precis.Replacement
	if t.hidden == 0 {
		return nil
	}
	units := t.s.Units
	for i := 0; i < len(units); {
		if !t.hide[i] && (t.Roo || !t.marker[i]) {
			i++
			continue
		}
		from, fresh := i, false
		for i < len(units) && (t.hide[i] || !t.Roo && t.marker[i]) {
			fresh = fresh || t.hide[i]
			i++
		}
		if !fresh {
			continue
		}
		r := precis.Replacement{From: units[from].From, To: units[i-1].To}
		if !t.Roo {
			m := t.markerFor(r.From, r.To)
			t.room -= t.s.Meter.View([]precis.Message{m})
			r.With = []precis.Message{m}
		}
		out = append(out, r)
	}
	if t.Roo {
		text := fmt.Sprintf("[Sliding window truncation: %d messages hidden to reduce context]", t.hidden)
		out[len(out)-1].With = []precis.Message{precis.NewText(precis.RoleUser, text)}
	}
	return out
}

// The work state takes at most this many tokens in the markers of one edit, and this part of the
// target.
const (
	mostHeld  = 300
	heldShare = 20
)

// markerFor returns the marker of messages [from,to), with the work state in them.
func (t *truncation) markerFor(from, to int) precis.Message {
	text := markerText(from, to)
	if t.Roo {
		return precis.NewText(precis.RoleUser, text)
	}
	left := t.room
	size := func(s string) int { return t.s.Meter.Block(precis.RoleUser, precis.Text{Text: s}) }
	head := fmt.Sprintf("\nStill to be done and going on, as of m%d:", t.s.Transcript.Len()-1)
	left -= size(head)
	lines := workstate.In(t.s).Lines(from, to, func(line string) bool {
		n := size("\n" + line)
		if n > left {
			return false
		}
		left -= n
		return true
	})
	if len(lines) > 0 {
		text += head + "\n" + strings.Join(lines, "\n")
	}
	return precis.NewText(precis.RoleUser, text)
}

func markerText(from, to int) string {
	return fmt.Sprintf("[%s hidden here to save room; nothing is lost: %s.]",
		plural(to-from, "earlier message"), precis.SpanHandle(from, to))
}
