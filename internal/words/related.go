package words

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed related.txt
var relatedText string

// row is a line of related.txt: words with related meanings.
type row []entry

type entry struct{ word, stem string }

var rows = sync.OnceValue(func() (out []row) {
	for line := range strings.Lines(relatedText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var r row
		for _, word := range strings.Fields(line) {
			r = append(r, entry{word: word, stem: stem(word)})
		}
		if len(r) > 0 {
			out = append(out, r)
		}
	}
	return out
})

// related returns the other words in the rows of a word, and their forms. It does not look these up
// in turn.
func related(word string) []string {
	root := ""
	if isEnglish(word) {
		root = stem(word)
	}
	var out []string
	for _, r := range rows() {
		own := slices.IndexFunc(r, func(e entry) bool {
			return e.word == word ||
				e.stem == root && isNear(word, e.word)
		})
		if own < 0 {
			continue
		}
		for i, e := range r {
			if i == own || e.stem == root {
				continue
			}
			out = append(out, e.word)
			for _, form := range forms(e.word) {
				if isNear(form, e.word) {
					out = append(out, form)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// isNear reports whether a form differs from a word only after its last letter or in it, so that it
// means the same: performances does for performance, performed does not.
func isNear(form, word string) bool { return strings.HasPrefix(form, word[:len(word)-1]) }
