package retain

import "precis/internal/rules"

// Constraints returns the sentences of a person's text that set rules for longer than the
// turn, in order, each once, unchanged but for the list marks before them: standing orders,
// prohibitions and wishes in the words that people use, in ten languages. What is mentioned
// or pasted sets none. For rules that later texts end see [Index.AllRules].
func Constraints(text string) []string { return rules.Texts(text) }
