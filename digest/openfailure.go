package digest

import (
	"slices"
	"strings"
	"unicode/utf8"

	"precis/internal/lazyregexp"
	"precis/internal/toolcall"
)

// withoutQueries leaves out the commands that only look and never failed: that they ended says nothing. Where there are no
// others they stay.
func withoutQueries(all []command) []command {
	says := func(c command) bool {
		return c.running || c.failed > 0 || !toolcall.Queries(c.given)
	}
	if !slices.ContainsFunc(all, says) {
		return all
	}
	return slices.DeleteFunc(all, func(c command) bool { return !says(c) })
}

// holdsWord reports whether a text holds a name that is no part of a longer one.
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

// listingLine is a line of a listing of files, or the head of one.
var listingLine = lazyregexp.New(`^(?:[dl-][a-z-]{4,5}\s+\d+[/.-]\d+[/.-]\d+\s|[dlbcps-][rwxsStT-]{9}[@+.]?\s|Mode\s+LastWriteTime\b|Directory: |total \d+$)`)

// saysNothing recognizes lines that stand where a command wrote nothing, or only list files.
func saysNothing(line string) bool { return line == "(no output)" || listingLine.MatchString(line) }
