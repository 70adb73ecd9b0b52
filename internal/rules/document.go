package rules

import (
	"strings"

	"precis/internal/harness"
)

// ownWords returns what a person typed of a text: without what [harness.Typed] leaves out,
// and without the documents that are pasted whole, see [harness.Documents].
func ownWords(text string) (out []string) {
	at := 0
	for _, d := range append(harness.Documents(text, saysRules), [2]int{len(text), len(text)}) {
		if d[0] > at {
			out = append(out, harness.Typed(text[at:d[0]])...)
		}
		at = max(at, d[1])
	}
	return out
}

// saysRules reports whether a heading says that rules follow. What is required of a product is
// none of how to work.
func saysRules(heading string) bool {
	lower := strings.ToLower(heading)
	may, tokens := languageOf(lower)
	for _, x := range may {
		for _, w := range x.words(lower, tokens) {
			if w.class&title != 0 && !strings.Contains(w.text, "requirement") {
				return true
			}
		}
	}
	return false
}
