package gateway

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// firstLine returns the first line with anything on it, cut to at most n bytes
// between letters.
func firstLine(s string, n int) string {
	for line := range strings.Lines(s[:min(len(s), 4096)]) {
		line = strings.TrimFunc(strings.ToValidUTF8(line, ""), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
		if line == "" {
			continue
		}
		if len(line) > n {
			for n > 0 && !utf8.RuneStart(line[n]) {
				n--
			}
			line = strings.TrimSpace(line[:n]) + "…"
		}
		return line
	}
	return ""
}
