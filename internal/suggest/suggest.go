// Package suggest finds the known word that a misspelled one probably means. Use [Nearest].
package suggest

import "strings"

// Nearest returns the known word closest to a misspelled one: one that begins with it or differs in
// at most a third of its letters; "" without one.
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

// DidYouMean returns a question to append to an error; "" when no word is close.
func DidYouMean(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}

// distance returns the number of letters to insert, delete, replace or transpose to turn a into b.
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
