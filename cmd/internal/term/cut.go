package term

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
)

// Plain returns s without control characters and sequences: recordings may contain the output of
// any program. A tab becomes four spaces.
func Plain(s string) string {
	var out strings.Builder
	for len(s) > 0 {
		if n := escape(s); n > 0 {
			s = s[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '\t':
			out.WriteString("    ")
		case r == '\n':
			out.WriteByte('\n')
		case r == utf8.RuneError && n == 1:
			out.WriteByte('?')
		case !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r):
			out.WriteRune(r)
		}
		s = s[n:]
	}
	return out.String()
}

// escape returns the length of the control sequence that s begins with.
func escape(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := 2; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
	}
	return len(s)
}

// Cut returns the beginning of a line that fits in the given number of columns, with an ellipsis
// if the line was cut.
func Cut(line string, columns int) string {
	head, rest := split(line, columns)
	if rest == "" {
		return line
	}
	head, _ = split(head, columns-1)
	return head + "…"
}

// Pad returns a line in exactly the given number of columns, cut or padded with spaces.
func Pad(line string, columns int) string {
	line = Cut(line, columns)
	return line + strings.Repeat(" ", max(columns-lipgloss.Width(line), 0))
}

// Around returns the part of a line around byte at that fits in the given number of columns, with
// an ellipsis at each cut end.
func Around(line string, at, columns int) string {
	if _, rest := split(line, columns); rest == "" {
		return line
	}
	start := min(offsetBefore(line, at, columns/3), offsetBefore(line, len(line), columns-1))
	if start == 0 {
		return Cut(line, columns)
	}
	return "…" + Cut(line[start:], columns-1)
}

// offsetBefore returns the byte offset in line at most the given number of columns before byte at.
func offsetBefore(line string, at, columns int) int {
	for used := 0; at > 0; {
		r, n := utf8.DecodeLastRuneInString(line[:at])
		if used += width(r); used > columns {
			break
		}
		at -= n
	}
	return at
}

// split returns as much of line as fits in the given number of columns, and the rest.
func split(line string, columns int) (head, rest string) {
	if len(line) <= columns { // no character is wider than its bytes
		return line, ""
	}
	used := 0
	for i, r := range line {
		if used += width(r); used > columns {
			return line[:i], line[i:]
		}
	}
	return line, ""
}

func width(r rune) int {
	if r < utf8.RuneSelf {
		return 1
	}
	return lipgloss.Width(string(r))
}
