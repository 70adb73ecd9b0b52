package hook

import (
	"fmt"
	"strings"
	"unicode/utf16"
)

// units is the length of a text as the programs count it: in units of UTF-16.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// parts cuts a text into at most n parts of at most limit units, at line ends. A part
// that begins inside a section repeats its heading. What does not fit into n parts is
// left out, and the last part says so.
func parts(text string, n, limit int) []string {
	const reserve = 200 // for a heading that is repeated, and the line about what is left out
	var out []string
	var part strings.Builder
	heading := ""
	used := 0
	flush := func() {
		out = append(out, strings.TrimRight(part.String(), "\n"))
		part.Reset()
		used = 0
	}
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		size := units(line)
		if size > limit-reserve { // no line of a digest is so long: a text of somebody else
			line = cutUnits(line, limit-reserve-1) + "\n"
			size = units(line)
		}
		section := strings.HasPrefix(line, "## ")
		if used+size > limit-reserve || section && used > (limit-reserve)*4/5 && len(out) < n-1 {
			if len(out) == n-1 {
				fmt.Fprintf(&part, "[%d more lines do not fit here]", len(lines)-i)
				flush()
				return out
			}
			flush()
			if heading != "" && !section {
				again := cutUnits(strings.TrimSpace(heading), reserve/2) + " (continued)\n"
				part.WriteString(again)
				used = units(again)
			}
		}
		if section {
			heading = line
		}
		part.WriteString(line)
		used += size
	}
	if strings.TrimSpace(part.String()) != "" {
		flush()
	}
	return out
}

// cutUnits returns the beginning of a text that has at most so many units.
func cutUnits(s string, most int) string {
	n := 0
	for i, r := range s {
		if n += max(utf16.RuneLen(r), 1); n > most {
			return s[:i]
		}
	}
	return s
}
