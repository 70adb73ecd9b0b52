package precis

import (
	"fmt"
	"strconv"
)

// number writes a count for people, with thousands apart: 12,345.
func number(n int) string {
	s := strconv.Itoa(n)
	least := 3
	if n < 0 {
		least = 4
	}
	for i := len(s) - 3; i > least-3; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// percentage writes a share for people: 62 %, and 4.6 % where one place is a
// difference.
func percentage(p float64) string {
	if p == 0 || p >= 9.95 {
		return fmt.Sprintf("%.0f %%", p)
	}
	return fmt.Sprintf("%.1f %%", p)
}
