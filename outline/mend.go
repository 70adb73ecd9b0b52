package outline

import "slices"

// Doubt is a range of lines, counted from 1, that a [Parser] could not parse.
type Doubt struct {
	Start, End int
	Def        int // index of the definition around it; -1: none
}

const mostInside = 50 // nested ranges to look at

// addFromLines adds to the definitions of a parser the definitions that reading by lines finds in the
// ranges of doubt. Inside a definition only lines that are indented no more than itself count: a
// function without its closing brace has swallowed those.
func addFromLines(defs []Definition, doubts []Doubt, byLines []Definition) []Definition {
	slices.SortFunc(doubts, func(a, b Doubt) int { return a.Start - b.Start })
	known := make(map[int]bool, len(defs))
	for _, d := range defs {
		known[d.Start] = true
	}
	found := make(map[int]Definition, len(byLines))
	for _, d := range byLines {
		found[d.Start] = d
	}
	next := 0
	var inside []Doubt // ranges around the current line
	for _, d := range byLines {
		inside = slices.DeleteFunc(inside, func(x Doubt) bool { return x.End < d.Start })
		for ; next < len(doubts) && doubts[next].Start <= d.Start; next++ {
			if len(inside) < mostInside && doubts[next].End >= d.Start {
				inside = append(inside, doubts[next])
			}
		}
		if !known[d.Start] && len(inside) > 0 && !isLocalToDoubtful(d, inside, defs, found) {
			defs = append(defs, d)
		}
	}
	for _, x := range doubts {
		if x.Def < 0 {
			continue
		}
		if f, ok := found[defs[x.Def].Start]; ok {
			defs[x.Def].End = min(defs[x.Def].End, f.End)
		}
	}
	return defs
}

// isLocalToDoubtful reports whether the parser's reading by lines places d inside a doubtful
// definition: then it belongs to that one.
func isLocalToDoubtful(d Definition, inside []Doubt, defs []Definition, found map[int]Definition) bool {
	for _, x := range inside {
		if x.Def < 0 {
			continue
		}
		owner, ok := found[defs[x.Def].Start]
		if !ok || d.Start <= owner.End {
			return true
		}
	}
	return false
}
