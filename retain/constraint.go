package retain

import "precis/internal/prose"

// Constraints returns the sentences that a person typed and that have a word such as
// "never", "must" or "you may", and lists with their title, in order, each once, unchanged
// but for the list marks before them. Such a word gives a sentence weight: it does not say
// what the sentence means. What is mentioned or pasted is left out.
func Constraints(text string) []string { return prose.Typed(text) }
