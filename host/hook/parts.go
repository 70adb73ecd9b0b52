package hook

import (
	"fmt"
	"strings"
	"unicode/utf16"
)

// units is the length of a text in units of UTF-16, as the programs count it.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// fit returns the first lines of a text within limit units in total. If it leaves lines out, the
// last line says so.
func fit(text string, limit int) string {
	const reserve = 40 // for the line that reports omissions
	text = strings.TrimSpace(text)
	if units(text) <= limit {
		return text
	}
	var out strings.Builder
	used := 0
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if used += units(line); used > limit-reserve {
			fmt.Fprintf(&out, "[%d more lines do not fit here]", len(lines)-i)
			break
		}
		out.WriteString(line)
	}
	return out.String()
}
