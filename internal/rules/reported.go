package rules

import (
	"slices"
	"strings"
)

// Constraints that bind the person who passes them on: "our ops team does not allow new daemons". What a program
// allows, or a document says, is a statement.

// constrains reports whether a clause says what those whose word binds the person forbid, or insist on, in it or in the clause
// behind it.
func (c clause) constrains(behind clause) bool {
	const near = 24 // words from whose word it is to the verb, or characters
	by := c.find(who)
	if by < 0 || c[0].class&ask != 0 || c[min(by, 2):by].has(verb) && !slices.ContainsFunc(c[:by], word.tells) || c[:by].relates() {
		return false
	}
	for i := by + 1; i < len(c) && i <= by+near; i++ {
		switch w := c[i]; {
		case relative[w.text] && i > by+1 || w.class&joins != 0 && w.class&filler == 0:
			return false
		case w.class&deny != 0, w.class&ban != 0 && strings.HasPrefix(w.text, "we "): // "under our license we cannot …"
			return true
		case w.text == "not to" && slices.ContainsFunc(c[:by], word.tells): // "told by the auditors not to"
			return true
		case w.class&grant != 0 && c.denies(by+1, i):
			return true
		case wanting[w.text]:
			return slices.ContainsFunc(c[i:], func(w word) bool { return unmoved[w.text] })
		case w.class&demand != 0:
			return c[i+1:].isDemanded() || i+1 == len(c) && behind.isDemanded()
		}
	}
	return false
}

// tells reports whether a word, or the last one of a phrase, is a verb with which somebody was told what to do.
func (w word) tells() bool { return telling[w.text[strings.LastIndexByte(w.text, ' ')+1:]] }

// denies reports whether the verb at a position is denied by a word before it, from a position on, or shortly behind it.
func (c clause) denies(from, verb int) bool {
	const behind = 3 // "erlaubt uns leider nicht"
	for i := from; i < len(c) && i <= verb+behind; i++ {
		if i == verb {
			continue
		}
		if w := c[i]; w.class&(not|lack|ban) != 0 && w.class&(touch|order) == 0 || strings.HasSuffix(w.text, "n't") || negating[w.text] || strings.HasPrefix(w.text, "keine ") {
			return true
		}
	}
	return false
}

// isDemanded reports whether what somebody insists on is how the work is done, rather than a part of a product.
func (c clause) isDemanded() bool {
	for _, w := range c {
		if w.class&(not|lack|work|lasts|ban) != 0 || w.class&firm != 0 || everything[w.text] {
			return true
		}
	}
	return false
}

// spares reports whether an order says what must not be done on the way: "speed it up without adding an index".
func (c clause) spares() bool {
	if c[0].class&(report|it|article|ask|when|you|verb|must|should|wish|lack|ban|purpose|plain) != 0 && c[0].class&(task|habit|bare) == 0 || c.has(must|should) {
		return false
	}
	for i := 1; i < len(c); i++ {
		w := c[i]
		if w.class&often != 0 && strings.HasPrefix(w.text, "without ") {
			return true
		}
		if w.class&lack != 0 && w.class&not != 0 && i+1 < len(c) && (c[i+1].class&touch != 0 || sparing[c[i+1].text]) {
			return true
		}
	}
	return false
}

// exempts reports whether a clause allows, or orders, to change all but something: "you can edit anything except the lock file".
func (c clause) exempts(behind clause) bool {
	if !c.has(touch|allow) || c[0].class&report != 0 {
		return false
	}
	if len(behind) > 1 && excepting[behind[0].text] && slices.ContainsFunc(c, func(w word) bool { return everything[w.text] || w.text == "anything" }) {
		return true
	}
	for i := 1; i+1 < len(c); i++ {
		if excepting[c[i].text] && (everything[c[i-1].text] || i > 1 && everything[c[i-2].text] || c[i-1].text == "anything" || c[i-1].class&you != 0) {
			return true
		}
	}
	return false
}

// halts reports whether a clause says when to stop: "STOP if more than five files change". before and behind are the clauses around it.
func (c clause) halts(before, behind clause) bool {
	if !halting[c[0].text] && c[0].text != "stop and" {
		return false
	}
	next := c[1:]
	if len(next) == 0 || c[0].text == "stop and" || next[0].class&joins != 0 {
		if len(before) > 2 && (conditional[before[0].text] || conditional[before[0].text+" "+before[1].text] || before[0].class&when != 0) { // "if it takes too long, stop"
			return true
		}
		next = behind
	}
	if len(next) < 2 || !conditional[next[0].text] && !conditional[next[0].text+" "+next[1].text] && next[0].class&when == 0 {
		return false
	}
	for _, w := range next[1:] {
		if finished[w.text] {
			return false
		}
	}
	return true
}

// spends reports whether a clause says how much money may be spent: "spend at most $5", "the total budget is capped at 900 euros".
// apart: it is set apart from its sentence by a bracket.
func (c clause) spends(apart bool) bool {
	head := c[0]
	paid := c.find(pay)
	if paid < 0 && !apart {
		return false
	}
	if (owned[head.text] && paid >= 0 && (budgeted[c[paid].text] || paid == 0) || head.class&article != 0 && paid == 1 && budgeted[c[paid].text]) && paid >= 0 && len(c) > paid+2 && c[paid+1:].hasMoney() && !told[c[paid+1].text] { // "my budget is 300 euros"
		return true
	}
	if paid > 1 && head.class&article != 0 && spent[c[paid].text] && !c.has(must|should) || paid > 0 && paid < 3 && head.class&report != 0 && !c.denies(0, paid) {
		return false
	}
	if paid >= 0 && spending[c[paid].text] && paid+2 < len(c) && (bounding[c[paid+1].text] || bounding[c[paid+1].text+" "+c[paid+2].text]) && c[paid+2:].measured() {
		return true
	}
	if paid < 0 && !apart || head.class&report != 0 && head.class&must == 0 && !c.has(pay) || head.class&ask != 0 || paid != 0 && head.class&(task|habit|bare) != 0 && head.class&scope == 0 {
		return false
	}
	for i, w := range c {
		next := i + 1 // behind the words that bound
		if next < len(c) && bounding[w.text+" "+c[next].text] {
			next++
		} else if !bounding[w.text] {
			continue
		}
		if c[next:].isMoney() || bounds[w.text] && c[max(i-3, 0):i].hasMoney() {
			return paid >= 0 || i == 0 || next == len(c) || per[c[next].text] || c[0].class&not != 0
		}
	}
	return false
}

// numbered reports whether a clause has a word that begins with a digit, or the sign of a currency.
func (c clause) numbered() bool {
	return slices.ContainsFunc(c, func(w word) bool {
		return w.text != "" && (w.text[0] >= '0' && w.text[0] <= '9' || w.text[0] == '$' || strings.HasPrefix(w.text, "€") || strings.HasPrefix(w.text, "£"))
	})
}

// hasMoney reports whether a clause names an amount of money.
func (c clause) hasMoney() bool {
	for i := range c {
		if c[i:].isMoney() {
			return true
		}
	}
	return false
}

// isMoney reports whether the first words of a clause are an amount of money.
func (c clause) isMoney() bool {
	const near = 3 // words of an amount
	c = c[:min(len(c), near)]
	for i, w := range c {
		if len(valuesOf(strings.Trim(w.text, "$€£¥"))) > 0 {
			return strings.ContainsAny(w.text, "$€£¥") || i+1 < len(c) && currencies[c[i+1].text]
		}
	}
	return false
}

var (
	// wanting are verbs of a wish of others.
	wanting = set("want|wants|will|wollen|veut|quiere|vuole|quer|хочет")
	// telling are the verbs with which somebody was told what to do.
	telling = set("told|asked|instructed|ordered|warned|advised")
	// negating are words that deny, and stand in no class.
	negating = set("pas|plus|won't|wouldn't|doesn't|don't|hasn't|haven't|cannot|can't|no|não|non|не|nicht|keine|kein|keinen")
	// everything are the words for all of the work.
	everything = set("everything|nothing|all of it|alles|nichts|tout|rien|todo|nada|tudo|tutto|niente|всё|все|ничего|全部|所有|一切|すべて|全て|모든|모두")
	// excepting are the words before what is left out.
	excepting = set("except|except for|but|other than|apart from|besides|außer|bis auf|sauf|excepté|excepto|salvo|menos|tranne|eccetto|exceto|кроме")
	// sparing are the verbs behind "without" for what would come about on the way.
	sparing = set("using|adding|introducing|cancelling|canceling|losing|spending|asking|exceeding|utiliser|ajouter|usar|añadir|agregar|usare|aggiungere|adicionar|acrescentar")
	// halting are the words that tell somebody to stop.
	halting = set("stop|halt|abort|stopp|stoppe|brich ab|arrête|arrête-toi|arrêtez|arrêtez-vous|para|detente|párate|pare|fermati|стоп|остановись|остановитесь")
	// conditional are the words before a condition.
	conditional = set("dès qu|if|when|once|as soon as|whenever|si|dès que|quand|lorsque|wenn|falls|sobald|sofern|cuando|en cuanto|se|quando|assim que|appena|если|когда|как только")
	// finished are the words for the end of the work, at which anybody stops.
	finished = set("done|finished|ready|complete|completed|fertig|terminé|fini|listo|terminado|pronto|finito|готово")
	// bounding are the words before the most that something may be.
	bounding = set("最多|不超过|至多|最大|以内|최대|at most|no more than|not more than|more than|max|maximum|under|below|up to|within|at or under|at or below|not over|over|capped at|limited to|less than|not exceed|exceed|cap|höchstens|maximal|nicht mehr als|mehr als|unter|bis zu|maximum|au plus|au maximum|moins de|plus de|jusqu'à|como máximo|máximo|menos de|más de|hasta|al massimo|massimo|meno di|più di|fino a|no máximo|mais de|até|максимум|не более|не больше|не дороже|дороже|до")
	// owned are the words before a budget that the person sets.
	owned = set("my|our|the|your|you|mein|unser|das|mon|notre|mi|nuestro|il mio|meu|nosso|мой|наш|my budget|our budget|the budget is|our budget is")
	// spending are the verbs for what somebody does with money.
	spending = set("spend|spending|pay|paying|ausgeben|zahlen|dépenser|payer|gastar|pagar|spendere|pagare|потратить|тратить|платить")
	// told are the verbs for what was.
	told = set("was|were|had|war|était|era|was about|был")
	// spent are the verbs for what something costs, which is a fact.
	spent = set("cost|costs|kostet|kosten|coûte|coûtent|cuesta|costa|custa|стоит")
	// currencies are the words for what money is counted in.
	currencies = set("元|块|欧|美|円|ユ|원|만|dollar|dollars|usd|euro|euros|eur|pounds|gbp|yen|chf|francs|bucks|cents|€|$|£|reais|pesos|рублей|руб|евро|долларов")
)
