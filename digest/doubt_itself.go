package digest

import (
	"slices"
	"strings"

	"precis/internal/lazyregexp"
	"precis/internal/preview"
)

// itself doubts a statement that the same summary contradicts elsewhere in nearly the same words. Of the two the one is doubted
// that the conversation bears out less.
func (d *doubter) itself(s statement) bool {
	if s.quotes || strings.Contains(s.text, "?") || pointsTo.MatchString(s.text) {
		return false
	}
	terms := signedTerms(s.text)
	for _, e := range d.own.find(terms, mostAlike, func(r *remark) bool {
		return r.text != s.text && !strings.Contains(r.text, "?") && !pointsTo.MatchString(r.text)
	}) {
		if e.share < sameHalf {
			break
		}
		there := signedTerms(e.text)
		if back := d.own.share(there, terms); min(e.share, back) < sameItself && (max(e.share, back) < sameWhole || min(e.share, back) < sameHalf) {
			continue
		}
		kind := d.contrary(terms, there)
		if kind == doubtNumber && (strings.ContainsAny(s.text, "#~") || len(terms) < 5 || strings.HasPrefix(s.text, "`") || strings.HasPrefix(s.text, "Task")) {
			kind = "" // one of a list
		}
		if kind == "" || d.borne(terms) > d.borne(there) && d.borne(ofBoth(terms, there)) > d.borne(ofBoth(there, terms)) {
			continue
		}
		if d.seen[doubtedTwin+e.text] {
			return false // one of them is enough
		}
		d.seen[doubtedTwin+s.text] = true
		d.doubt(d.shown(s), kind, "elsewhere the summary says: "+preview.Line(e.text, 160), nil)
		return true
	}
	return false
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
