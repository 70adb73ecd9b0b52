package digest

import (
	"slices"
	"strings"

	"precis/internal/lazyregexp"
	"precis/internal/preview"
)

// usersOwn are titles of lists of what the user said.
var usersOwn = lazyregexp.New(`(?i)\b(?:all |key )?user(?:'s)? (?:messages|requests|quotes|statements|words|feedback)\b|\bmessages (?:of|from|by) the user\b|messages de l['’]utilisateur|nachrichten des (?:nutzers|benutzers)|用户(?:的)?消息|ユーザーの?メッセージ|mensajes del usuario`)

// Limits of a quotation in the user's words: words of sense that the message has not, and their share of all.
const (
	mostOther  = 1
	shareOther = 0.2
)

// quotation doubts what a list of the user's messages quotes when the message that is meant says something else.
func (d *doubter) quotation(s statement) bool {
	if !usersOwn.MatchString(s.title) {
		return false
	}
	text, quoted := cutQuotation(s.text)
	if !quoted || isLatin(text) != isLatin(d.in.userWords()) {
		return false
	}
	for _, part := range leftOut.Split(text, -1) {
		terms := termsOf(part)
		if len(terms) < 2 || d.saidByUser(part) {
			continue
		}
		at := d.in.personsHold(terms)
		if at == nil {
			if senseIn(terms) >= leastQuote {
				d.doubt(d.shown(s), doubtInstruction, "no words of the user say so", nil)
				return true
			}
			continue
		}
		all, others, number := 0, 0, false
		for _, t := range terms {
			if t.empty && !t.number {
				continue
			}
			all++
			if !slices.ContainsFunc(at.terms, func(o term) bool { return o.stem == t.stem || !t.number && sameWord(o.stem, t.stem) }) {
				others++
				number = number || t.number
			}
		}
		if number || others > mostOther && float64(others) > shareOther*float64(all) {
			h := d.at(at.at)
			d.doubt(d.shown(s), doubtInstruction, "the user said: "+preview.Line(at.text, 160), &h)
			return true
		}
	}
	return false
}

// cutQuotation returns what a sentence quotes when it begins with a quotation that ends in it.
func cutQuotation(text string) (string, bool) {
	for _, marks := range []string{`""`, "“”", "「」", "«»"} {
		m := []rune(marks)
		if rest, ok := strings.CutPrefix(text, string(m[0])); ok {
			if i := strings.LastIndex(rest, string(m[1])); i > 0 {
				return rest[:i], true
			}
		}
	}
	return "", false
}

// saidByUser reports whether a person said these words one after another.
func (d *doubter) saidByUser(words string) bool {
	want := string(plainWords(nil, words))
	return slices.ContainsFunc(d.in.persons(), func(h heard) bool { return strings.Contains(string(plainWords(nil, h.text)), want) })
}
