package digest

import (
	"maps"
	"slices"
	"strings"

	"precis/internal/lazyregexp"
	"precis/internal/preview"
)

// polarity doubts a statement that denies what the conversation says in nearly the same words, or says what it denies, where
// nothing in it says the same as the statement does.
func (d *doubter) polarity(s statement) bool {
	if s.ahead || s.quotes || changed.MatchString(s.text) {
		return false
	}
	said := compared{s.text, signedTerms(s.text)}
	w := d.in.witness()
	all := agreement{}
	for _, e := range w.find(said.terms, mostAlike, func(r *remark) bool { return r.who <= byCall }) {
		if e.share < sameSense || e.who == byCall && e.share < sameCalled {
			continue
		}
		w.compare(all, said, compared{e.text, signedTerms(e.text)}, e)
	}
	against := all.against()
	if against == nil {
		return false
	}
	at := d.at(against.at)
	d.doubt(d.shown(s), doubtPolarity, "the conversation says otherwise: "+preview.Line(against.text, 160), &at)
	return true
}

// Limits of what is compared: passages; the least share of a sentence's words that one on the same has, in words and in the
// arguments of a call; and of the words around the one that is denied.
const (
	mostAlike  = 24
	sameSense  = 0.28
	sameMany   = 0.4 // below, the words around must be the same
	sameWell   = 0.55
	sameCalled = 0.45
	sameNear   = 0.5
	sameBack   = 0.3 // the same, of the words around it in the other sentence
)

// agreement is what passages say of the words of a sentence: for and against each.
type agreement map[int]*stance

type stance struct {
	same, other float64
	by          *echo // says the opposite
}

// compared is a sentence that is compared. Of one without a text all that it says counts, also what is to be.
type compared struct {
	text  string
	terms []term
}

// asserts reports whether a sentence says of a word that it is so, or that it is not.
func (s compared) asserts(i int) bool {
	t := s.terms[i]
	return !t.twoSided(s.terms) && (s.text == "" || !wished(s.terms, i) && !unreal.MatchString(clauseAround(s.text, t.from)))
}

// compare adds what another sentence says of the words of one: a word agrees where both say it or both deny it.
func (w *witness) compare(all agreement, a, b compared, e echo) {
	if x, y := countsIn(a.terms), countsIn(b.terms); len(x) > 0 && len(y) > 0 && !slices.ContainsFunc(x, func(n term) bool {
		return slices.ContainsFunc(y, func(o term) bool { return n.stem == o.stem })
	}) {
		return // of other things, or another time
	}
	near, back := sameNear, sameBack
	if e.remark != nil && e.share < sameMany {
		near, back = sameWell, sameWell
	}
	for i, t := range a.terms {
		if t.empty || !t.signed() {
			continue
		}
		for k, u := range b.terms {
			if t.root != u.root || !u.signed() {
				continue
			}
			against := t.opposed() != u.opposed()
			if against && (t.naming(a.terms, i) || u.naming(b.terms, k)) {
				continue
			}
			here := w.alike(a.terms, i, b.terms, k)
			if here < near {
				continue
			}
			there := w.alike(b.terms, k, a.terms, i)
			if there < back || !a.asserts(i) || !b.asserts(k) {
				continue
			}
			at := all[i]
			if at == nil {
				at = &stance{}
				all[i] = at
			}
			switch score := min(here, there); {
			case !against:
				at.same = max(at.same, score)
			case score > at.other:
				at.other, at.by = score, &e
			}
		}
	}
}

// signed reports whether a sentence says a word or denies it: it is no word in the reach of a denial of another one.
func (t term) signed() bool { return !t.number && (t.sided || !t.empty && t.negated == t.denied) }

// wished reports whether a word of a sentence says what is to be, may be or would be.
func wished(terms []term, i int) bool {
	const reach = 5 // words
	first := true
	for k := i - 1; k >= 0; k-- {
		if k >= i-reach && wishes[terms[k].stem] {
			return true
		}
		if first = first && terms[k].empty; terms[k].clause != terms[i].clause {
			return false
		}
	}
	return first && !terms[i].negated && terms[i].plain // an order: "and update the table"
}

var wishes = wordSet("to if would should could might may whether unless will wouldn couldn shouldn without")

// against returns the passage that says the opposite of a word of which none says the same nearly as well; nil when there is none.
func (all agreement) against() (by *echo) {
	const nearly = 0.7
	most := 0.0
	for _, i := range slices.Sorted(maps.Keys(all)) {
		at := all[i]
		if at.by != nil && at.same < at.other*nearly && at.other > most {
			most, by = at.other, at.by
		}
	}
	return by
}

// agree compares what two sentences say of the same: whether they say one thing of a word that one of them denies, and whether they
// say opposite things.
func (w *witness) agree(a, b []term) (same, other bool) {
	all := agreement{}
	w.compare(all, compared{terms: a}, compared{terms: b}, echo{})
	for i, at := range all {
		if at.by != nil && at.other > at.same {
			other = true
		} else if a[i].denied || a[i].sided {
			same = true
		}
	}
	return same && !other, other
}

// alike returns how much of the weight of the words around one of a sentence those around one of another have. The words of
// sense next to it count most.
func (w *witness) alike(a []term, i int, b []term, k int) float64 {
	const near, far = 5, 9 // words of sense on either side
	total, held := 0.0, 0.0
	others := 0
	for _, step := range []int{-1, 1} {
		for n, at := 1, i+step; at >= 0 && at < len(a) && n <= near; at += step {
			t := a[at]
			if t.empty || t.number {
				continue
			}
			weight := w.weight(t.stem) / float64(2+n)
			total += weight
			if stands(b, k, far, t.root) {
				held += weight
				others++
			}
			n++
		}
	}
	if others < 2 || total == 0 {
		return 0
	}
	return held / total
}

// stands reports whether a word stands within so many words of sense of one of a sentence.
func stands(all []term, at, reach int, root string) bool {
	for _, step := range []int{-1, 1} {
		for n, i := 1, at+step; i >= 0 && i < len(all) && n <= reach; i += step {
			if all[i].root == root {
				return true
			}
			if !all[i].empty && !all[i].number {
				n++
			}
		}
	}
	return false
}

// twoSided reports whether a sentence says a word and its opposite: of two things.
func (t term) twoSided(all []term) bool {
	return t.sided && slices.ContainsFunc(all, func(o term) bool { return o.root == t.root && o.opposed() != t.opposed() })
}

// naming reports whether a word is used as a name or beside one: "path matching", "already-tracked files".
func (t term) naming(all []term, i int) bool {
	if t.denied || t.sided {
		return false
	}
	if t.joined {
		return true
	}
	return t.running && !slices.ContainsFunc(all[max(0, i-2):i], func(o term) bool { return auxiliaries[o.stem] || o.stem == "still" })
}

// opposed reports whether a word stands for the opposite of its root.
func (t term) opposed() bool { return (t.denied || t.sided && t.negated) != t.against }

// changed begin sentences that say what was done: what was said before it was another thing.
var changed = lazyregexp.New(`(?i)^(?:` + "`[^`]*`" + `\s*[-–—:]+\s*)?\W*(?:i |we |just |then |now |have |has )*(?:fixed|added|implemented|updated|changed|registered|committed|re-added|removed|modified|created|replaced|moved|merged|refactored|(?:use|parse|read)\b|pre-)`)

// unreal are sentences that say of nothing that it is so: questions, conditions, wishes, and what is done in the place of
// something else.
var unreal = lazyregexp.New(`(?i)\?\s*$|^\W*(?:if|why|whether|when|let me|let's|should|could|would|can|is|are|do|does|did|what|how|maybe|perhaps|wait|hmm|or)\b|\b(?:whether|asked (?:if|why|how|what)|should|shouldn't|could|would|might|may|maybe|perhaps|instead|rather than|without|need to|want|wants|expected|supposed)\b`)

// signedTerms returns the words of a sentence with those that are opposites of others under one root.
func signedTerms(text string) []term {
	terms := termsOf(text)
	for i := range terms {
		t := &terms[i]
		t.root = t.stem
		if o, ok := opposites[t.stem]; ok {
			t.root, t.against, t.sided = o.root, o.against, true
		}
	}
	return terms
}

type opposite struct {
	root    string
	against bool
}

// opposites are words by which one sentence says the contrary of another: of each line the first ones against the others.
var opposites = oppositesOf(
	"pass passed passes passing succeed succeeded success successfully successful green|fail failed fails failing failure broken unsuccessfully unsuccessful",
	"enable enabled enables|disable disabled disables", "allow allowed allows permitted|forbid forbidden deny denied disallow disallowed blocked",
	"can able|cannot unable", "always|never", "required mandatory needed necessary|optional unneeded unnecessary",
	"valid|invalid", "correct correctly|incorrect incorrectly", "sync synchronous|async asynchronous", "include included includes|exclude excluded excludes", "accept accepted accepts|reject rejected rejects",
	"same|different", "present|absent missing", "open opened|closed", "keep kept|drop dropped discard discarded",
	"safe|unsafe", "used|unused", "deterministic|nondeterministic", "faster|slower", "minimum|maximum",
)

func oppositesOf(lines ...string) map[string]opposite {
	out := map[string]opposite{}
	for _, line := range lines {
		one, other, _ := strings.Cut(line, "|")
		root := ""
		for k, list := range []string{one, other} {
			for word := range wordSet(list) {
				if root == "" {
					root = "±" + line
				}
				out[stem1(word)] = opposite{root, k == 1}
			}
		}
	}
	return out
}
