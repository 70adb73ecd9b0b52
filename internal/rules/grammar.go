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
	name     bool // an identifier of a program
	quoted   bool // set in backticks, with words behind it: `make test`
}

// use returns what a word is for in its clause, whatever it means to an agent.
func (w word) use() class {
	return w.class &^ (touch | work | lasts | who | grant | deny | demand | pay)
}

// clause is a part of a sentence with one verb.
type clause []word

// reading is what a sentence says.
type reading struct {
	kind     Kind   // 0: nothing of what holds
	clause   clause // that does
	language *lexicon
	role     role
}

// read says what a sentence does to what holds, in whichever language it is.
func read(s string) (r reading) {
	if isCode(s) || isReported(s) {
		return reading{}
	}
	may, tokens := languageOf(s)
	for _, x := range may {
		r.kind, r.clause, r.role = x.read(s, tokens)
		if r.kind != 0 {
			r.language = x
			return r
		}
	}
	return reading{role: r.role}
}

// isCode reports whether a sentence is made of signs more than of words, as lines of code, of
// tables and of logs are.
func isCode(s string) bool {
	signs, letters := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == 0xe2 && i+1 < len(s) && (s[i+1] == 0x94 || s[i+1] == 0x95), c == '\t', c == 0x1b: // a box, a tab, a sequence for a terminal
			return true
		case c >= 0x80 || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters++
		case strings.IndexByte("{}[]()<>=;|&+\\^@%$\"#", c) >= 0:
			signs++
		}
	}
	trimmed := strings.TrimRight(s, " ")
	if strings.HasPrefix(s, "+") || strings.Contains(s, "[0m") {
		return true
	}
	return signs*8 >= letters && signs > 0 || strings.Contains(s, "::") && strings.HasSuffix(s, ";") || strings.HasSuffix(trimmed, ";") && signs > 1 || strings.HasSuffix(trimmed, "{") || strings.HasPrefix(s, "|") || strings.HasPrefix(s, "<") || strings.HasPrefix(s, "//")
}

// isReported reports whether a sentence is a message of a program about a place in a file: "a.py:3:1: …".
func isReported(s string) bool {
	place, _, ok := strings.Cut(s, ": ")
	if !ok || strings.ContainsAny(place, " \t") {
		return false
	}
	_, line, ok := strings.Cut(place, ":")
	return ok && strings.Trim(line, "0123456789:") == ""
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
			text = strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(s[t.from:last.to]), "’", "'"), "' ", " ")
		}
		if c == 0 && (t.code || t.text != "" && t.text[0] <= '9') {
			text = strings.ToLower(s[t.from:t.to])
		}
		quoted := s[t.from] == '`' && s[t.to-1] != '`'
		if t.command {
			c = 0
		}
		out = append(out, word{class: c, from: t.from, to: last.to, text: text, name: t.name && c&scope == 0 || t.command, quoted: quoted})
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

const beginning = hope | ban | order | habit | bare | task | wish | polite | report | revoke | allow | you | when

// begins reports whether a clause of its own begins with words.
func begins(words []word) bool {
	for _, w := range words {
		if w.class&(filler|joins) == 0 || w.class&beginning != 0 {
			return w.class&(beginning|lack) != 0
		}
	}
	return false
}

// read says what a sentence does, by which of its words, and its role among others.
func (x *lexicon) read(s string, tokens []token) (Kind, clause, role) {
	words := x.words(s, tokens)
	parts := clauses(words)
	if len(parts) == 0 || isOthers(parts) {
		return 0, nil, 0
	}
	if label(words) > 0 { // of a constraint
		return x.kind(words, Rule), words, 0
	}
	asked := x.isAsked(s, words, parts)
	if c := parts[0]; sources[c[0].text] && c.has(who) { // "according to our policy you may not …"
		if k := c.find(you | order | must); k > 0 {
			parts[0] = c[k:]
		}
	}
	if rest := parts[0].assigned(); rest != nil && !asked { // "your task is to …"
		parts[0] = rest
	}
	role := x.roleOf(s, parts)
	sketch := x.sketchOf(s, parts)
	titled := len(parts[0]) < 4 && parts[0].has(work) && !parts[0].has(verb&^must) && len(words) > len(parts[0]) && words[len(parts[0])].text == ":"
	heads := strings.HasSuffix(strings.TrimRight(s, " *_"), ":") // the steps follow
	ordered, comesAgain, opened := false, false, false
	revokes, at := false, -1
	next := 0 // the first word of the clause, among all
	for i, c := range parts {
		for words[next].from < c[0].from {
			next++
		}
		before := words[max(next-1, 0)]
		c = c.bare()
		if len(c) > 2 && addressed[c[0].text] && c[1].class&(order|habit|task|bare) != 0 { // "me mostre"
			c = c[1:]
		}
		if len(c) == 0 {
			continue
		}
		built := sketch.covers(x, parts, i, c)
		switch {
		case !asked && c.exempts(behind(parts, i)):
			if at < 0 {
				at = i
			}
		case c[:min(len(c), 3)].has(revoke) || x.chars && c.has(revoke) || (i == 0 || c.has(anew)) && c.allows(x.chars):
			revokes = true
		case i > 0 && parts[i][0].class&joins != 0 && !contrasting[parts[i][0].text] && parts[i-1].has(purpose) && !hence[parts[i][0].text] && c[0].class&(ban|order) != 0 && c[0].class&often == 0: // "to save time and avoid errors"
		case built, builds(parts, i, i > 0 && !before.mark), heads && c[0].class&(habit|bare|task) != 0 && c[0].class&(order|ban) == 0:
		case c.sets(settingOf(before, parts, i, asked, ordered, titled)) || c.contrasts(behind(parts, i), i == 0, allFillers(parts[:i])):
			if at < 0 && !sketch.uses(x, parts, c) {
				at = i
			}
		}
		if i == 0 || opened || ordered || allFillers(parts[:i]) {
			ordered = ordered || !built && !(titled && i == 0) && !(opened && (c.storesIt() || c.displays() || c.createsFor())) && (c.orders() || (opened || i == 0) && c.follows())
		}
		ordered = ordered || comesAgain && c[0].class&report == 0 && c[:min(len(c), 3)].has(ban) // "when you push to it don't force"
		comesAgain = comesAgain || c.comesAgain()
		opened = c[0].class&when != 0 && c.comesAgain()
	}
	if revokes && (at < 0 || !asked && at >= 0 && parts[at].changes()) {
		return Revoke, words, role
	}
	switch {
	case asked:
	case at < 0 && ((ordered && comesAgain || generalizes(parts)) && !heads && !sketch.step && !used(parts) || x.chars && recurring(s)):
		at = 0
	case at < 0:
		if at = x.governs(s, tokens, parts); at < 0 && parts[0].bare().isValue(words) {
			return Value, words, role
		}
	}
	if at < 0 || x.chars && (onePart(s) && !clause(words).has(touch|work|you) || doesItself(s) && !clause(words).has(work|you)) {
		return 0, nil, role
	}
	return x.kind(words, Rule), parts[at], role
}

// isOthers reports whether a sentence explains one before it, or tells what somebody else says: "according to the manual, …", "never
// push, it says".
func isOthers(parts []clause) bool {
	const short = 5 // words with which somebody else is named
	first, last := parts[0], parts[len(parts)-1]
	if explaining[first[0].text] {
		return true
	}
	if len(parts) < 2 || first.has(who) {
		return false
	}
	if sources[first[0].text] && len(first) > 1 && first[1].class&article != 0 {
		return true
	}
	if len(last) < short && (saying[last[0].text] || len(last) > 1 && saying[last[1].text]) {
		return true
	}
	first = first.bare()
	return len(first) > 0 && len(first) < short && saying[first[len(first)-1].text] && !first.has(you) && (first[0].class&article != 0 || places[first[0].text]) // "der Tester meint, …"
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
	const nearYet = 4 // words: "ne ferme pas encore la porte"
	for _, c := range clauses(words) {
		if c[0].class&ban != 0 && (c[len(c)-1].isYet() || slices.ContainsFunc(c[1:min(len(c), nearYet)], word.isYet)) { // "don't push it yet, I am still at it"
			return Once
		}
	}
	for _, w := range slices.Backward(words) {
		if !w.mark {
			if present[w.text] && clause(words).has(ban) { // "don't do it now"
				return Once
			}
			if yet[w.text] || yet[w.text[strings.LastIndexByte(w.text, ' ')+1:]] { // "don't push yet"
				return Once
			}
			break
		}
	}
	return k
}

// isYet reports whether a word, or the last one of a phrase, holds something back for a while only.
func (w word) isYet() bool { return yet[w.text] || yet[w.text[strings.LastIndexByte(w.text, ' ')+1:]] }

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
func (x *lexicon) isAsked(s string, words []word, parts []clause) bool {
	first := parts[0].bare()
	ends := strings.HasSuffix(strings.TrimRight(s, " \t\"')”»」』*_"), "?") || strings.HasSuffix(strings.TrimRight(s, " "), "？") || x.chars && asksAtEnd(s)
	if ends && len(parts) > 1 && first[:min(len(first), 1)].has(ban|order|habit|bare|task|lack|often|wish) {
		last := parts[len(parts)-1]
		return len(last.bare()) > 1
	}
	return ends || len(first) > 0 && first[0].class&ask != 0
}

// asksAtEnd reports whether a sentence of a script without spaces ends with a word that asks.
func asksAtEnd(s string) bool {
	s = strings.TrimRight(s, " \t，。,.~～!！")
	return strings.HasSuffix(s, "吗") || strings.HasSuffix(s, "呢") || strings.HasSuffix(s, "嗎") || strings.HasSuffix(s, "怎么办")
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

// classes returns all that the words of a clause are for.
func (c clause) classes() (k class) {
	for i := range c {
		k |= c[i].class
	}
	return k
}

func (c clause) has(k class) bool { return c.find(k) >= 0 }

func (c clause) find(k class) int {
	for i := range c { // words are big
		if c[i].class&k != 0 {
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
	if c[0].class&wish != 0 && (c[0].class&ban != 0 || len(c) < 2 || c[1].class&you == 0) {
		return len(c) > 1 && c.wishes()
	}
	if len(c) > 1 && c[0].class&lasts != 0 && c[1].use() == 0 && strings.HasSuffix(c[1].text, "ing") { // "keep appending"
		return false
	}
	if c[0].class&(ban|order|habit|bare|task|firm) != 0 {
		return len(c) > 1 || c[0].class&(ban|firm) != 0 || asking[c[0].text]
	}
	if i := c.find(must | should); i > 0 && c[:i].has(you) {
		return true
	}
	if c[0].class&when != 0 { // "after each change run the tests"
		if i := c[1:].find(ban | order | firm); i >= 0 && conditional[firstOf(c[0].text)] && negating[c[i+1].text] && !c[i+2:].has(order|firm) { // "si un enlace no responde"
			return false
		}
		return c[1:].has(ban|order|firm) || !c[0].addresses() && c.acts()
	}
	return c[0].class&wish != 0 && (len(c) < 2 || c[1].class&purpose == 0)
}

// addresses reports whether a word is a condition with its subject: "before you".
func (w word) addresses() bool {
	return strings.Count(w.text, " ") > 0 && !strings.HasSuffix(w.text, "each") && !strings.HasSuffix(w.text, "every") && !strings.HasPrefix(w.text, "перед ")
}

// acts reports whether a verb stands behind the first words of a clause, with what it is
// about.
func (c clause) acts() bool {
	for i := 2; i+1 < len(c); i++ {
		if c[i].class&(habit|task|bare) != 0 && (c[i+1].class&(article|scope|thing) != 0 || strings.HasPrefix(c[0].text, "перед ")) {
			return true
		}
	}
	return false
}

// comesAgain reports whether a clause names a condition that comes again.
func (c clause) comesAgain() bool {
	i := c.find(when)
	if i < 0 || i+1 == len(c) && i == 0 && strings.HasSuffix(c[i].text, " any") || i+1 < len(c) && c[i+1].class&report != 0 {
		return false
	}
	if i > 0 && i+1 < len(c) && strings.HasPrefix(c[i].text, "when") && c[i+1].class&it != 0 && !ourselves[c[i+1].text] { // "run it whenever a user saves"
		return false
	}
	if i > 0 && c[i].addresses() && pronouns[c[len(c)-1].text] && !c[i+1:].has(work|thing|scope) { // "wait for it before you restart it"
		return false
	}
	if i > 0 && untils[c[i].text] {
		return false
	}
	if i > 1 && creating[c[0].text] && c[1].class&article != 0 && c[i].class&often == 0 && !c[:i].has(work|thing) { // "create the folder before starting"
		return false
	}
	if c[i].addresses() && i+1 < len(c) && (operating[c[i+1].text] || leisure[c[i+1].text]) { // "when you click a row", "wenn du Zeit hast"
		return false
	}
	first, _, _ := strings.Cut(c[i].text, " ")
	if i == 0 && len(c) == 2 && cueOf(c[1].text)&(act|messaging|labors) != 0 { // "for every bug, …"
		return true
	}
	if (c[i].class&scope != 0 && c[i].class&often == 0 || purposes[first]) && (i+1 == len(c) || c[i+1].class&work == 0) && !c[i+1:].has(you|firm) && !strings.HasPrefix(c[i].text, "before ") && !strings.HasPrefix(c[i].text, "after ") || i > 0 && c[i].text == "for all" { // "plot the rate for each model"
		return false
	}
	return i == 0 || !strings.HasPrefix(c[i].text, "when ") && !strings.HasPrefix(c[i].text, "if ") && !strings.HasPrefix(c[i].text, "while ")
}

// follows reports whether a clause behind a condition is an order with a verb that is not in
// the table: it begins with no subject, nor with what somebody is doing ("adding a test that runs after each deploy").
func (c clause) follows() bool {
	const longest = 5                                                                                                       // letters of an order that ends in "ing": "bring", "ping"
	if len(c) > 0 && happening[c[0].text] || len(c) > 1 && strings.HasSuffix(c[0].text, "t") && germanArticles[c[1].text] { // "sale un aviso", "verschwindet die Zeile"
		return false
	}
	if len(c) > 0 && strings.HasSuffix(c[0].text, "ing") && len(c[0].text) > longest {
		return false
	}
	if len(c) > 2 && addressed[c[0].text] { // "me mostre"
		c = c[1:]
	}
	return len(c) > 1 && c[0].use() == 0 && !c.has(verb) && (c[1].class&(article|scope|thing|you) != 0 || c[1].text == "so" || subordinate[c[1].text])
}

// allows reports whether a clause allows something. Where a language says so at its end, any
// word does.
func (c clause) allows(ends bool) bool {
	return (c[0].class&allow != 0 || ends && c.has(allow)) && !c.has(scope|not|should) && !slices.ContainsFunc(c, func(w word) bool { return strings.HasPrefix(w.text, "nicht ") || w.text == "erst" })
}

// changes reports whether a clause only says what is allowed from now on.
func (c clause) changes() bool { return c.bare().has(allow | revoke) }
