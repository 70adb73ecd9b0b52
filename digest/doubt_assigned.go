package digest

import (
	"strings"

	"precis/internal/lazyregexp"
	"precis/internal/preview"
)

// assigned doubts the value of a name in a statement when the conversation gives the name others, and never that one.
func (d *doubter) assigned(s statement) bool {
	const most = 4 // of a statement
	for _, at := range assignmentsIn(s.text, most) {
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
			for _, m := range assignmentsIn(r.text, most) {
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

// assignmentsIn returns where a text gives names values: the bytes of each, of its name, and of its value.
func assignmentsIn(text string, most int) [][]int {
	return append(assignment.FindAllStringSubmatchIndex(text, most), isTrue.FindAllStringSubmatchIndex(text, most)...)
}

// assignment gives a name a number, and isTrue says whether one is so.
var (
	isTrue     = lazyregexp.New("\\b([A-Za-z_]\\w{3,})(?:\\(\\))?`? ?(?:=|:=|:|==|returns?|is|was|to|=>)? ?`?(true|false)\\b")
	assignment = lazyregexp.New(`\b([A-Za-z_]\w{3,}) ?(?:=|:=|:|==|!=|>|<|>=|<=) ?(\d[\d_,]*(?:\.\d+)?)(?:$|[^\w:.-])`)
)
