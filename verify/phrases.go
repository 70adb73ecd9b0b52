package verify

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/table"
)

//go:embed phrases.txt
var phrasesText string

var phraseTable = table.Lazy("phrases.txt", phrasesText, "pattern", "says")

// phrase names patterns of phrases.txt with one meaning.
type phrase string

// script matches the command that runs a script of a package, before its name: "pnpm --filter web",
// "npm run", "yarn workspace web", "turbo run".
const script = `(?:(?:npm|yarn|pnpm|bun)(?: workspace \S+| -\S+(?: [^-\s|;&]\S*)?){0,4}|turbo|nx|lerna)(?: run)?`

var phrases = sync.OnceValue(func() map[phrase]*lazyregexp.Regexp {
	patterns := map[phrase][]string{}
	for _, row := range phraseTable().Rows {
		it := phrase(row.Get("says"))
		patterns[it] = append(patterns[it], patternOf(row))
	}
	out := map[phrase]*lazyregexp.Regexp{}
	for it, all := range patterns {
		out[it] = lazyregexp.New(strings.Join(all, "|"))
	}
	return out
})

func patternOf(row table.Row) string {
	return "(?i:" + strings.ReplaceAll(row.Get("pattern"), "SCRIPT", script) + ")"
}

// says reports whether a text matches a phrase.
func says(it phrase, text string) bool { return phrases()[it].MatchString(text) }

// without removes the matches of a phrase from a text.
func without(it phrase, text string) string { return phrases()[it].ReplaceAllString(text, "") }
