package digest

import (
	"strings"

	"precis/internal/lazyregexp"
	"precis/internal/preview"
	"precis/internal/rules"
)

// ofThePast recognizes a statement that tells of a value as one of the past, or how it came to be another.
var ofThePast = lazyregexp.New(`(?i)\b(?:was|were|until|former(?:ly)?|previous(?:ly)?|earlier|old|original(?:ly)?|initial(?:ly)?|first|instead of|rather than|not|no longer|from|replaced?|superseded|changed|moved|retired|updated|war|bisher|vorher|statt|était|avant|ancien\w*|antes|anterior|era|prima|precedente)\b|之前|原来|以前|旧|だった|이전|был[ао]?\b|раньше`)

// restated doubts a statement with a value that the user has given another for since.
func (d *doubter) restated(s statement) bool {
	for _, r := range d.in.endedRules() {
		if len(r.Was) == 0 || ofThePast.MatchString(s.text) {
			continue
		}
		now := strings.ToLower(rules.Affirmed(r.By))
		for _, was := range r.Was {
			if !holdsWhole(strings.ToLower(s.text), strings.ToLower(was)) || holdsWhole(now, strings.ToLower(was)) || !ofTheSame(s.text, r.Text, was) {
				continue
			}
			h := d.at(r.Until.From)
			d.doubt(d.shown(s), doubtNumber, "the user said since: "+preview.Line(r.By, mostShown), &h)
			return true
		}
	}
	return false
}

// ofTheSame reports whether a statement with a value that was given up speaks of what had it. A value without
// a digit may stand in any.
func ofTheSame(statement, told, was string) bool {
	const least = 4 // letters
	if strings.ContainsAny(was, "0123456789") {
		return true
	}
	statement = strings.ToLower(statement)
	for _, w := range strings.Fields(strings.ToLower(strings.Replace(told, was, "", 1))) {
		if w = strings.Trim(w, ".,:;!"); len(w) >= least && strings.Contains(statement, w) {
			return true
		}
	}
	return false
}

// isNameByte reports whether a byte goes on with a name or a number.
func isNameByte(c byte) bool { return isAlnum(c) || c == '-' || c == '_' }

// holdsWhole reports whether a text holds a value that is no part of a longer one.
func holdsWhole(text, value string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], value)
		if i < 0 || value == "" {
			return false
		}
		start, end := from+i, from+i+len(value)
		if (start == 0 || !isNameByte(text[start-1])) && (end == len(text) || !isNameByte(text[end])) {
			return true
		}
		from = start + 1
	}
}
