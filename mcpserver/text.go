package mcpserver

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible returns a text for people and models: control characters, invisible ones, and those that
// change the text direction are written as escapes, and invalid UTF-8 is replaced. Line ends and
// tabs stay.
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

// hides reports whether a rune must not reach a terminal unescaped.
func hides(r rune) bool {
	switch r {
	case '\n', '\t', '\u200d': // the last one joins the parts of an emoji
		return false
	case '\r', utf8.RuneError, '\u2028', '\u2029':
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// newest returns the last items of a list, at most most of them.
func newest[T any](list []T, most int) []T { return list[max(len(list)-most, 0):] }

// lines writes a list, one item per line.
func lines[T any](items []T, line func(T) string) string {
	var out strings.Builder
	for _, item := range items {
		out.WriteString(line(item) + "\n")
	}
	return out.String()
}

// more returns a line with the cursor of the next page; "" on the last page.
func more(cursor string) string {
	if cursor == "" {
		return ""
	}
	return fmt.Sprintf("[more with cursor %q]\n", cursor)
}
