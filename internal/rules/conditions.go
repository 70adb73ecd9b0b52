package rules

import (
	"slices"
	"strings"
)

// What an agent does again and again sets a rule with the order that follows from it: "if you call a tool and it hangs, try another
// one". What those do who use a program sets none.

// generalizes reports whether a sentence begins with a condition about any one of the things that an agent works with, and orders
// what is to be done then.
func generalizes(parts []clause) bool {
	c := parts[0].bare()
	if len(parts) < 2 || len(c) == 0 {
		return false
	}
	if purposes[c[0].text] || c[0].text == "bei" || c[0].text == "при" {
		return c.isOfSome() && parts[1].bare().commands()
	}
	if len(c) < 3 || !conditional[firstOf(c[0].text)] && c[0].class&when == 0 {
		return false
	}
	doer := c.tellsDoer()
	if doer && parts[len(parts)-1].bare().inquires() {
		return true
	}
	if doer && c.isTempting() {
		return slices.ContainsFunc(parts[1:], func(next clause) bool { b := next.bare(); return len(b) > 1 && b[0].class&ban != 0 })
	}
	named, bare := c.namesSome()
	if !named && !bare {
		return false
	}
	for _, next := range parts[1:] {
		next = next.bare()
		if len(next) == 0 || next[0].class&(report|ask) != 0 && next[0].class&ban == 0 {
			continue
		}
		if next.triesAnother() {
			return named && doer || bare
		}
		if (named || bare && c[0].text == "если") && doer && next.commands() && !next.storesIt() {
			return true
		}
	}
	return false
}

// namesSome reports whether a condition is about one of several things that an agent works with, and whether it names one without an
// article.
func (c clause) namesSome() (named, bare bool) {
	const near = 3 // words of the noun that is named
	if slices.ContainsFunc(c[1:], func(w word) bool { return operating[w.text] }) {
		return false, false
	}
	named = indefinite[c[1].text] && c[0].class&when != 0 && strings.Count(c[0].text, " ") > 1 // "si tu ajoutes une …"
	for i, w := range c {
		if w.class&(thing|work) == 0 && cueOf(w.text)&(act|messaging) == 0 {
			continue
		}
		before := c[max(i-near, 0):i]
		named = named || before.isAnyOne()
		bare = bare || i > 0 && !before.has(article)
	}
	return named, bare
}

// inquires reports whether a clause orders to ask, or to say that something is not known: "ask", "say so".
func (c clause) inquires() bool {
	return len(c) == 1 && lone[c[0].text] || len(c) == 2 && c[0].text == "say" && c[1].text == "so"
}

// isOfSome reports whether a clause names some of the things of the work by what they are like: "for large changes".
func (c clause) isOfSome() bool {
	const most = 4 // words
	last := c[len(c)-1]
	return len(c) > 2 && len(c) <= most && !c[1:].has(article|you|verb&^work) && (cueOf(last.text)&(labors|changes|files) != 0 || last.class&(work|thing) != 0 && strings.HasSuffix(last.text, "s"))
}

// isTempting reports whether a condition is that somebody wants to do something.
func (c clause) isTempting() bool {
	const near = 4 // words to the verb
	return slices.ContainsFunc(c[:min(len(c), near)], func(w word) bool { return desiring[w.text] }) && len(c) > near
}

// isAnyOne reports whether words before a noun make it one of several that is not known.
func (c clause) isAnyOne() bool {
	for _, w := range c {
		if indefinite[w.text] || w.text == "any" || w.text == "another" {
			return true
		}
	}
	return false
}

// tellsDoer reports whether the subject of a condition is who is told, in a language that need not say so as well: "si ejecutas".
func (c clause) tellsDoer() bool {
	if doers[c[1].text] || doers[c[0].text[strings.LastIndexByte(c[0].text, ' ')+1:]] {
		return true
	}
	if c[0].text == "если" && len(c) > 1 && (needed[c[1].text] || strings.HasSuffix(c[1].text, "шь")) {
		return true
	}
	if c[0].class&when != 0 && indefinite[c[1].text] && slices.ContainsFunc(strings.Fields(c[0].text), func(w string) bool { return doers[w] }) { // "si tu ajoutes une …"
		return true
	}
	return dropping[c[0].text] && !dropping[c[1].text] && c[1].class&(article|report|it|you|thing|scope) == 0
}

// commands reports whether a clause behind a condition is an order.
func (c clause) commands() bool {
	if len(c) == 0 {
		return false
	}
	if len(c) == 1 { // "préviens-moi", "documentala"
		return asking[c[0].text] || slices.ContainsFunc(clitics, func(end string) bool {
			return len(c[0].text) > len("déjalo") && c[0].class == 0 && strings.HasSuffix(c[0].text, end)
		})
	}
	if c.addressesLater() {
		return true
	}
	return c.orders() || c.follows() || c[0].class&(ban|order|habit|bare|task) != 0 || strings.HasPrefix(c[0].text, "try ")
}

// triesAnother reports whether a clause orders to take another one.
func (c clause) triesAnother() bool {
	const short = 5 // words of the order
	if len(c) < 2 || len(c) > short || c[0].class&(report|article|it) != 0 {
		return false
	}
	for _, w := range c[1:] {
		if others[w.text] {
			return true
		}
	}
	return false
}

// storesIt reports whether a clause behind a condition says where a program puts what the condition is about: "add it to the history".
func (c clause) storesIt() bool {
	return len(c) > 4 && c[0].class&task != 0 && (pronouns[c[1].text] || c[1].text == "them") && into[c[2].text] && c[3].class&article != 0 && !c[3:].has(work|you|often)
}

// compares reports whether words behind "nothing" say what all that is wanted is not: "more expensive".
func (c clause) compares() bool {
	const least = 2 // words
	if len(c) > 0 && doingWhat[c[0].text] {
		c = c[1:]
	}
	if len(c) == 1 { // "nichts Schwereres"
		return slices.ContainsFunc(higher, func(end string) bool { return strings.HasSuffix(c[0].text, end) })
	}
	if len(c) > 1 && c[1].text == "than" { // "nothing less than a rewrite"
		return false
	}
	return len(c) >= least && comparing[c[0].text] && c[1].class&(purpose|verb|it|report) == 0
}

var (
	// needed are the words for what somebody needs.
	needed = set("нужен|нужна|нужно|нужны")
	// lone are the orders for when somebody does not know what to do.
	lone = set("ask|frag|frage|demande|pregunta|chiedi|pergunte|спроси")
	// desiring are the verbs for what somebody would do.
	desiring = set("like|like to|want|want to|feel like|tempted|tempted to|would like|would like to|you'd like to|möchtest|willst|veux|voudrais|quieres|vuoi|quer|хочешь")
	// doers are the words for who is told, at the end of what begins a condition.
	doers = set("dir|ti|te|тебе|you|you'd|du|tu|vous|ты|вы|você")
	// asking are the orders that need no object.
	asking = set("tell me|let me know|say so|report back|melde dich|sag bescheid|sag es|avísame|dime|avísanos|avvisami|dimmi|avise-me|diga-me|скажи|предупреди|ask|wait|frag|frage|demande|attends|pregunta|espera|chiedi|aspetta|pergunte|espere|спроси|подожди")
	// dropping are the words before a condition in languages that need not say its subject.
	dropping = set("si|se|cuando|quando")
	// others are the words for another one.
	others = set("another|different|other|anderen|andere|anderes|autre|otro|otra|altro|altra|outro|outra|другую|другой|другое|иначе")
	// operating are the verbs for what somebody does with a program.
	operating = set("click|press|tap|hover|drag|drop|scroll|type|enter|select|choose|upload|drückst|klickst|eingibst|auswählst|cliques|appuies|saisis|sélectionnes|pulsas|haces|introduces|seleccionas|clicchi|premi|inserisci|clicar|clica|digita|нажимаешь|вводишь|выбираешь")
	// leisure are the words for what somebody may have for something else.
	leisure = set("time|zeit|lust|kurz|temps|tiempo|tempo|время")
	// clitics are the ends of orders in which the object is a part of the word.
	clitics = strings.Split("-moi|-nous|-le|-la|-les|-lui|-en|-a|-o|-as|-os|-me|ala|alo|ela|elo|ila|ilo|alos|alas|elas|elos|ame|eme|ami|emi", "|")
	// into are the words before where something is put.
	into = set("to|into|in|onto|under")
	// higher are the ends of words that say by themselves that one thing is more than another.
	higher = []string{"eres", "ее", "же"}
	// comparing are the words with which one thing is said to be more than another.
	comparing = set("de plus|de más|di più|de mais|more|less|plus|moins|más|menos|più|meno|mais|дороже|больше")
	// feasibly are the verbs for what somebody can do.
	feasibly = set("puedes|podemos|puede|puoi|podes|peux")
)
