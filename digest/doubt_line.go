package digest

import (
	"slices"
	"strconv"
	"strings"

	"precis"
	"precis/internal/lazyregexp"
)

// otherLine doubts the line of a file that a statement names beside code, when the conversation shows that code in other
// lines, and nothing of what the statement says near that one.
func (d *doubter) otherLine(s statement) bool {
	const most = 4 // of a statement
	for _, m := range lineNamed.FindAllStringSubmatchIndex(s.text, most) {
		line, err := strconv.Atoi(s.text[m[2]:m[3]])
		if err != nil {
			continue
		}
		name, at := d.shownElsewhere(s.text, m[0], line)
		if name != "" && !d.nearLine(s.text, line) {
			h := d.at(at.at)
			d.doubt(d.shown(s), doubtNumber, name+" stands in line "+strconv.Itoa(at.line), &h)
			return true
		}
	}
	return false
}

// Limits of what is near a line: the lines around it, and how many a call reads that names the first one; and how often a
// passage counts among the bytes that may be searched when its words are read.
const (
	nearLines = 4
	readLines = 200
	readCost  = 8
)

// lineShown is a line that a tool has shown with its number.
type lineShown struct{ at, line int }

// shownElsewhere returns a name in code of a sentence, the one that stands nearest to a byte, which tools have shown with the
// numbers of lines, none of them near one, and the newest such line; "" when there is none.
func (d *doubter) shownElsewhere(text string, near, line int) (name string, at lineShown) {
	w := d.in.witness()
	least := len(text)
	for _, m := range codeNames.FindAllStringIndex(text, 2*mostCommands) {
		one := text[m[0]:m[1]]
		gap := max(m[0]-near, near-m[1], 0)
		id, ok := w.ids[stem1(strings.ToLower(one))]
		if !ok || gap >= least || len(w.posts[id]) > mostPosts || !isCode(one) {
			continue
		}
		seen := lineShown{line: -1}
		for _, p := range w.posts[id] {
			r := &w.remarks[p]
			if r.who != byTool {
				continue
			}
			for _, n := range termsOf(r.text) {
				if other, err := strconv.Atoi(n.stem); n.number && err == nil && (n.from == 0 || isSearched(r.text, n)) {
					seen = lineShown{r.at, other}
				}
			}
		}
		if seen.line >= 0 {
			name, at, least = one, seen, gap
		}
	}
	return name, at
}

// nearLine reports whether the conversation names a line near one in a passage that holds a word of a sentence, or a call
// reads a file from a line a little before it.
func (d *doubter) nearLine(text string, line int) bool {
	w := d.in.witness()
	words := map[string]bool{}
	for _, t := range termsOf(text) {
		if id, ok := w.ids[t.stem]; ok && len(t.stem) > 3 && !t.empty && !t.number && !lineWords[t.stem] && len(w.posts[id]) <= mostPosts {
			words[t.stem] = true
		}
	}
	says := func(number string, near bool, is func(*remark, term) bool) bool {
		id, ok := w.ids[number]
		if !ok {
			return false
		}
		return len(w.posts[id]) > mostPosts || slices.ContainsFunc(w.posts[id], func(p int32) bool {
			r := &w.remarks[p]
			if r.who != byCall && !near {
				return false
			}
			if d.left -= readCost * len(r.text); d.left < 0 {
				return true // not known
			}
			terms := termsOf(r.text)
			return slices.ContainsFunc(terms, func(t term) bool { return words[t.stem] }) &&
				slices.ContainsFunc(terms, func(t term) bool { return t.number && t.stem == number && is(r, t) })
		})
	}
	for n := line - readLines; n <= line+nearLines; n++ {
		near := n >= line-nearLines
		if says(strconv.Itoa(n), near, func(r *remark, t term) bool {
			return r.who == byCall || (n == line || t.from == 0 || isSearched(r.text, t) || behindLine.MatchString(r.text[:t.from]))
		}) {
			return true
		}
	}
	return false
}

// isSearched reports whether a number is that of a line that a search has found: "a/b.go:12:".
func isSearched(line string, n term) bool {
	return n.from > 0 && n.to < len(line) && strings.IndexByte(":-", line[n.to]) >= 0 && line[n.from-1] == line[n.to] && !strings.ContainsAny(line[:n.from], " \t")
}

var lineWords = wordSet("line lin file fil")

var (
	lineNamed = lazyregexp.New(`(?i)\blines? (\d{1,6})\b`)
	codeNames = lazyregexp.New(`\b[A-Za-z_]\w{5,}\b`)
	// behindLine stands before the number of a line: "line 12", "lines 3-12", "main.go:12", "L12".
	behindLine = lazyregexp.New(`(?i)(?:\blines?[ :~]*(?:\d+ ?(?:-|–|,|to|and) ?)*|[\w)]:(?:\d+[-–])?|\bl|\d[-–])$`)
)

// steps doubts how many steps a list of tasks has, when no list had so many.
func (d *doubter) steps(s statement) bool {
	m := listLength.FindStringSubmatch(s.text)
	known := d.in.standing().Lengths
	if m == nil || len(known) == 0 {
		return false
	}
	n, err := strconv.Atoi(m[1] + m[2])
	if err != nil || slices.Contains(known, n) {
		return false
	}
	var at *precis.Handle
	if all := d.in.standing().Steps; len(all) > 0 {
		h := all[0].Since
		h.From, h.To = h.From+d.in.offset, h.To+d.in.offset
		at = &h
	}
	d.doubt(d.shown(s), doubtNumber, "no list of the agent had "+strconv.Itoa(n)+" steps, but "+strconv.Itoa(known[len(known)-1]), at)
	return true
}

// listLength says how many steps a list has that the agent wrote.
var listLength = lazyregexp.New(`(?i)\b(?:task|todo|to-do)s?(?: list| tracking| tracker| items)?\b[^.;,]{0,20} with (\d{1,3}) (?:items?|tasks?|steps?|todos?|entries)\b|\b(?:created|wrote|set up|made|added) (\d{1,3}) (?:tasks|todos|to-dos|todo items|task items)\b`)
