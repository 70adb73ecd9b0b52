package rules

import (
	"strings"

	"precis/internal/harness"
)

// announces reports whether a sentence says that what it orders stands behind it: "Each reply has these parts:".
func announces(s string) bool {
	s = strings.TrimRight(s, " \t*_")
	return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：")
}

// announced returns where what a sentence announces ends that ends at from: a list, or a block of code, of at most room bytes; of
// a longer list as many entries as fit, of a longer block none. Where nothing follows it returns from. alone says that most
// entries of the list are rules without the sentence.
func announced(text string, from, room int) (end int, alone bool) {
	const mostEntries = 40
	end = from
	entries, rules := 0, 0
	for at := from; at < len(text) && entries < mostEntries; {
		line, _, _ := strings.Cut(text[at:], "\n")
		next := min(at+len(line)+1, len(text))
		bare := strings.TrimSpace(line)
		switch {
		case bare == "" || at == from && strings.Trim(bare, "*_") == "":
			at = next
			continue
		case entries == 0 && (strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~")):
			n := strings.Index(text[next:], "\n"+bare[:3])
			if strings.HasPrefix(text[next:], bare[:3]) {
				n = -1 // it is empty
			}
			if n >= 0 {
				if to := next + n + 1 + 3; to-from <= room {
					return to, false
				}
			}
			return from, false
		case strings.HasPrefix(bare, "#"): // of the next part
			return end, 2*rules > entries
		case entryOf(bare) != bare:
			entries++
			kind := read(harness.Unquoted(entryOf(bare))).kind
			if len(bare) >= leastRule && kind == Rule {
				rules++
			}
			if to := at + len(strings.TrimRight(line, " \t\r")); to-from <= room {
				end = to
			} else {
				return end, 2*rules > entries
			}
		default:
			return end, 2*rules > entries
		}
		at = next
	}
	return end, 2*rules > entries
}

// entryOf returns a line without the mark of a list before it: signs, a number, or a letter, "a)".
func entryOf(line string) string {
	if rest := unlisted(line); rest != line {
		return rest
	}
	if len(line) > 2 && (line[1] == ')' || line[1] == '.') && line[2] == ' ' && line[0]|0x20 >= 'a' && line[0]|0x20 <= 'z' {
		return line[3:]
	}
	return line
}
