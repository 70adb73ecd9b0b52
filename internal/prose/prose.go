// Package prose divides texts into sentences and words. It does not interpret them: no
// function says what a sentence means.
package prose

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words returns the words of a text by which it is compared with others, in lower case:
// those of four letters and more, numbers, and names with a sign in them such as paths;
// of scripts without spaces, pairs of characters.
func Words(text string) (out []string) {
	isPart := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_./-", r) }
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isPart(r) }) {
		w = strings.Trim(w, "./-")
		if first, _ := utf8.DecodeRuneInString(w); isUnspaced(first) {
			rs := []rune(w)
			for i := 0; i+1 < len(rs); i++ {
				out = append(out, string(rs[i:i+2]))
			}
			continue
		}
		if utf8.RuneCountInString(w) >= 4 || IsName(w) {
			out = append(out, strings.ToLower(w))
		}
	}
	return out
}

// IsName reports whether a word is a number, or holds a sign as paths and identifiers do.
func IsName(word string) bool {
	return strings.ContainsFunc(word, unicode.IsDigit) || strings.ContainsAny(word, "_/") || strings.Contains(strings.Trim(word, "."), ".")
}

func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}
