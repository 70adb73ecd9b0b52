package digest

import (
	"slices"
	"strconv"
	"strings"

	"precis"
	"precis/internal/lazyregexp"
	"precis/internal/preview"
)

// numbers doubts a number that the conversation nowhere puts beside the words it stands beside, when a passage on the same
// has another one in its place.
func (d *doubter) numbers(s statement) bool {
	return !s.ahead && !s.quotes && (d.assigned(s) || d.otherNumber(s, nil))
}

// otherNumber does so by the passages among those that it is asked of; nil: all.
func (d *doubter) otherNumber(s statement, among func(*remark) bool) bool {
	terms := termsOf(s.text)
	for i, t := range terms {
		if !t.number {
			continue
		}
		if why, at := d.otherLine(s.text, t); why != "" {
			d.doubt(d.shown(s), doubtNumber, why, &at)
			return true
		}
		if !d.isMeasure(s.text, t) || countsRest(s.text, t) {
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
		held := -1.0
		for _, e := range d.in.witness().find(slot.words, mostEchoes, among) {
			if e.share < least && (e.share < sameSaid || e.who > byAgent || least > sameSlot) {
				continue
			}
			others := slot.in(termsOf(e.text))
			if slices.ContainsFunc(others, func(o string) bool { return sameRounded(t.stem, o) }) {
				break
			}
			if len(others) == 0 {
				continue
			}
			if held < 0 {
				held = d.heldNumber(t.stem, slot)
			}
			if held > e.share*heldEnough {
				break
			}
			at := d.at(e.at)
			d.doubt(d.shown(s), doubtNumber, "not "+t.stem+": "+preview.Line(e.text, 140), &at)
			return true
		}
	}
	return false
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
	for _, e := range w.find(terms, mostEchoes, nil) {
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
	heldEnough = 0.75 // of that share, of a passage that has the number itself
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
	for k := i + 1; k < min(len(terms), i+3) && terms[k].clause == terms[i].clause; k++ {
		if t := terms[k]; !t.empty && !t.number {
			slot.unit = t.stem
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

// in returns the numbers that stand in such a place of another sentence.
func (n numberSlot) in(terms []term) (out []string) {
	for i, t := range terms {
		if !t.number {
			continue
		}
		other := slotOf(terms, i)
		if n.unit != "" && other.unit == n.unit || n.unit == "" && n.name != "" && other.name == n.name {
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
		if slices.Contains(slot.in(there), number) {
			if slot.unit == "" {
				return 1 // it counts nothing, but names one of some
			}
			share += inPlace
		}
		held = max(held, share)
	}
	return held
}

// otherLine says why the number of a line behind the name of a definition is doubted: the conversation shows the name in other
// lines, and none of them is near.
func (d *doubter) otherLine(text string, t term) (why string, at precis.Handle) {
	const near = 2 // lines
	m := atLine.FindStringSubmatch(text[:t.from])
	line, err := strconv.Atoi(t.stem)
	if m == nil || err != nil {
		return "", at
	}
	w := d.in.witness()
	name := stem1(strings.ToLower(m[1]))
	id, ok := w.ids[name]
	if !ok || len(w.posts[id]) > mostPosts {
		return "", at
	}
	for _, p := range w.posts[id] {
		r := &w.remarks[p]
		for _, n := range termsOf(r.text) {
			if !n.number {
				continue
			}
			other, err := strconv.Atoi(n.stem)
			if err == nil && other >= line-near && other <= line+near && (n.from == 0 || behindLine.MatchString(r.text[:n.from])) {
				return "", at
			}
			if r.who == byTool && why == "" && err == nil && (n.from == 0 || isSearched(r.text, n)) && defines.MatchString(r.text) {
				why, at = m[1]+" stands in line "+n.stem, d.at(r.at)
			}
		}
	}
	return why, at
}

// isSearched reports whether a number is that of a line that a search has found: "a/b.go:12:".
func isSearched(line string, n term) bool {
	return n.to < len(line) && strings.IndexByte(":-", line[n.to]) >= 0 && line[n.from-1] == line[n.to] && !strings.ContainsAny(line[:n.from], " \t")
}

// assigned doubts the value of a name in a statement when the conversation gives the name others, and never that one.
func (d *doubter) assigned(s statement) bool {
	const most = 4 // of a statement
	for _, at := range assignment.FindAllStringSubmatchIndex(s.text, most) {
		name, value := s.text[at[2]:at[3]], numeral(s.text[at[4]:at[5]])
		given := d.valuesOf(name)
		if given.other == nil || given.known[value] {
			continue
		}
		if given.known[value] = d.heldNumber(value, numberSlot{words: termsOf(name)}) > 0; given.known[value] {
			continue // it stands beside the name in other words
		}
		h := d.at(given.other.at)
		d.doubt(d.shown(s), doubtNumber, "not "+value+": "+preview.Line(given.other.text, 140), &h)
		return true
	}
	return false
}

// givenValues are the values that a conversation gives a name.
type givenValues struct {
	known map[string]bool
	other *remark // that gives one, the newest; nil: none does
}

// valuesOf returns the values of a name. The passages that hold it are read once.
func (d *doubter) valuesOf(name string) *givenValues {
	if known, ok := d.given[name]; ok {
		return known
	}
	const most = 4 // of a passage
	w, given := d.in.witness(), &givenValues{known: map[string]bool{}}
	if id, ok := w.ids[stem1(strings.ToLower(name))]; ok && len(w.posts[id]) <= mostPosts {
		for _, p := range w.posts[id] {
			r := &w.remarks[p]
			for _, m := range assignment.FindAllStringSubmatchIndex(r.text, most) {
				if r.text[m[2]:m[3]] == name {
					given.known[numeral(r.text[m[4]:m[5]])], given.other = true, r
				}
			}
		}
	}
	if d.given == nil {
		d.given = map[string]*givenValues{}
	}
	d.given[name] = given
	return given
}

// assignment gives a name a value.
var assignment = lazyregexp.New(`\b([A-Za-z_]\w{3,}) ?(?:=|:=|:) ?(\d[\d_,]*(?:\.\d+)?)(?:$|[^\w:.-])`)

var (
	atLine = lazyregexp.New(`\b([A-Za-z_]\w{3,})(?:\(\))?` + "`?" + `\*{0,2}[ (]*(?:(?:is|was|stands|starts|begins|(?:is |was )?defined) )?(?:at |on |in |starting at )?\(?[Ll]ines? $`)
	// behindLine stands before the number of a line: "line 12", "lines 3-12", "main.go:12", "L12".
	behindLine = lazyregexp.New(`(?i)(?:\blines?[ :~]*(?:\d+ ?(?:-|–|,|to|and) ?)*|[\w)]:(?:\d+[-–])?|\bl|\d[-–])$`)
	defines    = lazyregexp.New(`\b(?:func|def|class|function|fn|const|type|interface|struct|var|let|enum)\b`)
)

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
	if after != "" && strings.IndexByte("+:/_-.", after[0]) >= 0 && len(after) > 1 && after[1] != ' ' || strings.HasPrefix(after, "+") || strings.HasPrefix(after, "–") {
		return false
	}
	if strings.HasPrefix(after, leftOutMark) || ordinals.MatchString(after) || strings.HasPrefix(strings.TrimSpace(after), "→") || strings.HasSuffix(strings.TrimSpace(before), "→") {
		return false
	}
	tail := strings.TrimRight(before[max(0, len(before)-nearby):], " (*")
	return !roughly.MatchString(tail) && !dates.MatchString(tail) && !months.MatchString(after[:min(len(after), 12)])
}

// leftOutMark stands behind the number of characters that a digest leaves out of a text.
const leftOutMark = " characters left out"

var (
	ordinals = lazyregexp.New(`^(?:st|nd|rd|th)\b`)
	dates    = lazyregexp.New(`(?i)(?:\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|\b(?:step|steps|section|option|options|phase|point|item|part|round|message|messages|wp|task|test|error|fix|issue|pr|no)\.?)$`)
	months   = lazyregexp.New(`(?i)^ ?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b`)
)
