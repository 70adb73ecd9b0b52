package term

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Wrap breaks text into lines of at most the given number of columns, 16 at least,
// between words. A word that is wider than a line is broken where the line ends.
func Wrap(text string, columns int) []string {
	columns = max(columns, 16)
	var lines []string
	line, used := "", 0
	for word := range strings.SplitSeq(text, " ") {
		n := lipgloss.Width(word)
		if used > 0 && used+1+n > columns {
			lines, line, used = append(lines, strings.TrimRight(line, " ")), "", 0
		}
		for n > columns {
			head, rest := split(word, columns)
			lines, word, n = append(lines, head), rest, lipgloss.Width(rest)
		}
		if line != "" {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+n
	}
	return append(lines, line)
}
