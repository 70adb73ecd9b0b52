package rules

import (
	"fmt"
	"strings"
	"testing"
)

// TestHostileTextsAreRead: a megabyte of anything is read, and what is found stands in it. Where each word were compared with
// each, the test would end by the limit of go test.
func TestHostileTextsAreRead(t *testing.T) {
	if testing.Short() {
		t.Skip("with the race detector it takes minutes, and there is one goroutine")
	}
	const size = 1 << 20
	for _, s := range []string{"never ", "never use %d.\n", "the port of a%d is %[1]d.\n", "a,", "no, ", "\xff", "不要", "don't use x.\n", "if you a, ", "(", "use tabs not spaces. Never use tabs. ", "'", "l'", "a.b.", "-", "\"no ", "1. ", "the timeout must be 45 seconds, not 30.\n", "make minimal changes, ", "you cannot ", "as few as possible ", "Rules:\n- a: b\n", "For each reply:\n- a\n", "at most one command "} {
		t.Run(s, func(t *testing.T) {
			var b strings.Builder
			for i := 0; b.Len() < size/2; i++ {
				if strings.Contains(s, "%") {
					fmt.Fprintf(&b, s, i)
				} else {
					b.WriteString(s)
				}
			}
			for _, h := range Fold([]string{b.String(), b.String()}) {
				if !strings.Contains(b.String(), h.Text) {
					t.Fatalf("%.80q is no part of the text", h.Text)
				}
			}
		})
	}
}
