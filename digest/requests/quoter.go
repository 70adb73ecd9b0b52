package requests

import (
	"math"
	"slices"
	"strings"

	"github.com/precis-dev/precis/internal/greedy"
	"github.com/precis-dev/precis/internal/prose"
	"github.com/precis-dev/precis/retain"
)

// quoter chooses quotations when not all texts fit: whole texts that its caller keeps, and then
// units (sentences or lines) of the others.
type quoter struct {
	count      func(string) int
	texts      []quotable // oldest first
	tokensLeft int        // tokens
}

// quotable is a text that a person typed, quoted whole or in units.
type quotable struct {
	text  string
	frame int // tokens that are written around it
	kept  []prose.Unit
}

// cost returns the tokens that a unit takes, plus the frame of its text if the text has no kept
// unit yet.
func (q *quoter) cost(n int, u prose.Unit) int {
	t, gap := &q.texts[n], 2 // for "…"
	if len(t.kept) == 0 {
		gap += t.frame + 1
	}
	return q.count(u.Of(t.text)) + gap
}

// keepUnit keeps a unit when it fits.
func (q *quoter) keepUnit(n int, u prose.Unit) bool {
	cost, t := q.cost(n, u), &q.texts[n]
	if cost > q.tokensLeft {
		return false
	}
	q.tokensLeft -= cost
	at, _ := slices.BinarySearchFunc(t.kept, u, func(a, b prose.Unit) int { return a.Start - b.Start })
	t.kept = slices.Insert(t.kept, at, u)
	return true
}

// whole keeps a text as a whole; if it takes more than most tokens, its beginning and end.
func (q *quoter) whole(n, most int) bool {
	const least = 20 // tokens: less of a text is not worth quoting
	t := &q.texts[n]
	if room := most - t.frame - 3; q.count(t.text) > room {
		if room < least {
			return false
		}
		t.text = retain.Fit(t.text, room, q.count)
	}
	return t.text != "" && q.keepUnit(n, prose.Unit{End: len(t.text)})
}

// The worth of a unit: a sum for each word that is not quoted yet, for a word of package prose's
// list, and for a path or a number. The worth falls with the age of the text and is divided by a
// power of the size.
const (
	worthWord  = 0.1
	worthWeigh = 1
	worthNamed = 0.5
	worthOld   = 0.15 // of the oldest unit; the newest has 1
	sizePower  = 0.6
	decay      = 0.7 // how fast worth falls with age, see [quoter.ageFactor]
)

// quotedUnit is a unit of a text that is not kept yet.
type quotedUnit struct {
	textIndex int // the text
	unit      prose.Unit
	words     []string
	bonus     float64
	taken     bool
}

// keepUnits keeps units of the texts that have no kept part yet, in order of worth. With each unit it
// keeps later ones that share a path, a number or a rare word with it, so that a permission follows
// the command that it permits.
func (q *quoter) keepUnits() {
	all := q.openUnits()
	told, users := map[string]bool{}, map[string][]int{} // words that are kept; the units that have a word
	for _, t := range q.texts {
		for _, u := range t.kept {
			for _, w := range prose.Words(u.Of(t.text)) {
				told[w] = true
			}
		}
	}
	for n, u := range all {
		for _, w := range u.words {
			users[w] = append(users[w], n)
		}
	}
	take := func(n int) bool {
		u := &all[n]
		if u.taken || !q.keepUnit(u.textIndex, u.unit) {
			return false
		}
		u.taken = true
		for _, w := range u.words {
			told[w] = true
		}
		return true
	}
	value := func(n int) float64 {
		u, worth := &all[n], all[n].bonus
		for _, w := range u.words {
			if !told[w] {
				worth += worthWord
			}
		}
		if u.taken {
			return 0
		}
		return worth * q.ageFactor(u.textIndex) / math.Pow(float64(u.unit.End-u.unit.Start+8), sizePower)
	}
	greedy.Take(len(all), value, func(n int) bool {
		if take(n) {
			for _, later := range linked(all, n, users) {
				take(later)
			}
		}
		return q.tokensLeft > 0
	})
}

// ageFactor returns the factor, at most 1, that the age of a text applies to its worth.
func (q *quoter) ageFactor(n int) float64 {
	age := float64(len(q.texts)-1-n) / float64(len(q.texts))
	return worthOld + (1-worthOld)*math.Exp(-age*decay)
}

// openUnits returns the units of the texts that have no kept part, in order.
func (q *quoter) openUnits() (out []quotedUnit) {
	for n, t := range q.texts {
		if len(t.kept) > 0 {
			continue
		}
		for _, unit := range prose.Units(t.text) {
			u := quotedUnit{textIndex: n, unit: unit, words: prose.Words(unit.Of(t.text))}
			if prose.Weighs(unit.Of(t.text)) {
				u.bonus = worthWeigh
			}
			if slices.ContainsFunc(u.words, prose.IsName) {
				u.bonus += worthNamed
			}
			out = append(out, u)
		}
	}
	return out
}

// linked returns the units after one that share a name, a number or a rare word with it.
func linked(all []quotedUnit, n int, users map[string][]int) (out []int) {
	const rare, most = 3, 3 // units that have a rare word; units that follow
	for _, w := range all[n].words {
		if list := users[w]; len(list) <= rare || prose.IsName(w) {
			for _, later := range list {
				if later > n && len(out) < most && !slices.Contains(out, later) {
					out = append(out, later)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// joined writes the kept units of a text, with "…" in place of omitted parts.
func (t *quotable) joined() string {
	var out strings.Builder
	at := 0
	for n, u := range t.kept {
		between := t.text[at:u.Start]
		switch {
		case strings.ContainsFunc(between, prose.IsLetterOrDigit):
			if n > 0 {
				out.WriteByte(' ')
			}
			out.WriteString("… ")
		case n > 0:
			out.WriteString(between)
		}
		out.WriteString(u.Of(t.text))
		at = u.End
	}
	if strings.ContainsFunc(t.text[at:], prose.IsLetterOrDigit) {
		out.WriteString(" …")
	}
	return out.String()
}
