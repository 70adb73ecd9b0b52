// Package visible makes characters of untrusted text visible that a terminal or a browser would
// execute or hide. Start with [Text].
package visible

import (
	"fmt"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns s with all characters made visible that would be executed or hidden: control
// characters except line feeds and tabs as their pictures (ESC is ␛), C1 controls, bidirectional
// controls and invisible characters as <U+202E>, invalid UTF-8 bytes as <0x9B>. Variation selectors
// and joiners stay inside emoji, and where a script needs them to be legible. The line end CR LF
// stays.
func Text(s string) string { return Marked(s, "", "") }

// HTML is Text for a finished page, with its output escaped. White space between elements and the
// text of the page itself stay unchanged.
func HTML(page string) string { return write(page, "", "", html.EscapeString) }

// Marked is Text for a text with each mark replaced by with; an empty mark is ignored.
func Marked(s, mark, with string) string {
	return write(s, mark, with, func(picture string) string { return picture })
}

// none is the character before the first and after the last.
const none rune = -1

func write(s, mark, with string, escape func(string) string) string {
	if clean(s) {
		return s
	}
	var out strings.Builder
	before := none
	for i := 0; i < len(s); {
		if mark != "" && strings.HasPrefix(s[i:], mark) {
			out.WriteString(with)
			i += len(mark)
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		after, width := utf8.DecodeRuneInString(s[i+n:])
		if width == 0 {
			after = none
		}
		switch {
		case r == utf8.RuneError && n == 1:
			out.WriteString(escape(fmt.Sprintf("<0x%02X>", s[i])))
		case Shown(r) || needed(before, r, after):
			out.WriteString(s[i : i+n])
		default:
			out.WriteString(escape(picture(r)))
		}
		before = r
		i += n
	}
	return out.String()
}

// clean reports whether s is printable ASCII, as most text is.
func clean(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' && c != '\n' && c != '\t') || c >= 0x7f {
			return false
		}
	}
	return true
}

// Shown reports whether r is visible, or is white space that text needs.
func Shown(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return true
	case unicode.Is(unicode.Cf, r):
		return unicode.Is(unicode.Prepended_Concatenation_Mark, r)
	case r == brailleBlank, unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r),
		unicode.Is(unicode.Variation_Selector, r):
		return false
	}
	return !unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp)
}

const (
	brailleBlank = '\u2800' // a symbol without a dot
	joiner       = '\u200d'
	nonJoiner    = '\u200c'
)

// needed reports whether r, which is invisible itself, affects its neighbors: the line feed after a
// carriage return, the parts of an emoji, the letters of a script that joins them, the variant of
// an ideograph.
func needed(before, r, after rune) bool {
	switch {
	case r == '\r':
		return after == '\n'
	case r == joiner || r == nonJoiner:
		return joins(before) && joins(after)
	case r == '\ufe0e' || r == '\ufe0f':
		return unicode.In(before, unicode.So, unicode.Sm, unicode.Po, unicode.Nd)
	case unicode.Is(unicode.Variation_Selector, r):
		return unicode.Is(unicode.Han, before)
	}
	return false
}

// joins reports whether a joiner has a meaning next to r.
func joins(r rune) bool {
	const emojiStyle = '\ufe0f'
	return r == emojiStyle || unicode.In(r, unicode.So, unicode.Sk) ||
		r > unicode.MaxLatin1 && unicode.In(r, unicode.L, unicode.M) && !unicode.Is(unicode.Latin, r)
}

// picture returns the visible form of a hidden character.
func picture(r rune) string {
	const pictures = 0x2400 // U+2400 is the picture of NUL
	switch {
	case r < ' ':
		return string(pictures + r)
	case r == 0x7f:
		return "␡"
	}
	return fmt.Sprintf("<U+%04X>", r)
}

// Cut returns text with at most most bytes, whole characters, and "…" at the end if it is longer.
func Cut(text string, most int) string {
	const more = "…"
	if len(text) <= most {
		return text
	}
	return FirstBytes(text, most-len(more)) + more
}

// FirstBytes returns at most n bytes of s, whole characters.
func FirstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
