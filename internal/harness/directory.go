package harness

import (
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
)

// directory matches an agent program's statement of its working directory: in words, in an element,
// or in parentheses after a heading.
var directory = lazyregexp.New(`(?i)(?:\bworking directory|<cwd>|\bcwd\b)[^/~A-Za-z\n]{0,12}((?:[A-Za-z]:|~)?[/\\][^\s<>()"']*)`)

// WorkingDirectory returns the last working directory that a text of an agent's program names; ""
// when it names none.
func WorkingDirectory(text string) string {
	if !strings.Contains(text, "orking ") && !strings.Contains(text, "cwd") {
		// most texts, at a fraction of the cost
		return ""
	}
	found := directory.FindAllStringSubmatchIndex(text, -1)
	if len(found) == 0 {
		return ""
	}
	last := found[len(found)-1]
	return strings.TrimRight(text[last[2]:last[3]], ".,;:]")
}
