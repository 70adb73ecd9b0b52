// Package prose answers: which sentences and words does a text have? It does not interpret them: no
// function returns the meaning of a sentence.
package prose

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words returns the words of a text for comparing it with others, in lower case: words of four
// letters and more, numbers, and names with a sign in them such as paths; of scripts without
// spaces, pairs of characters.
func Words(text string) (out []string) {
	isPart := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) ||
			strings.ContainsRune("_./-", r)
	}
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

// IsName reports whether a word is a number, or contains a sign of paths and identifiers.
func IsName(word string) bool {
	return strings.ContainsFunc(word, unicode.IsDigit) || strings.ContainsAny(word, "_/") ||
		strings.Contains(strings.Trim(word, "."), ".")
}

func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// IsLetterOrDigit reports whether a character is a letter or a digit of any script.
func IsLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
