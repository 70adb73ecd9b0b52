package harness

import (
	"cmp"
	"strings"

	"precis/internal/lazyregexp"
)

// directory matches how agent programs name the directory they work in: in words, in
// an element, or in parentheses behind a heading.
var directory = lazyregexp.New(`(?i)(?:\bworking directory|<cwd>|\bcwd\b)[^/~A-Za-z\n]{0,12}((?:[A-Za-z]:|~)?[/\\][^\s<>()"']*)`)

// WorkingDirectory returns the last directory that a text of an agent's program names
// as the one it works in; "" when it names none.
func WorkingDirectory(text string) string {
	if !strings.Contains(text, "orking ") && !strings.Contains(text, "cwd") { // most texts, at a fraction of the cost
		return ""
	}
	found := directory.FindAllStringSubmatchIndex(text, -1)
	if len(found) == 0 {
		return ""
	}
	last := found[len(found)-1]
	return strings.TrimRight(text[last[2]:last[3]], ".,;:]")
}

// branch matches how agent programs name the branch of git: in words on a line of their own, or in what git says of its
// state in short.
var branch = lazyregexp.New(`(?m)^[ \t]*(?:[-*] )?(?:Current|Git|Active) branch: *([\w./#@+-]+)[ \t]*$|(?:<git_status>|# Git Status)[^#]{0,200}\n## ([\w/#@+-][\w/#@+-]*(?:\.[\w/#@+-]+)*)`)

// Branch returns the branch of git that a text of an agent's program names as the one that is checked out; "" when it names
// none. Others may write so, too: ask who wrote the text.
func Branch(text string) string {
	if !strings.Contains(text, "ranch: ") && !strings.Contains(text, "# Git Status") && !strings.Contains(text, "<git_status>") {
		return ""
	}
	if m := branch.FindStringSubmatch(text); m != nil {
		return cmp.Or(m[1], m[2])
	}
	return ""
}
