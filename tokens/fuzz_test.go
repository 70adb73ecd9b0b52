package tokens

import (
	"math/bits"
	"math/rand"
	"slices"
	"testing"
)

func encodings() []*Encoding { return []*Encoding{O200k(), Cl100k()} }

// checkText compares all functions of e on one text with the reference.
func checkText(t *testing.T, e *Encoding, r *reference, text string) {
	t.Helper()
	want := r.encode(text)
	if got := e.Encode(text); !slices.Equal(got, want) {
		t.Fatalf("%s: Encode(%q)\n got %v\nwant %v", e.Name(), text, got, want)
	}
	if got := e.Count(text); got != len(want) {
		t.Fatalf("%s: Count(%q) = %d, want %d", e.Name(), text, got, len(want))
	}
	if got := e.Decode(want); got != toValid(text) {
		t.Fatalf("%s: Decode of the tokens of %q is %q", e.Name(), text, got)
	}
}

func TestRandomTexts(t *testing.T) {
	for _, e := range encodings() {
		r := newReference(e)
		random := rand.New(rand.NewSource(2))
		for range 1200 {
			checkText(t, e, r, randomText(random, random.Intn(60)))
		}
		for range 400 { // few letters make many pairs that merge in several ways
			text := make([]byte, random.Intn(200))
			for i := range text {
				text[i] = "abet "[random.Intn(2+random.Intn(4))]
			}
			checkText(t, e, r, string(text))
		}
	}
}

// Wrong pieces seldom give wrong tokens, because most tokens lie within the
// right ones. So this looks at the pieces themselves.
func TestPieces(t *testing.T) {
	for _, e := range encodings() {
		r := newReference(e)
		random := rand.New(rand.NewSource(4))
		for range 2000 {
			text := toValid(randomText(random, 1+random.Intn(80)))
			isStart := make(map[int]bool)
			for start := 0; start < len(text); {
				isStart[start] = true
				end := start + len(string([]rune(text[start:])[:r.match([]rune(text[start:]))]))
				if got := e.split.next(text, start); got != end {
					t.Fatalf("%s: piece %q, want %q", e.Name(), text[start:got], text[start:end])
				}
				start = end
			}
			for start := range isStart {
				if start+windowSize <= len(text) {
					checkStarts(t, e, text, start, isStart)
				}
			}
		}
	}
}

// checkStarts makes sure that the starts of a window are right and that none
// is left out before the last of them.
func checkStarts(t *testing.T, e *Encoding, text string, start int, isStart map[int]bool) {
	t.Helper()
	starts := e.split.starts(text[start:]) | 1
	for i := range bits.Len64(starts) {
		if found := starts>>i&1 != 0; found != isStart[start+i] {
			t.Fatalf("%s: piece starts at byte %d of %q: %v", e.Name(), i, text[start:start+windowSize], found)
		}
	}
}

func FuzzCount(f *testing.F) {
	random := rand.New(rand.NewSource(3))
	for range 40 {
		f.Add(randomText(random, 20))
	}
	references := map[*Encoding]*reference{}
	for _, e := range encodings() {
		references[e] = newReference(e)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for e, r := range references {
			checkText(t, e, r, text)
		}
	})
}
