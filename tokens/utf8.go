package tokens

import (
	"strings"
	"unicode/utf8"
)

const replacement = "\uFFFD"

// validUTF8 returns text with every maximal part of an ill-formed sequence
// replaced by U+FFFD, and text itself when it is valid.
func validUTF8(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 16)
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && size == 1 {
			b.WriteString(replacement)
			text = text[illFormed(text):]
			continue
		}
		b.WriteString(text[:size])
		text = text[size:]
	}
	return b.String()
}

// illFormed returns the length of the ill-formed sequence at the start of
// text: the longest start of a well-formed character, at least one byte.
func illFormed(text string) int {
	size, low, high := leadByte(text[0])
	n := 1
	for n < size && n < len(text) && text[n] >= low && text[n] <= high {
		low, high = 0x80, 0xBF
		n++
	}
	return n
}

// leadByte returns the length of the characters that start with b and the
// range of their second byte (Unicode Standard, table 3-7). The length is 1
// for a byte that starts no character.
func leadByte(b byte) (size int, low, high byte) {
	switch {
	case b < 0xC2 || b > 0xF4:
		return 1, 0, 0
	case b < 0xE0:
		return 2, 0x80, 0xBF
	case b == 0xE0:
		return 3, 0xA0, 0xBF
	case b == 0xED:
		return 3, 0x80, 0x9F
	case b < 0xF0:
		return 3, 0x80, 0xBF
	case b == 0xF0:
		return 4, 0x90, 0xBF
	case b == 0xF4:
		return 4, 0x80, 0x8F
	}
	return 4, 0x80, 0xBF
}

// incompleteSuffix returns how many bytes at the end of text start a
// character that more text could complete: 0 to 3.
func incompleteSuffix(text string) int {
	for n := 1; n <= 3 && n <= len(text); n++ {
		end := text[len(text)-n:]
		if end[0] < 0x80 {
			return 0
		}
		if end[0] >= 0xC0 {
			size, _, _ := leadByte(end[0])
			if n < size && illFormed(end) == n {
				return n
			}
			return 0
		}
	}
	return 0
}
