package harness

import (
	"strings"
	"testing"
)

// Whatever the text: what is cut off lies within it, and no word is made up.
func FuzzHarness(f *testing.F) {
	for _, s := range []string{
		"do it", "<system-reminder>a</system-reminder> b", "<system-reminder>", "[read_file for 'a'] Result:\nx", "<feedback>no</feedback>", "<task>t</task>\n<environment_details>e</environment_details>",
		"<command-name>/x</command-name><command-args>y</command-args>", "<bash-stdout>o</bash-stdout>", "\xff<\x00",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n := ProgramEnd(s); n < 0 || n > len(s) {
			t.Fatalf("the element ends at %d of %d", n, len(s))
		}
		if words := UserWords(s); len(words) > len(s)+1 {
			t.Fatalf("%q became %q", s, words)
		}
		for _, c := range Commands(s) {
			if !strings.Contains(s, c) {
				t.Fatalf("%q is not in %q", c, s)
			}
		}
	})
}
