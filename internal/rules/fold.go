package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// State says whether a rule still holds.
type State string

// The states of rules.
const (
	Holds    State = ""
	Replaced State = "replaced" // a later rule says something else of the same
	Revoked  State = "revoked"  // the person took it back, or allowed what it forbade
)

// Held is a rule with what became of it.
type Held struct {
	Text  string
	Said  int // index of the text that sets it
	State State
	Until int      // index of the text that ended it, when State is not Holds
	Fact  bool     // it is no rule, but a statement that was replaced, see [Restated]
	By    string   // of what [Restated] found: the words that hold now
	Was   []string // and the values that do not; nil: nothing of the kind
}

// Fold says of the rules in texts, said by one person in that order, which still hold. A rule
// ends by words that name it: a later one with another value of the same subject, with the
// opposite, or that denies its value, and words that take it back or allow what it forbade.
// Where the words fit two of them alike, both hold. A rule said again in the same words is
// returned once; one said again after it ended holds again. Statements that were replaced are
// among them, see [Restated]. A sentence is compared with the
// newest 200 rules, so that it takes time in proportion to the texts.
func Fold(texts []string) []Held {
	var f fold
	for i, text := range texts {
		for _, s := range Find(text) {
			f.add(i, s)
		}
	}
	out := make([]Held, len(f.rules))
	for i, r := range f.rules {
		out[i] = r.Held
	}
	for _, c := range Restated(texts) {
		i := slices.IndexFunc(out, func(h Held) bool { return h.Said == c.Said && h.Text == c.Text })
		if i < 0 {
			i = len(out)
			out = append(out, Held{Text: c.Text, Said: c.Said, Fact: true})
		}
		if h := &out[i]; h.State == Holds || h.State == Replaced && h.Until == c.At {
			h.State, h.Until, h.By, h.Was = Replaced, c.At, c.By, c.Was
		}
	}
	slices.SortStableFunc(out, func(a, b Held) int { return a.Said - b.Said })
	return out
}

// mostCompared is how many of the newest rules a new sentence is compared with.
const mostCompared = 200

type fold struct {
	rules []*meant
	seen  map[string]*meant
}

// meant is a rule with what it is about.
type meant struct {
	Held
	about
}

func (f *fold) add(at int, s Sentence) {
	if s.Kind == Once {
		return
	}
	key := strings.Join(strings.Fields(s.Text), " ")
	if old := f.seen[key]; old != nil && s.Kind == Rule && old.State == Holds {
		return
	}
	m := &meant{Held{Text: s.Text, Said: at}, aboutOf(s.Text, s.language)}
	ended := f.ended(m, s.Kind)
	state := Replaced
	if s.Kind == Revoke {
		state = Revoked
	}
	for _, old := range ended {
		old.State, old.Until = state, at
	}
	if s.Kind == Rule || s.Kind == Value && len(ended) > 0 {
		f.rules = append(f.rules, m)
		if f.seen == nil {
			f.seen = map[string]*meant{}
		}
		f.seen[key] = m
	}
}

// ended returns the rules that a sentence ends.
func (f *fold) ended(m *meant, kind Kind) []*meant {
	var out []*meant
	best, twice := 0, false
	for _, old := range f.rules[max(len(f.rules)-mostCompared, 0):] {
		if old.State != Holds || old.Said == m.Said && kind != Revoke {
			continue
		}
		if kind != Revoke {
			if m.replaces(old.about) {
				out = append(out, old)
			}
			continue
		}
		switch n := m.revokes(old.about); {
		case n > best:
			best, twice, out = n, false, []*meant{old}
		case n == best && n > 0:
			twice = true
		}
	}
	if twice {
		return nil
	}
	return out
}

// about is what a sentence is about.
type about struct {
	words   []string // stems of what it says, sorted, without values
	values  []string // numbers and names of languages
	denied  []string // stems and values that it says are no longer so: "not tabs"
	purpose []string // stems behind "for": "for indentation"
	head    class    // of its first clause
	forbids bool
	anew    bool // it says that something changed
}

func aboutOf(s string, x *lexicon) (a about) {
	words := x.words(s, tokensOf(s, x.chars))
	denied, purpose := false, false
	for _, c := range clauses(words) {
		denied, purpose = false, false
		c = c.bare()
		if len(c) > 0 && a.head == 0 {
			a.head = c[0].class
		}
		for i, w := range c {
			if w.class&anew != 0 {
				a.anew = true
			}
			if w.class&revoke != 0 {
				continue
			}
			if w.class&(ban|lack) != 0 || w.class&must != 0 && w.class&not != 0 || w.class&not != 0 && i < 3 {
				a.forbids = a.forbids || len(a.words) == 0 || w.class&must != 0
			}
			if w.class&anew != 0 && denies[w.text] && (len(a.words)+len(a.values) > 0 || strings.Contains(w.text, " ")) {
				denied, purpose = true, false
				continue
			}
			if purposes[w.text] {
				purpose, denied = true, false
				continue
			}
			for _, v := range valuesOf(w.text) {
				if denied {
					a.denied = append(a.denied, v)
				} else {
					a.values = append(a.values, v)
				}
			}
			for _, stem := range x.stems(w) {
				switch {
				case denied:
					a.denied = append(a.denied, stem)
				case purpose:
					a.purpose = append(a.purpose, stem)
					fallthrough
				default:
					a.words = append(a.words, stem)
				}
			}
		}
		if len(c) > 0 && c[0].class&anew != 0 || len(a.denied) > 0 {
			a.anew = true
		}
	}
	for _, list := range []*[]string{&a.words, &a.values, &a.denied, &a.purpose} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return a
}

// replaces reports whether a rule says something else of what an older one is about.
func (a about) replaces(old about) bool {
	shared := common2(a.words, old.words)
	least := min(len(a.words), len(old.words))
	switch {
	case !old.forbids && len(common2(a.denied, append(slices.Clone(old.words), old.values...))) > 0:
		return len(a.denied) > 0 && (len(shared) > 0 || a.head == old.head || len(old.words) <= 2)
	case len(a.values) > 0 && len(old.values) > 0 && !slices.Equal(a.values, old.values):
		return a.forbids == old.forbids && least > 0 && (len(shared) == max(len(a.words), len(old.words)) || a.anew && len(shared)*2 >= least)
	case a.forbids != old.forbids && least > 0:
		return slices.Equal(a.words, old.words) || a.anew && len(shared) == len(old.words)
	}
	return len(a.purpose) > 0 && slices.Equal(a.purpose, old.purpose) && a.head&old.head&(bare|habit|order) != 0 && len(shared) == len(a.purpose) && !a.forbids && !old.forbids && len(a.words) > len(shared)
}

// revokes says how well words that take something back name an older rule; 0: not.
func (a about) revokes(old about) int {
	if a.head&allow != 0 && !old.forbids {
		return 0
	}
	shared := len(common2(append(slices.Clone(a.words), a.denied...), old.words))
	if shared == 0 || shared*2 < min(len(a.words)+len(a.denied), len(old.words)) {
		return 0
	}
	return shared*100 - len(old.words)
}

// common2 returns what two lists hold both.
func common2(a, b []string) (out []string) {
	for _, s := range a {
		if slices.Contains(b, s) {
			out = append(out, s)
		}
	}
	return out
}

// stems returns the beginnings of the words of a phrase that say what a sentence is about;
// of scripts without spaces their characters.
func (x *lexicon) stems(w word) (out []string) {
	const about = habit | task | thing
	if w.mark || w.class&(firm|once|common|bare|order|article|plain|wish|hope) != 0 || w.use() != 0 && w.class&about == 0 || w.class&about != 0 && w.class&(scope|not|it) != 0 {
		return nil
	}
	for _, word := range strings.Fields(w.text) {
		word = folded(word)
		r, _ := utf8.DecodeRuneInString(word)
		if len(valuesOf(word)) > 0 || !unicode.IsLetter(r) || r < 0x1100 && utf8.RuneCountInString(word) < 3 {
			continue
		}
		if r < 0x1100 {
			word = strings.TrimSuffix(word, "s")
			if runes := []rune(word); len(runes) > 6 {
				word = string(runes[:6])
			}
		}
		out = append(out, word)
	}
	return out
}

// valuesOf returns the numbers and the names of languages in a phrase.
func valuesOf(phrase string) (out []string) {
	for _, word := range strings.Fields(phrase) {
		r, _ := utf8.DecodeRuneInString(word)
		word = strings.TrimRight(word, ".,%")
		switch {
		case unicode.IsDigit(r):
			out = append(out, word)
		case values[word] != "":
			out = append(out, values[word])
		}
	}
	return out
}
