package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	snippetBytes = 300
	ellipsis     = "…"
	window       = 200 // bytes; a snippet looks for as many words as possible within
)

// snippet returns at most 300 bytes of a text around a part of it: valid UTF-8 in one
// line.
func snippet(text string, from, to int) string {
	room := snippetBytes - 2*len(ellipsis) - (to - from)
	from = max(from-room/3, 0)
	to = min(from+snippetBytes-2*len(ellipsis), len(text))
	for from > 0 && from < to && !utf8.RuneStart(text[from]) {
		from++
	}
	for to < len(text) && to > from && !utf8.RuneStart(text[to]) {
		to--
	}
	line := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text[from:to], "?"))
	if from > 0 {
		line = ellipsis + line
	}
	if to < len(text) {
		line += ellipsis
	}
	return line
}

// best returns the part of the text, not longer than the window or one word, that matches most of
// the query's words, each by the rank that the whole text has; the first of several. It also
// returns the words there, by word of the query.
func (q Query) best(text string, by []found) (from, to int, shown []string) {
	type held struct {
		span
		asked int
	}
	var in []held
	counts := map[int]int{} // of words asked for, in the window
	most := 0
	shown = make([]string, len(q.asked))
	for s := range spans(text) {
		for _, a := range q.answers[s.word] {
			if a.rank != by[a.asked].rank {
				continue
			}
			in = append(in, held{s, a.asked})
			counts[a.asked]++
			for s.to-in[0].from > window && in[0].from < s.from {
				if counts[in[0].asked]--; counts[in[0].asked] == 0 {
					delete(counts, in[0].asked)
				}
				in = in[1:]
			}
			if len(counts) > most {
				most, from, to = len(counts), in[0].from, s.to
				clear(shown)
				for _, h := range in {
					shown[h.asked] = h.word
				}
			}
		}
		if most == len(q.asked) {
			break
		}
	}
	return from, to, shown
}
