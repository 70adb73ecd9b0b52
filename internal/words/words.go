// Package words answers: which words does a message contain, and which of them match a query? Every
// store searches by it. The stores differ only in how they find the messages that may contain all
// words of a query.
//
// A word is a run of letters, digits and marks, in one case, of at most 128 bytes; of a longer one
// only the beginning counts. In scripts without spaces between words each character is a word. So
// is each syllable of Korean, where particles follow a word without a space, and each emoji. A
// character in several code points, as in file names on macOS, equals its composed form (Unicode's
// normalization form C).
//
// A message that lacks a word of the query is also found when it has another form of it, or a word
// of the same row in related.txt: see [Query]. Both are derived from the query alone, so indexes
// contain only the original words.
package words

import (
	"iter"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/precis-dev/precis/internal/visible"
)

// Version identifies the definition of a word. An index of another version is rebuilt.
const Version = "3 " + unicode.Version

// longest is the number of bytes of a word that count.
const longest = 128

// span is a word and its place, both in bytes.
type span struct {
	from, to int
	word     string
}

// spaceless are the scripts where each character is a word: those written without spaces between
// words, and Korean.
var spaceless = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer,
	unicode.Myanmar,
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

func isSpaceless(r rune) bool { return r >= 0x0e00 && unicode.In(r, spaceless...) }

// isEmoji reports whether a character is a picture. Boxes and arrows, which programs use for
// drawings, are excluded.
func isEmoji(r rune) bool {
	return (r >= 0x2600 && r <= 0x27bf || r >= 0x1f000 && r <= 0x1faff) && unicode.Is(unicode.So, r)
}

// emoji returns the word for a picture. The indexes of the stores do not treat pictures as letters,
// but do so for private use characters, which this package does not.
func emoji(r rune) string { return "\ue001" + strconv.FormatInt(int64(r), 16) }

// spans yields the words of a text in order.
func spans(text string) iter.Seq[span] {
	return func(yield func(span) bool) {
		for i := 0; i < len(text); {
			r, n := utf8.DecodeRuneInString(text[i:])
			if isEmoji(r) {
				if !yield(span{from: i, to: i + n, word: emoji(r)}) {
					return
				}
				i += n
				continue
			}
			if !isWord(r) || r >= utf8.RuneSelf && unicode.IsMark(r) { // a mark without a letter before it
				i += n
				continue
			}
			end := i + n
			if isSpaceless(r) {
				end = i + character(text[i:])
			} else {
				for end < len(text) {
					next, n := utf8.DecodeRuneInString(text[end:])
					if !isWord(next) || isSpaceless(next) {
						break
					}
					end += n
				}
			}
			to := i + len(visible.FirstBytes(text[i:end], longest))
			if !yield(span{from: i, to: to, word: Fold(text[i:to])}) {
				return
			}
			i = end
		}
	}
}

// character returns the length in bytes of the first character of a text, with its combining marks.
func character(text string) int {
	n := norm.NFC.NextBoundaryInString(text, true)
	for n < len(text) && n < longest {
		r, size := utf8.DecodeRuneInString(text[n:])
		if !unicode.IsMark(r) {
			break
		}
		n += size
	}
	return n
}

// Fold returns s without differences of case and of composition, as valid UTF-8.
func Fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			// by way of the upper case, ς and σ are one
			return norm.NFC.String(strings.ToLower(strings.ToUpper(strings.ToValidUTF8(s, "\ufffd"))))
		}
	}
	return strings.ToLower(s)
}

// Distinct returns the words of a text, each once, in order.
func Distinct(text string) []string {
	seen := map[string]bool{}
	var out []string
	for s := range spans(text) {
		if !seen[s.word] {
			seen[s.word] = true
			out = append(out, s.word)
		}
	}
	return out
}

// Owner is a word that marks entries of an owner and that no text contains: it begins with a
// character for private use, which the indexes of the stores treat as a letter and this package
// does not.
func Owner(owner int64) string { return "\ue000" + strconv.FormatInt(owner, 10) }
