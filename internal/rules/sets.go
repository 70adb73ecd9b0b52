package rules

import (
	"slices"
	"strings"
)

// settingOf returns where clause i stands.
func settingOf(before word, parts []clause, i int, asked, ordered, titled bool) setting {
	at := setting{ordered: ordered, titled: titled, whole: parts[i], asked: asked, opens: opens(before, parts, i, ordered), apart: before.mark && strings.ContainsAny(before.text, "(（["), first: i == 0, more: i+1 < len(parts), behind: behind(parts, i)}
	at.goes = i == 0 && slices.ContainsFunc(parts[1:], func(c clause) bool { return c[0].class&verb != 0 && c[0].class&(ban|must) == 0 })
	at.owed = i > 0 && (before.mark && (before.text == ":" || before.text == "：") && parts[i-1].has(who) || at.titled)
	at.priced = i > 0 && before.mark && len(parts[i-1].bare()) == 1 && budgeted[parts[i-1].bare()[0].text]
	at.parted = i == 1 && before.mark && (before.text == ":" || before.text == "：") && parts[0].isUnknown()
	at.since = hence[parts[i][0].text]
	if i > 0 && len(parts[i-1]) > 0 {
		at.since = at.since || len(parts[i-1].bare()) == 0 && hence[parts[i-1][0].text]
		at.before = parts[i-1].bare()
		last := parts[i-1][len(parts[i-1])-1]
		at.added = len(parts[i-1].bare()) == 0 && adding[last.text]
		at.hoped = last.class&hope != 0 || last.class&wish != 0 && len(parts[i-1].bare()) == 1
	}
	return at
}

// isUnknown reports whether a clause is a word or two that stand in no table, as names do.
func (c clause) isUnknown() bool {
	const most = 2 // words
	return len(c) <= most && c.classes()&^common == 0
}

// behind returns the clause after one.
func behind(parts []clause, i int) clause {
	if i+1 < len(parts) {
		return parts[i+1]
	}
	return nil
}

// contrasts reports whether a clause says by which means something is done or where it belongs, and the one behind it what is not
// so: "tests run with npm, not yarn". opens: nothing but fillers stands before it.
func (c clause) contrasts(behind clause, first, opens bool) bool {
	const short = 6 // words of what is not wanted
	if !opens || len(behind) < 2 || len(behind) > short || behind[0].class&not == 0 || behind.has(verb|ask|report) {
		return false
	}
	things := c[0].class&(thing|work) != 0
	if c[0].class&bare != 0 && len(c) > 1 && behind[0].text == "not" && len(behind) < 4 && !behind.has(article) { // "use the tool for edits, not sed"
		return true
	}
	if len(c) < 3 && behind[0].text == "not" && !behind.has(article) { // "tabs, not spaces"
		return things || !first && c[0].use() == 0
	}
	if len(c) < 3 || c.has(ask|report) {
		return false
	}
	if things && behind[0].text == "not" && c[1].class&verb == 0 {
		return true
	}
	for _, w := range c[1:] {
		if with[w.text] && !behind.has(article) && (!c.has(article) || c[0].class&(task|habit|bare) != 0) {
			return c[0].class&(task|habit|bare|thing) != 0
		}
	}
	return false
}

// mostBare is how many words of what is to be used an order has at most: more are a description.
const mostBare = 12

// setting is where a clause stands.
type setting struct {
	whole   clause // with its fillers
	asked   bool   // its sentence is a question
	opens   bool   // it may be a noun phrase of its own
	ordered bool   // something is ordered before it
	goes    bool   // a clause behind it begins with a finite verb, so that it may be its subject
	first   bool   // it begins the sentence
	more    bool   // others follow
	added   bool   // it stands behind a word that adds something: "also, no mocks"
	since   bool   // it follows from what was said: "so", "therefore"
	titled  bool   // the sentence begins with what it is about, and a colon: "branch names: …"
	owed    bool   // a colon stands before it, and who asks for it
	parted  bool   // a colon stands before it, and the name of a part of what is built: "desktop: …"
	priced  bool   // a word for money stands before it, with a colon: "budget:"
	apart   bool   // a bracket opens before it
	hoped   bool   // it stands behind the beginning of a wish: "it would be nice,"
	before  clause // the one before
	behind  clause // the one that follows
}

// sets reports whether a clause sets a rule.
func (c clause) sets(at setting) bool {
	head, rest := c[0], c[1:]
	if len(rest) > 1 && themselves[rest[0].text] { // "utilise toi-même les outils"
		rest = rest[1:]
	}
	if head.quoted {
		return c.binds()
	}
	if head.class&hope != 0 {
		return rest.hopesAfter(head)
	}
	if at.hoped && c.hopes() {
		return true
	}
	if at.asked {
		if head.class&ask != 0 && len(rest) > 2 && rest[0].text == "not" { // "can we not commit the notes?"
			return rest[1].class&touch != 0
		}
		if together[head.text] && len(rest) > 1 { // "could we keep the diff small?"
			return rest[0].class&(order|lasts) == order|lasts
		}
		return head.class&polite != 0 && (rest.tells() || rest.endures())
	}
	if head.class&polite != 0 {
		return rest.has(often | ban | firm)
	}
	said := c.classes()
	if said&who != 0 && c.constrains(at.behind) || said&(lack|often) != 0 && c.spares() || c.halts(at.before, at.behind) {
		return true
	}
	if (said&pay != 0 || at.first || at.apart || at.priced) && c.numbered() && (c.spends(at.apart || at.first && said&verb == 0) || at.priced && said&verb == 0 && c.hasMoney()) {
		return true
	}
	if c.wishes() {
		return true
	}
	if head.class&wish != 0 {
		return false
	}
	if c.quotes() {
		return false
	}
	if head.class&report != 0 {
		return c.has(firm) && !(c.has(should|must) && slices.ContainsFunc(c, func(w word) bool { return feasible[w.text] })) && !c.has(ask) && !strings.Contains(head.text, " ") || head.class&it != 0 && c.binds()
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
		return c.forbids(at)
	case head.class&order != 0:
		return c.stands(at)
	case nothing[head.text] && head.text != "no" && rest.compares(): // "nothing more expensive"
		return true
	case head.class&lack != 0 && (c.has(must) || c.has(should) && c.has(touch)):
		return c.binds()
	case head.class&lack != 0:
		c = c.withoutCondition()
		rest = c[1:]
		if len(rest) > 2 && rest[1:].has(lack) && !states[rest[0].text] && c.has(verb|work) && strings.HasPrefix(rest[rest.find(lack)].text, "without") { // "nothing lands without a test"
			return true
		}
		if len(rest) > 0 && rest.particular() && !c.has(work|thing|touch) {
			return false
		}
		if slices.ContainsFunc(rest, func(w word) bool {
			return w.class&verb != 0 && w.class&(work|thing) == 0 && !conventional[strings.TrimSuffix(w.text, "s")]
		}) {
			return false
		}
		if len(rest) > 0 && rest[0].class&work != 0 && len(at.before) > 0 && len(at.before) < 4 && at.before.has(work) && !at.before.has(verb&^work|report) { // "just the code, no explanation"
			return true
		}
		if at.owed && len(rest) > 0 && (at.titled || c.has(work|thing)) { // "our architects are strict: no cycles"
			return true
		}
		return at.opens && len(rest) > 0 && rest[0].class&(article|it|you|report|ask|lack) == 0 && (at.first || c.adds() || at.added || at.since || urged(at.behind))
	case head.class&bare != 0:
		if at.parted && !rest.has(scope|often|firm|work) { // "desktop: use a pool"
			return false
		}
		if len(rest) > 0 && rest[0].name {
			return rest.has(often | firm)
		}
		if len(rest) > 0 && len(rest) <= mostBare && rest[0].class&(article|it|purpose) == 0 && !with[rest[0].text] && !rest.has(purpose) && !rest.serves() && !rest.particular() && (rest[0].use() != 0 || len(rest) < 2 || !strings.ContainsAny(rest[0].text, "._(")) { // no name of the code
			return true
		}
		return rest.has(scope|often|firm|when) && !rest.isOne() && !rest.replacesOne() && (rest.has(often|firm|scope&^not) || !rest.particular())
	case alone[head.text] && c.find(must) > 0 && c[c.find(must):].has(touch) && c.suffers(): // "only src may be changed"
		return c.binds()
	case head.text == "only" && len(rest) > 1 && rest[0].text == "one": // "only one modal can be open"
		return rest.has(you | touch)
	case head.text == "only" && at.since && len(rest) > 1 && rest[0].class&(article|it|verb) == 0: // "so only suggest cheap ones"
		return true
	case head.class&habit != 0:
		rest = rest.withoutAim()
		if answering[head.text] && len(rest) > 1 && inForm[rest[0].text] && rest[1].class&article == 0 { // "answer in one paragraph"
			return true
		}
		return rest.has(scope|often|firm) && !rest.isOne() && !rest.goesOn(head) || len(rest) > 1 && rest[0].class&thing != 0 && rest.measured() // "wrap lines at 80"
	case head.class&task != 0:
		rest = rest.withoutAim()
		if len(rest) > 1 && (nothing[rest[0].text] && !rest.states() || bounds[rest[0].text] && (rest[0].text != "at least" || rest.has(work|thing))) { // "log nothing", "return at most 10 rows"
			return true
		}
		return rest.has(often|firm) || len(rest) > 1 && (alone[rest[len(rest)-1].text] || rest[0].class&scope != 0 && rest[0].isYours()) // "give your answers in bullets"
	case head.class&when != 0, head.class&often != 0 && strings.HasPrefix(head.text, "vor "), head.class&often != 0 && strings.HasPrefix(head.text, "nach "):
		last := c[len(c)-1].text
		return c.has(firm) || len(c) > 3 && c[len(c)-1].class&verb == 0 && (strings.HasPrefix(head.text, "vor") || strings.HasPrefix(head.text, "nach") || strings.HasPrefix(head.text, "bei")) && c.has(thing|work) && strings.HasSuffix(last, "en") && c[len(c)-2].class&article == 0 // "vor jedem Push die Tests laufen lassen"
	case head.class&often != 0 && (at.ordered || len(at.before) > 0 && at.before[0].class&wish != 0) && len(rest) > 0 && strings.HasPrefix(head.text, "without "):
		return true
	}
	return c.declares(at)
}

// declares reports whether a clause that begins with no order says how the work is to be done, or what must not be touched.
func (c clause) declares(at setting) bool {
	if c.has(firm) {
		if c[0].class&article != 0 && c.onEvent() { // "the log stays as it is when the job restarts"
			return false
		}
		return !c.obliges() && (c[0].class&ban == 0 && !c.has(plain) || !c.behaves())
	}
	if at.first && len(c) > 3 && c[0].class&scope != 0 && c[0].class&not == 0 && c[1].class&work != 0 && conventional[strings.TrimSuffix(c[2].text, "s")] { // "all work happens on dev"
		return true
	}
	if ourselves[c[0].text] && len(c) > 3 && c[1].class&ban != 0 && !states[c[2].text] && c[2].class&verb == 0 && customary[c[len(c)-1].text] { // "we don't mock here"
		return true
	}
	if ourselves[c[0].text] && len(c) > 2 && len(c) < 8 && c[1].class&(bare|habit) != 0 && c[2].class&(article|it) == 0 && everywhere[c[len(c)-1].text] { // "we use spaces everywhere"
		return true
	}
	if i := slices.IndexFunc(c, func(w word) bool { return w.class&lasts != 0 || strings.HasPrefix(w.text, "stay ") }); at.first && i > 0 && i < 4 && c[0].class&(article|report|it|you) == 0 && c[:i].has(thing|work) && c[i+1:].has(scope) { // "names stay in English"
		return true
	}
	if n := len(c); at.first && n > 1 && n < 6 && heldBack[c[n-1].text] && !c.has(verb|report|article|should|must) { // "unnötige Änderungen vermeiden"
		return true
	}
	return c.binds() || at.since && (c.names() || c.has(must|should) && c.has(lasts) && c[0].class&report == 0) || at.first && (c.names() && !at.goes && !at.behind.has(task|verb) || c.requests() || c[0].class&work != 0 && len(c) > 2 && conventional[c[1].text] || c.reserves() || len(at.behind) == 1 && ever[at.behind[0].text] && c[0].class&(thing|work|often) != 0 && c[0].class&ask == 0) || c.inverted()
}

// inverted reports whether a clause ends with a prohibition, behind what it is about: "die API bitte nicht ändern".
func (c clause) inverted() bool {
	n := len(c)
	if n == 3 && c[0].class == 0 && strings.HasSuffix(c[0].text, "e") && reflexive[c[1].text] && c[2].text == "nicht" { // "entschuldige dich nicht"
		return true
	}
	if n == 2 && c[0].class == 0 && strings.HasSuffix(c[0].text, "e") && (c[1].text == "nicht" || c[1].text == "nichts") { // "erfinde nichts"
		return true
	}
	if n > 2 && prefixes[c[n-1].text] && c[n-2].text == "nicht" && c[1].class&article != 0 && c[0].use()&^(task|habit|bare) == 0 && !strings.HasSuffix(c[0].text, "t") { // "rühr die Datei nicht an"
		return true
	}
	return n > 2 && n < 8 && inverting[c[n-2].text] && c[n-1].class&touch != 0 && !c[:n-2].has(verb|report|ask)
}

// measured reports whether a clause names a number.
func (c clause) measured() bool {
	for _, w := range c {
		if len(valuesOf(w.text)) > 0 {
			return true
		}
	}
	return false
}

// refers reports whether a clause names a place by its number: "code up to line 1600".
func (c clause) refers() bool {
	for i := 0; i+1 < len(c); i++ {
		if counted[c[i].text] && len(valuesOf(c[i+1].text)) > 0 {
			return true
		}
	}
	return false
}

// names reports whether a clause without a verb says how something is to be: "answers in
// French", "80 columns at most".
func (c clause) names() bool {
	if (values[c[0].text] == "1" || ones[c[0].text] || indefinite[c[0].text]) && len(c) > 2 && (c[1].class&(work|thing) != 0 || cueOf(c[1].text)&act != 0) && per[c[2].text] && len(c) < 6 { // "one commit per topic"
		return true
	}
	if len(c) < 2 || len(c) > 10 || c.refers() || c[0].class&(it|you|ask|report) != 0 || c.has(must|should) {
		return false
	}
	if n := len(c) - 1; n > 2 && urges[c[n].text] {
		c = c[:n]
	}
	if len(c) > 3 && c[0].class&scope != 0 && (c[2].text == "only" || c[2].class&often != 0) { // "each worker only takes one"
		return false
	}
	last := c[len(c)-1].text
	if c[len(c)-1].class&scope != 0 && unmoved[last] && !c.has(verb|purpose) {
		return true
	}
	for i := 1; i+1 < len(c); i++ {
		if bounds[c[i].text] && per[c[i+1].text] && c.numbered() { // "4 hours max per attempt"
			return true
		}
	}
	if finite := c[len(c)-1]; finite.class&verb != 0 && finite.class&(work|thing) == 0 && bounds[c[0].text] { // "at least one test fails"
		return false
	}
	if bounds[c[0].text] && strings.Count(c[0].text, " ") > 1 && len(c) > 3 && !c.has(work|thing) && !c.shares() { // "no more than two people came"
		return false
	}
	if bounds[last] && c[0].class&article != 0 && c[1].class&work == 0 { // "the worker handles one at a time"
		return false
	}
	if (bounds[c[0].text] || bounds[last]) && (!c.has(verb) || c.has(work|thing)) {
		return true
	}
	if c[0].class&scope != 0 && !differing[c[0].text] && c[1:min(len(c), 3)].has(thing|work) && c[0].class&not == 0 && !c.has(verb|purpose) { // "all amounts in euros"
		return len(c) > 2
	}
	if len(c) < 5 && len(c) > 2 && c[0].class&article != 0 && c[1].class&work != 0 && c[len(c)-1].class&scope != 0 && strings.Contains(c[len(c)-1].text, " ") && !c.has(verb|purpose) { // "le code en anglais"
		return true
	}
	verbless := !c.has(verb | purpose)
	if c[0].class&verb != 0 && alone[c[1].text] { // "changes only in src"
		verbless = !c[1:].has(verb | purpose | touch)
	}
	return verbless && c[0].class&article == 0 && (c[0].class&(thing|work) != 0 && c[1:].has(scope) || alone[last])
}

// forbids reports whether a clause that begins with a prohibition sets a rule.
func (c clause) forbids(at setting) bool {
	head, rest := c[0], c[1:]
	switch {
	case head.text == "plus de" && rest.measured(): // more than
		return false
	case rest.placed(head), !at.first && head.class&often != 0 && len(rest) > 1 && places[rest[0].text], spared(head) && strings.HasPrefix(head.text, "no ") && !rest.has(work|thing|you|touch):
		return false
	case len(rest) > 1 && feasibly[rest[0].text] && sensing[rest[1].text]: // "no puedes verlo"
		return false
	case len(rest) == 1 && later[rest[0].text]: // "nie danach"
		return false
	case len(rest) == 0 && head.class&often != 0 && len(at.behind) > 0 && at.behind[0].text == "ever": // "never, ever, …"
		return true
	case len(rest) == 0:
		return at.since // "the build breaks, so don't"
	case head.text == "stop" || head.text == "quit":
		verb, _, _ := strings.Cut(rest[0].text, " ")
		return strings.HasSuffix(verb, "ing") && !rest.onEvent()
	case head.text == "skip the":
		return rest[0].class&(thing|work) != 0
	case spared(head) && !strings.HasPrefix(head.text, "no ") && rest[0].class&touch != 0 && !renewing[rest[0].text] && len(rest) > 1: // "you don't need to change the tests"
		return true
	case rest.implements(head), spared(head) && (!at.first || !strings.HasPrefix(head.text, "no ")):
		return false
	case at.since, head.class&wish != 0:
		return true
	case strings.HasPrefix(head.text, "we ") && (rest[0].class&verb != 0 && rest[0].class&(task|habit|bare) == 0 || rest[0].happened(head)): // "we never got it"
		return false
	case head.class&often != 0:
		return !states[rest[0].text] && !rest[0].speaks(head) && !rest[0].happened(head) && (len(rest) > 1 || rest[0].class&verb == 0)
	}
	return !rest.isAbout(at.ordered) && !rest.appears()
}

// speaks reports whether a verb is one with which the speaker tells what he does or did, in a language whose orders have other
// endings: "nunca consigo entrar".
func (w word) speaks(head word) bool {
	if w.class != 0 || !telltale[head.text] {
		return false
	}
	return strings.HasSuffix(w.text, "o") || strings.HasSuffix(w.text, "í") || strings.HasSuffix(w.text, "é") || strings.HasSuffix(w.text, "i")
}

// happened reports whether a verb behind "never" says what did not happen: "never heard of it".
func (w word) happened(head word) bool {
	return strings.HasSuffix(head.text, "never") && w.class&^verb == 0 && strings.HasSuffix(w.text, "ed") && !strings.HasSuffix(w.text, "eed") && w.text != "embed"
}

// stands reports whether a clause that begins with an order that may stand sets a rule.
func (c clause) stands(at setting) bool {
	head, rest := c[0], c[1:]
	if len(rest) == 0 {
		if strings.HasPrefix(head.text, "leave ") {
			return at.since // "the file is generated, so leave it"
		}
		if checks[head.text] {
			return at.behind.keeps()
		}
		return at.more || at.since || strings.HasPrefix(head.text, "be ")
	}
	next := rest[0]
	switch {
	case needing[head.text] && indefinite[next.text]: // "il faut une recherche"
		return rest.has(often | firm | work)
	case head.text == "always" && (next.text == "a" || next.text == "an"): // "always a pleasure"
		return false
	case alone[head.text] && next.class&article != 0 && rest.has(verb): // "nur der Code ist …"
		return false
	case reminding[head.text] && next.class&purpose != 0 && len(rest) > 2 && rest[2].class&article != 0, capping[head.text] && len(rest) == 1 && strings.HasSuffix(next.text, "ed"):
		return rest.has(scope | often | firm | when | work)
	case alone[head.text] && (happening[next.text] || next.class&verb != 0 && next.class&(task|habit|bare|order) == 0): // "solo ocurre en el móvil"
		return false
	case head.text == "only show" && !us[next.text]:
		return rest.has(firm | often | you | work)
	case keeping[head.text] && next.text == "only":
		return rest.has(work | thing | touch | firm | often)
	case strings.HasSuffix(head.text, " to") && len(rest) > 2 && rest[1].class&article != 0 && checking[head.text]:
		return rest.has(scope | often | firm | when | not | work)
	case checks[head.text]:
		return rest.keeps()
	case head.text == "you must" && rest.isTask():
		return false
	case (next.class&verb != 0 || len(rest) > 1 && rest[1].text == "it") && (head.text == "we only" || head.text == "we always"), states[next.text] && strings.HasPrefix(head.text, "we "), (next.speaks(head) || next.class&report != 0 && next.class&verb != 0) && len(rest) > 1 && rest[1].class&(article|purpose) != 0:
		return false
	case head.text == "let's keep" && next.class&it != 0 && next.class&article != 0:
		return rest.has(often|firm) || rest.measured()
	case capping[head.text] && next.class&article != 0:
		return rest.has(work | you | firm | often)
	case next.name && strings.HasPrefix(head.text, "only ") && !leaving[head.text]:
		return rest.has(often | firm)
	case head.text == "leave", head.text == "let's leave":
		if len(at.behind) > 1 && at.behind[0].text == "as" && pronouns[at.behind[1].text] { // "leave the header as it is"
			return true
		}
		return rest.has(scope&^not|firm) || slices.ContainsFunc(rest, func(w word) bool { return unmovedAt[w.text] })
	case reminding[head.text] && next.class&article != 0:
		return rest.has(often|firm|when) || next.text == "that" && rest.has(must|should|not|lasts)
	case keeping[head.text] && next.class&article != 0 && (at.goesOn() || rest.goesOnto()):
		return rest.has(often | firm)
	case keeping[head.text] && rest.keepsOne(at.behind), head.text == "always" && rest.displays():
		return false
	case head.class&lasts != 0 && next.use() == 0 && strings.HasSuffix(next.text, "ing") && next.text != "using": // "keep appending"
		return rest.has(firm)
	}
	return true
}
