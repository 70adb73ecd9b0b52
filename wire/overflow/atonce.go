package overflow

import (
	"strconv"

	"github.com/precis-dev/precis/internal/lazyregexp"
)

// amounts finds the amount requested and a limit per time.
var amounts = []struct {
	text             *lazyregexp.Regexp
	limit, requested int // groups
}{
	{lazyregexp.New(`\blimit[ :=]*(\d+)(?:[ ,;/]+(?:current|used|remaining)[ :=]*\d+)*[ ,;/]+(?:and )?requested[ :=]*~?(\d+)`), 1, 2},
	{lazyregexp.New(`\brequested[ :=]*~?(\d+)(?: tokens?)?[ ,;/]+(?:(?:current|used|remaining)[ :=]*\d+[ ,;/]+)*(?:and |but |the )*limit(?: is)?[ :=]*(\d+)`), 2, 1},
	{lazyregexp.New(`\b(?:requested|prompt|input|request)\b[^.\d]{0,40}?(\d+) tokens?[^.\d]{0,60}?\b(?:exceeds?|is (?:above|over|more than|larger than)|but|while)[^.\d]{0,40}?\b(?:limit|max(?:imum)?|at most)(?: of| is)?[ :=]*(\d+)`), 2, 1},
}

// hopeless are texts with the same meaning without both numbers.
var hopeless = lazyregexp.All(
	`request too large\b.*\b(?:tokens?|messages?|prompt|input)\b.*\b(?:must|need to|has to|have to) be reduced`,
	`extra usage is (?:required|needed) for long[ -]context|long[ -]context (?:requests? )?(?:requires?|needs?) extra usage`,
)

// atOnce reports whether a folded text about rates or money says that the single request exceeds
// the limit. It does not report the request's number, which includes the requested output.
func atOnce(t string) (Overflow, bool) {
	const least = 1000 // tokens; a smaller number counts requests
	for _, a := range amounts {
		m := a.text.FindStringSubmatch(t)
		if m == nil {
			continue
		}
		limit, _ := strconv.Atoi(m[a.limit]) // digits only; too many give 0
		requested, _ := strconv.Atoi(m[a.requested])
		if limit >= least && plausible(requested) {
			return Overflow{Limit: limit}, requested > limit
		}
	}
	return Overflow{}, matches(hopeless, t)
}
