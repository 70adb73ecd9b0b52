package rules

import (
	"slices"
	"strings"
	"sync"
)

// class is what a word or a phrase is for. One can have several.
type class uint64

const (
	filler  class = 1 << iota // says nothing where a clause begins: "please", "also"
	plain                     // a phrase that means nothing to us, though a part of it does: "never mind"
	report                    // begins what the speaker tells: "I", "it", "je ne"; an order never begins so
	ban                       // begins a prohibition: "don't", "avoid"
	order                     // begins an order that stands: "make sure", "always", "prefer"
	lack                      // begins a noun that is not wanted: "no", "keine"
	habit                     // begins an order that stands if it says of what: "write every …"
	bare                      // the same, if no article follows: "use tabs"
	task                      // begins an order to be done once: "fix", "run"
	scope                     // says of what, or how much: "each", "only", "at most", "instead of"
	often                     // says how often: "always", "from now on"
	firm                      // makes a rule of what it stands in: "from now on", "without my approval"
	must                      // binds its subject: "must", "is forbidden"
	should                    // binds weakly
	not                       // denies
	you                       // who is told
	it                        // what was told of: "it", "this"
	thing                     // what the work is made of: "answers", "commit messages"
	article                   // makes a noun a single one: "the", "this", "a"
	verb                      // is finite: a noun phrase has none
	when                      // begins a condition that comes again: "whenever", "before you"
	ask                       // begins a question
	polite                    // begins an order in the form of a question: "could you"
	joins                     // parts clauses when an order follows: "and", "but"
	once                      // says that it is for this time
	revoke                    // takes back what was said: "forget the rule about"
	allow                     // allows: "you may"
	anew                      // says that something changed: "instead", "not", "now"
	wish                      // begins a wish: "I want", which stands if it says of what
	purpose                   // says what for: "to"
	title                     // says, before a colon, that what follows is a rule: "constraint"
	common                    // shows the language, and is no subject of a rule
	touch                     // changes what is there: "edit", "changed", "push"
	work                      // what an agent makes and says at its work, not what is built: "commits", "answers", "tests"
	hope                      // begins a wish in the form of a condition: "it would be great if"
	lasts                     // says that something goes on: "stays", "remains"
	who                       // those whose word binds the person too: "the team", "company policy"
	grant                     // a verb with which they allow: "allows", "lets"
	deny                      // one with which they forbid: "forbids", "has limited us to"
	demand                    // one with which they ask for something: "requires", "insists on"
	pay                       // what money is spent by: "spend", "budget"
)

// language is the table of one language: the words and phrases of each class, parted by "|".
// A longer phrase goes before a shorter one. Words are in lower case.
type language struct {
	name  string
	lists map[class]string
	chars bool // written without spaces
}

// lexicon is a language that is ready to be read with.
type lexicon struct {
	phrases map[string]*phrases // by the first word
	chars   bool
}

// phrases are those that begin with one word.
type phrases struct {
	single class               // of the word by itself
	longer map[string][]phrase // by the second word, the longest first
}

type phrase struct {
	words []string
	class class
}

// lexicons returns the tables, ready to be read with. They are built when they are first
// asked for.
var lexicons = sync.OnceValue(func() *library {
	l := &library{named: map[string]*lexicon{}, first: map[string]uint8{}}
	for _, one := range []language{english, german, french, spanish, italian, portuguese, russian, chinese, japanese, korean} {
		l.named[one.name] = one.lexicon()
	}
	for i, name := range latin {
		l.latin = append(l.latin, l.named[name])
		for word := range l.named[name].phrases {
			l.first[word] |= 1 << i
		}
	}
	return l
})

// library holds all lexicons.
type library struct {
	named map[string]*lexicon
	latin []*lexicon       // in the order of latin
	first map[string]uint8 // which of them have a phrase that begins with a word, by bits
}

func (l language) lexicon() *lexicon {
	x := &lexicon{map[string]*phrases{}, l.chars}
	at := map[string]*phrase{}
	for c, list := range l.lists {
		for _, one := range strings.Split(list, "|") {
			one = strings.TrimSpace(one)
			if one == "" {
				continue
			}
			if p := at[one]; p != nil {
				p.class |= c
				continue
			}
			var words []string
			for _, t := range tokensOf(one, l.chars) {
				words = append(words, t.text)
			}
			at[one] = &phrase{words, c}
		}
	}
	for _, p := range at {
		first := x.phrases[p.words[0]]
		if first == nil {
			first = &phrases{}
			x.phrases[p.words[0]] = first
		}
		if len(p.words) == 1 {
			first.single = p.class
			continue
		}
		if first.longer == nil {
			first.longer = map[string][]phrase{}
		}
		first.longer[p.words[1]] = append(first.longer[p.words[1]], *p)
	}
	for _, first := range x.phrases {
		for _, list := range first.longer {
			slices.SortFunc(list, func(a, b phrase) int { return len(b.words) - len(a.words) })
		}
	}
	return x
}

// match returns the class of the longest phrase that begins at a token, and its length in
// tokens; one of no class is one token long.
func (x *lexicon) match(tokens []token) (class, int) {
	first := x.phrases[tokens[0].text]
	if first == nil {
		return 0, 1
	}
	if len(tokens) > 1 && first.longer != nil {
		for _, p := range first.longer[tokens[1].text] {
			if p.begins(tokens) {
				return p.class, len(p.words)
			}
		}
	}
	return first.single, 1
}

// begins reports whether a phrase, of which two words are known to fit, begins tokens.
func (p phrase) begins(tokens []token) bool {
	if len(p.words) > len(tokens) {
		return false
	}
	for k := 2; k < len(p.words); k++ {
		if tokens[k].text != p.words[k] {
			return false
		}
	}
	return true
}

// latin are the languages that share a script, the first the one that is taken where nothing
// tells.
var latin = []string{"en", "de", "fr", "es", "it", "pt"}

// letterOf says which of latin has a letter, by the second byte of it, where one alone does.
var letterOf = map[byte]int{0xa3: 5, 0xb5: 5, 0x83: 5, 0x95: 5, 0xb1: 3, 0x9f: 1, 0xa4: 1, 0xb6: 1, 0xbc: 1} // ã õ ñ ß ä ö ü

// languageOf returns the lexicons of the languages that a sentence may be in, more than one
// where its words do not tell, and its tokens.
func languageOf(s string) ([]*lexicon, []token) {
	lib := lexicons()
	if x := lib.named[scriptOf(s)]; x != nil {
		return []*lexicon{x}, tokensOf(s, x.chars)
	}
	tokens := tokensOf(s, false)
	var score, next [8]int // next: where the phrase ends that was counted last
	for i, t := range tokens {
		known := lib.first[t.text]
		for k := 0; known != 0; k, known = k+1, known>>1 {
			if known&1 == 0 || i < next[k] {
				continue
			}
			c, size := lib.latin[k].match(tokens[i:])
			if c != 0 {
				score[k] += 2*size - 1
			}
			if c&common != 0 {
				score[k]++
			}
			next[k] = i + size
		}
	}
	best := 0
	for _, n := range score {
		best = max(best, n)
	}
	if i := strings.IndexByte(s, 0xc3); i >= 0 { // of Latin-1
		for ; i+1 < len(s); i++ {
			if k := letterOf[s[i+1]]; s[i] == 0xc3 && k > 0 {
				score[k]++
				best = max(best, score[k])
			}
		}
	}
	if score[0] == best { // nothing tells more than for the first
		return lib.latin[:1], tokens
	}
	var out []*lexicon
	for k, x := range lib.latin {
		if score[k] == best {
			out = append(out, x)
		}
	}
	return out, tokens
}

// scriptOf returns the language whose script a sentence is written in; "" for Latin letters.
func scriptOf(s string) string {
	var han, kana, hangul, cyrillic, letters int
	for _, r := range s {
		switch {
		case r < 0x80:
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
				letters++
			}
		case r >= 0x3040 && r <= 0x30ff:
			kana++
		case r >= 0xac00 && r <= 0xd7a3:
			hangul++
		case r >= 0x4e00 && r <= 0x9fff:
			han++
		case r >= 0x400 && r <= 0x52f:
			cyrillic++
		}
	}
	switch {
	case kana > 1:
		return "ja"
	case hangul > 1:
		return "ko"
	case han > 1 && han*8 > letters:
		return "zh"
	case cyrillic*2 > letters:
		return "ru"
	}
	return ""
}
