package rules

import (
	"strings"
	"testing"
)

// TestApostrophesPartWords: straight or curly, with what they stand for; alone they are no word.
func TestApostrophesPartWords(t *testing.T) {
	for text, want := range map[string]string{
		"N'utilise jamais l'API": "n utilise jamais l api", "N’utilise jamais l’API": "n utilise jamais l api", "qu’on": "qu on", "don’t": "don't", "' should ’ never `": "should never", "l''": "l", "_ ~~ _": "",
	} {
		var words []string
		for _, k := range tokensOf(text, false) {
			words = append(words, k.text)
		}
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
