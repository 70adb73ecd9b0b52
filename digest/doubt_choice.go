package digest

import (
	"strings"

	"precis/internal/lazyregexp"
	"precis/internal/preview"
)

// insteadOf stands between what is chosen and what it is chosen over.
var insteadOf = lazyregexp.New(`(?i),? \b(?:instead of|rather than|in place of|in favor of|as opposed to)\b|statt\b|au lieu de\b|en lugar de\b|en vez de\b`)

// choicesIn returns what a sentence says was or is to be chosen over what.
func choicesIn(text string) (out []sequence) {
	for _, at := range insteadOf.FindAllStringIndex(text, mostJoints) {
		taken, left := sideOf(text[:at[0]], true), sideOf(text[at[1]:], false)
		if strings.Contains(strings.ToLower(text[at[0]:at[1]]), "favor") {
			taken, left = left, taken
		}
		if senseIn(taken) > 0 && senseIn(left) > 0 {
			out = append(out, sequence{taken, left})
		}
	}
	return out
}

// choice doubts that one thing was chosen over another when a passage on the same has them the other way round.
func (d *doubter) choice(s statement) bool {
	if s.quotes {
		return false
	}
	for _, q := range choicesIn(s.text) {
		if against := d.in.witness().crossed(q, choicesIn); against != nil {
			at := d.at(against.at)
			d.doubt(d.shown(s), doubtPolarity, "the conversation says the other way round: "+preview.Line(against.text, 140), &at)
			return true
		}
	}
	return false
}
