package tokens

import (
	"math/rand"
	"strings"
	"testing"
)

func TestRunningEqualsCount(t *testing.T) {
	for _, e := range encodings() {
		random := rand.New(rand.NewSource(1))
		for range 100 {
			text := randomText(random, 1+random.Intn(120))
			r := e.Running()
			for end := 0; end < len(text); {
				start := end
				end = min(len(text), end+1+random.Intn(1+random.Intn(60)))
				r.Append(text[start:end])
				if got, want := r.Count(), e.Count(text[:end]); got != want {
					t.Fatalf("%s: running count of %q is %d, want %d", e.Name(), text[:end], got, want)
				}
			}
		}
	}
}

func TestRunningBytewise(t *testing.T) {
	texts := []string{
		"it'll DON'T あCDe \r\n\n   x", "a\xe4\xbd", "あCD\xc3\xa9", "x\xf0\x9f\x98\x80!\n//y", "\xed\xa0\x80\xff",
		strings.Repeat(" \n", 80) + "end", strings.Repeat("ab", 150), strings.Repeat("x'", 60) + "s",
	}
	for _, e := range encodings() {
		for _, text := range texts {
			r := e.Running()
			for i := range len(text) {
				r.Append(text[i : i+1])
				if got, want := r.Count(), e.Count(text[:i+1]); got != want {
					t.Fatalf("%s: running count of %q is %d, want %d", e.Name(), text[:i+1], got, want)
				}
			}
		}
	}
}

// What is kept must not grow with the text, or every count would cost more
// than the one before.
func TestRunningKeepsLittle(t *testing.T) {
	r := O200k().Running()
	for range 10_000 {
		r.Append("another word, ")
		if len(r.tail) > 2*minSettle {
			t.Fatalf("%d bytes kept", len(r.tail))
		}
	}
	if got, want := r.Count(), O200k().Count(strings.Repeat("another word, ", 10_000)); got != want {
		t.Errorf("count %d, want %d", got, want)
	}
}

func TestRunningEmpty(t *testing.T) {
	r := O200k().Running()
	r.Append("")
	if got := r.Count(); got != 0 {
		t.Errorf("count of nothing is %d", got)
	}
}
