package mcpserver

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible returns a text for people and models: control characters, and those that
// change the direction of what follows or cannot be seen, are written as escapes, and
// bytes that are no UTF-8 are replaced. Ends of lines and tabs stay.
func visible(s string) string {
	if !strings.ContainsFunc(s, hides) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s) + 64)
	for _, r := range s {
		if hides(r) && r != utf8.RuneError {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// hides reports whether a rune must not reach a terminal as it is.
func hides(r rune) bool {
	switch r {
	case '\n', '\t', '\u200d': // the last one joins the parts of an emoji
		return false
	case '\r', utf8.RuneError, '\u2028', '\u2029':
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// newest returns the last items of a list, most of them at most.
func newest[T any](list []T, most int) []T { return list[max(len(list)-most, 0):] }

// lines writes a list, one item a line.
func lines[T any](items []T, line func(T) string) string {
	var out strings.Builder
	for _, item := range items {
		out.WriteString(line(item) + "\n")
	}
	return out.String()
}

// more names the cursor of what follows, as a line; "" when nothing does.
func more(cursor string) string {
	if cursor == "" {
		return ""
	}
	return fmt.Sprintf("[more with cursor %q]\n", cursor)
}
