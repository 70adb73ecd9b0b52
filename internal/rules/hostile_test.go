package rules

import (
	"strings"
	"testing"
	"time"
)

// TestHostileTextsAreReadInTime: a megabyte of anything is read in a time in proportion.
func TestHostileTextsAreReadInTime(t *testing.T) {
	for _, s := range []string{"never ", "a,", "no, ", "\xff", "不要", "don't use x.\n", "if you a, ", "(", "use tabs not spaces. Never use tabs. ", "'", "l'", "a.b.", "-", "\"no ", "1. ", "the timeout must be 45 seconds, not 30.\n", "make minimal changes, ", "you cannot ", "as few as possible ", "Rules:\n- a: b\n", "For each reply:\n- a\n", "at most one command "} {
		text := strings.Repeat(s, 1<<20/len(s))
		start := time.Now()
		Fold([]string{text, text})
		if took := time.Since(start); took > 15*time.Second {
			t.Errorf("%q: %v", s, took)
		} else if testing.Verbose() {
			t.Logf("%q: %v", s, took)
		}
	}
}
