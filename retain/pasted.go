package retain

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/precis-dev/precis/internal/harness"
)

// Limits for recognizing pasted text by its shape.
const (
	shapeBytes = 24 // of the beginning of a line, to be compared with others
	leastAlike = 4  // lines of one shape
)

// pasted returns the spans of pasted text in a user's text, in order: quotations, see
// [harness.Quoted], and lines of one shape, as programs write them. Lines between two spans belong
// to them unless they read like a sentence; a single sentence inside a log counts as typed.
func pasted(text string) [][2]int {
	shapes, alike := shapesOf(text)
	many := func(line int) bool { return alike[shapes[line]] >= leastAlike }
	quoted := harness.Quoted(text)
	var out [][2]int
	at, number := 0, -1
	sentence := true // since the last span
	for line := range strings.Lines(text) {
		from := at
		number++
		at += len(line)
		for len(quoted) > 0 && quoted[0][1] <= from {
			quoted = quoted[1:]
		}
		// the person may have resumed here
		isPasted := len(quoted) > 0 && quoted[0][0] <= from && !(quoted[0][1] <= at && wordsAlone(line))
		if isPasted && number > 0 && number < len(shapes)-1 && many(number-1) && many(number+1) &&
			!many(number) && endsSentence(line) && isSentence(line) {
			isPasted = false // a typed sentence within a log
		}
		isPasted = isPasted || many(number)
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

// shapesOf returns the number of each line's shape, and the number of lines of each shape. Shape 0
// means that the line has none.
func shapesOf(text string) (shapes []int32, alike []int) {
	numbers := map[string]int32{"": 0}
	shapes, alike = make([]int32, 0, strings.Count(text, "\n")+1), []int{0}
	var out [2 * shapeBytes]byte
	for line := range strings.Lines(text) {
		s := shape(&out, line)
		n, known := numbers[string(s)]
		if !known {
			n = int32(len(alike))
			numbers[string(s)], alike = n, append(alike, 0)
		}
		if n > 0 {
			alike[n]++
		}
		shapes = append(shapes, n)
	}
	return shapes, alike
}

// shape writes the form of the beginning of a line to out: one sign for each run of letters or
// digits; for frames only that they are drawn. It is empty for lines of words alone, because
// persons write such lists, too.
func shape(out *[2 * shapeBytes]byte, line string) []byte {
	line = strings.TrimSpace(line)
	if isDrawn(line) {
		return append(out[:0], '|')
	}
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
	rest := bytes.TrimLeft(out[:n], "0-*+#>.) ") // the mark of a list
	for i := range len(rest) {
		if strings.IndexByte("a ,.'!?", rest[i]) < 0 {
			marks++
		}
	}
	if marks == 0 {
		return nil
	}
	return out[:n]
}

// isDrawn reports whether a line begins with a character that programs draw frames and trees with.
func isDrawn(line string) bool {
	r, _ := utf8.DecodeRuneInString(line)
	return r >= 0x2500 && r < 0x25A0
}

// wordsAlone reports whether a line has only letters and the signs between words.
func wordsAlone(line string) bool {
	return strings.TrimSpace(line) != "" && !strings.ContainsFunc(line, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsSpace(r) && !strings.ContainsRune(",.?!'’", r)
	})
}

// isSentence reports whether a line reads like a person's: a few words, or a question.
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

// endsSentence reports whether a line ends with a sentence's punctuation.
func endsSentence(line string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(line))
	return strings.ContainsRune(".?!。？！", r)
}

// withoutPasted shortens the pasted parts of a text until it fits into about most bytes; typed text
// stays whole. If that alone is too long, all pasted text is removed. It reports false for a text
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
		if at := strings.LastIndexByte(head, '\n'); at >= 0 {
			head = head[:at+1]
		} else {
			head = head[:max(strings.LastIndexByte(head, ' '), 0)] // of one long line, do not cut a word
		}
		if at := strings.IndexByte(tail, '\n'); at >= 0 {
			tail = tail[at+1:]
		} else {
			tail = tail[strings.IndexByte(tail, ' ')+1:]
		}
		if len(tail) == len(body)-len(head) {
			out.WriteString(body)
			continue
		}
		gone := fmt.Sprintf("[… %d characters left out",
			utf8.RuneCountInString(body)-utf8.RuneCountInString(head)-utf8.RuneCountInString(tail))
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

// FoldPasted shortens the pasted parts of a user's text, such as a log, to about most bytes in all.
// Typed text stays whole, and so does a text that is all pasted.
func FoldPasted(text string, most int) string {
	spans := pasted(text)
	whole := 0
	for _, s := range spans {
		whole += s[1] - s[0]
	}
	if whole <= most {
		return text
	}
	if short, ok := withoutPasted(text, len(text)-whole+most, ""); ok {
		return short
	}
	return text
}

// WithoutPasted returns a user's text without its pasted parts.
func WithoutPasted(text string) string { return typedOf(text, pasted(text)) }

// typedOf returns the text between spans.
func typedOf(text string, spans [][2]int) string {
	var out strings.Builder
	at := 0
	for _, s := range spans {
		out.WriteString(text[at:s[0]])
		at = s[1]
	}
	return out.String() + text[at:]
}

// FoldDrawn returns a text with only the first keep lines of each longer frame or tree, such as a
// listing of folders.
func FoldDrawn(text string, keep int) string {
	var out strings.Builder
	run := 0 // drawn lines in a row
	flush := func() {
		if run > keep {
			fmt.Fprintf(&out, "[… %d lines left out …]\n", run-keep)
		}
		run = 0
	}
	for line := range strings.Lines(text) {
		if !isDrawn(strings.TrimSpace(line)) {
			flush()
			out.WriteString(line)
			continue
		}
		if run++; run <= keep {
			out.WriteString(line)
		}
	}
	flush()
	return out.String()
}
