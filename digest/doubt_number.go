package digest

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"precis/internal/lazyregexp"
	"precis/internal/preview"
)

// numbers doubts a number that the conversation nowhere puts beside the words it stands beside, when a passage on the same
// has another one in its place.
func (d *doubter) numbers(s statement) bool {
	return !s.ahead && !s.quotes && (d.assigned(s) || d.otherLine(s) || d.steps(s) || d.otherNumber(s))
}

// otherNumber doubts a number beside whose words a passage has another one.
func (d *doubter) otherNumber(s statement) bool {
	terms := termsOf(s.text)
	for i, t := range terms {
		if !t.number {
			continue
		}
		if !d.isMeasure(s.text, t) || countsRest(s.text, t) || isReckoned(terms, i) {
			continue
		}
		slot := slotOf(terms, i)
		if len(slot.words) < 2 {
			continue
		}
		if len(t.stem) > 1 && !strings.HasPrefix(s.text[t.to:], "%") && !d.in.witness().knows(t.stem) {
			d.doubt(d.shown(s), doubtNumber, t.stem+" stands nowhere in the conversation", nil)
			return true
		}
		least := sameSlot
		if slot.unit == "" || strings.HasPrefix(s.text[t.to:], "%") {
			least = sameName
		}
		e := d.otherIn(slot, t.stem, least)
		if one := slot.inClause(terms[i].clause); e == nil && len(one.words) >= leastClause && len(one.words) < len(slot.words) {
			e = d.otherIn(one, t.stem, sameClause)
		}
		if e != nil {
			at := d.at(e.at)
			d.doubt(d.shown(s), doubtNumber, "not "+t.stem+": "+preview.Line(e.text, 140), &at)
			return true
		}
	}
	return false
}

// otherIn returns the first passage that has other numbers in a place, where none that speaks better of it has this one.
func (d *doubter) otherIn(slot numberSlot, number string, least float64) *echo {
	held := -1.0
	for _, e := range d.in.witness().find(slot.words, mostEchoes) {
		if e.share < least && (e.share < sameSaid || e.who > byAgent || least > sameSlot) {
			continue
		}
		others := slot.in(termsOf(e.text), e.who == byTool)
		if slices.ContainsFunc(others, func(o string) bool { return sameRounded(number, o) }) {
			return nil
		}
		if len(others) == 0 {
			continue
		}
		if held < 0 {
			held = d.heldNumber(number, slot)
		}
		if held > e.share*heldEnough {
			return nil
		}
		return &e
	}
	return nil
}

// output doubts the numbers of a line that a summary shows as output when the conversation has the line with others only.
func (d *doubter) output(line string) {
	terms := termsOf(line)
	numbers := countsIn(terms)
	if len(numbers) == 0 || senseIn(terms)-len(numbers) < leastOutput {
		return
	}
	w := d.in.witness()
	var against *echo
	for _, e := range w.find(terms, mostEchoes) {
		there := termsOf(e.text)
		if e.share < wholeOutput || w.share(there, terms) < wholeOutput {
			continue
		}
		if slices.EqualFunc(numbers, countsIn(there), func(a, b term) bool { return a.stem == b.stem }) {
			return
		}
		if against == nil && len(countsIn(there)) == len(numbers) {
			against = &e
		}
	}
	if against == nil {
		return
	}
	at := d.at(against.at)
	d.doubt(preview.Line(line, mostShown), doubtNumber, "it stands there as: "+preview.Line(against.text, 140), &at)
}

// Limits of output in a summary: words of sense beside its numbers, and the share of them that the line of the conversation has.
const (
	leastOutput = 3
	wholeOutput = 0.99
)

// Limits of what is compared: passages for one question, and the least share of the words around a number that one on
// the same has.
const (
	mostEchoes = 100
	sameSlot   = 0.5
	sameSaid   = 0.25 // the same, of one in somebody's words
	sameName   = 0.7  // the same, where no unit says what is counted
	sameClause = 0.9  // the same, of the words of its clause alone, of which there are leastClause or more
	heldEnough = 0.75 // of that share, of a passage that has the number itself

	leastClause = 3
)

// numberSlot is where a number stands: the words around it, and those that say what it counts.
type numberSlot struct {
	words      []term
	unit, name string // the word behind the number, and the one before it; "" for none
}

// slotOf returns the place of a number in a sentence.
func slotOf(terms []term, i int) numberSlot {
	const reach = 6 // words
	var slot numberSlot
	for k := max(0, i-reach); k < min(len(terms), i+reach+1); k++ {
		if t := terms[k]; !t.empty && !t.number {
			slot.words = append(slot.words, t)
		}
	}
	for k := i + 1; k < min(len(terms), i+4) && terms[k].clause == terms[i].clause; k++ {
		t := terms[k]
		if ordinal := t.stem == "th" && t.from == terms[i].to; ordinal {
			slot.unit = "th "
			continue
		}
		if !t.empty && !t.number && !counted[t.stem] {
			slot.unit += t.stem
			break
		}
	}
	for k := i - 1; k >= max(0, i-4); k-- {
		if t := terms[k]; !t.empty && !t.number {
			slot.name = t.stem
			break
		}
	}
	return slot
}

// counted stand between a number and what it counts, and before what it counts in "total checkpoints: 26".
var counted = stems("total new remaining different separate distinct existing unique additional more other")

// inClause returns the place with the words of one clause alone.
func (n numberSlot) inClause(clause int) numberSlot {
	n.words = slices.DeleteFunc(slices.Clone(n.words), func(t term) bool { return t.clause != clause })
	return n
}

// in returns the numbers that stand in such a place of another sentence; labels are such places, too: "Checkpoints: 26".
func (n numberSlot) in(terms []term, labels bool) (out []string) {
	for i, t := range terms {
		if !t.number {
			continue
		}
		other := slotOf(terms, i)
		if n.unit != "" && (other.unit == n.unit || labels && other.unit == "" && other.name == n.unit) || n.unit == "" && n.name != "" && other.name == n.name {
			out = append(out, t.stem)
		}
	}
	return out
}

// sameRounded reports whether a number is another one, or the other one is what it is when it is rounded: 97.6 is 98, and 98
// is 97.6.
func sameRounded(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) < len(b) {
		a, b = b, a
	}
	_, fine, hasA := strings.Cut(a, ".")
	_, coarse, _ := strings.Cut(b, ".")
	x, err := strconv.ParseFloat(a, 64)
	if !hasA || err != nil || len(fine) <= len(coarse) {
		return false
	}
	return strconv.FormatFloat(x, 'f', len(coarse), 64) == b
}

// countsRest reports whether a number counts what a list leaves out: "and 4 more".
func countsRest(text string, t term) bool {
	return strings.HasSuffix(text[:t.from], "and ") && strings.HasPrefix(text[t.to:], " more")
}

// isReckoned reports whether a number is what two others of its sentence make: "392 (was 16,684: 97.6 % less)", "345 errors in 3.75
// days (92 a day)". Small whole numbers are made of others too often.
func isReckoned(terms []term, i int) bool {
	const (
		most     = 8 // numbers of a sentence
		least    = 10
		tolerant = 0.02
	)
	v, err := strconv.ParseFloat(terms[i].stem, 64)
	if err != nil || v < least && v == math.Trunc(v) {
		return false
	}
	var others []float64
	for k, t := range terms {
		if x, err := strconv.ParseFloat(t.stem, 64); t.number && k != i && err == nil && len(others) < most {
			if k+1 < len(terms) && terms[k+1].from == t.to {
				x *= max(1, scales[terms[k+1].stem])
			}
			others = append(others, x)
		}
	}
	same := func(x float64) bool { return math.Abs(x-v) <= tolerant*v }
	for a, x := range others {
		for b, y := range others {
			if a != b && y > 0 && x > 0 && (same(x/y) || same(100*x/y) || same(100-100*x/y) || same(x+y) || same(x-y) || same(x*y)) {
				return true
			}
		}
	}
	return false
}

// scales are units by what they multiply a number with.
var scales = map[string]float64{"k": 1e3, "kilobyt": 1e3, "m": 1e6, "megabyt": 1e6, "g": 1e9, "gb": 1e9}

// heldNumber returns the greatest share of the words around a number that a passage has which holds the number itself. One
// that stands in the same place counts more.
func (d *doubter) heldNumber(number string, slot numberSlot) (held float64) {
	const inPlace = 0.2
	w := d.in.witness()
	id, ok := w.ids[number]
	if !ok {
		return 0
	}
	posts := w.posts[id]
	if len(posts) > mostPosts {
		return 1
	}
	for _, p := range posts {
		there := termsOf(w.remarks[p].text)
		share := w.share(slot.words, there)
		if slices.Contains(slot.in(there, false), number) {
			if slot.unit == "" {
				return 1 // it counts nothing, but names one of some
			}
			share += inPlace
		}
		held = max(held, share)
	}
	return held
}

// isMeasure reports whether a number of a sentence says how much, and exactly: it is no part of a name, a date or a
// handle, and not a rough one.
func (d *doubter) isMeasure(text string, t term) bool {
	before, after := text[:t.from], text[t.to:]
	if strings.Count(before, "`")%2 == 1 || len(t.stem) > 9 {
		return false
	}
	if before != "" && strings.IndexByte("#vVm@:/_-.–~≈<>", before[len(before)-1]) >= 0 || before != "" && before[len(before)-1] == '$' && len(t.stem) == 1 || strings.HasSuffix(before, "–") {
		return false
	}
	if after != "" && strings.IndexByte("+:/_-.", after[0]) >= 0 && len(after) > 1 && after[1] != ' ' && !joinedUnit.MatchString(after) || strings.HasPrefix(after, "+") || strings.HasPrefix(after, "–") {
		return false
	}
	if strings.HasPrefix(after, leftOutMark) || strings.HasPrefix(strings.TrimSpace(after), "→") || strings.HasSuffix(strings.TrimSpace(before), "→") {
		return false
	}
	tail := strings.TrimRight(before[max(0, len(before)-nearby):], " (*")
	if strings.HasSuffix(before, " - ") || strings.HasSuffix(before, " – ") {
		tail = "" // a dash between two parts of a sentence
	}
	return !roughly.MatchString(tail) && !dates.MatchString(tail) && !months.MatchString(after[:min(len(after), 12)])
}

// leftOutMark stands behind the number of characters that a digest leaves out of a text.
const leftOutMark = " characters left out"

var (
	// joinedUnit is what a number counts, with a hyphen: "a 12-character name".
	joinedUnit = lazyregexp.New(`(?i)^-(?:char(?:acter)?|byte|bit|digit|letter|word|second|minute|hour|day|week|month|year|line|file|step|item|column|row|page|level|percent)s?\b`)
	dates      = lazyregexp.New(`(?i)(?:\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|\b(?:step|steps|section|option|options|phase|point|item|part|round|message|messages|wp|task|test|error|fix|issue|pr|no)\.?)$`)
	months     = lazyregexp.New(`(?i)^ ?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b`)
)
