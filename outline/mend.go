package outline

import "slices"

// doubt is a range of lines, counted from 1, that a parser could not make
// sense of. When it is the body of a definition found there, def is its index,
// else -1.
type doubt struct {
	start, end int
	def        int
}

const mostInside = 50 // nested ranges that are looked at

// mend adds to the definitions of a parser what reading by lines finds in the
// ranges of doubt. Inside a definition only what stands no deeper than itself
// counts: a function whose closing brace is missing has swallowed those.
func mend(defs []Definition, doubts []doubt, byLines []Definition) []Definition {
	slices.SortFunc(doubts, func(a, b doubt) int { return a.start - b.start })
	known := make(map[int]bool, len(defs))
	for _, d := range defs {
		known[d.Start] = true
	}
	found := make(map[int]Definition, len(byLines))
	for _, d := range byLines {
		found[d.Start] = d
	}
	next := 0
	var inside []doubt // those that hold the current line
	for _, d := range byLines {
		inside = slices.DeleteFunc(inside, func(x doubt) bool { return x.end < d.Start })
		for ; next < len(doubts) && doubts[next].start <= d.Start; next++ {
			if len(inside) < mostInside && doubts[next].end >= d.Start {
				inside = append(inside, doubts[next])
			}
		}
		if !known[d.Start] && len(inside) > 0 && !local(d, inside, defs, found) {
			defs = append(defs, d)
		}
	}
	for _, x := range doubts {
		if x.def < 0 {
			continue
		}
		if f, ok := found[defs[x.def].Start]; ok {
			defs[x.def].End = min(defs[x.def].End, f.End)
		}
	}
	return defs
}

// local reports whether d is inside one of the definitions of doubt by its
// indentation too.
func local(d Definition, inside []doubt, defs []Definition, found map[int]Definition) bool {
	for _, x := range inside {
		if x.def < 0 {
			continue
		}
		owner, ok := found[defs[x.def].Start]
		if !ok || d.Start <= owner.End {
			return true
		}
	}
	return false
}
