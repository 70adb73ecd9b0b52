package digest

import (
	"strings"

	"precis/internal/lazyregexp"
	"precis/internal/preview"
)

// polarity doubts a statement that denies what the conversation says in nearly the same words, or says what it denies.
func (d *doubter) polarity(s statement) bool {
	if s.quotes || s.ahead || unreal.MatchString(s.text) || changed.MatchString(s.text) {
		return false
	}
	terms := signedTerms(s.text)
	w := d.in.witness()
	var against *echo
	for _, e := range w.find(terms, mostAlike, func(r *remark) bool { return r.who <= byAgent && !unreal.MatchString(r.text) }) {
		if e.share < sameSense {
			break
		}
		same, other := w.agree(terms, signedTerms(e.text))
		if same {
			return false
		}
		if other && against == nil {
			against = &e
		}
	}
	if against == nil {
		return false
	}
	at := d.at(against.at)
	d.doubt(d.shown(s), doubtPolarity, "the conversation says otherwise: "+preview.Line(against.text, 160), &at)
	return true
}

// Limits of what is compared: passages, the least share of a sentence's words that one on the same has, and of the words
// around the one that is denied.
const (
	mostAlike = 12
	sameSense = 0.45
	sameNear  = 0.6
	sameBack  = 0.35 // the same, of the words around it in the other sentence
)

// agree compares what two sentences say of the same: whether they say one thing of a word that one of them denies, and whether they
// say opposite things.
func (w *witness) agree(a, b []term) (same, other bool) {
	for i, t := range a {
		if t.empty || t.number {
			continue
		}
		for k, u := range b {
			if t.root != u.root || !t.sided && !t.denied && !u.denied || t.negated != t.denied && !t.sided || u.negated != u.denied && !u.sided {
				continue
			}
			if w.alike(a, i, b, k) < sameNear || w.alike(b, k, a, i) < sameBack {
				continue
			}
			if t.opposed() == u.opposed() {
				same = true
			} else {
				other = true
			}
		}
	}
	return same, other
}

// alike returns how much of the weight of the words around one of a sentence those around one of another have.
func (w *witness) alike(a []term, i int, b []term, k int) float64 {
	const near, far = 6, 10
	around := func(all []term, at, reach int) []term {
		return all[max(0, at-reach):min(len(all), at+reach+1)]
	}
	there := around(b, k, far)
	total, held := 0.0, 0.0
	others := 0
	for n, t := range around(a, i, near) {
		if t.empty || t.number || n == min(i, near) {
			continue
		}
		weight := w.weight(t.stem)
		total += weight
		for _, u := range there {
			if u.root == t.root {
				held += weight
				others++
				break
			}
		}
	}
	if others < 2 || total == 0 {
		return 0
	}
	return held / total
}

// opposed reports whether a word stands for the opposite of its root.
func (t term) opposed() bool { return (t.denied || t.sided && t.negated) != t.against }

// changed begin sentences that say what was done: what was said before it was another thing.
var changed = lazyregexp.New(`(?i)^(?:` + "`[^`]*`" + `\s*[-–—:]+\s*)?\W*(?:i |we |just |then |now |have |has )*(?:fixed|added|implemented|updated|changed|registered|committed|re-added|removed|modified|created|replaced|moved|merged|refactored|found|discovered|use|parse|read|pre-)`)

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
	"pass passed passes passing succeed succeeded success successfully successful green works work working|fail failed fails failing failure broken unsuccessfully unsuccessful",
	"enable enabled enables|disable disabled disables", "allow allowed allows permitted|forbid forbidden deny denied disallow disallowed blocked",
	"increase increased raised|decrease decreased lowered reduced", "can able|cannot unable", "always|never", "required mandatory needed necessary|optional unneeded unnecessary",
	"valid|invalid", "correct correctly|incorrect incorrectly", "sync synchronous|async asynchronous", "include included includes|exclude excluded excludes", "accept accepted accepts|reject rejected rejects",
	"safe|unsafe", "used|unused", "deterministic|nondeterministic", "faster|slower", "minimum|maximum", "tracked|untracked",
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
