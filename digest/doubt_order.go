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

// sequence is two things of which one came first.
type sequence struct{ first, later []term }

// mostJoints bounds the joints of a sentence that are read.
const mostJoints = 4

// sequencesIn returns what a sentence says of the order of things, a sequence for each joint.
func sequencesIn(text string) (out []sequence) {
	type place struct {
		from, to int
		later    bool
	}
	var all []place
	for _, j := range joints {
		for _, at := range j.words.FindAllStringIndex(text, mostJoints+1) {
			all = append(all, place{at[0], at[1], j.later})
		}
	}
	if len(all) > mostJoints {
		return nil
	}
	slices.SortFunc(all, func(a, b place) int { return a.from - b.from })
	for i, j := range all {
		from, to := 0, len(text)
		if i > 0 {
			from = all[i-1].to
		}
		if i+1 < len(all) {
			to = all[i+1].from
		}
		if j.to > to || j.from < from {
			continue
		}
		a, b := text[from:j.from], text[j.to:to]
		x := sideOf(a, true)
		if senseIn(x) < 1 && i == 0 { // "After A, B", "So after A, B"
			beside, rest, ok := strings.Cut(b, ", ")
			if !ok {
				continue
			}
			x, b = sideOf(rest, false), beside
		}
		y := sideOf(b, false)
		if senseIn(x) < 1 || senseIn(y) < 1 || lineOfFile.MatchString(b) {
			continue
		}
		if j.later {
			x, y = y, x
		}
		out = append(out, sequence{x, y})
	}
	return out
}

// takenUp begins a clause that speaks of what the one before it names.
var takenUp = lazyregexp.New(`(?i)^\W*(?:it|they|this|that|these|those|which|who)\b`)

// asOfNow are sentences of how it is since something was changed: others tell how it was.
var asOfNow = lazyregexp.New(`(?i)\b(?:now|no longer)\b`)

// lineOfFile is a place: "after line 40 of the file".
var lineOfFile = lazyregexp.New(`(?i)^\W*(?:the )?lines? \d`)

// sideOf returns the words of the part of a sentence beside its joint: those of the last clause before it, or the first behind it.
// What stands before a bracket that the joint opens is such a clause: "at the start (before the first edit)".
func sideOf(text string, last bool) []term {
	const ends = ";:(—"
	text = strings.Trim(text, " ,;:-–—.)(*")
	if last {
		if i := strings.LastIndexAny(text, ends); i >= 0 && !takenUp.MatchString(text[i:]) {
			text = text[i:]
		}
	} else if i := strings.IndexAny(text, ends+")"); i > 0 {
		text = text[:i]
	}
	return termsOf(text)
}

// order doubts that one thing came before another when a passage on the same, or the calls, show the other way round.
func (d *doubter) order(s statement) bool {
	if s.ahead || s.quotes {
		return false
	}
	for _, q := range sequencesIn(s.text) {
		if d.turnedRound(s, q) {
			return true
		}
	}
	return false
}

// turnedRound doubts one sequence of a statement.
func (d *doubter) turnedRound(s statement, q sequence) bool {
	if a, b := d.eventOf(q.first), d.eventOf(q.later); a.known() && b.known() && a.kind != b.kind {
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
	if against := w.crossed(q, sequencesIn); against != nil {
		at := d.at(against.at)
		d.doubt(d.shown(s), doubtOrder, "the conversation says the other way round: "+preview.Line(against.text, 140), &at)
		return true
	}
	for _, e := range d.own.find(slices.Concat(q.first, q.later), mostAlike, func(r *remark) bool {
		return r.text != s.text && asOfNow.MatchString(r.text) == asOfNow.MatchString(s.text)
	}) {
		if _, other := w.sameWay(q, sequencesIn(e.text)); e.share >= sameItself && other > sameOwn && !d.seen[doubtedTwin+e.text] {
			d.seen[doubtedTwin+s.text] = true
			d.doubt(d.shown(s), doubtOrder, "elsewhere the summary says: "+preview.Line(e.text, 140), nil)
			return true
		}
	}
	return false
}

// crossed returns the passage that has two things clearly the other way round than any has them as they are said; nil when none does.
func (w *witness) crossed(q sequence, read func(text string) []sequence) (against *echo) {
	straight, crossed := 0.0, 0.0
	for _, e := range w.find(slices.Concat(q.first, q.later), mostAlike, func(r *remark) bool { return r.who <= byCall }) {
		if e.share < sameOrder {
			break
		}
		same, other := w.sameWay(q, read(e.text))
		straight = max(straight, same)
		if other > crossed {
			crossed, against = other, &e
		}
	}
	if crossed <= straight+clearly {
		return nil
	}
	return against
}

// Limits of an order that is compared: the least share of the words of a sentence that one on the same two things has, the least
// share of the words of each of the two, there and in the summary itself, and how much more of them must stand one way than the other.
const (
	sameOrder = 0.28
	sameSides = 0.3
	sameOwn   = 0.5
	clearly   = 0.2
)

// sameWay returns how much of both things the sequences of another sentence have in the same order, and how much in the other one;
// 0 where that is too little.
func (w *witness) sameWay(q sequence, all []sequence) (same, other float64) {
	for _, o := range all {
		straight := min(w.share(q.first, o.first), w.share(q.later, o.later))
		crossed := min(w.share(q.first, o.later), w.share(q.later, o.first))
		switch {
		case straight > crossed+clearly && straight > sameSides:
			same = max(same, straight)
		case crossed > straight+clearly && crossed > sameSides:
			other = max(other, crossed)
		}
	}
	return same, other
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
