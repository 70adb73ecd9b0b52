package retain

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/plain"
)

// Shorten cuts a user's text to about most bytes: first its pasted parts, such as a log, so that
// typed text stays whole, wherever it is. If that is not enough it keeps the beginning, as many
// rules of the middle as fit in half of the room, and the end. where, if not empty, names the
// handle of the whole text. A text that is short enough is returned unchanged.
func Shorten(text string, most int, where string) string {
	if len(text) <= most || most <= 0 {
		return text
	}
	if typed, ok := withoutPasted(text, most, where); ok {
		if len(typed) <= most {
			return typed
		}
		if len(typed) < len(text) {
			text = typed
		}
	}
	note := len(where) + 40
	room := most - note
	rules := fitting(Constraints(text), room/2)
	rest := max(room-size(rules), room/3, 0)
	head, tail := wordEnds(text, rest*2/3, rest/3)
	var kept []string
	for _, r := range rules {
		if !strings.Contains(head, r) && !strings.Contains(tail, r) {
			kept = append(kept, Folded(r)) // with its introduction it may have several lines
		}
	}
	left := leftOut(text[len(head):len(text)-len(tail)]) - utf8.RuneCountInString(strings.Join(kept, ""))
	gone := fmt.Sprintf("[… %d characters left out", left)
	if where != "" {
		gone += "; all of it: " + where
	}
	if len(kept) == 0 {
		return head + "\n" + gone + " …]\n" + tail
	}
	return head + "\n" + gone + "; rules among it: " + strings.Join(kept, " ") + " …]\n" + tail
}

// foldedNote matches the note that replaces a pasted part.
var foldedNote = lazyregexp.New(`\n?\[… (\d+) characters left out[^\]]*…\]\n?`)

// leftOut returns how many characters of the user's text are missing without a part of it: its own
// characters, and the number that each of its notes states.
func leftOut(part string) int {
	n := utf8.RuneCountInString(foldedNote.ReplaceAllString(part, ""))
	for _, note := range foldedNote.FindAllStringSubmatch(part, -1) {
		folded, _ := strconv.Atoi(note[1]) // digits of a number that was printed
		n += folded
	}
	return n
}

// fitting returns the first sentences that together fit in most bytes.
func fitting(sentences []string, most int) []string {
	n := 0
	for i, s := range sentences {
		if n += len(s) + 1; n > most {
			return sentences[:i]
		}
	}
	return sentences
}

func size(sentences []string) int {
	n := 0
	for _, s := range sentences {
		n += len(s) + 1
	}
	return n
}

// wordEnds is [Ends] without parts of words at the cuts, if a space is near: half a number would be
// another one.
func wordEnds(text string, head, tail int) (string, string) {
	const near = 40 // bytes
	h, t := Ends(text, head, tail)
	if len(h)+len(t) >= len(text) {
		return h, t
	}
	if n := strings.LastIndexAny(h, " \n\t"); n >= 0 && len(h)-n <= near {
		h = h[:n+1]
	}
	if n := strings.IndexAny(t, " \n\t"); n >= 0 && n <= near {
		t = t[n:]
	}
	return h, t
}

// BothEnds returns a text of about most bytes: two thirds from its beginning and one from its end,
// cut between words.
func BothEnds(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := wordEnds(text, most*2/3, most/3)
	return strings.TrimSpace(head) + " … " + strings.TrimSpace(tail)
}

// Ends returns the first head and the last tail bytes of a text, fewer if that would split a
// character.
func Ends(text string, head, tail int) (string, string) {
	h := text[:min(max(head, 0), len(text))]
	t := text[max(len(text)-max(tail, 0), len(h)):]
	return strings.ToValidUTF8(h, ""), strings.ToValidUTF8(t, "")
}

// Fit cuts a user's text, or a summary, to the given number of tokens as [Shorten] does; "" when
// there is no room.
func Fit(text string, tokens int, count func(string) int) string {
	if count(text) <= tokens {
		return text
	}
	for most := min(len(text)-1, tokens*4); most > 0; {
		short := Shorten(text, most, "")
		n := count(short)
		if n <= tokens {
			return short
		}
		most = min(most*tokens/n, most*9/10)
	}
	return ""
}

// LastPart returns the end of a text on one line of about most bytes.
func LastPart(text string, most int) string {
	text = plain.Text(Folded(text))
	if len(text) <= most {
		return text
	}
	end := text[len(text)-most:]
	for !utf8.ValidString(end) {
		end = end[1:]
	}
	if i := strings.IndexByte(end, ' '); i >= 0 && i < most/3 {
		end = end[i+1:]
	}
	return "…" + end
}
