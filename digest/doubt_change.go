package digest

import (
	"strings"

	"precis/internal/lazyregexp"
)

// turnedChange doubts that something was changed from one value to another when the conversation has it the other way round.
func (d *doubter) turnedChange(s statement) bool {
	const most = 3 // of a statement
	if s.quotes {
		return false
	}
	for _, m := range fromTo.FindAllStringSubmatchIndex(s.text, most) {
		const marks = "`\"'*(),;"
		from, to := strings.Trim(s.text[m[2]:m[3]], marks), strings.Trim(s.text[m[4]:m[5]], marks+".")
		if from == "" || to == "" || from == to || !isValue(from) || !isValue(to) {
			continue
		}
		if (d.hasWords(to+" to "+from) || d.hasWords(to+" "+from)) && !d.hasWords(from+" to "+to) && !d.hasWords(from+" "+to) {
			d.doubt(d.shown(s), doubtOrder, "the conversation has it the other way round: from "+quoted(to, 60)+" to "+quoted(from, 60), nil)
			return true
		}
	}
	return false
}

// fromTo says what a value was, and what it is.
var fromTo = lazyregexp.New("(?i)\\bfrom ([`\"'\\[]*[^\\s,;]{1,60}) to ([`\"'\\[]*[^\\s,;]{1,60})")

// isValue reports whether a word is a number or a name of code: others are no values, as in "from time to time".
func isValue(word string) bool {
	return strings.ContainsAny(word, "0123456789_.[]=/-") || isCode(word)
}
