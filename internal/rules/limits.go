package rules

import "strings"

// What an agent is to keep to while it works: how much it changes and does at once, what goes before what, and what it may not do
// for a time. The words of all languages that part words by spaces stand in one table, as few of them mean something else in another.

// cue is what a word may show of such a rule, in bits.
type cue uint32

const (
	small     cue = 1 << iota // how small: "minimal", "fewest"
	little                    // the same, where the order says that it is a limit: "small"
	changes                   // what an agent makes of what is there: "changes", "diff"
	files                     // what it makes them to
	changing                  // an order to change something
	amount                    // before a number: "at most", "exactly"
	act                       // what an agent does, and can be counted: "command", "question"
	messaging                 // what is said to it, or comes back: "message", "error"
	guiding                   // what it is guided by: "instructions"
	ranking                   // says that one goes before another: "override"
	universal                 // leaves nothing out: "any", "all others"
	unable                    // says what somebody cannot do
	timed                     // before the time or the condition of it: "until", "after"
	ours                      // the person who speaks
	going                     // goes on with the work, or hands it in: "continue", "push"
	parting                   // an order to do something in parts
	within                    // before the parts: "into"
	labors                    // what the work is made of: "tasks"
	meanwhile                 // while the work goes on: "as you go"
	ranked                    // an order to put one thing before another: "prioritize"
	before                    // stands between the two: "over"
	manner                    // how somebody works: "thorough"
	acting                    // an order to be in some way: "be"
	favored                   // says at the end that something is liked better: "preferred"
	utmost                    // as far as it can be done: "as possible"
	sole                      // one and no more, of what is done at a time: "a single"
	atOnce                    // how much is done before the next: "at a time"
	laboring                  // an order to work in some way: "proceed"
	stepwise                  // in small parts: "step by step"
	quality                   // what is liked of work: "clarity"
	alike                     // at the end: and all else is left
)

// found is where a rule was found, as the number of a token; none says that it was not.
const none = -1

// governs returns the number of the clause in which a sentence that is no question says what an agent is to keep to.
func (x *lexicon) governs(s string, tokens []token, parts []clause) int {
	if x.chars {
		if governsAsian(s) {
			return 0
		}
		return none
	}
	marks, seen := cuesOf(tokens)
	g := governing{s, tokens, marks, parts}
	for _, k := range []struct {
		needs cue
		finds func(governing) int
	}{
		{changes, governing.limitsChange},
		{small | utmost, governing.limitsAll},
		{alike, governing.leavesRest},
		{files, governing.limitsFiles},
		{changing, governing.limitsTo},
		{amount, governing.counts},
		{sole | act, governing.countsOne},
		{laboring | stepwise, governing.goesInSteps},
		{quality | before, governing.values},
		{ranking, governing.ranks},
		{unable, governing.suspends},
		{parting | labors, governing.divides},
		{meanwhile, governing.goesAlong},
		{ranked | before, governing.prefers},
		{acting | manner, governing.isToBe},
		{favored, governing.favors},
		{0, governing.replaces},
	} {
		if seen&k.needs != k.needs {
			continue
		}
		if at := k.finds(g); at != none {
			return g.clauseOf(at)
		}
	}
	return none
}

// governing is a sentence in which such a rule is looked for.
type governing struct {
	s      string
	tokens []token
	cues   []cue // of each token, the first of its phrase
	parts  []clause
}

// cuesOf returns the cues of tokens, and all of them together. A phrase has its cue at its first word.
func cuesOf(tokens []token) (marks []cue, seen cue) {
	marks = make([]cue, len(tokens))
	for i, t := range tokens {
		for _, p := range cueing[t.text] {
			if p.begins(tokens[i:]) {
				marks[i] |= p.cue
			}
		}
		seen |= marks[i]
	}
	return marks, seen
}

// cued is a phrase with its cue.
type cued struct {
	words []string
	cue   cue
}

func (p cued) begins(tokens []token) bool {
	if len(p.words) > len(tokens) {
		return false
	}
	for i, w := range p.words {
		if tokens[i].text != w {
			return false
		}
	}
	return true
}

// clauseOf returns the number of the clause that a token stands in.
func (g governing) clauseOf(at int) int {
	for i, c := range g.parts {
		if g.tokens[at].from < c[len(c)-1].to {
			return i
		}
	}
	return len(g.parts) - 1
}

// near returns the first of the tokens from one on, at most so many, that has one of cues; none behind a mark but a comma. What
// stands in brackets is passed over.
func (g governing) near(from, most int, of cue) int {
	within := 0 // brackets
	for i := from; i < len(g.tokens) && i < from+most; i++ {
		if g.tokens[i].mark {
			switch g.tokens[i].text {
			case "(", "（":
				within++
			case ")", "）":
				within = max(within-1, 0)
			case ",", "，":
			default:
				return none
			}
		} else if within == 0 && g.cues[i]&of != 0 {
			return i
		}
	}
	return none
}

// orderAt returns the words of the clause of a token, without fillers, where it is an order, or goes on with one behind a comma; nil
// otherwise. An order may be given as what somebody's task is, and may have a verb that is not in the tables.
func (g governing) orderAt(at int) clause {
	k := g.clauseOf(at)
	for i := k; i >= max(k-1, 0); i-- {
		c := g.parts[i].bare()
		if len(c) < 2 {
			continue
		}
		if rest := c.assigned(); rest != nil {
			return rest
		}
		if noting[g.parts[i][0].text] && c[0].isYours() { // "note your decisions"
			return g.parts[i]
		}
		if c[0].class&(order|habit|bare|task|ban|firm) != 0 && c[0].class&(report|ask) == 0 {
			return c
		}
		if c[0].use()&^(filler|common|joins|verb) != 0 || c[0].class&verb != 0 && c[0].class&touch == 0 || i > 0 && g.parts[i-1].bare().orders() {
			continue
		}
		if cueOf(c[0].text)&(changes|changing) == changes { // "minimal changes", as a title
			continue
		}
		next := c[1]
		if next.class&(article|scope|it|lack) != 0 || next.isYours() || next.class&(thing|work) != 0 && next.class&verb == 0 || cueOf(next.text)&(small|little|labors|amount) != 0 {
			return c
		}
	}
	return nil
}

// assigned returns what somebody's task is of a clause that says so: "your task is to …"; nil otherwise.
func (c clause) assigned() clause {
	const near = 4 // words to what it is
	if len(c) < 4 || !c[0].isYours() || !tasks[c[1].text] {
		return nil
	}
	for i := 2; i+1 < len(c) && i <= near; i++ {
		if c[i].class&purpose != 0 || doingWhat[c[i].text] {
			return c[i+1:]
		}
	}
	return nil
}

// limitsChange finds an order to change little: "make the minimal changes", "keep the diff as small as possible".
func (g governing) limitsChange() int {
	const close = 4 // tokens between how small and what
	for i, m := range g.cues {
		if m&changes == 0 {
			continue
		}
		for k := max(i-close, 0); k <= min(i+close+1, len(g.cues)-1); k++ {
			if g.cues[k]&(small|little) == 0 || g.parted(min(i, k), max(i, k)) {
				continue
			}
			c := g.orderAt(i)
			if c == nil || regarding[c[0].text] || g.cues[k]&small == 0 && c[0].class&order == 0 {
				continue
			}
			return i
		}
	}
	return none
}

// parted reports whether a mark but a comma stands between two tokens.
func (g governing) parted(from, to int) bool {
	for _, t := range g.tokens[from:to] {
		if t.mark && t.text != "," {
			return true
		}
	}
	return false
}

// limitsAll finds an order to do something as little as it can be done: "touch as few files as possible".
func (g governing) limitsAll() int {
	const close = 4 // tokens from how little to how far
	for i, m := range g.cues {
		if m&small == 0 || g.near(i+1, close, utmost) == none && (i == 0 || g.cues[i-1]&utmost == 0) {
			continue
		}
		if c := g.orderAt(i); c != nil && !regarding[c[0].text] && !creating[c[0].text] {
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

// limitsFiles finds an order to change files of one kind only, which is named by what it is not: "changes to non-test files".
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

// limitsTo finds an order to change only something: "change only main.tf", "ändere nur …".
func (g governing) limitsTo() int {
	for i, m := range g.cues {
		if m&changing == 0 || i+2 >= len(g.tokens) || !alone[g.tokens[i+1].text] || g.tokens[i+2].mark {
			continue
		}
		if c := g.parts[g.clauseOf(i)].bare(); len(c) > 1 && c[0].from == g.tokens[i].from {
			return i
		}
	}
	return none
}

// counts finds how often the agent does something: "run AT LEAST ONE command", "at most two questions per message".
func (g governing) counts() int {
	const near = 2 // tokens between the number and what it counts
	for i, m := range g.cues {
		if m&amount == 0 {
			continue
		}
		n := g.lengthOf(i, amount)
		if i+n+1 >= len(g.tokens) || !isCount(g.tokens[i+n].text) {
			continue
		}
		what := g.near(i+n+1, near+1, act|messaging)
		if what == none {
			continue
		}
		c := g.parts[g.clauseOf(i)]
		loud := isLoud(g.s[g.tokens[i].from:g.tokens[i+n-1].to])
		switch who, order := c.find(you), g.orderAt(what); {
		case c.bare()[0].class&(report|article) != 0 && !loud:
		case order != nil && !c.measuresRate() && (g.cues[what]&act != 0 || c.shares()):
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
		what := g.near(i+g.lengthOf(i, sole), near, act)
		if what != none && (g.near(what+1, 1, atOnce) != none || g.parts[g.clauseOf(i)].shares()) && !g.parts[g.clauseOf(i)].has(verb|report) {
			return i
		}
	}
	return none
}

// goesInSteps finds an order to work step by step.
func (g governing) goesInSteps() int {
	const close = 3 // tokens to how
	for i, m := range g.cues {
		if m&laboring != 0 && g.begins(i) && g.near(i+1, close, stepwise) != none {
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

// lengthOf returns how many tokens the longest phrase with a cue has that begins at one.
func (g governing) lengthOf(at int, of cue) (n int) {
	for _, p := range cueing[g.tokens[at].text] {
		if p.cue&of != 0 && len(p.words) > n && p.begins(g.tokens[at:]) {
			n = len(p.words)
		}
	}
	return n
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

// ranks finds which instructions go before others: "these rules take precedence over all others".
func (g governing) ranks() int {
	const near, far = 8, 9 // tokens from the subject to the verb, and from there to what comes behind it
	for i, m := range g.cues {
		if i == 0 || (m&guiding == 0 || !g.isPointed(i)) && (m&ours == 0 || g.cues[i-1]&universal == 0) { // "anything I say"
			continue
		}
		over := g.near(i+1, near, ranking)
		if over == none {
			continue
		}
		end := over + g.lengthOf(over, ranking)
		if g.near(end, far, universal|guiding) != none || mine[g.tokens[i-1].text] && (end == len(g.tokens) || g.tokens[end].mark) {
			return over
		}
	}
	return none
}

// isPointed reports whether a noun is what was just said, or will be: "these instructions", "the following rules".
func (g governing) isPointed(at int) bool {
	for i := max(at-3, 0); i < at; i++ {
		if demonstrative[g.tokens[i].text] {
			return true
		}
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
		when := g.near(verb+1, len(g.tokens), timed)
		if when == none {
			if g.near(0, 1, timed) != none && g.near(verb+1, near+1, changes) != none { // "once you submit you cannot make any more changes"
				return verb
			}
			continue
		}
		last := g.tokens[i+n-1]
		if isLoud(g.s[last.from:last.to]) && len(last.text) > 1 || g.near(verb, near, going) != none || g.near(when, len(g.tokens), ours) != none || g.cues[verb]&changing != 0 && g.near(verb+1, near, universal) != none {
			return verb
		}
	}
	return none
}

// divides finds an order to do all work in parts: "split large tasks into steps".
func (g governing) divides() int {
	const near = 4 // tokens to what is parted
	for i, m := range g.cues {
		if m&parting == 0 || !g.begins(i) {
			continue
		}
		if what := g.near(i+1, near, labors); what != none && !demonstrative[g.tokens[i+1].text] && !single[g.tokens[i+1].text] && g.near(what+1, len(g.tokens), within) != none {
			return i
		}
	}
	return none
}

// begins reports whether a clause begins with a token, but for fillers.
func (g governing) begins(at int) bool {
	c := g.parts[g.clauseOf(at)]
	b := c.bare()
	return len(b) > 0 && (b[0].from == g.tokens[at].from || c[0].from == g.tokens[at].from)
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

// prefers finds an order to put one thing before another: "prioritize clarity over speed".
func (g governing) prefers() int {
	for i, m := range g.cues {
		if m&ranked != 0 && g.begins(i) && i+2 < len(g.tokens) && g.near(i+2, len(g.tokens), before) != none {
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
		how := g.near(i+1, 2, manner)
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
		if m&favored == 0 || c[0].from >= g.tokens[i].from || c.has(verb&^often|report|article|ask|ban|order|task|must|should) || len(c) > most {
			continue
		}
		end := i + g.lengthOf(i, favored)
		if end == len(g.tokens) || g.tokens[end-1].to >= c[len(c)-1].to || g.cues[end]&before != 0 {
			return i
		}
	}
	return none
}

// replaces finds what is to be used in the place of something, in a sentence of these words only: "rg instead of grep".
func (g governing) replaces() int {
	c := g.parts[0]
	if len(c) < 3 || len(c) > 4 || !inPlace[c[1].text] || len(c) > 3 && !doingWhat[c[2].text] {
		return none
	}
	old := c[len(c)-1]
	if (c[0].class|old.class)&(report|article|it|verb|ask|task) != 0 || literal[c[0].text] || literal[old.text] || isCount(c[0].text) || old.class&often != 0 {
		return none
	}
	return 0
}

// governsAsian reports the same of a sentence in a script without spaces.
func governsAsian(s string) bool {
	for _, k := range asianLimits {
		whole := true
		at := 0
		for _, words := range k {
			n := indexOfAny(s[at:], words)
			if n < 0 {
				whole = false
				break
			}
			at += n
		}
		if whole && !isPast(s) {
			return true
		}
	}
	return false
}

// indexOfAny returns where the first of words stands in a text; less than 0 where none does.
func indexOfAny(s string, words []string) int {
	first := none
	for _, w := range words {
		if i := strings.Index(s, w); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}

// isPast reports whether a sentence in a script without spaces says what was done, or what is.
func isPast(s string) bool {
	s = strings.TrimRight(s, " \t。.!！~")
	for _, end := range pastEnds {
		if strings.HasSuffix(s, end) {
			return true
		}
	}
	return strings.Contains(s, "了最")
}

// cueOf returns the cue of a word.
func cueOf(word string) (of cue) {
	for _, p := range cueing[word] {
		if len(p.words) == 1 {
			of |= p.cue
		}
	}
	return of
}

// cueing holds the phrases with cues by their first word.
var cueing = func() map[string][]cued {
	out := map[string][]cued{}
	for c, list := range map[cue]string{
		small:     "little|wenige|minimal|minimum|smallest|least|few|fewest|focused|targeted|surgical|narrow|minimale|minimalen|kleinste|kleinsten|kleinstmögliche|kleinstmöglichen|wenig|wenige|minimes|minimales|minimaux|moins|strict minimum|mínimos|mínimas|mínimo|mínima|menos|menor|minime|minimi|minimo|meno|минимальные|минимальное|минимальных|минимум|меньше",
		little:    "small|klein|kleine|petit|petits|petites|pequeño|pequeños|pequeñas|piccole|piccoli|pequenas|pequenos|небольшие|небольшими|limited|begrenzt",
		changes:   "change|changes|edit|edits|diff|diffs|patch|patches|modification|modifications|änderung|änderungen|eingriffe|changement|changements|cambio|cambios|modificación|modificaciones|modifica|modifiche|cambiamenti|mudança|mudanças|alteração|alterações|изменение|изменения|изменений|правки|правок",
		files:     "file|files|code|sources|modules|dateien|code|quellen|nicht-test-dateien|fichiers|archivos|ficheros|file|arquivos|ficheiros|файлы",
		changing:  "change|edit|modify|touch|alter|ändere|ändern|bearbeite|bearbeiten|editiere|berühre|fass|fasse|rühr|rühre|modifie|modifiez|touche|touchez|change|changez|édite|éditez|modifica|modifique|toca|toque|cambia|cambie|edita|edite|tocca|tocchi|modifichi|altera|altere|mexa|mexe|mude|muda|меняй|меняйте|правь|правьте|трогай|трогайте|изменяй|редактируй",
		amount:    "at least|at most|exactly|no more than|not more than|max|maximum|a maximum of|up to|mindestens|höchstens|genau|maximal|au moins|au plus|au maximum|exactement|al menos|como máximo|exactamente|como mucho|almeno|al massimo|esattamente|pelo menos|no máximo|exatamente|не более|не больше|ровно|максимум|хотя бы",
		act:       "command|commands|tool|tools|call|calls|question|questions|commit|commits|attempt|attempts|action|actions|step|steps|befehl|befehle|aufruf|aufrufe|frage|fragen|versuch|versuche|commande|commandes|appel|appels|tentative|tentatives|comando|comandos|llamada|llamadas|pregunta|preguntas|intento|intentos|comandi|domanda|domande|chiamata|chiamate|tentativo|tentativi|pergunta|perguntas|chamada|chamadas|tentativa|tentativas|команда|команду|команды|команд|вопрос|вопроса|вопросов|попытки|попыток",
		messaging: "query|queries|search|searches|message|messages|nachricht|nachrichten|mensaje|mensajes|messaggio|messaggi|mensagem|mensagens|сообщение|сообщения|bug|bugs|error|errors|problem|problems|fehler|erreur|erreurs|errores|errore|errori|erro|erros|ошибку|ошибка",
		guiding:   "instruction|instructions|rule|rules|guideline|guidelines|directive|directives|direction|directions|notes|message|prompt|constraint|constraints|principles|guide|readme|manual|anweisung|anweisungen|vorgaben|regeln|hinweise|vorschriften|consigne|consignes|règle|règles|directives|principes|instrucción|instrucciones|norma|normas|regla|reglas|indicación|indicaciones|pautas|istruzione|istruzioni|regola|regole|indicazioni|instrução|instruções|regra|regras|diretrizes|orientações|указания|указаний|правила|правил|инструкции|инструкций",
		ranking:   "take precedence|take priority|come first|haben vorrang|gehen allem|ont priorité|ont la priorité|tienen prioridad|hanno la precedenza|têm prioridade|take precedence over|takes precedence over|take priority over|takes priority over|have priority over|has priority over|have precedence over|prevail over|prevails over|prevail|override|overrides|overrule|overrules|supersede|supersedes|trump|trumps|haben vorrang|hat vorrang|gehen vor|gehen allen|stehen über|überschreiben|prévalent sur|prévaut sur|priment sur|prime sur|l emportent sur|emportent sur|emporte sur|ont priorité sur|ont la priorité sur|prennent le pas sur|prevalecen sobre|prevalece sobre|tienen prioridad sobre|tiene prioridad sobre|tienen precedencia|priman sobre|anulan|prevalgono su|prevale su|hanno la precedenza su|hanno la priorità su|hanno priorità su|hanno precedenza su|prevalecem sobre|têm prioridade sobre|têm precedência sobre|sobrepõem-se|se sobrepõem a|имеют приоритет|имеет приоритет|важнее|превалируют над",
		universal: "rest|else|reste|resto|allem|остальным|any|all|every|everything|anything|other|others|default|defaults|previous|earlier|whatever|allen|alle|alles|anderen|andere|jede|toute|tout|toutes|tous|autre|autres|cualquier|cualquiera|todas|todos|todo|otras|otra|tutte|tutti|tutto|altra|altre|qualsiasi|ogni|qualquer|todas as|outras|outra|tudo|всеми|всех|всему|всё|другими|других|остальными|любыми|любых",
		unable:    "du kannst erst|sie können erst|you cannot|you can't|you can not|you cant|du kannst nicht|sie können nicht|kannst du nicht|können sie nicht|tu ne peux|vous ne pouvez|ne peux|ne pouvez|no puedes|no podéis|non puoi|non potete|você não pode|não podes|ты не можешь|вы не можете|тебе нельзя",
		timed:     "wenn|after|until|till|before|while|unless|once|bis|bevor|ehe|solange|nachdem|während|nach|avant|tant que|jusqu à|après|pendant|hasta|antes|mientras|después|finché|prima|mentre|dopo|fino|até|enquanto|depois|пока|до|прежде|после",
		ours:      "i|i've|i'm|me|my|ich|mir|mein|meine|je|j|mon|ma|yo|mi|lo revise|io|mio|mia|ho|eu|meu|minha|я|мне|мой|моего",
		going:     "continue|proceed|commit|push|merge|deploy|submit|release|publish|weitermachen|fortfahren|pushen|committen|mergen|deployen|abgeben|veröffentlichen|continuer|pousser|committer|fusionner|déployer|hacer commit|hacer push|subir|continuar|fusionar|desplegar|fare commit|fare push|continuare|proseguire|pubblicare|fazer commit|fazer push|enviar|publicar|пушить|коммитить|мержить|деплоить|продолжать",
		parting:   "split|break|break down|divide|decompose|batch|zerlege|zerlegen|teile|unterteile|gliedere|découpe|découpez|divise|divisez|décompose|décomposez|fractionne|divide|divida|descompón|descomponga|separa|dividi|scomponi|suddividi|decomponha|quebre|separe|разбивай|разбивайте|дели|разделяй",
		within:    "into|in|en|à|em|на|sous",
		labors:    "tasks|work|problems|jobs|changes|commits|functions|classes|files|aufgaben|arbeit|arbeiten|probleme|änderungen|funktionen|tâches|travaux|problèmes|modifications|fonctions|tareas|trabajos|problemas|cambios|funciones|attività|compiti|lavori|problemi|modifiche|funzioni|tarefas|trabalhos|funções|задачи|проблемы|изменения|функции|работу",
		meanwhile: "as you go|as you work|as you proceed|as you progress|as we go|while you work|while working|along the way|unterwegs|fortlaufend|laufend|au fur et à mesure|en cours de route|sobre la marcha|a medida que|man mano|strada facendo|à medida que|ao longo do caminho|por o caminho|по ходу|попутно",
		ranked:    "prioritize|prioritise|favor|favour|privilegiere|priorisiere|favorise|favorisez|privilégie|privilégiez|priorise|priorisez|prioriza|priorice|privilegia|favorece|favorisci|prediligi|priorize|privilegie|favoreça|отдавай",
		before:    "statt|anstatt|over|above|before|rather|gegenüber|vor|über|sur|à|au|plutôt|avant|sobre|ante|antes|frente|rispetto|su|sulla|sul|anziché|em|ao|à|над|перед|выше|вместо",
		acting:    "be|sei|seien sie|seid|sois|soyez|sé|sea|sii|sia|seja|будь|будьте",
		manner:    "thorough|efficient|concise|precise|rigorous|honest|direct|succinct|frugal|economical|sparing|pragmatic|proactive|systematic|methodical|conservative|critical|meticulous|terse|brief|creative|realistic|gründlich|effizient|genau|sparsam|knapp|kurz|ehrlich|direkt|systematisch|kritisch|präzise|konsequent|efficace|efficaces|rigoureux|rigoureuse|précis|précise|concis|concise|économe|méthodique|honnête|exhaustif|eficiente|minucioso|minuciosa|preciso|precisa|conciso|concisa|breve|riguroso|rigurosa|exhaustivo|honesto|metódico|efficiente|preciso|rigoroso|rigorosa|accurato|meticoloso|onesto|completo|objetivo|detalhista|cuidadoso|внимателен|внимательным|точен|точным|краток|кратким|эффективен|экономным|честен|дотошным",
		utmost:    "as possible|wie möglich|possible|posible|possibile|possível|как можно",
		alike:     "nothing else|nothing more|sonst nichts|nichts anderes|nichts sonst|rien d autre|rien de plus|nada más|nient altro|nada mais|больше ничего|и только",
		sole:      "one|a single|just one|only one|nur ein|nur eine|nur einen|einen|une seule|un seul|un solo|una sola|un único|uma única|um único|apenas um|apenas uma|só um|только одна|только один|только одну|одна|один",
		atOnce:    "at a time|at once|zur zeit|auf einmal|à la fois|a la vez|por vez|de cada vez|alla volta|per volta|за раз|зараз",
		laboring:  "work|proceed|think|go|arbeite|arbeiten sie|geh|gehe|mach|denke|travaille|travaillez|procède|procédez|avance|avancez|réfléchis|trabaja|trabaje|avanza|procede|piensa|lavora|procedi|ragiona|trabalhe|trabalha|prossiga|pense|работай|действуй|иди|двигайся|думай",
		stepwise:  "step by step|one step at a time|in small steps|in small increments|incrementally|schritt für schritt|schrittweise|in kleinen schritten|pas à pas|étape par étape|par petites étapes|par étapes|paso a paso|en pasos pequeños|en pequeños pasos|por pasos|a piccoli passi|passo dopo passo|un passo alla volta|passo a passo|em pequenos passos|em passos pequenos|шаг за шагом|маленькими шагами|небольшими шагами|по шагам|пошагово",
		quality:   "quality|clarity|simplicity|simple|readability|readable|correctness|safety|security|robustness|brevity|accuracy|explicit|composition|consistency|qualität|klarheit|einfachheit|einfache|lesbarkeit|korrektheit|sicherheit|qualité|clarté|simplicité|lisibilité|sécurité|calidad|claridad|sencillez|simplicidad|legibilidad|seguridad|qualità|chiarezza|semplicità|leggibilità|sicurezza|qualidade|clareza|simplicidade|legibilidade|segurança|качество|ясность|простота|читаемость|безопасность",
		favored:   "if possible|where possible|wenn möglich|si possible|si es posible|se possibile|se possível|по возможности|если можно|preferred|bevorzugt|préféré|préférée|préférés|préférées|preferido|preferida|preferidos|preferidas|preferiblemente|preferito|preferita|preferibilmente|preferencialmente|предпочтительно|предпочтителен",
	} {
		for _, one := range strings.Split(list, "|") {
			words := strings.Fields(one)
			out[words[0]] = append(out[words[0]], cued{words, c})
		}
	}
	return out
}()

// asianLimits are such rules in scripts without spaces, each as the words that follow each other, of each step any.
var asianLimits = [][][]string{
	{{"最小", "尽量少", "尽可能少"}, {"改动", "修改", "变更", "更改"}},
	{{"改动", "修改", "变更"}, {"最小", "尽量小", "尽可能小"}},
	{{"変更", "修正"}, {"最小限"}},
	{{"最小限"}, {"変更", "修正"}},
	{{"변경", "수정"}, {"최소한", "최소화"}},
	{{"최소한의"}, {"변경", "수정"}},
	{{"最多", "不超过", "只能", "只", "至少"}, {"一个", "一条", "两个", "两条", "三个", "一次"}, {"命令", "问题", "工具", "提交", "消息"}},
	{{"コマンド", "質問", "変更"}, {"一度に"}, {"一つ", "1つ", "ひとつ"}},
	{{"コマンド", "質問"}, {"一つまで", "1つまで", "一つだけ", "1つだけ"}},
	{{"分小步", "小步", "一步一步", "循序渐进"}, {"进行", "来", "走", "推进", "工作"}},
	{{"小さなステップで", "一歩ずつ", "少しずつ", "段階的に"}, {"進めて", "作業", "進める"}},
	{{"작은 단계로", "한 단계씩", "단계별로", "조금씩"}, {"진행", "작업"}},
	{{"以我", "以上述", "以本"}, {"为准"}},
	{{"一度に", "一回に", "1回に", "毎回"}, {"コマンド", "質問", "ツール"}, {"1つ", "一つ", "ひとつ", "だけ", "以内"}},
	{{"한 번에", "한번에"}, {"명령", "질문", "도구"}, {"하나", "한 개", "만 "}},
	{{"指令", "指示", "规则", "要求", "说明", "约定"}, {"优先于", "高于", "凌驾"}, {"其他", "所有", "任何", "一切", "指令", "规则"}},
	{{"指示", "ルール", "規則", "指針"}, {"他の", "すべて", "いかなる", "どの"}, {"優先"}},
	{{"지침", "지시", "규칙"}, {"다른", "모든", "어떤"}, {"우선"}},
	{{"任务", "工作"}, {"拆分", "分解", "拆成", "分成"}},
	{{"タスク", "作業"}, {"分割", "分けて", "分解"}},
	{{"작업", "과제"}, {"나누", "분할"}},
	{{"如果", "若"}, {"命令", "工具", "方法", "方案"}, {"失败", "不行", "没用", "出错"}, {"换", "另一"}},
	{{"コマンド", "ツール", "方法"}, {"失敗したら", "失敗した場合", "動かなければ", "動かない場合"}, {"別の", "他の"}},
	{{"명령", "도구", "방법"}, {"실패하면", "안 되면"}, {"다른"}},
}

// pastEnds are the ends of sentences, in scripts without spaces, that say what was or what is.
var pastEnds = strings.Split("了|ました|でした|ている|ています|ません|되었습니다|했습니다|吗|呢", "|")

var (
	// mine are the words before what the person who speaks has said.
	mine = set("my|meine|mes|mis|mie|minhas|мои")
	// tasks are the words for what somebody is given to do.
	tasks = set("task|job|goal|mission|role|assignment|aufgabe|auftrag|tâche|tarea|trabajo|misión|compito|tarefa|missão|задача")
	// regarding are the verbs for what is done with changes that are there.
	regarding = set("show|show me|review|explain|describe|list|check|look at|look|summarize|summarise|see|find|read|compare|open|revert|undo|delete|remove|copy|move|rename|download|count|push|merge|commit|zeige|zeig|lösche|entferne|erkläre|liste|montre|affiche|supprime|explique|muestra|borra|elimina|explica|mostra|cancella|spiega|apague|explique|mostre|покажи|удали|объясни")
	// noting are the orders to write something down that also begin what is only remarked.
	noting = set("note|nota|anota|notez")
	// othersThan are the words behind files for what they are not.
	othersThan = set("other than|autres que|que no|que não|che non|außer den|außer denen")
	// ones are the words for one thing that stand in no other table.
	ones = set("single|einen|einem|einer|одного|одной|одну|один|одна|двух|трёх|трех")
	// bidding are the words with which somebody says what the agent does from then on.
	bidding = set("get|only|will|can|may|shall|will think|wirst|peux|vas|puedes|puoi|pode|vai")
	// turns are the words for the parts of a conversation.
	turns = set("turn|turns|round|message|reply|session|zug|runde|nachricht|tour|message|turno|mensaje|messaggio|mensagem|раз|ход|сообщение")
	// inWhat are the words behind how somebody is to be, before more of it, or in what.
	inWhat = set("and|but|or|in|with|about|when|und|aber|bei|mit|im|beim|wenn|et|mais|dans|avec|quand|y|pero|en|con|cuando|e|ma|nel|nella|nei|nelle|quando|mas|em|na|no|com|и|но|в|с|please|bitte")
	// inPlace are the words between what is wanted and what is not.
	inPlace = set("instead of|rather than|statt|anstatt|anstelle|au lieu|plutôt que|en vez|en lugar|invece|al posto|anziché|em vez|ao invés|вместо")
	// literal are the values of programs, which stand in the place of others where one does not work.
	literal = set("null|nil|none|undefined|nan|true|false|empty|error|nothing|void|zero|blank|wrong|old|them|that|this")
	// rates are the words for the time that a rate is measured by.
	rates = set("page|screen|row|user|seite|écran|página|pagina|страницу|second|minute|hour|day|sekunde|minute|stunde|seconde|heure|segundo|minuto|hora|secondo|ora|секунду|минуту|час")
	// demonstrative are the words for what was just said, or will be.
	demonstrative = set("user|these|this|those|my|our|following|below|above|diese|dieser|meine|folgenden|obigen|ces|cette|mes|suivantes|présentes|estas|esta|estos|este|mis|siguientes|queste|questa|questi|mie|seguenti|essas|essa|minhas|seguintes|эти|это|мои|следующие|данные")
	// sensing are the verbs for what somebody comes to know, or cannot.
	sensing = set("see|know|tell|guess|imagine|expect|find|get|have|hear|feel|notice|remember|das|es|sehen|wissen|voir|savoir|le|verlo|verla|ver|saberlo|saber|vederlo|vedere|sapere|ver|видеть|знать|увидеть")
)
