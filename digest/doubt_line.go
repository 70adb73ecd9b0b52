package digest

import (
	"slices"
	"strconv"
	"strings"

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
		name, at := d.shownAt(s.text, m[0])
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

// shownAt returns a name in code of a sentence, the one that stands nearest to a byte, which tools have shown with the numbers of
// lines, and the newest such line; "" when there is none.
func (d *doubter) shownAt(text string, near int) (name string, at lineShown) {
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
