package term

import (
	"iter"
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"
)

// Wrap breaks text between words into lines of at most the given number of columns, at least 16.
// Chinese has no spaces and breaks between characters, Japanese where a word probably begins. A
// word wider than a line is broken at the end of the line.
func Wrap(text string, columns int) []string {
	columns = max(columns, 16)
	japanese := strings.ContainsFunc(text,
		func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) })
	var lines []string
	line, used := "", 0
	for word := range strings.SplitSeq(text, " ") {
		space := 1
		for part := range parts(word, japanese) {
			n := lipgloss.Width(part)
			if used > 0 && used+space+n > columns {
				lines, line, used = append(lines, strings.TrimRight(line, " ")), "", 0
			}
			for n > columns {
				head, rest := split(part, columns)
				lines, part, n = append(lines, head), rest, lipgloss.Width(rest)
			}
			if line != "" {
				line, used = line+strings.Repeat(" ", space), used+space
			}
			line, used, space = line+part, used+n, 0
		}
	}
	return append(lines, line)
}

// parts yields the parts of a word between which a line may break.
func parts(word string, japanese bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, last := 0, rune(0)
		for i, r := range word {
			if i > 0 && breaks(last, r, japanese) {
				if !yield(word[start:i]) {
					return
				}
				start = i
			}
			last = r
		}
		yield(word[start:])
	}
}

// closing are characters that cannot begin a line, opening those that cannot end one. After
// pauses a new Japanese word begins.
const (
	closing = "、。，．：；！？）」』】〕〉》”’・々…—～),.:;!?%]}"
	opening = "（「『【〔〈《“‘([{"
	pauses  = "、。，．：；！？・…"
)

// breaks reports whether a line may end between a and b, which are not separated by a space. A
// Japanese word begins where the script changes, unless to Hiragana, the script of endings.
func breaks(a, b rune, japanese bool) bool {
	switch {
	// spaces that do not break
	case !ideographic(a) && !ideographic(b), unicode.IsSpace(a), unicode.IsSpace(b),
		strings.ContainsRune(closing, b), strings.ContainsRune(opening, a):
		return false
	case !japanese, strings.ContainsRune(pauses, a), strings.ContainsRune(opening, b):
		return true
	}
	return script(a) != script(b) && !unicode.Is(unicode.Hiragana, b)
}

// ideographic reports whether r is a Chinese or Japanese character, including punctuation and
// full-width forms.
func ideographic(r rune) bool {
	return r >= 0x2e80 && r <= 0xa4cf || r >= 0xf900 && r <= 0xfaff || r >= 0xff00 && r <= 0xff60
}

// script returns the script of a Japanese character, nil for other characters.
func script(r rune) *unicode.RangeTable {
	switch {
	case r == 'ー', unicode.Is(unicode.Katakana, r):
		return unicode.Katakana
	case unicode.Is(unicode.Hiragana, r):
		return unicode.Hiragana
	case unicode.Is(unicode.Han, r):
		return unicode.Han
	}
	return nil
}
