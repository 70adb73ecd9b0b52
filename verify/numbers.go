package verify

import (
	"slices"
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/prose"
)

var numeral = lazyregexp.New(`\d[\d,]*(?:\.\d+)*`)

// number doubts a number that the conversation does not have in the same context.
func (d *claimChecker) number(s Statement) bool {
	const most = 20 // of a statement
	for _, at := range numeral.FindAllStringIndex(s.Text, most) {
		number := strings.Trim(s.Text[at[0]:at[1]], ",.")
		before, after := s.Text[:at[0]], s.Text[at[0]+len(number):]
		if !isMeasure(before, after) {
			continue
		}
		if why := d.otherNumber(number, before, after); why != "" {
			d.doubt(shown(s), ofNumber, why, nil)
			return true
		}
	}
	return false
}

// otherNumber returns why a number between two texts is doubted: it has several digits and never
// occurs near its unit or name (a word around it), or its frames have only other numbers; or "".
func (d *claimChecker) otherNumber(number, before, after string) string {
	plain, names := prose.Plain(number), namesOf(before, after)
	isLine, isOrdinal := says("numbers a line", before), says("numbers one", before)
	if isLine {
		names = []string{""} // it is next to code
	}
	if len(number) > 1 && len(names) > 0 && !isOrdinal && !d.standsBeside(plain, names) {
		return number + " stands nowhere in the conversation beside any of these words"
	}
	isDecimal := strings.Contains(plain, " ")
	if isLine || isDecimal || isOrdinal && says("ends a name", after) {
		return ""
	}
	for _, f := range framesOf(before, after, isOrdinal) {
		if other := d.otherInFrame(f, plain); other != "" &&
			(f.near == nil || !d.standsBeside(plain, f.near)) {
			return `the conversation has "` + strings.TrimSpace(f.head+other+f.tail) + `", and never ` +
				number
		}
	}
	return ""
}

// frame is the text around a number, as plain words.
type frame struct {
	head, tail string
	near       []string // words that the number may be near in another frame; nil: none
}

// framesOf returns the frames of a number between two texts: its name, or its unit and words
// nearby.
func framesOf(before, after string, isOrdinal bool) (out []frame) {
	head := strings.Fields(prose.Plain(clauseAround(before, len(before))))
	tail := strings.Fields(prose.Plain(clauseAround(after, 0)))
	if isOrdinal && len(head) > 0 {
		return []frame{{head: " " + head[len(head)-1] + " "}}
	}
	if isOrdinal || len(tail) == 0 || !carriesSense(tail[0]) {
		return nil
	}
	for n := range 3 { // words before it
		start := strings.Join(append([]string{""}, head[max(0, len(head)-n):]...), " ") + " "
		for m := max(1, 2-n); n+m <= 3; m++ {
			if n > len(head) || m > len(tail) {
				continue
			}
			f := frame{head: start, tail: " " + strings.Join(tail[:m], " ") + " "}
			if n+m == 2 {
				f.near = tail[:m]
			}
			out = append(out, f)
		}
	}
	return out
}

// otherInFrame returns a number other than the given one that stands between the same words; "" if
// none occurs, or the given one does, too.
func (d *claimChecker) otherInFrame(f frame, number string) (other string) {
	places := d.numerals()
	if d.left -= placeCost * len(places); d.left < 0 {
		return ""
	}
	for _, at := range places {
		if !strings.HasSuffix(d.words[:at], f.head) {
			continue
		}
		rest := strings.TrimLeft(d.words[at:], digits)
		if !strings.HasPrefix(rest, f.tail) {
			continue
		}
		if other = d.words[at : len(d.words)-len(rest)]; other == number {
			return ""
		}
	}
	return other
}

const digits = "0123456789"

// placeCost is the cost of comparing one place, in bytes searched.
const placeCost = 8

// numerals returns the places of numbers, with or without a unit, as whole words; not hashes.
func (p *History) numerals() []int {
	const longest = 40 // bytes of a word
	if words := p.allWords(); p.numbers == nil {
		p.numbers = []int{}
		for at := range len(words) {
			if !prose.IsDigit(words[at]) || at > 0 && words[at-1] != ' ' {
				continue
			}
			word, _, _ := strings.Cut(words[at:min(len(words), at+longest)], " ")
			if !strings.ContainsAny(strings.TrimLeft(word, digits), digits) {
				p.numbers = append(p.numbers, at)
			}
		}
	}
	return p.numbers
}

// isMeasure reports whether a number between two texts is an exact amount: not a percentage and not
// part of code, a name, a date, a range or a change.
func isMeasure(before, after string) bool {
	const nearby = 40 // bytes
	if strings.Count(before, "`")%2 == 1 || says("no measure before", before[max(0, len(before)-nearby):]) {
		return false
	}
	after = after[:min(len(after), nearby)]
	return says("joined unit", after) || !says("no measure after", after)
}

// namesOf returns the plain words around a number that may be its unit or its name.
func namesOf(before, after string) []string {
	const reach = 60 // bytes
	around := prose.Plain(before[max(0, len(before)-reach):] + " " + after[:min(len(after), reach)])
	return slices.DeleteFunc(strings.Fields(around), func(w string) bool { return !carriesSense(w) })
}

// carriesSense reports whether a word near a number may be its unit or its name.
func carriesSense(word string) bool {
	return len(word) > 2 && !prose.IsDigit(word[0]) && !says("no unit", word)
}

// standsBeside reports whether a number occurs near a name, in the singular or the plural.
func (d *claimChecker) standsBeside(number string, names []string) bool {
	const near = 40 // bytes
	places := d.numerals()
	if d.left -= placeCost * len(places); d.left < 0 {
		return true // unknown
	}
	for _, from := range places {
		rest, isIt := strings.CutPrefix(d.words[from:], number)
		if !isIt || isDigitAt(rest, 0) {
			continue
		}
		around := " " + d.words[max(0, from-near):from] + " " + rest[:min(len(rest), near)]
		for _, name := range names {
			if strings.Contains(around, " "+strings.TrimSuffix(name, "s")) {
				return true
			}
		}
	}
	return false
}

func isDigitAt(text string, at int) bool { return at < len(text) && prose.IsDigit(text[at]) }
