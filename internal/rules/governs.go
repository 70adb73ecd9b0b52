package rules

import (
	"slices"
	"strings"
)

// What an agent is to keep to while it works: how much it changes and does at once, what goes before what, what it may not do for a time,
// and how it works at all.

// none is the number of a token, or of a clause, that was not found.
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
		{small, governing.limitsAll},
		{alike, governing.leavesRest},
		{files, governing.limitsFiles},
		{changing, governing.limitsTo},
		{amount, governing.counts},
		{sole, governing.countsOne},
		{atOnce, governing.goesOneByOne},
		{laboring | stepwise, governing.goesInSteps},
		{quality | before, governing.values},
		{thinking | timed, governing.prepares},
		{thoughts, governing.explains},
		{ranking, governing.ranks},
		{guiding, governing.ranks},
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

// lengthOf returns how many tokens the longest phrase with a cue has that begins at one.
func (g governing) lengthOf(at int, of cue) (n int) {
	for _, p := range cueing()[g.tokens[at].text] {
		if p.cue&of != 0 && len(p.words) > n && p.begins(g.tokens[at:]) {
			n = len(p.words)
		}
	}
	return n
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

// begins reports whether a clause begins with a token, but for fillers.
func (g governing) begins(at int) bool {
	c := g.parts[g.clauseOf(at)]
	b := c.bare()
	return len(b) > 0 && (b[0].from == g.tokens[at].from || c[0].from == g.tokens[at].from)
}

// orderAt returns the words of the clause of a token, without fillers, where it is an order, or goes on with one behind a comma; nil
// otherwise. An order may be given as what somebody's task is, and may have a verb that is not in the tables.
func (g governing) orderAt(at int) clause {
	k := g.clauseOf(at)
	for i := k; i >= max(k-1, 0); i-- {
		c := g.parts[i].bare()
		if i == 0 && len(c) > 0 && !g.tokens[0].mark && g.tokens[0].from < g.parts[0][0].from { // what somebody's task is
			return c
		}
		if len(c) < 2 {
			continue
		}
		if rest := c.bidden(); rest != nil {
			return rest
		}
		if own := g.parts[i]; noting[own[0].text] && own[1].isYours() { // "note your decisions"
			return own
		}
		if c[0].class&(order|habit|bare|task|ban|firm|hope) != 0 && c[0].class&(report|ask) == 0 {
			return c
		}
		if strings.HasSuffix(c[0].text, "-le") || strings.HasSuffix(c[0].text, "-la") || strings.HasSuffix(c[0].text, "-les") { // "corrige-le"
			return c
		}
		if c[0].use()&^(filler|common|joins|verb) != 0 || c[0].class&verb != 0 && c[0].class&touch == 0 || i > 0 && g.parts[i-1].bare().orders() {
			continue
		}
		if cueOf(c[0].text)&(changes|changing) == changes { // "minimal changes", as a title
			continue
		}
		if c.withoutAim().states() { // "lo menos posible es cero"
			continue
		}
		next := c[1]
		if next.class&(article|scope|it|lack) != 0 || next.isYours() || next.class&(thing|work) != 0 && next.class&verb == 0 || cueOf(next.text)&(small|little|labors|amount) != 0 {
			return c
		}
	}
	return nil
}

// bidden returns what the agent is to do of a clause that says so: "you should …", "I want you to …"; nil otherwise.
func (c clause) bidden() clause {
	who := c[:min(len(c), 4)].find(you)
	if who < 0 || who+2 >= len(c) || who > 0 && c[0].class&wish == 0 {
		return nil
	}
	if c[who+1].class&(must|should) != 0 && c[who+1].class&not == 0 || who > 0 && c[who+1].class&purpose != 0 {
		return c[who+2:]
	}
	return nil
}

// assigned returns what somebody's task is of a clause that says so: "your task is to …"; nil otherwise.
func (c clause) assigned() clause {
	const near = 3 // words to the task
	at := slices.IndexFunc(c[:min(len(c), near)], func(w word) bool { return tasks[w.text] })
	if at < 1 || at+2 >= len(c) || !copulas[c[at+1].text] || !c[at-1].isYours() && !c[0].isYours() && c[0].text != "tu" && !single[c[0].text] {
		return nil
	}
	rest := c[at+2:]
	for i := 0; i+1 < len(rest) && i < near; i++ { // "specifically to"
		if rest[i].class&purpose != 0 || doingWhat[rest[i].text] {
			return rest[i+1:]
		}
	}
	if single[c[0].text] && !c[1].isYours() { // "the task is the second one"
		return nil
	}
	return rest
}

var (
	// tasks are the words for what somebody is given to do.
	tasks = set("task|job|goal|mission|role|assignment|aufgabe|auftrag|tâche|tarea|trabajo|misión|compito|tarefa|missão|задача")
	// copulas are the verbs between a task and what it is.
	copulas = set("is|ist|est|es|è|é|consists|besteht|consiste")
	// noting are the orders to write something down whose words stand for something else, too.
	noting = set("log|record|list|track|note|nota|anota|notez")
)
