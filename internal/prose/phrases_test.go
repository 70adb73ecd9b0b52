package prose

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// TestPhrasesAreAnAlternation: what is found is what a regular expression of the same phrases matches, whatever stands around them.
func TestPhrasesAreAnAlternation(t *testing.T) {
	for name, p := range map[string]*phrases{"concluding": &concluding, "failing": &failing, "undone": &undone, "narrating": &narrating} {
		t.Run(name, func(t *testing.T) { checkPhrases(t, p) })
	}
}

func checkPhrases(t *testing.T, p *phrases) {
	var whole []string
	list := strings.Split(p.list(), "|")
	for _, phrase := range list {
		stem, isStem := strings.CutSuffix(phrase, "*")
		if whole = append(whole, regexp.QuoteMeta(stem)+`\b`); isStem {
			whole[len(whole)-1] = regexp.QuoteMeta(stem) + `\w*\b`
		}
	}
	want := regexp.MustCompile(`(?i)\b(?:` + strings.Join(whole, "|") + `)`)
	parts := []string{" ", "  ", "\n", "_", "-", "'", "9", "x", ".", "é", "\xff", "the", "issue", "is", "doesn", "t", "needs", "to", "now", "want", "me", "abandon", "decid", "un", strings.Repeat("long", 9)}
	r := rand.New(rand.NewPCG(3, 3))
	found := 0
	for range 40_000 {
		var b strings.Builder
		for range 1 + r.IntN(6) {
			part := parts[r.IntN(len(parts))]
			if r.IntN(3) == 0 {
				part = strings.TrimSuffix(list[r.IntN(len(list))], "*")
			}
			if r.IntN(4) == 0 {
				part = strings.ToUpper(part)
			}
			b.WriteString(part)
		}
		got := p.in(b.String())
		if got != want.MatchString(b.String()) {
			t.Fatalf("%q: %v", b.String(), got)
		}
		if got {
			found++
		}
	}
	if found < 5000 || found > 35_000 {
		t.Errorf("%d texts have a phrase", found)
	}
}
