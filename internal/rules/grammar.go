package rules

import (
	"slices"
	"strings"
)

// word is a phrase of a clause with its class.
type word struct {
	class    class
	from, to int // bytes of the sentence
	text     string
	mark     bool
}

// clause is a part of a sentence with one verb.
type clause []word

// read says what a sentence does to what holds, in whichever language it is; 0: nothing. from
// and to are the bytes of its clause that does.
func read(s string) (kind Kind, from, to int, x *lexicon) {
	if isCode(s) {
		return 0, 0, 0, nil
	}
	may, tokens := languageOf(s)
	for _, x = range may {
		if kind, from, to = x.read(s, tokens); kind != 0 {
			return kind, from, to, x
		}
	}
	return 0, 0, 0, nil
}

// isCode reports whether a sentence is made of signs more than of words, as lines of code, of
// tables and of logs are.
func isCode(s string) bool {
	signs, letters := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 0x80 || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters++
		case strings.IndexByte("{}[]()<>=;|&+\\^@%$\"#", c) >= 0:
			signs++
		}
	}
	trimmed := strings.TrimRight(s, " ")
	if strings.HasPrefix(s, "+") || strings.ContainsAny(s, "\t│┃║└├─") {
		return true
	}
	return signs*8 > letters || strings.Contains(s, "::") && strings.HasSuffix(s, ";") || strings.HasSuffix(trimmed, ";") && signs > 1 || strings.HasSuffix(trimmed, "{") || strings.HasPrefix(s, "|") || strings.HasPrefix(s, "<") || strings.HasPrefix(s, "//")
}

func (x *lexicon) words(s string, tokens []token) []word {
	out := make([]word, 0, len(tokens))
	for i := 0; i < len(tokens); {
		t := tokens[i]
		if t.mark {
			out = append(out, word{from: t.from, to: t.to, text: t.text, mark: true})
			i++
			continue
		}
		c, n := x.match(tokens[i:])
		last := tokens[i+n-1]
		text := t.text
		if n > 1 {
			text = strings.ToLower(s[t.from:last.to])
		}
		if c == 0 && (t.code || t.text != "" && t.text[0] <= '9') {
			text = strings.ToLower(s[t.from:t.to])
		}
		out = append(out, word{class: c, from: t.from, to: last.to, text: text})
		i += n
	}
	return out
}

// clauses parts a sentence at its marks, and where an order begins behind a word that joins.
func clauses(words []word) (out []clause) {
	from := 0
	cut := func(to int) {
		if to > from {
			out = append(out, words[from:to])
		}
		from = to
	}
	for i, w := range words {
		switch {
		case w.mark:
			cut(i)
			from = i + 1
		case w.class&joins != 0 && i > from && words[i-1].class&(ban|order|polite|must|should|wish|allow|when|report) == 0 && begins(words[i+1:]):
			cut(i)
		}
	}
	cut(len(words))
	return out
}

const beginning = ban | order | habit | bare | task | wish | polite | report | revoke | allow | you | when

// begins reports whether a clause of its own begins with words.
func begins(words []word) bool {
	for _, w := range words {
		if w.class&(filler|joins) == 0 || w.class&beginning != 0 {
			return w.class&(beginning|lack) != 0
		}
	}
	return false
}

// read says what a sentence does, and in which bytes.
func (x *lexicon) read(s string, tokens []token) (Kind, int, int) {
	words := x.words(s, tokens)
	parts := clauses(words)
	if len(parts) == 0 {
		return 0, 0, 0
	}
	labelled := label(words)
	if labelled > 0 { // of a constraint
		return x.kind(words, Rule), words[0].from, words[len(words)-1].to
	}
	asked := isAsked(s, words, parts)
	ordered, comesAgain, opened := false, false, false
	revokes, at := false, -1
	next := 0 // the first word of the clause, among all
	for i, c := range parts {
		for words[next].from < c[0].from {
			next++
		}
		before := words[max(next-1, 0)]
		c = c.bare()
		if len(c) == 0 {
			continue
		}
		switch {
		case c[:min(len(c), 3)].has(revoke) || x.chars && c.has(revoke) || (i == 0 || c.has(anew)) && c.allows(x.chars):
			revokes = true
		case i > 0 && parts[i][0].class&joins != 0 && parts[i-1].has(purpose) && c[0].class&(ban|order) != 0 && c[0].class&often == 0: // "to save time and avoid errors"
		case c.sets(parts[i], asked, opens(before, parts, i, ordered), i == 0, i+1 < len(parts)):
			if at < 0 {
				at = i
			}
		}
		if i == 0 || opened || ordered || allFillers(parts[:i]) {
			ordered = ordered || c.orders() || opened && c.follows()
		}
		ordered = ordered || comesAgain && c[0].class&report == 0 && c.has(ban) // "when you push to it don't force"
		comesAgain = comesAgain || c.comesAgain()
		opened = c[0].class&when != 0 && c.comesAgain()
	}
	if revokes && (at < 0 || !asked && at >= 0 && parts[at].changes()) {
		return Revoke, words[0].from, words[len(words)-1].to
	}
	if at < 0 && ordered && comesAgain && !asked {
		at = 0
	}
	if at < 0 {
		if !asked && parts[0].bare().isValue(words) {
			return Value, words[0].from, words[len(words)-1].to
		}
		return 0, 0, 0
	}
	c := parts[at]
	return x.kind(words, Rule), c[0].from, c[len(c)-1].to
}

// allFillers reports whether clauses say nothing.
func allFillers(parts []clause) bool {
	for _, c := range parts {
		if len(c.bare()) > 0 {
			return false
		}
	}
	return true
}

// adds reports whether a clause asks for something, or is about what would come anew: a lack
// that is mentioned by the way is a rule only then.
func (c clause) adds() bool {
	for _, w := range c {
		if fresh[w.text] || w.class&filler != 0 && w.class&joins != 0 || w.class&firm != 0 {
			return true
		}
	}
	return false
}

// opens reports whether a clause may be a noun phrase of its own: it begins its sentence, or
// is set apart from it by the mark before it, or stands behind an order.
func opens(before word, parts []clause, i int, ordered bool) bool {
	return i == 0 || ordered || len(parts[i-1].bare()) == 0 || hence[parts[i][0].text] || before.mark && !strings.ContainsAny(before.text, ",，、")
}

// isValue reports whether a clause says what a number is now.
func (c clause) isValue(words []word) bool {
	i := c.find(verb)
	if i < 1 || c[0].class&(report|ask|allow|revoke|when) != 0 || !clause(words).has(anew) {
		return false
	}
	return c[i+1:].measured()
}

func (x *lexicon) kind(words []word, k Kind) Kind {
	for _, w := range words {
		if w.class&once != 0 {
			return Once
		}
	}
	for _, w := range slices.Backward(words) {
		if !w.mark {
			if yet[w.text] || yet[w.text[strings.LastIndexByte(w.text, ' ')+1:]] { // "don't push yet"
				return Once
			}
			break
		}
	}
	return k
}

// label returns how many words of a label begin a sentence: "Rule:", "HARD CONSTRAINT:".
func label(words []word) int {
	for i, w := range words {
		switch {
		case i > 4:
			return 0
		case w.mark && w.text != ":" && w.text != "：":
			return 0
		case w.mark:
			if i > 0 && words[i-1].class&title != 0 && i+1 < len(words) {
				return i + 1
			}
			return 0
		}
	}
	return 0
}

// isAsked reports whether a sentence is a question: one that ends with a question mark, but
// for the mark behind "ok", or begins as a question does.
func isAsked(s string, words []word, parts []clause) bool {
	first := parts[0].bare()
	ends := strings.HasSuffix(strings.TrimRight(s, " \t\"')”»」』*_"), "?") || strings.HasSuffix(strings.TrimRight(s, " "), "？")
	if ends && len(parts) > 1 && first[:min(len(first), 1)].has(ban|order|habit|bare|task|lack|often) {
		last := parts[len(parts)-1]
		return len(last.bare()) > 1
	}
	return ends || len(first) > 0 && first[0].class&ask != 0
}

// bare returns a clause without the fillers before it.
func (c clause) bare() clause {
	if len(c) > 1 && c[0].class == 0 && strings.Contains(c[0].text, ".") && len(valuesOf(c[0].text)) > 0 { // 8.3
		c = c[1:]
	}
	for len(c) > 0 && c[0].class&(filler|joins) != 0 {
		if c[0].class&(beginning|revoke|allow|must|firm) != 0 {
			break
		}
		if c[0].class&lack != 0 && (len(c) < 2 || c[1].class&beginning == 0) { // "no, don't" but "no mocks"
			break
		}
		c = c[1:]
	}
	return c
}

func (c clause) has(k class) bool { return c.find(k) >= 0 }

func (c clause) find(k class) int {
	for i, w := range c {
		if w.class&k != 0 {
			return i
		}
	}
	return -1
}

// orders reports whether a clause tells somebody to do something.
func (c clause) orders() bool {
	if len(c) == 0 {
		return false
	}
	if c[0].class&(ban|order|habit|bare|task|firm) != 0 {
		return len(c) > 1 || c[0].class&(ban|firm) != 0
	}
	if i := c.find(must | should); i > 0 && c[:i].has(you) {
		return true
	}
	if c[0].class&when != 0 { // "after each change run the tests"
		return c[1:].has(ban|order|firm) || !c[0].addresses() && c.acts()
	}
	return c[0].class&(wish) != 0
}

// addresses reports whether a word is a condition with its subject: "before you".
func (w word) addresses() bool {
	return strings.Count(w.text, " ") > 0 && !strings.HasSuffix(w.text, "each") && !strings.HasSuffix(w.text, "every")
}

// acts reports whether a verb stands behind the first words of a clause, with what it is
// about.
func (c clause) acts() bool {
	for i := 2; i+1 < len(c); i++ {
		if c[i].class&(habit|task|bare) != 0 && c[i+1].class&(article|scope|thing) != 0 {
			return true
		}
	}
	return false
}

// comesAgain reports whether a clause names a condition that comes again.
func (c clause) comesAgain() bool {
	i := c.find(when)
	if i < 0 || i+1 < len(c) && c[i+1].class&report != 0 {
		return false
	}
	return i == 0 || !strings.HasPrefix(c[i].text, "when ") && !strings.HasPrefix(c[i].text, "if ") && !strings.HasPrefix(c[i].text, "while ")
}

// follows reports whether a clause behind a condition is an order with a verb that is not in
// the table: it begins with no subject.
func (c clause) follows() bool {
	return len(c) > 1 && c[0].class == 0 && !c.has(verb) && c[1].class&(article|scope|thing|you) != 0
}

// allows reports whether a clause allows something. Where a language says so at its end, any
// word does.
func (c clause) allows(ends bool) bool {
	return (c[0].class&allow != 0 || ends && c.has(allow)) && !c.has(scope|not|should)
}

// changes reports whether a clause only says what is allowed from now on.
func (c clause) changes() bool { return c.bare().has(allow | revoke) }

// sets reports whether a clause sets a rule. whole is the clause with its fillers; asked: its
// sentence is a question; opens: it may be a noun phrase of its own; first: it begins the
// sentence; more: others follow.
func (c clause) sets(whole clause, asked, opens, first, more bool) bool {
	head, rest := c[0], c[1:]
	if asked {
		return head.class&polite != 0 && rest.tells()
	}
	if head.class&polite != 0 {
		return rest.has(often | ban | firm)
	}
	if c.wishes() {
		return true
	}
	if head.class&report != 0 {
		return c.has(firm) && !c.has(ask) && !strings.Contains(head.text, " ") || head.class&it != 0 && c.binds()
	}
	if head.class&thing != 0 { // "output must be JSON"
		if i := c.find(must | should); i > 0 && i < 4 {
			return c.binds()
		}
	}
	switch {
	case head.class&ask != 0:
		return false
	case head.class&ban != 0:
		return len(rest) > 0
	case head.class&order != 0:
		return len(rest) > 0 || more
	case head.class&lack != 0:
		return opens && !c.has(verb) && len(rest) > 0 && rest[0].class&(article|it|you|report|ask) == 0 && (first || c.adds() || hence[whole[0].text])
	case head.class&bare != 0:
		if len(rest) > 0 && len(rest) <= 9 && rest[0].class&(article|it|purpose) == 0 && !rest.has(purpose) && (rest[0].class != 0 || len(rest) < 2 || !strings.ContainsAny(rest[0].text, "._(")) { // no name of the code
			return true
		}
		return rest.has(scope | often | firm | when)
	case head.class&habit != 0:
		return rest.has(scope|often|firm) || len(rest) > 1 && rest[0].class&thing != 0 && rest.measured() // "wrap lines at 80"
	case head.class&task != 0:
		if len(rest) > 1 && (nothing[rest[0].text] || bounds[rest[0].text]) { // "log nothing", "return at most 10 rows"
			return true
		}
		return rest.has(often|firm) || len(rest) > 1 && alone[rest[len(rest)-1].text]
	case head.class&when != 0:
		return c.has(firm)
	}
	if c.has(firm) {
		return true
	}
	return c.binds() || first && c.names()
}

// tells reports whether behind a polite beginning something is ordered or forbidden for good.
func (c clause) tells() bool {
	i := c.find(often | ban | order)
	return i >= 0 && i+1 < len(c) && (c[i].class&(ban|order) != 0 && c[i].class&often == 0 || c[i+1:].has(habit|bare|task|order|ban))
}

// wishes reports whether a clause says what somebody wants to hold.
func (c clause) wishes() bool {
	i := c[:min(len(c), 4)].find(wish)
	if i < 0 {
		return false
	}
	if c[i].class&(order|ban) != 0 || c[i+1:].has(firm) {
		return true
	}
	next := c[i+1 : min(len(c), i+8)]
	return next.has(scope|often|not|lack) && next[0].class&purpose == 0
}

// binds reports whether a clause says of its subject what it must and must not do.
func (c clause) binds() bool {
	i := c.find(must | should)
	if i < 0 {
		return false
	}
	subject, rest := c[:i], c[i:]
	strong := c[i].class&must != 0
	denied := c[i].class&not != 0 || rest[1:].leads(not|often|scope)
	switch {
	case i > 0 && subject[0].class&report != 0 && subject[0].class&it == 0:
		return false
	case i == 0:
		return strong
	case i <= 2 && subject[0].class&it != 0:
		return denied && (strong && !strings.HasPrefix(c[i].text, "may ") || rest[1:].leads(often))
	case subject.has(you):
		return strong || c[i].class&not != 0 || rest[1:].leads(not|often)
	case subject.has(ask), subject.relates():
		return false
	case strong:
		return true
	}
	return denied || subject.leads(scope|thing) && !c.has(anew)
}

// relates reports whether a subject ends with a relative clause that has its own: "an example that the developer". What
// that one must do is said by the way.
func (c clause) relates() bool {
	const near = 4 // words of the subject of the relative clause
	for i := max(len(c)-near, 1); i+1 < len(c); i++ {
		if relative[c[i].text] && c[i+1].class&(article|scope) != 0 {
			return true
		}
	}
	return false
}

// leads reports whether one of the next two words is of a class.
func (c clause) leads(k class) bool { return c[:min(len(c), 2)].has(k) }

// measured reports whether a clause names a number.
func (c clause) measured() bool {
	for _, w := range c {
		if len(valuesOf(w.text)) > 0 {
			return true
		}
	}
	return false
}

// names reports whether a clause without a verb says how something is to be: "answers in
// French", "80 columns at most".
func (c clause) names() bool {
	if len(c) < 2 || len(c) > 10 || c[0].class&(it|you|ask|report) != 0 {
		return false
	}
	last := c[len(c)-1].text
	if bounds[c[0].text] || bounds[last] {
		return true
	}
	if c[0].class&scope != 0 && c[1:min(len(c), 3)].has(thing) && c[0].class&not == 0 && !c.has(verb|purpose) { // "all amounts in euros"
		return len(c) > 2
	}
	return !c.has(verb|purpose) && c[0].class&article == 0 && (c[0].class&thing != 0 && c[1:].has(scope) || alone[last])
}
