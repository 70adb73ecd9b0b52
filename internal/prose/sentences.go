package prose

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"precis/internal/lazyregexp"
)

// abbreviations end with a full stop that ends no sentence.
var abbreviations = lazyregexp.New(`(?i)(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|incl|resp|z\.B|d\.h|[a-z])\.$`)

// Sentences returns where the sentences of a line begin and end.
func Sentences(line string) (out [][2]int) {
	from, quote := 0, false
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRuneInString(line[i:])
		end := i + n
		switch r {
		case '`', '"':
			quote = !quote
		case '。', '！', '？', '；':
			out, from = append(out, [2]int{from, end}), end
		case '.', '!', '?', ';':
			if quote || end >= len(line) || line[end] != ' ' || r == '.' && abbreviations.MatchString(line[from:end]) {
				break
			}
			next, _ := utf8.DecodeRuneInString(strings.TrimLeft(line[end:], " "))
			if r != ';' && !unicode.IsUpper(next) && !strings.ContainsRune("`\"*(✅❌", next) && next < 0x2000 && !unicode.IsDigit(next) {
				break
			}
			out, from = append(out, [2]int{from, end}), end
		}
		i = end
	}
	if from < len(line) {
		out = append(out, [2]int{from, len(line)})
	}
	return out
}

// listMarks precede the words of a line: bullets, numbers, boxes, and a title in bold.
var listMarks = lazyregexp.New(`^[\s>|#*•-]*(?:\d{1,3}[.)]\s+)?(?:\[[ xX~-]\]\s*)?[*_]*(?:(?:✅|✓|❌|⏸️|⚠️)\s*)?(?:[^*\n.:` + "`" + `]{1,60}(?:\*\*\s*:|:\s*\*\*)\s*)?`)

// Marks returns the marks of lists, and the title in bold, that precede the words of a line.
func Marks(line string) string {
	if m := listMarks.FindStringIndex(line); m != nil && m[1] < len(line) {
		return line[:m[1]]
	}
	return ""
}
