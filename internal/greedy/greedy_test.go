package greedy

import (
	"slices"
	"testing"
)

// TestTake takes items whose value falls when one with the same word is taken.
func TestTake(t *testing.T) {
	words := []string{"a", "b", "a", "c", "", "b"}
	worth := []float64{3, 2, 2.9, 1, 0, 2}
	told := map[string]bool{}
	value := func(i int) float64 {
		if told[words[i]] {
			return worth[i] / 10
		}
		return worth[i]
	}
	var order []int
	Take(len(words), value, func(i int) bool {
		order = append(order, i)
		told[words[i]] = true
		return true
	})
	if want := []int{0, 1, 3, 2, 5}; !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
	n := 0
	Take(3, func(int) float64 { return 1 }, func(int) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("%d were taken after it was enough", n)
	}
	Take(0, nil, nil)
}
