package term

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Visible returns s with everything written out that a terminal would obey or not
// show: control characters except line feeds and tabs as their pictures (ESC is ␛),
// C1 controls, bidirectional controls and invisible characters as <U+202E>, bytes
// that are no UTF-8 as <0x9B>. Variation selectors and joiners stay inside emoji,
// and where a script needs them to be legible. The line end CR LF stays.
func Visible(s string) string { return visible(s, "") }

// visible is Visible for text in which mark begins the color codes to keep; "":
// none.
func visible(s, mark string) string {
	if clean(s) {
		return s
	}
	var out strings.Builder
	before := rune(-1)
	for i := 0; i < len(s); {
		if mark != "" && strings.HasPrefix(s[i:], mark) {
			out.WriteString(csi)
			i += len(mark)
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		after, _ := utf8.DecodeRuneInString(s[i+n:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&out, "<0x%02X>", s[i])
		case shown(r) || needed(before, r, after):
			out.WriteString(s[i : i+n])
		default:
			out.WriteString(picture(r))
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

// shown reports whether a terminal shows r, or moves on as text needs it.
func shown(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return true
	case unicode.Is(unicode.Cf, r):
		return unicode.Is(unicode.Prepended_Concatenation_Mark, r)
	case r == brailleBlank, unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), unicode.Is(unicode.Variation_Selector, r):
		return false
	}
	return !unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp)
}

const (
	brailleBlank = '\u2800' // a symbol without a dot
	joiner       = '\u200d'
	nonJoiner    = '\u200c'
)

// needed reports whether r, which is not shown by itself, changes how its neighbors
// are: the line feed after a carriage return, the parts of an emoji, the letters of a
// script that joins them, the form of an ideograph.
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
	return r == emojiStyle || unicode.In(r, unicode.So, unicode.Sk) || r > unicode.MaxLatin1 && unicode.In(r, unicode.L, unicode.M) && !unicode.Is(unicode.Latin, r)
}

// picture is what stands for a character that is not shown.
func picture(r rune) string {
	const pictures = 0x2400 // U+2400 is that of NUL
	switch {
	case r < ' ':
		return string(pictures + r)
	case r == 0x7f:
		return "␡"
	}
	return fmt.Sprintf("<U+%04X>", r)
}

// escaped returns JSON with what Visible would write out as \u escapes: the same
// JSON.
func escaped(s string) string {
	var out strings.Builder
	for _, r := range s {
		switch {
		case shown(r):
			out.WriteRune(r)
		case r == '\r': // between values, where any space will do
			out.WriteByte(' ')
		case r <= 0xffff:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		}
	}
	return out.String()
}
