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
	name     bool   // an identifier of a program, see named
	command  bool   // it is told to a program: "/help"
}

// tokensOf returns the words and the marks of a sentence. Scripts without spaces are parted
// into characters.
func tokensOf(s string, chars bool) []token {
	const letters = 5 // of a word, and the space behind it
	out := make([]token, 0, len(s)/letters+2)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case wordRune(r):
			from, code, marked := i, false, false // marked: it has apostrophes or other marks
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
				marked = marked || r == '\'' || r == '’' || r == '`' || r == '_' || r == '~'
				i += n
			}
			command := isCommand(s, from)
			if !marked {
				out = append(out, token{text: strings.ToLower(s[from:i]), from: from, to: i, code: code, name: code && named(s[from:i]) || strings.HasPrefix(s[i:], "()") || strings.HasPrefix(s[i:], "::") || assigned(s[i:]), command: command})
				continue
			}
			if n := elided(s[from:i]); n > 0 {
				out = append(out, token{text: folded(s[from : from+n]), from: from, to: from + n})
				from += n
			}
			if word := folded(s[from:i]); word != "" { // nothing but apostrophes and the like is no word
				out = append(out, token{text: word, from: from, to: i, code: code, name: named(s[from:i]) || strings.HasPrefix(s[i:], "()")})
			}
		case unicode.IsSpace(r):
			i += n
		case r == '.' && hidden(s, i):
			from := i
			for i++; i < len(s); i += n {
				if r, n = utf8.DecodeRuneInString(s[i:]); !wordRune(r) && r != '-' {
					break
				}
			}
			out = append(out, token{text: folded(s[from:i]), from: from, to: i, code: true})
		default:
			from := i
			i += n
			if r == '≤' {
				out = append(out, token{text: "max", from: from, to: i})
				continue
			}
			if next, _ := utf8.DecodeRuneInString(s[i:]); r == '–' && from > 0 && unicode.IsDigit(rune(s[from-1])) && unicode.IsDigit(next) { // 1–2
				continue
			}
			if r == '(' && strings.HasPrefix(s[i:], ")") { // of a call
				i++
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

// isCommand reports whether the word at from is told to a program: a slash stands before it, and no path goes on behind.
func isCommand(s string, from int) bool {
	return from > 0 && s[from-1] == '/' && (from == 1 || strings.IndexByte(" \t(\"'`", s[from-2]) >= 0) && s[from] >= 'a' && s[from] <= 'z'
}

// hidden reports whether the full stop at i begins the name of a file: ".env".
func hidden(s string, i int) bool {
	if i+1 >= len(s) || i > 0 && strings.IndexByte(" \t(\"'`", s[i-1]) < 0 {
		return false
	}
	c := s[i+1]
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// assigned reports whether what stands behind a word gives it a value, as in code: "indent=4".
func assigned(s string) bool { return len(s) > 1 && s[0] == '=' && s[1] > ' ' && s[1] != '=' }

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '\'' || r == '_' || r == '`' || r == '%' || r == '$' || r == '~'
	}
	return r == '’' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
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

// named reports whether a word is an identifier of a program: one with an underscore between its
// letters, or one in backticks with a capital inside it.
func named(word string) bool {
	bare := strings.Trim(word, "`_'’")
	if i := strings.IndexByte(bare, '_'); i > 0 && bare != strings.ToUpper(bare) {
		return true
	}
	if strings.HasPrefix(bare, "self.") || strings.HasPrefix(bare, "this.") {
		return true
	}
	if !strings.HasPrefix(word, "`") && strings.IndexByte(bare, '.') < 0 {
		return false
	}
	for i := 1; i < len(bare); i++ {
		if bare[i] >= 'A' && bare[i] <= 'Z' && bare[i-1] >= 'a' && bare[i-1] <= 'z' {
			return true
		}
	}
	return false
}
