package rules

import (
	"strings"
	"testing"
	"time"
)

// TestHostileTextsAreReadInProportion: four times as much of anything takes no sixteen times as long, as it would where each
// sentence is compared with each.
func TestHostileTextsAreReadInProportion(t *testing.T) {
	if testing.Short() {
		t.Skip("with the race detector it takes minutes, and there is one goroutine")
	}
	const size = 64 << 10
	for _, s := range []string{"never ", "a,", "no, ", "\xff", "不要", "don't use x.\n", "if you a, ", "(", "use tabs not spaces. Never use tabs. ", "'", "l'", "a.b.", "-", "\"no ", "1. ", "the timeout must be 45 seconds, not 30.\n", "make minimal changes, ", "you cannot ", "as few as possible ", "Rules:\n- a: b\n", "For each reply:\n- a\n", "at most one command "} {
		took := func(size int) (least time.Duration) {
			text := strings.Repeat(s, size/len(s))
			for range 3 { // whatever else the machine does
				start := time.Now()
				Fold([]string{text, text})
				if d := time.Since(start); least == 0 || d < least {
					least = d
				}
			}
			return least
		}
		if once, four := took(size), took(4*size); four > 10*once {
			t.Errorf("%q: %v for %d bytes, %v for four times as much", s, once, size, four)
		}
	}
}
