package visible

import "strings"

// The bytes that begin and end terminal sequences.
const (
	esc  = '\x1b'
	bell = '\a'
)

// longestSequence is how many bytes of a string for the terminal, such as its title, are searched
// for the end; without an end there, only its beginning counts.
const longestSequence = 4096

// Sequence returns the number of bytes at the beginning of s that a terminal executes instead of
// showing: an escape sequence of ECMA-48, such as colors, cursor movements and the title. It is 0
// without a sequence.
func Sequence(s string) int {
	switch {
	case s == "":
		return 0
	case strings.HasPrefix(s, "\u009b"):
		return control(s, len("\u009b"))
	case s[0] != esc:
		return 0
	case len(s) == 1:
		return 1
	}
	switch c := s[1]; {
	case c == '[':
		return control(s, 2)
	case strings.IndexByte("]PX^_", c) >= 0:
		return command(s)
	case c >= ' ' && c <= '/': // a character set
		n := 2
		for n < len(s) && s[n] >= ' ' && s[n] <= '/' {
			n++
		}
		return min(n+1, len(s))
	case c >= '0' && c <= '~':
		return 2
	}
	return 1
}

// control returns the end of a control sequence with parameters that begin at n.
func control(s string, n int) int {
	for n < len(s) && s[n] >= ' ' && s[n] <= '?' {
		n++
	}
	if n < len(s) && s[n] >= '@' && s[n] <= '~' {
		n++
	}
	return n
}

// command returns the end of a string for the terminal.
func command(s string) int {
	for i := 2; i < min(len(s), longestSequence); i++ {
		switch {
		case s[i] == bell:
			return i + 1
		case s[i] == esc && i+1 < len(s) && s[i+1] == '\\':
			return i + 2
		case s[i] == esc || s[i] == '\n':
			return i
		}
	}
	return min(2, len(s))
}

// WithoutSequences returns s without terminal escape sequences: the text that a terminal would
// show.
func WithoutSequences(s string) string {
	if strings.IndexByte(s, esc) < 0 && !strings.Contains(s, "\u009b") {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	from := 0
	for i := 0; i < len(s); {
		n := 0
		if s[i] == esc || s[i] == 0xc2 {
			n = Sequence(s[i:])
		}
		if n == 0 {
			i++
			continue
		}
		out.WriteString(s[from:i])
		i += n
		from = i
	}
	out.WriteString(s[from:])
	return out.String()
}
