package verify

import (
	"slices"
	"strings"

	"precis/internal/lazyregexp"
	"precis/internal/prose"
)

var numeral = lazyregexp.New(`\d[\d,]*(?:\.\d+)*`)

// number doubts a number of two digits and more that stands nowhere beside its unit or its name: one of the words
// around it.
func (d *doubter) number(s Statement) bool {
	const most = 20 // of a statement
	for _, at := range numeral.FindAllStringIndex(s.Text, most) {
		number := strings.Trim(s.Text[at[0]:at[1]], ",.")
		before, after := s.Text[:at[0]], s.Text[at[0]+len(number):]
		names := namesOf(before, after)
		if len(number) > 1 && isMeasure(before, after) && len(names) > 0 && !d.standsBeside(number, names) {
			d.doubt(shown(s), ofNumber, number+" stands nowhere in the conversation beside any of these words", nil)
			return true
		}
	}
	return false
}

// isMeasure reports whether a number between two texts says how much, and exactly: it is no percentage and no part
// of code, a name, a date, a range or a change.
func isMeasure(before, after string) bool {
	const nearby = 40 // bytes
	if strings.Count(before, "`")%2 == 1 || says("no measure before", before[max(0, len(before)-nearby):]) {
		return false
	}
	after = after[:min(len(after), nearby)]
	return says("joined unit", after) || !says("no measure after", after)
}

// namesOf returns the plain words around a number between two texts that may be its unit or its name.
func namesOf(before, after string) []string {
	const reach = 60 // bytes
	around := prose.Plain(before[max(0, len(before)-reach):] + " " + after[:min(len(after), reach)])
	return slices.DeleteFunc(strings.Fields(around), func(w string) bool { return !carriesSense(w) })
}

// carriesSense reports whether a word beside a number may count or name something.
func carriesSense(word string) bool { return len(word) > 2 && !says("no unit", word) }

// standsBeside reports whether a number stands somewhere within a few words of one of some names, in the singular or
// the plural.
func (d *doubter) standsBeside(number string, names []string) bool {
	const near = 80 // bytes
	number = prose.Plain(number)
	if d.left -= len(d.words); d.left < 0 {
		return true // not known
	}
	for at := 0; ; {
		i := strings.Index(d.words[at:], number)
		if i < 0 {
			return false
		}
		from := at + i
		at = from + len(number)
		if isDigitAt(d.words, from-1) || isDigitAt(d.words, at) {
			continue
		}
		around := " " + d.words[max(0, from-near):from] + " " + d.words[at:min(len(d.words), at+near)]
		for _, name := range names {
			if strings.Contains(around, " "+strings.TrimSuffix(name, "s")) {
				return true
			}
		}
	}
}

func isDigitAt(text string, at int) bool { return at >= 0 && at < len(text) && prose.IsDigit(text[at]) }
