package rules

import (
	"slices"
	"strings"
)

// builds reports whether a clause says what is to be built rather than how to work: a step of the
// order before it ("remove the list, instead use a set"), or what happens on an event that is none of the
// agent's ("when completing a name, don't quote it").
func builds(parts []clause, i int, joined bool) bool {
	c := parts[i].bare()
	if len(c) == 0 {
		return false
	}
	if c[0].class&ban != 0 && c[0].class&often == 0 && c.corrected(behind(parts, i)) {
		return true
	}
	if c[0].class&ban != 0 && c[0].class&often == 0 && c[1:min(len(c), 2)].behaves() { // "don't redirect to the start page"
		return true
	}
	if i == 0 || c[1:].has(often) {
		return false
	}
	before := parts[i-1].bare()
	if joined && c[0].class&ban != 0 && c[0].class&often == 0 && before.tellsOfUs() { // "where we use the cache but don't change it"
		return true
	}
	if parts[i][0].text == "instead" && len(before) > 0 && before[0].class&task != 0 {
		return true
	}
	if c[0].class&ban != 0 && len(c) <= 3 && before.has(must|should) && !before.binds() { // "the endpoint must return JSON, never HTML"
		return true
	}
	return c[0].class&ban != 0 && len(before) > 2 && before[0].text == "when" && before[0].class&when == 0 && strings.HasSuffix(before[1].text, "ing")
}

// tellsOfUs reports whether a clause ends with what those who speak do.
func (c clause) tellsOfUs() bool {
	for i := 1; i+1 < len(c); i++ {
		if ourselves[c[i].text] && c[i+1].class&(bare|habit|task|touch) != 0 {
			return true
		}
	}
	return false
}

// corrected reports whether the clause behind a prohibition says what to do in its place this time: "don't change it, just
// tell me", "don't rename the class, rename the file".
func (c clause) corrected(behind clause) bool {
	next := behind.bare()
	if len(next) < 2 || len(c) < 2 || next[0].class&(bare|ban|report) != 0 {
		return false
	}
	return behind[0].text == "just" || next[0].text == c[1].text
}

// goesOn reports whether another order to be done once follows: "and drop the second".
func (at setting) goesOn() bool {
	next := at.behind.bare()
	return len(at.behind) > 0 && at.behind[0].class&joins != 0 && len(next) > 1 && next[0].class&(ban|order|lack|report|it|you) == 0 && (next[0].class&task != 0 || next[0].use() == 0 && next[1].class&(article|it) != 0)
}

// goesOnto reports whether an order to be done once follows within a clause, with a verb that is not in the table.
func (c clause) goesOnto() bool {
	for i := 2; i+2 < len(c); i++ {
		if c[i].class&joins != 0 && c[i+1].use() == 0 && c[i+2].class&(article|it) != 0 {
			return true
		}
	}
	return false
}

// quotes reports whether a clause says what somebody else says: "the manual says that", "my boss thinks".
func (c clause) quotes() bool {
	for _, w := range c[min(len(c), 1):min(len(c), 4)] {
		if saying[w.text] {
			return true
		}
	}
	return false
}

// implements reports whether behind a prohibition stands how a program is to be written: which of its
// names it shall not use. What shall not be touched is none of it.
func (c clause) implements(head word) bool {
	if len(c) < 2 || c[0].class&touch != 0 || c.has(often|firm) {
		return false
	}
	for i, w := range c { // "don't log if not self.on"
		if strings.HasPrefix(w.text, "if") && (c[i:].named() || i+1 < len(c) && (pronouns[c[i+1].text] || c[i+1].text == "it's" || i+2 < len(c) && c[i+1].class&article != 0 && c[i+2].class == 0)) {
			return true
		}
	}
	for _, w := range c[1:min(len(c), 8)] { // "avoid the second query in list_orders"
		if w.name && head.class&often == 0 && (c[0].class&article != 0 || c[0].use() == 0 || c[0].class&(task|bare) != 0 && c[0].class&touch == 0) {
			return true
		}
	}
	return (c[0].class&(bare|habit) != 0 || c[0].use() == 0) && c[1].name
}

// isAbout reports whether what a prohibition is about was just spoken of, or is a single thing that is not to be kept as it is:
// "don't set it", "don't leave this file here".
func (c clause) isAbout(ordered bool) bool {
	switch {
	case states[c[0].text]:
		return true
	case overdoing[strings.ReplaceAll(c[0].text, "-", "")]: // "don't over-engineer it"
		return false
	case len(c) > 1 && len(c) < 4 && c[1].class&it != 0 && (ordered || c[len(c)-1].text == "one"):
		return true
	case len(c) < 2 || c[0].class&bare != 0 || c.has(touch|often|firm):
		return false
	case len(c) == 2:
		return c[1].class&it != 0
	}
	return c[1].class&(article|it) == article|it
}

// appears reports whether what is forbidden is something that programs do before those who use them: "don't show the banner".
func (c clause) appears() bool {
	return len(c) > 2 && appearing[c[0].text] && c[1].class&article != 0 && !c.has(thing|work|often|firm)
}

// spared reports whether a prohibition only spares somebody a part of what is ordered: "no need to go into details".
func spared(w word) bool {
	return strings.Contains(w.text, "need") || strings.Contains(w.text, "have to") || strings.Contains(w.text, "besoin") || strings.HasSuffix(w.text, "pas à")
}

// isOne reports whether what an order is about is a single thing of what is built: it begins with an
// article, and what it is done for is no work of the agent.
func (c clause) isOne() bool {
	if len(c) == 0 || c.has(often|firm|when&^scope) {
		return false
	}
	if all[c[0].text] { // "summarize all of my notes"
		return len(c) > 1 && c[1].class&(thing|work) == 0
	}
	if slices.ContainsFunc(c, func(w word) bool { return former[w.text] }) { // "start your answer again"
		return true
	}
	if pronouns[c[0].text] || c[0].text == "them" { // "output them without quotes"
		return true
	}
	if c[0].class&article == 0 {
		return false
	}
	for i, w := range c {
		if i+1 == len(c) && indefinite[c[0].text] && cueOf(w.text)&small != 0 { // "un ejemplo mínimo"
			continue
		}
		if w.class&(scope|when) != 0 && (i+1 >= len(c) || c[i+1].class&(thing|work|you) != 0 || w.class&not != 0 || w.class&when == 0 && !distributes(w)) {
			return false
		}
	}
	return true
}

// particular reports whether a clause names a part of what is built at which something is to be done: "8 px on the cards".
func (c clause) particular() bool {
	for i := 1; i+1 < len(c); i++ {
		if places[c[i-1].text] && c[i].class&article != 0 && c[i].class&it == 0 && c[i+1].use() == 0 && !c[i+1:].has(work|thing) {
			return !c.has(often | firm)
		}
	}
	return false
}

// serves reports whether a clause says for which act something is to be used, where the word before an act is the same as before
// a thing: "usa X para buscar".
func (c clause) serves() bool {
	for i := 1; i+1 < len(c); i++ {
		if next := c[i+1].text; (c[i].text == "para" || c[i].text == "per" || c[i].text == "pour") && (strings.HasSuffix(next, "r") || strings.HasSuffix(next, "re")) {
			return true
		}
	}
	return false
}

// replacesOne reports whether a clause begins and ends with single things: "the list instead of the old set".
func (c clause) replacesOne() bool {
	i := c.find(scope)
	return i > 0 && c[0].class&article != 0 && i+1 < len(c) && c[i].class&anew != 0 && c[i+1].class&article != 0 && !c.has(often|firm)
}

// distributes reports whether a word says that something is done for each of several.
func distributes(w word) bool {
	switch w.text {
	case "each", "every", "any", "all", "all the", "not":
		return true
	}
	return false
}

// goesOn reports whether a clause only says that it was "only" something that was done: "only using".
func (c clause) goesOn(head word) bool {
	return head.text == "only" && len(c) > 0 && strings.HasSuffix(c[0].text, "ing")
}

// keeps reports whether what is to be made sure of is how to work, or goes on; a state that is reached
// once is neither.
func (c clause) keeps() bool {
	for len(c) > 0 && subordinate[c[0].text] {
		c = c[1:]
	}
	if len(c) > 2 && c[0].text == "de" && subordinate[c[1].text] {
		c = c[2:]
	}
	if len(c) > 1 && doingWhat[c[0].text] { // "to run the linter"
		return len(c) < 3 || c[2].class&article == 0 || c.has(scope|often|firm|when|not|work)
	}
	if i := c.find(when); i > 1 && c[i].addresses() && pronouns[c[len(c)-1].text] && !c.has(often|firm) { // "the folder exists before you write to it"
		return false
	}
	if len(c) == 0 || c.has(often|firm|when|lasts) || c[0].class&(you|order|ban) != 0 {
		return len(c) > 0
	}
	if c[0].class&(it|report) != 0 && (c[0].class&article == 0 || len(c) < 2 || c[1].class&(thing|work) == 0) {
		return false
	}
	if len(c) > 2 && c[0].class&article != 0 && c[1].class&work != 0 && (c[2].text == "is" || c[2].text == "are") { // "the build is green"
		return true
	}
	switch i := c.find(not | lack); {
	case i >= 0 && len(c) > 3:
		return true
	}
	return len(c) > 1 && c[0].class&scope != 0 && c[0].class&not == 0 && c[1].class&(thing|work) != 0 && !c.has(task) // "every function has a test"
}

// withoutCondition returns a clause up to the condition behind it: "no new files if we can help it".
func (c clause) withoutCondition() clause {
	for i := 2; i < len(c); i++ {
		if conditional[c[i].text] {
			return c[:i]
		}
	}
	return c
}

// withoutAim returns a clause up to what it is done for: "to ensure that it never fails".
func (c clause) withoutAim() clause {
	for i, w := range c {
		if w.class&plain != 0 && (strings.HasPrefix(w.text, "to ") || aims[w.text]) || (i > 0 || w.text == "which") && (aims[w.text] || relative[w.text] && (w.text != "that" || i > 0 && c[i-1].class&(work|thing|scope) == 0 || i+1 < len(c) && c[i+1].class&verb != 0)) {
			return c[:i]
		}
	}
	return c
}

// isTask reports whether what somebody must do is to be done once.
func (c clause) isTask() bool {
	if len(c) > 2 && all[c[0].text] && !c.has(often|firm|when|not|you) && strings.HasSuffix(c[len(c)-1].text, "en") && c[len(c)-1].use() == 0 { // "alle Dateien kopieren"
		return true
	}
	if len(c) > 2 && !c.has(often|firm|when|not|you) {
		for i, w := range c[1:] { // "identifier et copier tous les modèles"
			if all[w.text] && c[i].use() == 0 && c[0].use() == 0 {
				return true
			}
		}
	}
	return len(c) > 1 && c[0].class&task != 0 && c[0].class&(habit|bare|ask|report) == 0 && c[1].class&article != 0 && !c.has(scope|often|firm|when|not) && c[len(c)-1].text != "first"
}
