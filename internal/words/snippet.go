package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	snippetBytes = 300
	ellipsis     = "…"
	window       = 200 // bytes in which a snippet looks for as many words as it can
)

// Snippet returns at most 300 bytes of a text, where it has most of the words:
// valid UTF-8 in one line.
func (q Query) Snippet(text string) string {
	from, to := q.best(text)
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

// best returns the part of the text, not longer than the window or one word,
// that holds most of the words; the first of several.
func (q Query) best(text string) (from, to int) {
	place := q.places()
	var held []span
	counts := map[string]int{}
	most := 0
	for s := range spans(text) {
		if _, ok := place[s.word]; !ok {
			continue
		}
		held = append(held, s)
		counts[s.word]++
		for len(held) > 1 && s.to-held[0].from > window {
			if counts[held[0].word]--; counts[held[0].word] == 0 {
				delete(counts, held[0].word)
			}
			held = held[1:]
		}
		if len(counts) > most {
			most, from, to = len(counts), held[0].from, s.to
		}
		if most == len(q) {
			break
		}
	}
	return from, to
}
