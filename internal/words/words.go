// Package words is how every store searches: what the text of a message is, what
// a word is, and what a hit shows. The stores differ only in how they find the
// messages that may hold all words of a query.
//
// A word is a run of letters, digits and marks, in one case, of at most 128
// bytes; what is longer counts by its beginning. In writing without spaces each
// character is a word.
package words

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Version changes with what this package takes for the words of a text. An index
// that was made with another one is made anew.
const Version = "1 " + unicode.Version

// longest is how many bytes of a word count.
const longest = 128

// span is a word and where it stands, both in bytes.
type span struct {
	from, to int
	word     string
}

// spaceless are the scripts that are written without spaces between words.
var spaceless = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

func isSpaceless(r rune) bool { return r >= 0x0e00 && unicode.In(r, spaceless...) }

// spans yields the words of a text in order.
func spans(text string) iter.Seq[span] {
	return func(yield func(span) bool) {
		for i := 0; i < len(text); {
			r, n := utf8.DecodeRuneInString(text[i:])
			if !isWord(r) {
				i += n
				continue
			}
			end := i + n
			for !isSpaceless(r) && end < len(text) {
				next, n := utf8.DecodeRuneInString(text[end:])
				if !isWord(next) || isSpaceless(next) {
					break
				}
				end += n
			}
			to := i + len(firstBytes(text[i:end], longest))
			if !yield(span{from: i, to: to, word: Fold(text[i:to])}) {
				return
			}
			i = end
		}
	}
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

// Fold returns s with the differences of case taken out, as valid UTF-8.
func Fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return strings.ToLower(strings.ToUpper(strings.ToValidUTF8(s, "\ufffd"))) // by way of the upper case, ς and σ are one
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

// Query is the words that a search asks for.
type Query []string

// NewQuery reads what a user wrote. There is nothing it could refuse.
func NewQuery(text string) Query { return Distinct(text) }

// Indexed returns the words that an index is asked for; [Query.Score] looks for
// the others as well.
func (q Query) Indexed() []string { return q[:min(len(q), 32)] }

// Score says how well a text answers, 0 when a word is missing. A word counts
// the more the more often it occurs, in a short text more than in a long one.
func (q Query) Score(text string) float64 {
	counts, all := make([]int, len(q)), 0
	place := q.places()
	for s := range spans(text) {
		all++
		if i, ok := place[s.word]; ok {
			counts[i]++
		}
	}
	if slices.Contains(counts, 0) {
		return 0
	}
	var score float64
	for _, n := range counts {
		score += float64(n) / (float64(n) + 0.5 + float64(all)/200)
	}
	return score
}

func (q Query) places() map[string]int {
	place := make(map[string]int, len(q))
	for i, word := range q {
		place[word] = i
	}
	return place
}
