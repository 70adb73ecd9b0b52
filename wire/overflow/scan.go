package overflow

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// memberName reads the name of a member and the colon after it. It returns the
// position of the value.
func memberName(s string, i int) (name string, after int, ok bool) {
	if s[i] == '"' || s[i] == '\'' {
		name, after = quoted(s, i)
	} else {
		for after = i; after < len(s) && after < i+40 && isWord(s[after]); after++ {
		}
		name = s[i:after]
	}
	after = skip(s, after)
	if name == "" || after == len(s) || s[after] != ':' {
		return "", i, false
	}
	return name, skip(s, after+1), true
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func skip(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\r' || s[i] == '\n') {
		i++
	}
	return i
}

// quoted reads the string that begins at i, and returns its end. A string
// without a closing quote ends with the text.
func quoted(s string, i int) (string, int) {
	var b strings.Builder
	quote := s[i]
	for i++; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote:
			return b.String(), i + 1
		case c == '\\' && i+1 < len(s):
			i++
			i += unescape(&b, s[i:])
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), i
}

// unescape writes the character of an escape sequence; s begins with its letter. It returns how
// many bytes follow the letter.
func unescape(b *strings.Builder, s string) int {
	switch s[0] {
	case 'n', 'r', 't':
		b.WriteByte("\n \t"[strings.IndexByte("nrt", s[0])])
	case 'u':
		if len(s) < 5 {
			return 0
		}
		n, err := strconv.ParseUint(s[1:5], 16, 32)
		if err != nil {
			return 0
		}
		b.WriteRune(valid(rune(n)))
		return 4
	default:
		b.WriteByte(s[0])
	}
	return 0
}

func valid(c rune) rune {
	if !utf8.ValidRune(c) {
		return ' '
	}
	return c
}
