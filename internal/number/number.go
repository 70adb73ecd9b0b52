// Package number writes counts and shares for people, in English.
package number

import (
	"fmt"
	"strconv"
)

// Thousands writes a count for people, with thousands apart: 12,345.
func Thousands(n int) string {
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

// Percent writes a share for people: 62 %, and 4.6 % where one place is a
// difference.
func Percent(p float64) string {
	if p == 0 || p >= 9.95 {
		return fmt.Sprintf("%.0f %%", p)
	}
	return fmt.Sprintf("%.1f %%", p)
}
