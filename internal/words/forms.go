package words

import (
	"slices"
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// endings are appended to a stem to form candidates; candidates with another stem (Snowball's
// English, https://snowballstem.org) are rejected. So superfluous endings do no harm, and a form
// with an ending that is missing here is not found.
var endings = strings.Fields(`s es ed d ing e er ers or ors
	ion ions ation ations ition itions ition ment ments able ably al als ally ly
	ance ances ence ences ancy ency encies ency ant ants ent ents
	ate ates ated ating ator ators ative icate icates icated icating ication ications
	ive ives ity ities ness ize izes ized izing ization ise ises ised ising ful y ies ied`)

const (
	shortestStemmed = 3
	longestStemmed  = 32
)

// forms returns the other forms of an English word: those with the same stem. Names, numbers and
// words of other scripts have none.
func forms(word string) []string {
	if !isEnglish(word) {
		return nil
	}
	root := stem(word)
	bases := []string{root}
	if last := len(root) - 1; last > 1 {
		if root[last] == 'i' { // reli: rely
			bases = append(bases, root[:last]+"y")
		} else if !strings.ContainsRune("aeiouwxy", rune(root[last])) { // stop: stopped
			bases = append(bases, root+root[last:])
		}
	}
	var out []string
	for _, base := range bases {
		for _, ending := range append([]string{""}, endings...) {
			form := base + ending
			if form != word && !slices.Contains(out, form) && stem(form) == root {
				out = append(out, form)
			}
		}
	}
	return out
}

func isEnglish(word string) bool {
	if len(word) < shortestStemmed || len(word) > longestStemmed {
		return false
	}
	return !strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' })
}

func stem(word string) string {
	env := snowballstem.NewEnv(word)
	english.Stem(env)
	return env.Current()
}
