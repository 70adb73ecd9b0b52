package fair_test

import (
	"testing"

	"github.com/precis-dev/precis/internal/fair"
)

func TestOldest(t *testing.T) {
	for entries, want := range map[string]int{"": -1, "a": 0, "ab": 0, "abb": 1, "aabbb": 2, "ababb": 1, "abcabc": 0, "cab": 0} {
		if got := fair.Oldest([]rune(entries), func(r rune) string { return string(r) }); got != want {
			t.Errorf("%q: %d, want %d", entries, got, want)
		}
	}
}

func TestMost(t *testing.T) {
	for places, want := range map[int]int{0: 0, 1: 1, 2: 1, 4: 3, 1000: 750} {
		if got := fair.Most(places); got != want {
			t.Errorf("%d places: %d, want %d", places, got, want)
		}
	}
}
