// Package words is how every store searches: what the text of a message is, what
// a word is, and what a hit shows. The stores differ only in how they find the
// messages that may hold all words of a query.
//
// A word is a run of letters, digits and marks, in one case, of at most 128
// bytes; what is longer counts by its beginning. Where writing puts no spaces
// between words each character is a word. So is each syllable of Korean, whose
// words stand together with the particles behind them, and each emoji. One character in several
// code points, as the names of files on macOS have it, is the same as in one
// (Unicode's normalization form C).
//
// A message that lacks a word of the query is found all the same when it has another
// form of it, or a word of the same row in related.txt: see [Query]. Both are worked
// out from the query alone, so that indexes hold the words as they were written.
package words

import (
	"iter"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Version changes with what this package takes for the words of a text. An index
// that was made with another one is made anew.
const Version = "3 " + unicode.Version

// longest is how many bytes of a word count.
const longest = 128

// span is a word and where it stands, both in bytes.
type span struct {
	from, to int
	word     string
}

// spaceless are the scripts whose characters are words: those written without
// spaces between words, and Korean.
var spaceless = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

func isSpaceless(r rune) bool { return r >= 0x0e00 && unicode.In(r, spaceless...) }

// isEmoji reports whether a character is a picture. Boxes and arrows, of which programs draw,
// are none.
func isEmoji(r rune) bool {
	return (r >= 0x2600 && r <= 0x27bf || r >= 0x1f000 && r <= 0x1faff) && unicode.Is(unicode.So, r)
}

// emoji returns the word for a picture. The indexes of the stores take none for a letter, but
// characters for private use, which this package does not.
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
			to := i + len(firstBytes(text[i:end], longest))
			if !yield(span{from: i, to: to, word: Fold(text[i:to])}) {
				return
			}
			i = end
		}
	}
}

// character returns how many bytes the first character of a text has, with the marks
// that stand on, under and beside it.
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

// firstBytes returns at most n bytes of s, whole characters.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Fold returns s with the differences of case and of composition taken out, as
// valid UTF-8.
func Fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return norm.NFC.String(strings.ToLower(strings.ToUpper(strings.ToValidUTF8(s, "\ufffd")))) // by way of the upper case, ς and σ are one
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

// Owner is a word that marks what belongs to an owner and that no text has: it
// begins with a character for private use, which the indexes of the stores take
// for a letter and this package does not.
func Owner(owner int64) string { return "\ue000" + strconv.FormatInt(owner, 10) }
