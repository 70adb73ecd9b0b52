package rules

import (
	"slices"
	"strings"
)

// reserves reports whether a clause names the only thing that is allowed: "src is the only folder you may change".
func (c clause) reserves() bool {
	for i := 1; i < len(c)-2; i++ {
		if c[i].text == "only" && c[i+1:].has(you|allow) && c[i+1:].has(must|should|allow) {
			return true
		}
	}
	return false
}

// binds reports whether a clause says of its subject what it must and must not do. What a part of a
// product must do is no rule of how to work.
func (c clause) binds() bool {
	i := c.find(must | should)
	if i < 0 {
		return false
	}
	subject, rest := c[:i], c[i:]
	strong := c[i].class&must != 0
	if weak[c[i].text] {
		return i > 0 && (subject.has(lack) || alone[subject[0].text])
	}
	denied := c[i].class&not != 0 || rest[1:].leads(not|often|scope)
	switch {
	case i > 0 && subject[0].class&report != 0 && subject[0].class&it == 0:
		return false
	case i > 0 && speaking[subject[i-1].text]: // "after the upgrade I can't …"
		return false
	case i == 0 && unsaid[firstOf(c[0].text)] && !rest.has(touch|work|thing|firm|often|you): // "debe encontrar partes"
		return false
	case i == 0:
		return strong && (!strings.HasSuffix(c[0].text, " be") && (len(rest) < 2 || rest[1].text != "be") || !rest[:min(len(rest), 3)].has(article) || rest.has(work|thing)) // not "must be the cache"
	case c.refers() && !rest.has(touch): // "line 10 must match line 20"
		return false
	case subject.named(), subject.acted():
		return rest.has(touch) && denied
	case i <= 2 && ourselves[subject[0].text]:
		return !slices.ContainsFunc(rest, func(w word) bool { return w.text == "have" || w.text == "never have" }) && denied && (strong && !strings.HasPrefix(c[i].text, "may ") || rest[1:].leads(often))
	case subject[0].class&it != 0 && !ourselves[subject[0].text] && (i <= 2 && (i < 2 || subject[0].class&article == 0 || subject[1].use() != 0) || subject[0].class&article == 0 && subject.has(verb)):
		return denied && strong && !strings.HasPrefix(c[i].text, "may ") && (rest.permits() || rest[1:].has(often|firm|touch|scope&^not))
	case subject[i-1].class&you != 0 || subject[0].class&you != 0 || subject[0].isYours():
		return strong && !rest[1:].isTask() || c[i].class&not != 0 || rest[1:].leads(not|often) || len(rest) > 1 && firstOf(rest[1].text) == "only" || rest.has(not) && rest.has(touch) || subject[0].isYours()
	case subject.has(ask), subject.relates(), subject[i-1].class&joins != 0, i > 2 && !subject.isDoing() && subject[i-1].class&it != 0 && subject[i-1].class&report != 0:
		return false
	}
	return subject.works(rest, strong, denied)
}

// named reports whether a clause has an identifier of a program.
func (c clause) named() bool {
	return slices.ContainsFunc(c, func(w word) bool { return w.name || w.quoted })
}

// works reports whether a subject that must or must not do something is the work of the agent, or what it is not to
// touch, rather than a part of a product.
func (c clause) works(rest clause, strong, denied bool) bool {
	one := c[0].class&article != 0 // this one, not all of its kind
	switch {
	case rest.has(touch) && (denied || strong || c.has(lack)) && !(one && !c.has(work|thing) && rest.alters()), denied && rest.has(often&^scope) && strong && (!one || c.has(work)) && !c.acted():
		return true
	case rest.permits() && !c.has(work|thing|you) && slices.ContainsFunc(rest[:min(len(rest), 3)], func(w word) bool { return seeing[w.text] }): // "members may only see their own"
		return false
	case rest.permits():
		return c.has(work|thing|you) || !rest[0].modal() || rest.has(touch|firm|lack|work|thing)
	case c[0].class&scope != 0 && c.has(pay), c.has(lack), strong && alone[c[0].text]: // "any fee should be charged to my card"
		return true
	case strong && (c.has(thing|work) || denied && len(rest) > 1 && growing[rest[1].text]) && rest.measured() && (denied || (strings.HasSuffix(rest[0].text, "be") || len(rest) > 1 && rest[1].text == "be") && c.has(thing)): // "the timeout must be 30 seconds"
		return true
	case strong && c[0].class&scope != 0 && c.has(you): // "every command you write must …"
		return true
	case c.has(work):
		return strong || denied || !one && c.leads(scope|thing|work) && !rest.has(anew)
	case c.has(thing|work) && c.leads(scope|thing|work) && rest.has(lasts|order) && rest.measured(): // "files should stay below 300 lines"
		return true
	case strong && c.isDoing(), strong && rest.has(firm), strong && rest.has(lasts|when) && (!one || c.has(thing|work)):
		return true
	case one:
		return false
	case c.has(thing):
		return strong || denied || c.leads(scope|thing) && rest.has(work) && !rest.has(anew)
	}
	return strong && c[0].class&scope == 0 && c[0].text[0] < 0xd0 && (rest[0].class&not != 0 || len(rest) > 1 && rest[1].class&not != 0 && rest[1].class&lack == 0)
}

// suffers reports whether the verb behind a modal one says what is done to the subject: "may be changed".
func (c clause) suffers() bool {
	i := c.find(must)
	return i >= 0 && (strings.HasSuffix(c[i].text, " be") || i+1 < len(c) && being[c[i+1].text] || c[len(c)-1].text == "werden")
}

// alters reports whether the verb behind a modal one says that the subject itself changes something else: "must not delete rows",
// rather than "must not be deleted".
func (c clause) alters() bool {
	i := c.find(touch)
	if i < 1 || i+1 >= len(c) || c[i+1].class&(purpose|joins|filler|when|not|firm|often) != 0 {
		return false
	}
	w := c[i].text
	return !strings.HasSuffix(w, "ed") && !strings.HasSuffix(w, "en") && (strings.HasSuffix(w, "r") || w[0] < 0x80 && c[i-1].text != "be" && c[i].class&task != 0)
}

// acted reports whether a subject is those who use what is built.
func (c clause) acted() bool {
	return slices.ContainsFunc(c, func(w word) bool { return users[w.text] })
}

// isDoing reports whether a subject is something that is done: "creating the patch".
func (c clause) isDoing() bool {
	return len(c) > 1 && strings.HasSuffix(c[0].text, "ing") && c[0].class&thing == 0 && c[1].class&(article|thing|work|scope) != 0
}

// isYours reports whether a word says of what follows that it is the agent's: "your answer".
func (w word) isYours() bool {
	first, _, _ := strings.Cut(w.text, " ")
	return yours[first]
}

// permits reports whether a verb says what is allowed and what is not: that is about those who act.
func (c clause) permits() bool {
	for _, stem := range permissions {
		if strings.Contains(c[0].text, stem) {
			return true
		}
	}
	return false
}

// modal reports whether a word is a modal verb by itself, in a language in which what may not be is what must not.
func (w word) modal() bool {
	first, _, _ := strings.Cut(w.text, " ")
	return first == "darf" || first == "dürfen" || first == "darfst"
}

// firstOf returns the first word of a phrase.
func firstOf(phrase string) string {
	first, _, _ := strings.Cut(phrase, " ")
	return first
}

// relates reports whether a subject ends with a relative clause that has its own: "an example that the developer". What
// that one must do is said by the way.
func (c clause) relates() bool {
	const near = 4 // words of the subject of the relative clause
	for i := max(len(c)-near, 1); i+1 < len(c); i++ {
		if relative[c[i].text] && c[i+1].class&(article|scope) != 0 {
			return true
		}
	}
	return false
}

// leads reports whether one of the next two words is of a class.
func (c clause) leads(k class) bool { return c[:min(len(c), 2)].has(k) }

// obliges reports whether a clause, in a language that says so with one word wherever that stands, only says that something must
// be, and of nothing that an agent works with.
func (c clause) obliges() bool {
	found := false
	for i, w := range c {
		if obliging[w.text] {
			found = true
		} else if i > 0 && c[0].class == 0 && w.class&often != 0 && w.class&(not|thing|work|you|touch) == 0 { // "the menu must always be …"
			continue
		} else if w.class&(firm|thing|work|you|often|touch|not) != 0 {
			return false
		}
	}
	return found
}
