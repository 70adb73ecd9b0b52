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
	if s.quotes {
		return false
	}
	closely, text := s.ahead || changed.MatchString(s.text), s.text
	if at := bringsOut.FindStringIndex(text); closely && at != nil && !plans.MatchString(text[at[1]:]) {
		closely, text = false, text[at[1]:]
	}
	said := compared{text: text, terms: signedTerms(text)}
	w := d.in.witness()
	all := agreement{}
	byClauses := said.clauses()
	for k, part := range append([]compared{said}, byClauses...) {
		least, called := sameSense, sameCalled
		if k > 0 {
			least, called = sameWell, sameWell
		}
		for _, e := range w.find(part.terms, mostAlike, tellsOf) {
			if e.share < least || closely && e.share < sameMany || e.who == byCall && e.share < called {
				continue
			}
			w.compare(all, part, compared{text: e.text, terms: signedTerms(e.text)}, e, closely)
		}
	}
	against := all.against()
	if against == nil {
		return false
	}
	at := d.at(against.at)
	d.doubt(d.shown(s), doubtPolarity, "the conversation says otherwise: "+preview.Line(against.text, 160), &at)
	return true
}

// tellsOf reports whether a passage tells something: it is no line of code that prints what may be, and of results only those that say
// how something ended.
func tellsOf(r *remark) bool {
	return r.who <= byAgent || r.who == byCall && !prints.MatchString(r.text) || r.who == byTool && endMarks.MatchString(r.text)
}

var (
	prints   = lazyregexp.New(`\b(?:print|printf|println|echo|log|Errorf?|Fatalf?|puts|assert\w*)\b ?[("']`)
	endMarks = lazyregexp.New(`^\W*(?:✅|✔|✓|❌|✗|✘|PASS|FAIL|SUCCESS|ERROR)`)
)

// Limits of what is compared: passages; the least share of a sentence's words that one on the same has, in words and in the
// arguments of a call; and of the words around the one that is denied.
const (
	mostAlike  = 24
	sameSense  = 0.28
	sameMany   = 0.4 // below, the words around must be the same
	sameWell   = 0.45
	sameCalled = 0.45
	sameNear   = 0.4
	sameClose  = 0.7
	closeWords = 3
	sameBack   = 0.3 // the same, of the words around it in the other sentence
)

// agreement is what passages say of the words of a sentence: for and against each.
type agreement map[int]*stance

type stance struct {
	same, other float64
	by          *echo // says the opposite
}

// compared is a sentence that is compared, or a clause of it. Of one without a text all that it says counts, also what is to be.
type compared struct {
	text  string
	terms []term
	from  int // which of the sentence's words the first one is
}

// clauses returns the clauses of a sentence that has several; what "which" begins belongs to what it is about.
func (s compared) clauses() (out []compared) {
	const least = 3 // words of sense
	from := 0
	for i := range s.terms {
		if i+1 < len(s.terms) && (s.terms[i].to > s.terms[i+1].from || !parts.MatchString(s.text[s.terms[i].to:s.terms[i+1].from])) {
			continue // pairs of characters overlap
		}
		if one := s.terms[from : i+1]; len(one) < len(s.terms) && senseIn(one) >= least {
			out = append(out, compared{s.text, one, from})
		}
		from = i + 1
	}
	return out
}

// parts stand between the clauses of a sentence.
var parts = lazyregexp.New(`[,;:()—–→]|\.\s| - |->`)

// mood returns how a sentence says a word: "" that it is so or is not, "should" and "may" with these, and says is false where
// it says nothing of it: it asks, wishes, or says it under a condition.
func (s compared) mood(i int) (mood string, says bool) {
	t := s.terms[i]
	if t.twoSided(s.terms) {
		return "both", false
	}
	if s.text == "" {
		return "", true
	}
	by := wished(s.terms, i)
	switch by {
	case "":
	case "should", "shouldn":
		mood = "should"
	case "may", "might":
		mood = "may"
	default:
		return by, false
	}
	clause := clauseAround(s.text, t.from)
	if mood != "" {
		clause = moods.ReplaceAllString(clause, "")
	}
	if !strings.HasPrefix(s.text, clause) {
		clause = goesOn.ReplaceAllString(clause, "")
	}
	if unreal.MatchString(clause) {
		return "unreal", false
	}
	return mood, true
}

// goesOn are words that begin a question, where they go on with a sentence behind what stands between: "paths (…) do match".
var goesOn = lazyregexp.New(`(?i)^\W*(?:is|are|do|does|did|can)\b`)

// moods are words that say how something is said, in a sentence that says it.
var moods = lazyregexp.New(`(?i)\b(?:should|shouldn't|shouldn’t|may|might)\b`)

// excludes reports whether of two sentences one says that a word cannot be so, and the other that it may.
func excludes(a []term, i int, b []term, k int) bool {
	return a[i].negated && !b[k].negated && slices.ContainsFunc(a[max(0, i-3):i], func(t term) bool { return t.stem == "can" || t.stem == "cannot" })
}

// compare adds what another sentence says of the words of one: a word agrees where both say it or both deny it.
func (w *witness) compare(all agreement, a, b compared, e echo, closely bool) {
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
			if against && (t.naming(a.terms, i) || u.naming(b.terms, k) || turned(a.terms, i, b.terms, k) || otherThing(a.terms, i, b.terms, k) || otherThing(b.terms, k, a.terms, i)) {
				continue
			}
			here, others := w.alike(a.terms, i, b.terms, k)
			if here < near {
				continue
			}
			there, _ := w.alike(b.terms, k, a.terms, i)
			if there < back {
				continue
			}
			closes := min(here, there) >= sameClose && others >= closeWords
			if closely && !closes {
				continue
			}
			one, said := a.mood(i)
			other, says := b.mood(k)
			if closes && one == other && one != "both" {
				said, says = true, true // the same words in the same mood
			} else if closely {
				continue
			}
			if !said || !says || one != other && !(one == "" && other == "may" && excludes(a.terms, i, b.terms, k)) && !(one == "may" && other == "" && excludes(b.terms, k, a.terms, i)) {
				continue
			}
			at := all[a.from+i]
			if at == nil {
				at = &stance{}
				all[a.from+i] = at
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

// wished returns the word by which a sentence says of a word that it is to be, may be or would be; "" when none does.
func wished(terms []term, i int) string {
	const reach = 5 // words
	first := true
	for k := i - 1; k >= 0; k-- {
		if k >= i-reach && wishes[terms[k].stem] && !(terms[k].stem == "to" && k > 0 && seems(terms[k-1].stem)) {
			return terms[k].stem
		}
		if first = first && beforeOrders[terms[k].stem]; terms[k].clause != terms[i].clause {
			return ""
		}
	}
	if first && !terms[i].negated && terms[i].plain {
		return "to" // an order: "and update the table"
	}
	return ""
}

// seems reports whether a verb says of what stands behind its "to" that it is so: "seems to work".
func seems(stem string) bool {
	switch stem {
	case "seem", "appear", "turn", "out", "prov", "continu", "manag", "happen", "start", "begin":
		return true
	}
	return false
}

var (
	wishes = wordSet("to if must mis would should could might may whether unless will wouldn couldn shouldn without remov drop delet avoid prevent")
	// beforeOrders stand before the verb of an order.
	beforeOrders = wordSet("and then also please so or now just but first next instead")
)

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
	w.compare(all, compared{terms: a}, compared{terms: b}, echo{}, false)
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
func (w *witness) alike(a []term, i int, b []term, k int) (share float64, others int) {
	const near, far = 5, 9 // words of sense on either side
	total, held := 0.0, 0.0
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
		return 0, others
	}
	return held / total, others
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

// twoSided reports whether a sentence says a word and denies it, or says its opposite: of two things.
func (t term) twoSided(all []term) bool {
	for i, o := range all {
		if o.root == t.root && o.clause == t.clause && o.signed() && o.opposed() != t.opposed() && !o.naming(all, i) {
			return true
		}
	}
	return false
}

// turned reports whether what stands behind a word of one sentence stands before it in the other: "cli imports strategy" and
// "strategy imports cli".
func turned(a []term, i int, b []term, k int) bool {
	if passive(a, i) != passive(b, k) {
		return false
	}
	left, right := nextTo(a, i, -1), nextTo(a, i, 1)
	before, behind := nextTo(b, k, -1), nextTo(b, k, 1)
	crossed := func(right, left, before, behind []string) bool {
		return len(right) > 0 && slices.Contains(before, right[0]) && !slices.Contains(behind, right[0]) && !slices.Contains(left, right[0])
	}
	return crossed(right, left, before, behind) || crossed(behind, before, left, right)
}

// passive reports whether a verb says what is done to what stands before it: "sessions are detected".
func passive(all []term, i int) bool {
	return !all[i].plain && !all[i].running && slices.ContainsFunc(all[max(0, i-3):i], func(o term) bool { return isCopula(o.stem) })
}

// otherThing reports whether a sentence denies that something is a thing of two words, of which another sentence has the first
// alone: "is not session end", "closes the session".
func otherThing(a []term, i int, b []term, k int) bool {
	if !a[i].denied || a[i].running || !a[i].plain || i < 2 || i+1 >= len(a) || a[i+1].empty || a[i+1].clause != a[i].clause || !isCopula(a[i-2].stem) {
		return false
	}
	return k+1 >= len(b) || b[k+1].root != a[i+1].root
}

// isCopula reports whether a word, as it is compared, is a form of "to be".
func isCopula(stem string) bool {
	switch stem {
	case "is", "are", "was", "were", "be", "been", "isn", "aren", "wasn", "weren":
		return true
	}
	return false
}

// nextTo returns the roots of the next two words of sense on a side.
func nextTo(all []term, i, step int) (out []string) {
	for i += step; i >= 0 && i < len(all) && len(out) < 2; i += step {
		if !all[i].empty && !all[i].number {
			out = append(out, all[i].root)
		}
	}
	return out
}

// beforeNouns stand before what is named: "with error return".
var beforeNouns = wordSet("with of for by from on in a an already")

// naming reports whether a word is used as a name or beside one: "path matching", "already-tracked files".
func (t term) naming(all []term, i int) bool {
	acts := t.running && !slices.ContainsFunc(all[max(0, i-2):i], func(o term) bool { return auxiliaries[o.stem] || o.stem == "still" })
	if t.sided && t.root != ended().root {
		return acts // "deleting the branch"
	}
	if t.denied || t.sided {
		return false
	}
	if t.joined || slices.ContainsFunc(all[max(0, i-2):i], func(o term) bool { return beforeNouns[o.stem] }) {
		return true
	}
	return acts
}

// changed begin sentences that say what was done: what was said before it was another thing.
var changed = lazyregexp.New(`(?i)^(?:` + "`[^`]*`" + `\s*[-–—:]+\s*)?\W*(?:i |we |just |then |now |have |has )*(?:fixed|added|implemented|updated|changed|registered|committed|re-added|removed|modified|created|replaced|moved|merged|refactored|(?:use|parse|read)\b|pre-)`)

// bringsOut stands before what came out of something that was done: "wrote a test confirming the cause".
var bringsOut = lazyregexp.New(`(?i)\b(?:show|confirm|prov|verify|demonstrat|reveal|indicat)(?:ing|s) (?:that )?`)

// unreal are sentences that say of nothing that it is so: questions, conditions, wishes, and what is done in the place of
// something else.
var unreal = lazyregexp.New(`(?i)\?\s*$|^\W*(?:if|why|whether|when|let me|let's|should|could|would|can|is|are|do|does|did|what|how|maybe|perhaps|wait|hmm|or|(?:is|are|was|do|does|did|wo|would|could)n['’]t)\b|\b(?:whether|(?:asked|show|shows|see|check|know|tell|understand|determine|find out|figure out) (?:if|why|how|what|which|where|when)|should|shouldn't|could|would|might|may|maybe|perhaps|\w+['’]d|instead|rather than|without|need to|want|wants|ensures?|ensuring|expected|supposed|suspected|thought|assumed|believed)\b`)
