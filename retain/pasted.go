package retain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"precis/internal/harness"
)

// Bounds of what is taken for pasted by its shape.
const (
	shapeBytes = 24 // of the beginning of a line, by which it is compared with others
	leastAlike = 4  // lines of one shape
)

// pasted returns the spans of a user's text that hold what was pasted, in order: what is quoted, see
// [harness.Quoted], and lines of one shape, as programs write them. What stands between two of them belongs to them,
// unless it reads like a sentence.
func pasted(text string) [][2]int {
	alike := map[string]int{}
	for line := range strings.Lines(text) {
		if s := shape(line); s != "" {
			alike[s]++
		}
	}
	quoted := harness.Quoted(text)
	var out [][2]int
	at := 0
	sentence := true // since the last span
	for line := range strings.Lines(text) {
		from := at
		at += len(line)
		for len(quoted) > 0 && quoted[0][1] <= from {
			quoted = quoted[1:]
		}
		isPasted := len(quoted) > 0 && quoted[0][0] <= from && !(quoted[0][1] <= at && wordsAlone(line)) // a person may have written on
		if !isPasted {
			s := shape(line)
			isPasted = s != "" && alike[s] >= leastAlike
		}
		switch n := len(out); {
		case !isPasted:
			sentence = sentence || isSentence(line)
		case n > 0 && !sentence:
			out[n-1][1] = at
		default:
			out = append(out, [2]int{from, at})
			sentence = false
		}
	}
	return out
}

// shape returns the form of the beginning of a line: letters and digits by one sign for a run of them. It is "" for
// lines of words alone, which persons write, too, as a list of them.
func shape(line string) string {
	line = strings.TrimSpace(line)
	var out [2 * shapeBytes]byte
	n, marks := 0, 0
	put := func(c byte) {
		if n == 0 || out[n-1] != c || c != 'a' && c != '0' && c != ' ' {
			out[n] = c
			n++
		}
	}
	for i := 0; i < min(len(line), shapeBytes); i++ {
		switch c := line[i]; {
		case c >= utf8.RuneSelf || is(c, letter):
			put('a')
		case is(c, digit):
			put('0')
		case c == ' ' || c == '\t':
			put(' ')
		default:
			put(c)
		}
	}
	key := string(out[:n])
	rest := strings.TrimLeft(key, "0-*+#>.) ") // the mark of a list
	for i := range len(rest) {
		if strings.IndexByte("a ,.'!?", rest[i]) < 0 {
			marks++
		}
	}
	if marks == 0 {
		return ""
	}
	return key
}

// wordsAlone reports whether a line holds nothing but letters and what stands between words.
func wordsAlone(line string) bool {
	return strings.TrimSpace(line) != "" && !strings.ContainsFunc(line, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsSpace(r) && !strings.ContainsRune(",.?!'’", r)
	})
}

// isSentence reports whether a line reads like one that a person wrote: a few words, or a question.
func isSentence(line string) bool {
	const fewest, fewestLetters = 4, 8
	line = strings.TrimSpace(line)
	words, letters, others := 0, 0, 0
	wide := false // a script without spaces
	inWord := false
	for _, r := range line[:min(len(line), 300)] {
		switch {
		case unicode.IsLetter(r):
			letters++
			wide = wide || r >= 0x2e80
			if !inWord {
				words++
			}
			inWord = true
			continue
		case unicode.IsSpace(r), r == ',', r == '.', r == '?', r == '!', r == '\'', r == '’':
		default:
			others++
		}
		inWord = false
	}
	asks := strings.HasSuffix(line, "?") || strings.HasSuffix(line, "？")
	return letters > 3*others && (words >= fewest || asks && letters > 1 || wide && letters >= fewestLetters)
}

// withoutPasted returns a text in which what was pasted is shortened until all fits into about most bytes; what was
// typed stays whole. Where that is too much by itself, nothing of what was pasted stays. It reports false for a text
// that is all pasted or all typed.
func withoutPasted(text string, most int, where string) (string, bool) {
	const note = 60 // bytes
	spans := pasted(text)
	whole := 0
	for _, s := range spans {
		whole += s[1] - s[0]
	}
	if whole < 2*note || strings.TrimSpace(typedOf(text, spans)) == "" {
		return "", false
	}
	room := max(most-(len(text)-whole)-len(spans)*note-len(where), 0)
	var out strings.Builder
	at, cut := 0, false
	for _, s := range spans {
		out.WriteString(text[at:s[0]])
		at = s[1]
		body := text[s[0]:s[1]]
		if len(body) <= 2*note {
			out.WriteString(body)
			continue
		}
		own := room * len(body) / whole
		head, tail := Ends(body, own*2/3, own/3)
		head = head[:strings.LastIndexByte(head, '\n')+1]
		tail = tail[strings.IndexByte(tail, '\n')+1:]
		if len(tail) == len(body)-len(head) {
			out.WriteString(body)
			continue
		}
		gone := fmt.Sprintf("[… %d characters left out", utf8.RuneCountInString(body)-utf8.RuneCountInString(head)-utf8.RuneCountInString(tail))
		if where != "" && !cut {
			gone += "; all of it: " + where
		}
		cut = true
		out.WriteString(head)
		if out.Len() == 0 || out.String()[out.Len()-1] != '\n' {
			out.WriteByte('\n')
		}
		out.WriteString(gone + " …]\n" + tail)
	}
	out.WriteString(text[at:])
	return out.String(), cut
}

// typedOf returns what stands between spans.
func typedOf(text string, spans [][2]int) string {
	var out strings.Builder
	at := 0
	for _, s := range spans {
		out.WriteString(text[at:s[0]])
		at = s[1]
	}
	return out.String() + text[at:]
}
