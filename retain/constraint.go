package retain

import "github.com/precis-dev/precis/internal/prose"

// Constraints returns the sentences that a person typed with a word such as "never", "must" or "you
// may", and lists with their title, in order, each once, unchanged but for the list marks before
// them. Such a word gives a sentence precedence; it does not determine its meaning. Mentioned and
// pasted text is excluded.
func Constraints(text string) []string { return prose.Typed(text) }
