package digest

import (
	"strings"

	"precis/internal/lazyregexp"
)

var (
	// errorCodes are the codes and names of errors.
	errorCodes = lazyregexp.New(`\b(?:[A-Z]{1,4}\d{3,5}|ERR_[A-Z_]{3,}|E[A-Z]{5,}|[A-Z][A-Za-z]+(?:Error|Exception))\b`)
	// failsWith begins the words of an error; the group is what they are.
	failsWith = lazyregexp.New(`(?i)\b(?:fails|failed|failing|stops|stopped|crashes|crashed|panics|panicked|aborts|aborted|dies|exits|exited|errors out)\s+with\s+(?:an?\s+|the\s+)?(?:error\s+)?(.{8,120})`)
)

// leastError is the least share of the words of an error that some passage must hold.
const leastError = 0.34

// errorText doubts the code and the words of an error that stand nowhere.
func (d *doubter) errorText(s statement) bool {
	if s.ahead {
		return false
	}
	for _, at := range errorCodes.FindAllStringIndex(s.text, mostCommands) {
		code := s.text[at[0]:at[1]]
		if inName := at[0] > 0 && strings.IndexByte("-_./", s.text[at[0]-1]) >= 0 || at[1] < len(s.text) && strings.IndexByte("-_/(", s.text[at[1]]) >= 0; inName {
			continue
		}
		if !d.hasWords(code) && !d.has(humps.ReplaceAllString(code, "$1 $2")) {
			d.doubt(d.shown(s), doubtError, code+" stands nowhere in the conversation", nil)
			return true
		}
	}
	m := failsWith.FindStringSubmatch(s.text)
	if m == nil || isLatin(m[1]) != isLatin(d.in.userWords()) {
		return false
	}
	words := termsOf(m[1])
	if senseIn(words) < 2 {
		return false
	}
	if e := d.in.witness().find(words, 1); len(e) == 0 || e[0].share < leastError {
		d.doubt(d.shown(s), doubtError, "no error in the conversation says so", nil)
		return true
	}
	return false
}
