package digest

import (
	"strings"
	"sync"
)

// signedTerms returns the words of a sentence with those that are opposites of others under one root.
func signedTerms(text string) []term {
	terms := termsOf(text)
	table := opposites()
	for i := range terms {
		t := &terms[i]
		t.root = t.stem
		if i+1 < len(terms) && terms[i+1].clause == t.clause && !t.empty && !t.number && !t.negated && (terms[i+1].stem == "no" || terms[i+1].stem == "noth") {
			t.negated, t.denied = true, true // "finds no process"
		}
		if o, ok := table[t.stem]; ok {
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
var opposites = sync.OnceValue(func() map[string]opposite {
	return oppositesOf(
		"pass passed passes passing succeed succeeded success successfully successful green|fail failed fails failing failure broken unsuccessfully unsuccessful",
		"enable enabled enables|disable disabled disables", "allow allowed allows permitted|forbid forbidden deny denied disallow disallowed blocked",
		"can able|cannot unable", "always|never", "required mandatory needed necessary|optional unneeded unnecessary",
		"valid|invalid", "correct correctly|incorrect incorrectly", "sync synchronous|async asynchronous", "include included includes|exclude excluded excludes", "accept accepted accepts|reject rejected rejects",
		"same|different", "present|absent missing", "open opened|closed", "keep kept retain retained preserved|drop dropped discard discarded remove removed delete deleted",
		"safe|unsafe", "used|unused", "deterministic|nondeterministic", "faster|slower", "minimum|maximum",
		"affected|unaffected", "changed|unchanged", "modified|unmodified untouched", "related|unrelated", "supported|unsupported", "compatible|incompatible", "complete|incomplete", "consistent|inconsistent",
		"sufficient enough|insufficient", "available|unavailable", "possible|impossible", "likely|unlikely", "stable|unstable", "known|unknown",
		"public|private", "resolved|unresolved", "expected|unexpected", "visible|hidden", "covered|uncovered",
	)
})

// ended is how checks end.
var ended = sync.OnceValue(func() opposite { return opposites()[stem1("passes")] })

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

// opposed reports whether a word stands for the opposite of its root.
func (t term) opposed() bool { return (t.denied || t.sided && t.negated) != t.against }
