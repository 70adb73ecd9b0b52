package digest

import (
	"slices"
	"strings"

	"precis/internal/lazyregexp"
	"precis/internal/preview"
)

// itself doubts a statement that the same summary contradicts elsewhere in nearly the same words. Of the two the one is doubted
// that more of the summary contradicts, and else the one that the conversation bears out less.
func (d *doubter) itself(s statement) bool {
	if s.quotes || strings.Contains(s.text, "?") || pointsTo.MatchString(s.text) {
		return false
	}
	against := d.against(s.text)
	if len(against) == 0 {
		return false
	}
	a, b := signedTerms(s.text), signedTerms(against[0].text)
	switch back := d.against(against[0].text); {
	case len(against) < len(back), len(against) == len(back) && d.borne(a) > d.borne(b) && d.borne(ofBoth(a, b)) > d.borne(ofBoth(b, a)):
		return false
	case d.seen[doubtedTwin+against[0].text]:
		return false // one of them is enough
	}
	d.seen[doubtedTwin+s.text] = true
	d.doubt(d.shown(s), against[0].kind, "elsewhere the summary says: "+preview.Line(against[0].text, 160), nil)
	return true
}

// contradiction is a sentence of the text that contradicts another one.
type contradiction struct{ text, kind string }

// against returns the sentences of the text that contradict one of it, the one on most of the same first.
func (d *doubter) against(text string) (out []contradiction) {
	terms := signedTerms(text)
	for _, e := range d.own.find(terms, mostAlike, func(r *remark) bool { return r.text != text && !strings.Contains(r.text, "?") }) {
		if e.share < sameHalf {
			break
		}
		if pointsTo.MatchString(e.text) {
			continue
		}
		there := signedTerms(e.text)
		if back := d.own.share(there, terms); min(e.share, back) < sameItself && (max(e.share, back) < sameWhole || min(e.share, back) < sameHalf) {
			continue
		}
		kind := d.contrary(terms, there)
		if kind == doubtNumber && (strings.ContainsAny(text, "#~") || len(terms) < 5 || strings.HasPrefix(text, "`") || strings.HasPrefix(text, "Task")) {
			kind = "" // one of a list
		}
		if kind != "" {
			out = append(out, contradiction{e.text, kind})
		}
	}
	return out
}

// pointsTo begins a sentence on what its section is about: another one on the same may mean another thing.
var pointsTo = lazyregexp.New(`(?i)^\W*(?:that|(?:\w+ )?(?:this|these|those|it|they))\b`)

// ofBoth returns the words of a sentence that another one has, or the opposite of.
func ofBoth(a, b []term) (out []term) {
	for _, t := range a {
		if t.number || slices.ContainsFunc(b, func(o term) bool { return o.root == t.root }) {
			out = append(out, t)
		}
	}
	return out
}

// sameItself is the least share of the words of each of two sentences of a summary on the same that the other has.
const sameItself = 0.6

// sameWhole and sameHalf are the same, where one of them says more than the other.
const (
	sameWhole = 0.85
	sameHalf  = 0.5
)

// sameCount is the same, of two that differ in a number.
const sameCount = 0.9

// doubtedTwin begins the keys of statements of which another one is contradicted.
const doubtedTwin = "twin\x00"

// contrary returns the kind in which two sentences on the same contradict each other; "" when they do not.
func (d *doubter) contrary(a, b []term) string {
	same, other := d.own.agree(a, b)
	if other && !same {
		return doubtPolarity
	}
	if x, y := countsIn(a), countsIn(b); len(x) > 0 && len(x) == len(y) && d.own.share(a, b) > sameCount && d.own.share(b, a) > sameCount {
		differ := 0
		for i := range x {
			if x[i].stem != y[i].stem {
				differ++
				if u, v := slotOf(a, slices.IndexFunc(a, func(t term) bool { return t.from == x[i].from })), slotOf(b, slices.IndexFunc(b, func(t term) bool { return t.from == y[i].from })); u.unit != v.unit || u.unit == "" && u.name != v.name {
					return ""
				}
			}
		}
		if differ == 1 {
			return doubtNumber
		}
	}
	return ""
}

// countsIn returns the numbers of a sentence.
func countsIn(terms []term) (out []term) {
	for _, t := range terms {
		if t.number {
			out = append(out, t)
		}
	}
	return out
}

// borne returns how much of what a sentence says a passage of the conversation says, too, with its numbers and what it denies.
func (d *doubter) borne(terms []term) (best float64) {
	for _, e := range d.in.witness().find(terms, mostAlike, nil) {
		share := e.share
		there := signedTerms(e.text)
		for _, n := range countsIn(terms) {
			if !slices.ContainsFunc(there, func(o term) bool { return o.stem == n.stem }) {
				share -= 0.3
			}
		}
		if same, other := d.in.witness().agree(terms, there); other && !same {
			share -= 0.3
		}
		best = max(best, share)
	}
	return best
}
