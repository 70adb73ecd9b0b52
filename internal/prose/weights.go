package prose

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/precis-dev/precis/internal/table"
)

// weighing finds the words of weights.txt.
type weighing struct {
	words  map[string][]string // by the first word: the others of each phrase
	within []string            // found anywhere: of languages that do not separate words
	first  map[rune]bool       // their first characters
}

var weigh = sync.OnceValue(func() *weighing {
	w := &weighing{words: map[string][]string{}, first: map[rune]bool{}}
	for _, row := range weights().Rows {
		w.add(row)
	}
	return w
})

func (w *weighing) add(row table.Row) {
	word := row.Get("word")
	switch row.Get("language") {
	case "zh", "ja", "ko":
		w.within = append(w.within, word)
		r, _ := utf8.DecodeRuneInString(word)
		w.first[r] = true
	default:
		head, rest, _ := strings.Cut(word, " ")
		w.words[head] = append(w.words[head], rest)
	}
}

// Weighs reports whether a text has a word of weights.txt. Such a text has precedence if not
// everything fits; the word does not determine its meaning.
func Weighs(text string) bool { return weigh().in(text) }

func (w *weighing) in(text string) bool {
	const longest = 4 // words of a phrase
	text = strings.ToLower(strings.ReplaceAll(text, "’", "'"))
	if strings.ContainsFunc(text, func(r rune) bool { return w.first[r] }) {
		for _, word := range w.within {
			if strings.Contains(text, word) {
				return true
			}
		}
	}
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '-'
	})
	for i, word := range words {
		for _, rest := range w.words[word] {
			if rest == "" || strings.HasPrefix(strings.Join(words[i+1:min(i+longest, len(words))], " ")+" ",
				rest+" ") {
				return true
			}
		}
		if elided, _, ok := strings.Cut(word, "'"); ok && w.words[elided+"'"] != nil {
			return true
		}
	}
	return false
}
