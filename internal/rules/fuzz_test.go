package rules

import (
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
