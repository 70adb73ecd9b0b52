package rules

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// FuzzFind: whatever is read, rules are passages of it within their bounds, each once, and
// their fold names texts that are there.
func FuzzFind(f *testing.F) {
	for _, l := range labelled {
		f.Add(strings.Join(l.rules, " ") + "\n" + strings.Join(l.none, "\n"))
	}
	f.Add("no, (— 8.3 If a\xff, l'd' qu’ don't")
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[string]bool{}
		for _, s := range Find(text) {
			if !strings.Contains(text, s.Text) || len(s.Text) < leastRule || len(s.Text) > mostRule || seen[s.Text] || strings.Contains(s.Text, "\n") {
				t.Fatalf("%q: %q", text, s.Text)
			}
			seen[s.Text] = true
		}
		for _, h := range Fold([]string{text, "Go on.", text}) {
			if h.Said < 0 || h.Said > 2 || h.Until < 0 || h.Until > 2 {
				t.Fatalf("%q: %+v", text, h)
			}
		}
	})
}

// TestWordsInAnyOrder: whatever words of the tables stand beside each other, what is found stands in the text.
func TestWordsInAnyOrder(t *testing.T) {
	const texts, most = 20_000, 9 // words of each
	var words []string
	for first, list := range cueing() {
		for _, p := range list {
			words = append(words, first, strings.Join(p.words, " "))
		}
	}
	for _, l := range []language{english, german, french, spanish, italian, portuguese, russian, chinese, japanese, korean} {
		for _, list := range l.lists {
			words = append(words, strings.Split(list, "|")...)
		}
	}
	slices.Sort(words)
	marks := []string{" ", " ", " ", " ", ", ", ": ", ":\n- ", "\n- ", ". ", " (", ") ", "\n", "\n## ", "? ", " <important>", "</important>", " 3 ", "\n1. ", " do not ", " ’ ", " ' ", " `", "` ", " _ ", " ~~", " … ", "\xff", " \u0301 "}
	r := rand.New(rand.NewPCG(7, 7))
	for range texts {
		var b strings.Builder
		for range 1 + r.IntN(most) {
			w := words[r.IntN(len(words))]
			if r.IntN(6) == 0 {
				w = strings.ToUpper(w)
			}
			b.WriteString(w + marks[r.IntN(len(marks))])
		}
		for _, s := range Find(b.String()) {
			if !strings.Contains(b.String(), s.Text) {
				t.Fatalf("%q: %q", b.String(), s.Text)
			}
		}
	}
}
