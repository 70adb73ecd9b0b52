package rules

import (
	"slices"
	"strings"
)

// requests reports whether a clause without a verb asks for some of the agent's work to be in some way: "short answers please".
func (c clause) requests() bool {
	n := len(c) - 1
	if n < 2 || n > 5 || !urges[c[n].text] || c.has(article) || c[0].use() != 0 || fresh[c[0].text] {
		return false
	}
	return c[n-1].class&work != 0 && strings.HasSuffix(c[n-1].text, "s")
}

// urged reports whether a clause asks for the one before it.
func urged(c clause) bool { return len(c) == 1 && urges[c[0].text] }

// endures reports whether a clause says of what is asked that it holds from now on.
func (c clause) endures() bool {
	for _, w := range c {
		if w.class&often != 0 && w.class&firm != 0 {
			return true
		}
	}
	return false
}

// hopesAfter reports whether a wish that begins with a word is one about how to work: behind "it would be" the wish
// stands after a word or two that say how that would be.
func (c clause) hopesAfter(head word) bool {
	if !strings.HasSuffix(head.text, " be") && (!strings.HasPrefix(head.text, "it") || strings.HasSuffix(head.text, " if") || strings.HasSuffix(head.text, " to")) {
		return c.hopes()
	}
	const near = 5 // words
	for i, w := range c[:min(len(c), near)] {
		if w.class&lack != 0 && w.class&not != 0 && i > 0 { // "happier without"
			return i+1 < len(c)
		}
		if w.text == "if" || w.text == "to" || strings.HasPrefix(w.text, "if ") && w.class&(hope|when) != 0 || w.class&ban != 0 {
			if w.class&ban != 0 {
				return c[i:].hopes()
			}
			return c[i+1:].hopes()
		}
	}
	return false
}

// hopes reports whether a wish in the form of a condition is one about how to work.
func (c clause) hopes() bool {
	const near = 5 // words to the verb
	start := c[:min(len(c), near)]
	if i := start.find(ban | often | lack); i >= 0 && !start[:i].has(verb|must) && i+1 < len(c) && !states[c[i+1].text] && !start[:i].has(it&^you) {
		return c[i].class&lack == 0 || c.adds()
	}
	told := false
	for len(c) > 0 && (modals[c[0].text] || subordinate[c[0].text] || c[0].class&(you|filler) != 0) && c[0].class&(ban|order) == 0 {
		told = told || c[0].class&you != 0 || ourselves[c[0].text]
		c = c[1:]
	}
	if len(c) > 2 && c[0].class&article != 0 && c[1].class&(thing|work) != 0 {
		c = c[1:]
	}
	if len(c) < 2 {
		return false
	}
	holds := c[1:].has(scope | often | firm | when | not | lack)
	switch verb := c[0]; {
	case verb.class&not != 0, denying[verb.text]:
		return !states[c[1].text]
	case verb.class&ban != 0, wished[verb.text]:
		return true
	case done[verb.text]:
		return holds
	case verb.class&order != 0:
		return c.sets(setting{whole: c})
	case verb.class&(bare|habit|task) != 0:
		return told && verb.class&(bare|habit) != 0 && holds && !c[1:].isOne() || c.has(firm) || c.has(lack) && c.adds()
	case verb.class&(thing|work) != 0 || c[1].class&(thing|work) != 0: // "the code stayed compatible"
		return c.has(lasts | order | firm | not)
	}
	return c.has(firm) || c.has(lack) && c.adds()
}

// tells reports whether behind a polite beginning something is ordered or forbidden for good.
func (c clause) tells() bool {
	at := c
	for len(at) > 0 && at[0].class&filler != 0 && at[0].class&(ban|order|not) == 0 {
		at = at[1:]
	}
	if len(at) > 1 && at[0].text != "only" && at[0].class&not != 0 && at[0].class&(ban|lack|often) == 0 && !states[at[1].text] { // "could you not push"
		return true
	}
	if len(at) > 2 && doing[at[0].text] {
		return true
	}
	if len(at) > 2 && at[0].class&often != 0 && at[0].class&ban == 0 && strings.HasSuffix(at[1].text, "ing") {
		return true
	}
	i := c.find(often | ban | order)
	if i < 0 || i+1 >= len(c) {
		return false
	}
	if checks[c[i].text] {
		return c[i+1:].keeps()
	}
	if c[i].text == "leave" {
		return c[i+1:].has(scope&^not | firm)
	}
	return c[i].class&(ban|order) != 0 && c[i].class&often == 0 || c[i+1:].has(habit|bare|task|order|ban)
}

// wishes reports whether a clause says what somebody wants to hold.
func (c clause) wishes() bool {
	i := c[:min(len(c), 4)].find(wish)
	if i < 0 {
		return false
	}
	rest := c[i+1:]
	if rest.has(firm) {
		return true
	}
	if c[i].class&ban != 0 && rest.has(purpose) && !rest.has(work|you) && endsInArticle(c[i].text) { // "I don't want the window to close"
		return false
	}
	if c[i].class&ban != 0 && (unwilling[c[i].text] || strings.HasSuffix(c[i].text, " want to") || strings.HasSuffix(c[i].text, " hate to")) { // "I don't want to change the schema"
		return rest.wouldAlter()
	}
	if c[i].class&ban != 0 && strings.HasSuffix(c[i].text, " like") {
		return rest.has(touch | work | you | lack)
	}
	if unwanted[c[i].text] { // "I don't want mocks in the tests"
		return len(rest) > 1 && rest[0].class&(article|it|you|purpose) == 0 && (rest.has(touch) || !rest.has(purpose)) && rest.has(work|thing)
	}
	if len(rest) > 0 && rest[0].class&purpose != 0 && len(rest) > 2 && rest[1:].has(lack) && rest.has(thing|work) { // "to get by without new packages"
		return true
	}
	if c[i].class&ban == 0 && rest.lacksNew() { // "ohne neue Bibliotheken auskommen"
		return true
	}
	if k := rest.find(lack); k > 1 && k < 5 && rest[0].class&purpose != 0 && managing[rest[1].text] { // "to stay without a server"
		return true
	}
	if rest.runs() {
		return true
	}
	if c[i].class&(order|ban) == 0 && !rest.has(often|firm) && slices.ContainsFunc(rest, func(w word) bool { return seeing[w.text] }) { // "I'd like to see only the errors"
		return false
	}
	if rest[:min(len(rest), 2)].acted() { // "we want the users to see"
		return false
	}
	if strings.HasSuffix(c[i].text, " the") && c[i].class&ban != 0 {
		return rest.has(work | thing | touch | you | often | firm)
	}
	if c[i].class&order != 0 && len(rest) > 0 && single[rest[0].text] {
		return rest.has(scope|often|work|touch|not) || rest.prefers()
	}
	if c[i].class&(order|ban) != 0 {
		return true
	}
	if rest.wouldKeep() {
		return true
	}
	next := rest[:min(len(rest), 7)]
	if len(next) == 0 {
		return false
	}
	k := next.find(scope | often | not | lack)
	if k < 0 || next[0].class&purpose != 0 || next[0].class&it != 0 && next.has(purpose) {
		return false
	}
	if next[0].class&article != 0 || all[next[k].text] || next[k].text == "every" || next[k].text == "each" {
		return next[k].class&often != 0 || next[:k+1].has(work) || k+1 < len(next) && next[k+1:min(len(next), k+3)].has(thing|work|you) || next[k:].has(you)
	}
	return true
}

// wouldAlter reports whether what somebody does not want to do is a change, or something that the work would bring about. What
// he does not want to do himself any more is to be built.
func (c clause) wouldAlter() bool {
	if len(c) < 2 {
		return false
	}
	for i := 1; i+1 < len(c); i++ {
		if (timely[c[i].text] || bounding[c[i].text]) && len(valuesOf(c[i+1].text)) > 0 { // "to fly before 11 am"
			return true
		}
	}
	for _, w := range c {
		if himself[w.text] {
			return false
		}
	}
	if !c.has(touch|work|thing) && slices.ContainsFunc(c, func(w word) bool { return theirs[w.text] }) { // "to mess with their shadow"
		return false
	}
	return c[0].class&(touch|pay) != 0 || c[0].class&bare != 0 || altering[c[0].text]
}

// wouldKeep reports whether what somebody wants is that something be kept, left or avoided: "to stay on Python 3.9", "us to avoid
// globals".
func (c clause) wouldKeep() bool {
	for len(c) > 0 && c[0].class&(purpose|plain) == 0 && (c[0].class&you != 0 || ourselves[c[0].text] || us[c[0].text]) {
		c = c[1:]
	}
	if len(c) > 0 && (c[0].text == "to avoid" || heldBack[c[0].text] || heldBack[c[len(c)-1].text]) {
		return true
	}
	if len(c) > 3 && c[0].class&purpose != 0 && c[1].text == "stay" && (places[c[2].text] || with[c[2].text]) { // "to stay with the same doctor"
		return true
	}
	if len(c) < 3 || c[0].class&purpose == 0 || !holding[c[1].text] {
		return false
	}
	return c[1].text != "leave" || c[2].class&(article|thing|work) != 0
}

// runs reports whether a clause says where, or without what, all of the work has to run.
func (c clause) runs() bool {
	i := c.find(purpose)
	if i < 1 || i+2 >= len(c) || !running[c[i+1].text] {
		return false
	}
	return everything[c[0].text] || whole[c[0].text] || c[0].text == "this" && c[i:].measured()
}

// lacksNew reports whether a clause says that nothing new is to come: "without new packages".
func (c clause) lacksNew() bool {
	i := c.find(lack)
	return i >= 0 && i+1 < len(c) && fresh[c[i+1].text]
}

// prefers reports whether a clause says what something is preferred to.
func (c clause) prefers() bool {
	for _, w := range c {
		if w.text == "over" || w.text == "to" {
			return true
		}
	}
	return false
}

// endsInArticle reports whether a phrase ends with a word that makes a noun a single one.
func endsInArticle(phrase string) bool {
	switch phrase[strings.LastIndexByte(phrase, ' ')+1:] {
	case "the", "a", "an", "it":
		return true
	}
	return false
}
