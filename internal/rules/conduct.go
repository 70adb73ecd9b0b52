package rules

import (
	"slices"
	"strings"
)

// What goes before what, what an agent cannot do for a time, and how it works.

// ranks finds which instructions go before others: "these rules take precedence over all others".
func (g governing) ranks() int {
	const near, far = 8, 9 // tokens from the subject to the verb, and from there to what comes behind it
	for i, m := range g.cues {
		if i == 0 {
			if over := g.near(1, 1, ranking); over != none && demonstrative[g.tokens[0].text] && g.near(2, far, universal) != none && g.near(2, far, guiding) != none { // "this overrides all earlier rules"
				return over
			}
			continue
		}
		if (m&guiding == 0 || !g.isPointed(i)) && (m&ours == 0 || g.cues[i-1]&universal == 0 && !whatsoever[g.tokens[i-1].text]) { // "anything I say"
			continue
		}
		over := g.near(i+1, near, ranking)
		if over == none {
			if c := g.parts[g.clauseOf(i)].bare(); len(c) > 1 && following[c[0].text] && (g.near(i+1, 1, before) != none && g.near(i+2, far, universal|guiding) != none || g.conflicts(i)) { // "follow these rules over any others"
				return i
			}
			continue
		}
		end := over + g.lengthOf(over, ranking)
		if g.near(end, far, universal|guiding) != none || (mine[g.tokens[i-1].text] || g.near(0, i, universal) != none || g.conflicts(i)) && (end == len(g.tokens) || g.tokens[end].mark) {
			return over
		}
	}
	return none
}

// conflicts reports whether before a token it is said that instructions do not fit each other.
func (g governing) conflicts(at int) bool {
	return slices.ContainsFunc(g.tokens[:at], func(t token) bool { return conflicting[t.text] })
}

// isPointed reports whether a noun is what was just said, or will be: "these instructions", "the following rules".
func (g governing) isPointed(at int) bool {
	for i := max(at-3, 0); i < at; i++ {
		if demonstrative[g.tokens[i].text] {
			return true
		}
	}
	if at+2 < len(g.tokens) && places[g.tokens[at+1].text] && demonstrative[g.tokens[at+2].text] { // "the policy in this message"
		return true
	}
	return at+1 < len(g.tokens) && demonstrative[g.tokens[at+1].text] // "my notes below"
}

// suspends finds what the agent cannot do until something happens, or after it: "you CANNOT edit anything after …".
func (g governing) suspends() int {
	const near = 3 // tokens from there to the verb
	for i, m := range g.cues {
		if m&unable == 0 {
			continue
		}
		n := g.lengthOf(i, unable)
		verb := i + n
		for verb < len(g.tokens) && negating[g.tokens[verb].text] {
			verb++
		}
		if verb >= len(g.tokens) || g.tokens[verb].mark || sensing[g.tokens[verb].text] {
			continue
		}
		last := g.tokens[i+n-1]
		if isLoud(g.s[last.from:last.to]) && len(last.text) > 1 {
			return verb
		}
		when := g.near(verb+1, len(g.tokens), timed)
		if when == none {
			if g.near(0, 1, timed) != none && g.near(verb+1, near+1, changes) != none { // "once you submit you cannot make any more changes"
				return verb
			}
			continue
		}
		if g.near(verb, near, going) != none && when < verb+near || g.near(when, len(g.tokens), ours) != none || g.asksOthers(g.tokens[when].from) || g.near(verb+1, near+1, act|files) < when && g.near(verb+1, near+1, act|files) != none && !g.hasAny(verb+1, when) || g.cues[verb]&changing != 0 && g.near(verb+1, near, universal) != none {
			return verb
		}
	}
	return none
}

// hasAny reports whether one of tokens makes a noun one of several: what holds for "a comment" is a fact.
func (g governing) hasAny(from, to int) bool {
	return slices.ContainsFunc(g.tokens[from:to], func(t token) bool { return indefinite[t.text] })
}

// asksOthers reports whether from a byte on those are named whose word binds: "until the reviewers have signed".
func (g governing) asksOthers(from int) bool {
	for _, c := range g.parts {
		if slices.ContainsFunc(c, func(w word) bool { return w.from >= from && w.class&who != 0 }) {
			return true
		}
	}
	return false
}

// divides finds an order to do all work in parts: "split large tasks into steps".
func (g governing) divides() int {
	const near = 4 // tokens to what is parted
	for i, m := range g.cues {
		if m&parting == 0 || !g.begins(i) {
			continue
		}
		if what := g.near(i+1, near, labors); what != none && g.near(what+1, len(g.tokens), within) != none && (sorts[g.tokens[i+2].text] || !demonstrative[g.tokens[i+1].text] && !single[g.tokens[i+1].text]) && !g.parts[g.clauseOf(i)].states() {
			return i
		}
	}
	return none
}

// states reports whether a clause has a verb that only tells how something is.
func (c clause) states() bool {
	return slices.ContainsFunc(c, func(w word) bool {
		return w.class&verb != 0 && w.use()&^(verb|common|ask|report) == 0 && w.class&work == 0
	})
}

// goesAlong finds an order that holds while the work goes on: "note your decisions as you go".
func (g governing) goesAlong() int {
	for i, m := range g.cues {
		if m&meanwhile != 0 && i > 1 && g.orderAt(i-1) != nil {
			return i - 1
		}
	}
	return none
}

// goesInSteps finds an order to work step by step.
func (g governing) goesInSteps() int {
	const close = 5 // tokens to how
	for i, m := range g.cues {
		if m&laboring == 0 || !g.begins(i) {
			continue
		}
		if how := g.near(i+1, close, stepwise); how != none && !slices.ContainsFunc(g.tokens[i+1:how], func(t token) bool { return pronouns[t.text] || demonstrative[t.text] }) {
			return i
		}
	}
	return none
}

// prepares finds an order to think before something is done: "plan before you code".
func (g governing) prepares() int {
	const close, far = 3, 3 // tokens from the order to the time, and from there to what is done
	for i, m := range g.cues {
		if m&thinking == 0 || !g.begins(i) {
			continue
		}
		when := g.near(i+1, close, timed)
		if when == none || when+1 >= len(g.tokens) || single[g.tokens[when+1].text] || indefinite[g.tokens[when+1].text] {
			continue
		}
		if next := g.tokens[when+1].text; doers[next] || strings.HasSuffix(next, "ing") || doingWhat[next] || g.tokens[when].text == "прежде" {
			return i
		}
	}
	return none
}

// explains finds an order to say what stands behind the work: "state your assumptions".
func (g governing) explains() int {
	const close = 3 // tokens from the order
	for i, m := range g.cues {
		if m&thoughts == 0 || i == 0 || !owning[g.tokens[i-1].text] {
			continue
		}
		if c := g.orderAt(i); c != nil && disclosing[c[0].text] && g.tokens[i].from < c[min(len(c), close)-1].to {
			return i
		}
	}
	return none
}

// prefers finds an order to put one thing before another: "prioritize clarity over speed".
func (g governing) prefers() int {
	for i, m := range g.cues {
		if m&ranked != 0 && g.begins(i) && i+2 < len(g.tokens) && g.near(i+2, len(g.tokens), before) != none {
			return i
		}
	}
	return none
}

// values finds which of two things is liked better, in a sentence without a verb: "clarity over speed".
func (g governing) values() int {
	const most = 4 // words before the one between the two
	for i, m := range g.cues {
		if m&quality == 0 || g.clauseOf(i) > 0 || i > most {
			continue
		}
		c := g.parts[0]
		if over := g.near(i+1, 3, before); over != none && over+1 < len(g.tokens) && !indefinite[g.tokens[over+1].text] && g.tokens[over+1].text != "the" && len(c) < 2*most+1 && !c.has(verb&^often|report|ask|must|should) {
			return i
		}
	}
	return none
}

// isToBe finds an order to be in some way at work: "be thorough".
func (g governing) isToBe() int {
	for i, m := range g.cues {
		if m&acting == 0 || i+1 >= len(g.tokens) || !g.begins(i) {
			continue
		}
		how := g.near(i+1, 3, manner)
		if how != none && (how+1 == len(g.tokens) || g.tokens[how+1].mark || inWhat[g.tokens[how+1].text]) {
			return i
		}
	}
	return none
}

// favors finds what is liked better, in a sentence without a verb: "window seats preferred".
func (g governing) favors() int {
	const most = 6 // words
	for i, m := range g.cues {
		c := g.parts[g.clauseOf(i)]
		if m&favored == 0 || len(c) > most {
			continue
		}
		first := c[0].from >= g.tokens[i].from && g.tokens[i].text != "if" && g.tokens[i].text != "si" && g.tokens[i].text != "se"
		if what := c.upTo(g.tokens[i].from); len(what) == 0 && (!first || len(g.parts) > 1) || what.has(verb&^often|report|article|ask|ban|order|task|must|should) {
			continue
		}
		if first && len(c) > 1 && !c[1:].has(verb|report|ask) {
			return i
		}
		end := i + g.lengthOf(i, favored)
		if end == len(g.tokens) || g.tokens[end-1].to >= c[len(c)-1].to || g.cues[end]&before != 0 {
			return i
		}
	}
	return none
}

// upTo returns the words of a clause before a byte.
func (c clause) upTo(at int) clause {
	n := slices.IndexFunc(c, func(w word) bool { return w.from >= at })
	if n < 0 {
		return c
	}
	return c[:n]
}

// replaces finds what is to be used in the place of something, in a sentence of these words only: "rg instead of grep".
func (g governing) replaces() int {
	c := g.parts[0]
	if len(c) < 3 || len(c) > 4 || !inPlace[c[1].text] || len(c) > 3 && !doingWhat[c[2].text] {
		return none
	}
	old := c[len(c)-1]
	if (c[0].class|old.class)&(report|article|it|verb|ask) != 0 || literal[c[0].text] || literal[old.text] || isCount(c[0].text) || old.class&often != 0 {
		return none
	}
	return 0
}

var (
	// whatsoever are the words before what somebody says.
	whatsoever = set("what|whatever|was|que|quello|что")
	// following are the orders to be guided by something.
	following = set("follow|obey|use|apply|befolge|beachte|suis|suivez|sigue|segui|siga|следуй|соблюдай")
	// conflicting are the verbs for instructions that do not fit each other.
	conflicting = set("conflict|conflicts|disagree|disagrees|contradict|contradicts|differ|differs|clash|clashes|widersprechen|widerspricht|contredit|contredisent|contradice|contradicen|contraddice|contradiz|противоречит|противоречат")
	// owning are the words for what is the agent's own.
	owning = set("your|deine|deinen|dein|tes|ta|ton|vos|votre|tus|tu|sus|su|tuo|tua|tue|tuoi|suas|sua|seu|seus|свои|своё|свой")
	// disclosing are the verbs for saying what somebody thinks.
	disclosing = set("show|state|give|list|name|explain|share|cite|disclose|describe|nenne|zeig|zeige|erkläre|gib|begründe|donne|donnez|montre|montrez|explique|expliquez|indique|di|muestra|explica|indica|da|cita|mostra|spiega|indica|dai|mostre|explique|indique|cite|покажи|объясняй|называй|указывай|приводи")
	// sorts are the words for all that is like something.
	sorts = set("kind|kinds|sort|sorts|type|types|art|genre|tipo|вид")
	// mine are the words before what the person who speaks has said.
	mine = set("my|meine|mes|mis|mie|minhas|мои")
	// inWhat are the words behind how somebody is to be, before more of it, or in what.
	inWhat = set("and|but|or|in|with|about|when|und|aber|bei|mit|im|beim|wenn|et|mais|dans|avec|quand|y|pero|en|con|cuando|e|ma|nel|nella|nei|nelle|quando|mas|em|na|no|com|и|но|в|с|please|bitte")
	// inPlace are the words between what is wanted and what is not.
	inPlace = set("instead of|rather than|statt|anstatt|anstelle|au lieu|plutôt que|en vez|en lugar|invece|al posto|anziché|em vez|ao invés|вместо")
	// literal are the values of programs, which stand in the place of others where one does not work.
	literal = set("null|nil|none|undefined|nan|true|false|empty|error|nothing|void|zero|blank|wrong|old|them|that|this")
	// demonstrative are the words for what was just said, or will be.
	demonstrative = set("project|user|user's|ci-dessus|ci-dessous|oben|unten|arriba|sopra|acima|abaixo|выше|ниже|these|this|those|my|our|following|below|above|diese|dieser|meine|folgenden|obigen|ces|cette|mes|suivantes|présentes|estas|esta|estos|este|mis|siguientes|queste|questa|questi|mie|seguenti|essas|essa|minhas|seguintes|эти|это|мои|следующие|данные")
	// sensing are the verbs for what somebody comes to know, or cannot.
	sensing = set("be|see|know|tell|guess|imagine|expect|find|get|have|hear|feel|notice|remember|das|es|sehen|wissen|voir|savoir|le|verlo|verla|ver|saberlo|saber|vederlo|vedere|sapere|ver|видеть|знать|увидеть")
)
