package overflow

import (
	"strconv"

	"precis/internal/lazyregexp"
)

// amounts finds what one request asks for next to a limit over time.
var amounts = []struct {
	text             *lazyregexp.Regexp
	limit, requested int // groups
}{
	{lazyregexp.New(`\blimit[ :=]*(\d+)(?:[ ,;/]+(?:current|used|remaining)[ :=]*\d+)*[ ,;/]+(?:and )?requested[ :=]*~?(\d+)`), 1, 2},
	{lazyregexp.New(`\brequested[ :=]*~?(\d+)(?: tokens?)?[ ,;/]+(?:(?:current|used|remaining)[ :=]*\d+[ ,;/]+)*(?:and |but |the )*limit(?: is)?[ :=]*(\d+)`), 2, 1},
	{lazyregexp.New(`\b(?:requested|prompt|input|request)\b[^.\d]{0,40}?(\d+) tokens?[^.\d]{0,60}?\b(?:exceeds?|is (?:above|over|more than|larger than)|but|while)[^.\d]{0,40}?\b(?:limit|max(?:imum)?|at most)(?: of| is)?[ :=]*(\d+)`), 2, 1},
}

// hopeless are texts that say the same without both numbers.
var hopeless = lazyregexp.All(
	`request too large\b.*\b(?:tokens?|messages?|prompt|input)\b.*\b(?:must|need to|has to|have to) be reduced`,
	`extra usage is (?:required|needed) for long[ -]context|long[ -]context (?:requests? )?(?:requires?|needs?) extra usage`,
)

// atOnce reports whether a folded text about rates or money says that the request by
// itself is above the limit. The number of the request is left out: it has the output
// that was asked for in it.
func atOnce(t string) (Overflow, bool) {
	const least = 1000 // of tokens; less is a number of requests
	for _, a := range amounts {
		m := a.text.FindStringSubmatch(t)
		if m == nil {
			continue
		}
		limit, _ := strconv.Atoi(m[a.limit]) // digits; too many make them 0
		requested, _ := strconv.Atoi(m[a.requested])
		if limit >= least && plausible(requested) {
			return Overflow{Limit: limit}, requested > limit
		}
	}
	return Overflow{}, matches(hopeless, t)
}
