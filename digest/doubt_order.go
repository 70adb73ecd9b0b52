package digest

import (
	"slices"
	"strings"

	"precis"
	"precis/internal/lazyregexp"
	"precis/internal/preview"
)

// joint is a word by which a sentence says which of two things came first.
type joint struct {
	words *lazyregexp.Regexp
	later bool // what stands behind it came first
}

var joints = []joint{
	{lazyregexp.New(`(?i)\b(?:before|prior to|until)\b|之前|以前に|前に|\bbevor\b|\bavant (?:de|que|d')|\bantes de`), false},
	{lazyregexp.New(`(?i)\b(?:after|once|following)\b|之后|之後|の後|\bnachdem\b|\baprès\b|\bdespués de`), true},
	{lazyregexp.New(`(?i)[,;]? (?:and )?(?:only )?(?:then|afterwards|followed by|subsequently|next)\b|然后|その後|\bdann\b|\bpuis\b|\bluego\b`), false},
}

// ordered returns the words of what came first and of what came later as a sentence says it; ok is false when it does not.
func ordered(text string) (first, later []term, ok bool) {
	for _, j := range joints {
		all := j.words.FindAllStringIndex(text, 2)
		if len(all) != 1 {
			if len(all) > 1 {
				return nil, nil, false
			}
			continue
		}
		at := all[0]
		a, b := text[:at[0]], text[at[1]:]
		if strings.TrimSpace(strings.Trim(a, " ,;:-–—")) == "" { // "After A, B"
			from, to, found := strings.Cut(b, ",")
			if !found {
				return nil, nil, false
			}
			a, b = to, from
		}
		x, y := sideOf(a, true), sideOf(b, false)
		if senseIn(x) < 1 || senseIn(y) < 1 {
			return nil, nil, false
		}
		if j.later {
			x, y = y, x
		}
		return x, y, true
	}
	return nil, nil, false
}

// sideOf returns the words of the part of a sentence beside its joint: those of the last clause before it, or the first behind it.
func sideOf(text string, last bool) []term {
	const ends = ";:(—"
	text = strings.Trim(text, " ,;:-–—.)")
	if last {
		text = text[strings.LastIndexAny(text, ends)+1:]
	} else if i := strings.IndexAny(text, ends); i > 0 {
		text = text[:i]
	}
	return termsOf(text)
}

// order doubts that one thing came before another when a passage on the same, or the calls, show the other way round.
func (d *doubter) order(s statement) bool {
	if s.ahead || s.quotes {
		return false
	}
	first, later, ok := ordered(s.text)
	if !ok {
		return false
	}
	if a, b := d.eventOf(first), d.eventOf(later); a.known() && b.known() && a.kind != b.kind {
		if a.first > b.last {
			at := d.at(a.first)
			d.doubt(d.shown(s), doubtOrder, a.kind+" came later", &at)
			return true
		}
		if a.last < b.first {
			return false
		}
	}
	w := d.in.witness()
	var against *echo
	for _, e := range w.find(slices.Concat(first, later), mostAlike, func(r *remark) bool { return r.who <= byCall }) {
		if e.share < sameOrder {
			break
		}
		switch d.orderIn(first, later, e.text) {
		case 1:
			return false
		case -1:
			if against == nil {
				against = &e
			}
		}
	}
	if against != nil {
		at := d.at(against.at)
		d.doubt(d.shown(s), doubtOrder, "the conversation says the other way round: "+preview.Line(against.text, 140), &at)
		return true
	}
	for _, e := range d.own.find(slices.Concat(first, later), mostAlike, func(r *remark) bool { return r.text != s.text }) {
		if e.share >= sameItself && d.orderIn(first, later, e.text) < 0 && !d.seen[doubtedTwin+e.text] {
			d.seen[doubtedTwin+s.text] = true
			d.doubt(d.shown(s), doubtOrder, "elsewhere the summary says: "+preview.Line(e.text, 140), nil)
			return true
		}
	}
	return false
}

// sameOrder is the least share of the words of a sentence that one on the same two things has.
const sameOrder = 0.28

// orderIn reports whether another sentence says the same order (1), the other (-1), or none of both.
func (d *doubter) orderIn(first, later []term, text string) int {
	x, y, ok := ordered(text)
	if !ok {
		return 0
	}
	w := d.in.witness()
	straight := min(w.share(first, x), w.share(later, y))
	crossed := min(w.share(first, y), w.share(later, x))
	switch {
	case straight > crossed+0.2 && straight > 0.3:
		return 1
	case crossed > straight+0.2 && crossed > 0.3:
		return -1
	}
	return 0
}

// event is something that calls did, and when.
type event struct {
	kind        string
	first, last int // messages
}

func (e event) known() bool { return e.kind != "" }

// eventOf returns what the words of a side tell that the calls show: an edit of a file, a run of checks, a commit or a push.
func (d *doubter) eventOf(side []term) (e event) {
	w := d.in.work()
	has := func(stems ...string) bool {
		return slices.ContainsFunc(side, func(t term) bool { return slices.Contains(stems, t.stem) })
	}
	note := func(kind string, at precis.Handle) {
		if e.kind != kind {
			e = event{kind, at.From, at.From}
		}
		e.first, e.last = min(e.first, at.From), max(e.last, at.From)
	}
	if has("if", "will", "should") {
		return e
	}
	for i := range w.calls {
		c := &w.calls[i]
		if failedCall(w.ends[i]) && !testRuns.MatchString(c.Line) {
			continue
		}
		switch {
		case has("push") && len(side) < 6 && feats[0].does.MatchString(c.Line):
			note("the push", c.Use)
		case has("commit") && !has("hook", "push") && len(side) < 6 && strings.Contains(c.Line, "git commit"):
			note("the commit", c.Use)
		case has("ran", "run", "test") && has("test") && len(side) < 6 && testRuns.MatchString(c.Line):
			note("the run of the tests", c.Use)
		}
	}
	if e.known() {
		return e
	}
	for _, f := range w.files.all {
		base := strings.ToLower(baseOf(f.path))
		stem, _, _ := strings.Cut(base, ".")
		if len(stem) < 4 || len(f.edits) == 0 || !slices.ContainsFunc(side, func(t term) bool { return t.stem == stem1(stem) }) || !has("edit", "writ", "creat", "chang", "modifi", "updat", "refactor", "fix", "add", "wrot") {
			continue
		}
		for _, call := range f.edits {
			note("the change of "+baseOf(f.path), w.calls[call].Use)
		}
	}
	return e
}
