package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word or a mark of a sentence.
type token struct {
	text     string // in lower case, with plain apostrophes
	from, to int    // bytes of the sentence
	mark     bool   // it parts clauses
	code     bool   // a name or a path, not a word of the language
}

// tokensOf returns the words and the marks of a sentence. Scripts without spaces are parted
// into characters.
func tokensOf(s string, chars bool) []token {
	var out []token
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case wordRune(r):
			from, code := i, false
			if chars && r >= 0x1100 {
				out = append(out, token{text: s[i : i+n], from: i, to: i + n})
				i += n
				continue
			}
			for i < len(s) {
				r, n = utf8.DecodeRuneInString(s[i:])
				if chars && r >= 0x1100 {
					break
				}
				if !wordRune(r) {
					next, _ := utf8.DecodeRuneInString(s[i+n:])
					if !strings.ContainsRune("./-@:\\+#", r) || !unicode.IsLetter(next) && !unicode.IsDigit(next) || chars && next >= 0x1100 {
						break
					}
					code = code || r != '-'
				}
				i += n
			}
			if n := elided(s[from:i]); n > 0 {
				out = append(out, token{text: folded(s[from : from+n-1]), from: from, to: from + n})
				from += n
			}
			out = append(out, token{text: folded(s[from:i]), from: from, to: i, code: code})
		case unicode.IsSpace(r):
			i += n
		default:
			from := i
			i += n
			if next, _ := utf8.DecodeRuneInString(s[i:]); r == '–' && from > 0 && unicode.IsDigit(rune(s[from-1])) && unicode.IsDigit(next) { // 1–2
				continue
			}
			if r == '-' && (from == 0 || s[from-1] != ' ') { // no dash between words
				continue
			}
			if strings.ContainsRune(",;:()—–-，；：（）、…[]؛¿¡", r) || strings.ContainsRune(".!?。！？", r) {
				out = append(out, token{text: s[from:i], from: from, to: i, mark: true})
			}
		}
	}
	return out
}

func wordRune(r rune) bool {
	return r == '\'' || r == '’' || r == '_' || r == '`' || r == '%' || r == '$' || r == '~' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

// folded returns a word as the tables hold it: in lower case, with plain apostrophes, without
// marks around it.
func folded(word string) string {
	word = strings.ToLower(strings.Trim(word, "'’`_~"))
	if strings.Contains(word, "’") {
		word = strings.ReplaceAll(word, "’", "'")
	}
	return word
}

// elided returns how many bytes of a word are one before it that lost its vowel: l', d', qu'.
func elided(word string) int {
	at := strings.IndexAny(word, "'’")
	if at != 1 && !(at == 2 && strings.EqualFold(word[:2], "qu")) || strings.IndexByte("ldjnsmtcqLDJNSMTCQ", word[0]) < 0 {
		return 0
	}
	_, n := utf8.DecodeRuneInString(word[at:])
	if at+n >= len(word) {
		return 0
	}
	return at + n
}
