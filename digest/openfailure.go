package digest

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/toolcall"
)

// withoutQueries drops commands that only read and never failed, because their success carries no
// information. If there are no other commands, it keeps them.
func withoutQueries(all []command) []command {
	says := func(c command) bool {
		return c.running || c.failed > 0 || !toolcall.Queries(c.given)
	}
	if !slices.ContainsFunc(all, says) {
		return all
	}
	return slices.DeleteFunc(all, func(c command) bool { return !says(c) })
}

// holdsWord reports whether a text contains a name that is not part of a longer one.
func holdsWord(text, name string) bool {
	isWord := func(r rune) bool { return r == '_' || r == '-' || isLetterOrDigit(r) }
	for {
		before, after, ok := strings.Cut(text, name)
		if !ok || name == "" {
			return false
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		if !isWord(last) && !isWord(next) {
			return true
		}
		text = after
	}
}

// listingLine matches a line of a file listing, or its header.
var listingLine = lazyregexp.New(`^(?:[dl-][a-z-]{4,5}\s+\d+[/.-]\d+[/.-]\d+\s|[dlbcps-][rwxsStT-]{9}[@+.]?\s|Mode\s+LastWriteTime\b|Directory: |total \d+$)`)

// saysNothing reports whether a line is a placeholder for empty output, or part of a file listing.
func saysNothing(line string) bool { return line == "(no output)" || listingLine.MatchString(line) }
