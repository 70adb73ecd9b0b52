package tokens

import (
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// units are what runs are made of: punctuation, control characters, letters of many
// scripts, emoji, and some of them together.
var units = []string{
	"a", "Z", "/", "-", "=", "*", "#", "_", ".", "~", "+", "|", "\\", "`", "\"", "<", "}", ";", "\x00", "\x01", "\x1b", "\x7f",
	"é", "ß", "я", "ω", "א", "ع", "ก", "要", "한", "あ", "😀", "👩‍👩‍👧", "\u200b", "\u0301", "─", "█", "�",
	"-=", "/*", "//=", "()", "{}[]", "日本", "- ", "ab", "=-=-", "<br/>", "0x00, ", "aaaaaaaaaaaaaaab",
}

// Leaps change nothing: the tokens are those that are found step by step.
func TestLeapsAreExact(t *testing.T) {
	rounds := 400
	if testing.Short() {
		rounds = 80
	}
	r := rand.New(rand.NewSource(1))
	for _, e := range []*Encoding{O200k(), Cl100k()} {
		w := newWorker(e)
		check := func(piece string) {
			if len(piece) <= maxShort {
				return
			}
			if !w.mergeFrom(piece, nil) {
				t.Fatalf("%s: no tokens for %d bytes", e.Name(), len(piece))
			}
			want := slices.Clone(w.tokens)
			w.mergeLong(piece)
			if !slices.Equal(w.tokens, want) {
				t.Fatalf("%s: %d tokens, want %d, for %d bytes that begin with %.40q", e.Name(), len(w.tokens), len(want), len(piece), piece)
			}
		}
		for _, unit := range units {
			for _, size := range []int{100, minLeap, 2*leapMargin + minLeap, 2*leapMargin + minLeap + 1, 5000, 9001} {
				run := strings.Repeat(unit, size/len(unit)+1)
				check(run)
				check(" " + run + "\n")
				check(run[:size]) // it may end within a character, as no piece does
			}
		}
		for range rounds {
			var b strings.Builder
			for range 1 + r.Intn(5) {
				unit := units[r.Intn(len(units))]
				b.WriteString(strings.Repeat(unit, 1+r.Intn(6000)/len(unit)))
			}
			piece := []byte(b.String())
			for range r.Intn(3) {
				piece[r.Intn(len(piece))] = byte(r.Intn(256))
			}
			check(string(piece))
		}
	}
}

// Whatever is repeated takes a small part of a step for each byte: lines of '-'
// took 26 steps, letters an eighth of one.
func TestRunsOfAnythingAreCountedAsFastAsLetters(t *testing.T) {
	const size = 1 << 18
	for _, e := range []*Encoding{O200k(), Cl100k()} {
		for _, unit := range units {
			w := newWorker(e)
			text := strings.Repeat(unit, size/len(unit))
			w.count(text)
			if w.steps > size/4 {
				t.Errorf("%s: %q takes %d steps in %d bytes", e.Name(), unit, w.steps, len(text))
			}
		}
	}
}
