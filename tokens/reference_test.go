package tokens

import (
	"math/rand"
	"strings"
	"unicode/utf8"
)

// reference is a slow and plain form of an encoding: it tries the
// alternatives of the published patterns one after the other on runes, with
// all their backtracking, and merges with a map.
type reference struct {
	cased bool
	ranks map[string]int
}

func newReference(e *Encoding) *reference {
	r := &reference{cased: e.split.cased, ranks: make(map[string]int)}
	for id := range e.vocab.size() {
		r.ranks[string(e.vocab.bytes(uint32(id)))] = id
	}
	return r
}

func (r *reference) encode(text string) []int {
	var ids []int
	rest := []rune(toValid(text))
	for len(rest) > 0 {
		n := r.match(rest)
		ids = append(ids, r.merge(string(rest[:n]))...)
		rest = rest[n:]
	}
	return ids
}

// toValid replaces every maximal part of an ill-formed sequence: bytes belong
// to it as long as some continuation could still make it valid.
func toValid(text string) string {
	var out strings.Builder
	for len(text) > 0 {
		if c, size := utf8.DecodeRuneInString(text); c != utf8.RuneError || size > 1 {
			out.WriteRune(c)
			text = text[size:]
			continue
		}
		n := 1
		for n < len(text) && n < 4 && startsRune(text[:n+1]) {
			n++
		}
		out.WriteRune(utf8.RuneError)
		text = text[n:]
	}
	return out.String()
}

func startsRune(s string) bool {
	for _, more := range []string{"\x80", "\x90", "\xA0", "\x80\x80", "\x90\x80", "\xA0\x80"} {
		if utf8.ValidString(s + more) {
			return true
		}
	}
	return false
}

func (r *reference) merge(piece string) []int {
	if id, ok := r.ranks[piece]; ok {
		return []int{id}
	}
	var parts []string
	for i := range len(piece) {
		parts = append(parts, piece[i:i+1])
	}
	for {
		at, lowest := -1, len(r.ranks)
		for i := 0; i+1 < len(parts); i++ {
			if rank, ok := r.ranks[parts[i]+parts[i+1]]; ok && rank < lowest {
				at, lowest = i, rank
			}
		}
		if at < 0 {
			break
		}
		parts[at] += parts[at+1]
		parts = append(parts[:at+1], parts[at+2:]...)
	}
	ids := make([]int, len(parts))
	for i, part := range parts {
		ids[i] = r.ranks[part]
	}
	return ids
}

func is(c rune, set classSet) bool { return classes().of(c)&set != 0 }

// run returns how many of the first runes of s are in set.
func run(s []rune, set classSet) int {
	n := 0
	for n < len(s) && is(s[n], set) {
		n++
	}
	return n
}

// match returns the length of the match at the start of s.
func (r *reference) match(s []rune) int {
	if r.cased {
		for _, lowerNeeded := range []bool{true, false} {
			if n := matchWord(s, lowerNeeded); n > 0 {
				return n + contraction(s[n:])
			}
		}
	} else {
		if n := contraction(s); n > 0 {
			return n
		}
		if !is(s[0], newline|letter|number) {
			if n := run(s[1:], letter); n > 0 {
				return 1 + n
			}
		}
		if n := run(s, letter); n > 0 {
			return n
		}
	}
	if n := run(s, number); n > 0 {
		return min(n, 3)
	}
	if n := r.matchSymbols(s); n > 0 {
		return n
	}
	return matchSpace(s)
}

// matchWord tries one of the first two alternatives of o200k_base: with and
// without the optional first character, and for every length of the first run.
func matchWord(s []rune, lowerNeeded bool) int {
	for _, prefix := range []int{1, 0} {
		if prefix == 1 && is(s[0], newline|letter|number) {
			continue
		}
		rest := s[prefix:]
		first := run(rest, upper|caseless|mark)
		if !lowerNeeded && first > 0 {
			return prefix + first + run(rest[first:], lower|caseless|mark)
		}
		for ; lowerNeeded && first >= 0; first-- {
			if n := run(rest[first:], lower|caseless|mark); n > 0 {
				return prefix + first + n
			}
		}
	}
	return 0
}

func contraction(s []rune) int {
	for _, c := range []string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"} {
		if n := len(c); len(s) >= n && strings.EqualFold(string(s[:n]), c) {
			return n
		}
	}
	return 0
}

func (r *reference) matchSymbols(s []rune) int {
	blank := 0
	if s[0] == ' ' {
		blank = 1
	}
	n := blank + run(s[blank:], other|mark)
	if n == blank {
		return 0
	}
	for n < len(s) && (s[n] == '\r' || s[n] == '\n' || r.cased && s[n] == '/') {
		n++
	}
	return n
}

func matchSpace(s []rune) int {
	n := run(s, whiteSpace)
	for i := n; i > 0; i-- {
		if is(s[i-1], newline) {
			return i
		}
	}
	if n > 1 && n < len(s) {
		return n - 1
	}
	return n
}

// randomText joins n random pieces of the kinds that the patterns tell apart.
func randomText(random *rand.Rand, n int) string {
	kinds := []string{
		"a", "b", "word", "Word", "HTTPServer", "camelCase", "don't", "'s", "'LL", "'\u017f", "'r", "'", "\u2019s",
		" ", " ", " ", "  ", "        ", "\n", "\r\n", "\t", "\t\t", "\u0085", "\ufeff", "\u00a0", "\u3000", "\v",
		"!", "//", "/", "/\n", ");", "...", "-----", "\"", "{", "=", "1", "12", "345", "67890", "\u0663", "\u00bd",
		"\u4e16\u754c", "\u3042", "\ud55c\uad6d\uc5b4", "\U0001f600", "\u00e9", "e\u0301", "\u0301", "\u01c5",
		"\u02b0", "\U00010d50", "\u3042CD", "\xff", "\xe4\xbd", "\xf0\x9f\x98", "\xed\xa0\x80", "\x00", "<|endoftext|>",
	}
	var b strings.Builder
	for range n {
		kind := kinds[random.Intn(len(kinds))]
		if random.Intn(4) > 0 {
			kind = kinds[random.Intn(45)]
		}
		for range 1 + random.Intn(3)*random.Intn(3) {
			b.WriteString(kind)
		}
	}
	return b.String()
}
