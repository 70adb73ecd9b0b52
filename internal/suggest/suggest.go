// Package suggest finds the word that somebody meant. Use [Nearest].
package suggest

import "strings"

// Nearest returns the known word that a misspelled one is nearest to: one that begins
// with it or differs in a third of its letters at most; "" when there is none.
func Nearest(word string, known []string) string {
	best, least := "", max(len(word)/3, 1)+1
	word = strings.ToLower(word)
	for _, k := range known {
		n := distance(word, strings.ToLower(k))
		if len(word) > 2 && strings.HasPrefix(strings.ToLower(k), word) {
			n = 1
		}
		if n < least || n == least && best != "" && len(k) < len(best) {
			best, least = k, n
		}
	}
	return best
}

// DidYouMean returns the question that ends an error; "" when no word is near.
func DidYouMean(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}

// distance is the number of letters to insert, delete, replace or swap with the next
// to make b of a.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
