package rules

import (
	"slices"
	"strings"
)

// Limits of what an agent changes, and of what it does at once.

// limitsChange finds an order to change little: "make the minimal changes", "keep the diff as small as possible".
func (g governing) limitsChange() int {
	const close = 4 // tokens between how small and what
	for i, m := range g.cues {
		if m&changes == 0 {
			continue
		}
		for k := max(i-close, 0); k <= min(i+close+1, len(g.cues)-1); k++ {
			if g.cues[k]&(small|little) == 0 || g.parted(min(i, k), max(i, k)) || k > i && g.tokens[i].text == "fix" || i+1 < len(g.tokens) && g.tokens[i+1].text == "from" || k > 0 && former[g.tokens[k-1].text] { // "fix the few …", "the minimal fix from …"
				continue
			}
			c := g.orderAt(i)
			if c == nil || regarding[c[0].text] || g.cues[k]&small == 0 && c[0].class&order == 0 && !g.isMeans(k) {
				continue
			}
			return i
		}
	}
	return none
}

// isMeans reports whether a token stands behind the word for by which means: "with a small change".
func (g governing) isMeans(at int) bool {
	const close = 2 // tokens
	return slices.ContainsFunc(g.tokens[max(at-close, 0):at], func(t token) bool { return with[t.text] })
}

// limitsAll finds an order to do something as little as it can be done: "touch as few files as possible".
func (g governing) limitsAll() int {
	const close = 4 // tokens from how little to how far
	for i, m := range g.cues {
		if m&small == 0 {
			continue
		}
		far := g.near(i+1, close, utmost) != none || i > 0 && (g.cues[i-1]|g.cues[max(i-2, 0)])&utmost != 0
		needed := g.near(i+1, 1, enough) != none
		if c := g.orderAt(i); c != nil && (far || needed && cueOf(c[0].text)&changing != 0) && !regarding[c[0].text] && !creating[c[0].text] {
			return i
		}
	}
	return none
}

// leavesRest finds an order behind which all else is left: "change the title, nothing else".
func (g governing) leavesRest() int {
	for i, m := range g.cues {
		if m&alike == 0 || i+g.lengthOf(i, alike) < len(g.tokens) && !g.tokens[i+g.lengthOf(i, alike)].mark {
			continue
		}
		if k := g.clauseOf(i); k > 0 && g.parts[k-1].bare().orders() && len(g.parts[k].bare()) < 3 {
			return i
		}
	}
	return none
}

// limitsFiles finds an order to change files of one kind only, which is named by what it is not: "edits to non-generated files".
func (g governing) limitsFiles() int {
	for i, m := range g.cues {
		if m&files == 0 || i == 0 {
			continue
		}
		other := strings.HasPrefix(g.tokens[i-1].text, "non-") || strings.HasPrefix(g.tokens[i-1].text, "nicht-") || strings.HasPrefix(g.tokens[i].text, "nicht-") ||
			i+2 < len(g.tokens) && othersThan[g.tokens[i+1].text+" "+g.tokens[i+2].text]
		if !other {
			continue
		}
		if c := g.orderAt(i); c != nil && !regarding[c[0].text] && g.near(0, len(g.tokens), changes|changing) != none {
			return i
		}
	}
	return none
}

// limitsTo finds an order to change only something: "change only main.tf", "fass außer main.tf nichts an".
func (g governing) limitsTo() int {
	for i, m := range g.cues {
		if m&changing != 0 && i > 0 && i+1 < len(g.tokens) && alone[g.tokens[i-1].text] && g.begins(i-1) && !g.tokens[i+1].mark && !happening[g.tokens[i].text] { // "only alter …"
			return i
		}
		if m&changing == 0 || i+2 >= len(g.tokens) || !g.begins(i) || len(g.parts[g.clauseOf(i)].bare()) < 2 {
			continue
		}
		only := alone[g.tokens[i+1].text] && !g.tokens[i+2].mark
		if c := g.parts[g.clauseOf(i)]; !only && (!slices.ContainsFunc(c, func(w word) bool { return excepting[w.text] }) || !slices.ContainsFunc(c, func(w word) bool { return nothing[w.text] })) {
			continue
		}
		return i
	}
	return none
}

// counts finds how often the agent does something: "make AT LEAST ONE call", "at most two questions per message".
func (g governing) counts() int {
	const near = 2 // tokens between the number and what it counts
	for i, m := range g.cues {
		if m&amount == 0 {
			continue
		}
		n := g.lengthOf(i, amount)
		if c := g.parts[g.clauseOf(i)]; i+n < len(g.tokens) && g.near(i+n, 1, times) != none {
			if who := c.find(you); who >= 0 && who+1 < len(c) && bidding[firstOf(c[who+1].text)] && g.tokens[i].from > c[who].from {
				return i
			}
			continue
		}
		if i+n+1 >= len(g.tokens) || !isCount(g.tokens[i+n].text) {
			continue
		}
		what := g.near(i+n+1, near+1, act|messaging|changes)
		if what == none {
			continue
		}
		c := g.parts[g.clauseOf(i)]
		loud := isLoud(g.s[g.tokens[i].from:g.tokens[i+n-1].to])
		switch who, order := c.find(you), g.orderAt(what); {
		case c.bare()[0].class&(report|article) != 0 && !loud:
		case order != nil && !c.measuresRate() && (g.cues[what]&(act|changes) != 0 || c.shares()):
			return i
		case who >= 0 && (loud || c[who:].has(must|should) || who+1 < len(c) && bidding[c[who+1].text]):
			return i
		case loud && g.parts[0].has(you), !c.has(verb|report|must|should) && c.shares():
			return i
		}
	}
	return none
}

// countsOne finds what is done one by one: "une seule commande à la fois".
func (g governing) countsOne() int {
	const near = 2 // tokens to what is done
	for i, m := range g.cues {
		if m&sole == 0 {
			continue
		}
		what := g.near(i+g.lengthOf(i, sole), near, act|messaging)
		if !g.begins(i) && g.orderAt(i) == nil {
			continue
		}
		if what != none && (g.near(what+1, 1, atOnce) != none || g.parts[g.clauseOf(i)].shares()) && !g.parts[g.clauseOf(i)].has(verb|report) {
			return i
		}
	}
	return none
}

// goesOneByOne finds how many of something are done at a time, set apart in a clause of its own: "un file alla volta".
func (g governing) goesOneByOne() int {
	const most = 5 // words
	for i, m := range g.cues {
		if m&atOnce == 0 {
			continue
		}
		c := g.parts[g.clauseOf(i)]
		if end := g.tokens[i+g.lengthOf(i, atOnce)-1]; len(c) > 1 && len(c) <= most && end.to >= c[len(c)-1].to && c[0].from < g.tokens[i].from && (isCount(c[0].text) || isCount(c[1].text) && g.orderAt(i) != nil) {
			return i
		}
	}
	return none
}

// isCount reports whether a word is a number, or stands for one thing.
func isCount(word string) bool {
	return values[word] != "" || indefinite[word] || ones[word] || len(valuesOf(word)) > 0
}

// isLoud reports whether words are written in capitals.
func isLoud(words string) bool {
	return words == strings.ToUpper(words) && words != strings.ToLower(words)
}

// shares reports whether a clause says what something is done for each of: "per message".
func (c clause) shares() bool {
	for i := 0; i+1 < len(c); i++ {
		if per[c[i].text] && (c[i+1].class&(work|thing) != 0 || cueOf(c[i+1].text)&(act|messaging) != 0 || turns[c[i+1].text]) {
			return true
		}
	}
	return false
}

// measuresRate reports whether a clause says how fast a program does something: "five requests per second".
func (c clause) measuresRate() bool {
	for i := 0; i+1 < len(c); i++ {
		if per[c[i].text] && (rates[c[i+1].text] || users[c[i+1].text]) {
			return true
		}
	}
	return false
}

var (
	// regarding are the verbs for what is done with changes that are there.
	regarding = set("show|show me|review|explain|describe|list|check|look at|look|summarize|summarise|see|find|read|compare|open|revert|undo|delete|remove|copy|move|rename|download|count|push|merge|commit|zeige|zeig|lösche|entferne|erkläre|liste|montre|affiche|supprime|explique|muestra|borra|elimina|explica|mostra|cancella|spiega|apague|explique|mostre|покажи|удали|объясни")
	// othersThan are the words behind files for what they are not.
	othersThan = set("other than|autres que|que no|que não|che non|außer den|außer denen")
	// ones are the words for one thing that stand in no other table.
	ones = set("single|einen|einem|einer|одного|одной|одну|один|одна|двух|трёх|трех")
	// bidding are the words with which somebody says what the agent does from then on.
	bidding = set("get|only|will|can|may|shall|will think|wirst|peux|vas|puedes|puoi|pode|vai")
	// turns are the words for the parts of a conversation.
	turns = set("attività|tarea|tâche|aufgabe|task|задачу|tarefa|respuesta|resposta|risposta|antwort|réponse|ответ|turn|turns|round|message|reply|session|zug|runde|nachricht|tour|message|turno|mensaje|messaggio|mensagem|раз|ход|сообщение")
	// rates are the words for the time that a rate is measured by.
	rates = set("page|screen|row|user|seite|écran|página|pagina|страницу|second|minute|hour|day|sekunde|minute|stunde|seconde|heure|segundo|minuto|hora|secondo|ora|секунду|минуту|час")
)
