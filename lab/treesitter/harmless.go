//go:build cgo && treesitter

package treesitter

import (
	"slices"
	"strings"
)

// harmless returns content that the C parsers survive, with the same length in bytes and lines.
// safe is false when that is not possible.
//
// Two grammars abort the process, or write past a buffer, on input that anyone can send: Python
// (v0.25.0) with more than about 500 levels of indentation inside strings, Ruby (v0.23.1) with
// here-documents that have names of more than 255 characters or a kilobyte in total.
func harmless(language, content string) (out string, safe bool) {
	switch language {
	case "python":
		return content, indentations(content) <= mostIndents
	case "ruby":
		return withoutHeredocs(content), true
	}
	return content, true
}

const mostIndents = 200 // CPython itself allows 100

// indentations counts the different widths of leading white space, measured like Python's scanner.
// The scanner's stack grows only by larger widths, so this number bounds it.
func indentations(content string) int {
	seen := map[uint16]bool{}
	for i := 0; i < len(content) && len(seen) <= mostIndents; {
		var width uint16
		i, width = leading(content, i)
		seen[width] = true
		n := strings.IndexByte(content[i:], '\n')
		if n < 0 {
			break
		}
		i += n + 1
	}
	return len(seen)
}

// leading measures white space from i. A backslash before a line break joins two lines.
func leading(content string, i int) (end int, width uint16) {
	for ; i < len(content); i++ {
		switch content[i] {
		case ' ':
			width++
		case '\t':
			width += 8
		case '\r', '\f', '\n':
			width = 0
		case '\\':
			if i++; i < len(content) && content[i] == '\r' {
				i++
			}
			if i >= len(content) || content[i] != '\n' {
				return min(i, len(content)), width
			}
		default:
			return i, width
		}
	}
	return i, width
}

// withoutHeredocs removes the here-documents from Ruby: their bodies become empty lines, their
// openers a symbol or a comparison.
func withoutHeredocs(content string) string {
	if !strings.Contains(content, "<<") {
		return content
	}
	out := []byte(content)
	var ends []string // names of here-documents with bodies that follow
	last := lastLines(content)
	for at := 0; at < len(content); {
		line, _, _ := strings.Cut(content[at:], "\n")
		if len(ends) > 0 {
			if strings.TrimSpace(line) == ends[0] {
				ends = ends[1:]
			}
			for len(ends) > 0 && last[ends[0]] <= at { // its end was in the body of the previous one
				ends = ends[1:]
			}
			blank(out[at : at+len(line)])
		} else {
			ends = openers(out[at:at+len(line)], at, last)
		}
		at += len(line) + 1
	}
	return string(out)
}

// lastLines maps each line that is a single word to its last position.
func lastLines(content string) map[string]int {
	out := map[string]int{}
	at := 0
	for line := range strings.Lines(content) {
		if s := strings.TrimSpace(line); s != "" && len(s) <= 60 && !strings.ContainsAny(s, " \t") {
			out[s] = at
		}
		at += len(line)
	}
	return out
}

// openers defuses every "<<" of a line that could open a here-document, and returns the names of
// the ones that end later in the file.
func openers(line []byte, at int, last map[string]int) []string {
	var ends []string
	for i := 0; i+2 < len(line); i++ {
		if line[i] != '<' || line[i+1] != '<' {
			continue
		}
		name, end := heredocName(line, i+2)
		if end == 0 {
			continue
		}
		if pos, ok := last[name]; ok && pos > at && len(ends) < 10 {
			ends = append(ends, name)
			line[i] = ':'
			for k := i + 1; k < end; k++ {
				line[k] = 'h'
			}
			continue
		}
		line[i+1] = ' '
		if c := line[i+2]; c == '~' || c == '-' {
			line[i+2] = ' '
		}
	}
	return ends
}

// heredocName reads the name of a here-document from i; end is 0 if none can begin there.
func heredocName(line []byte, i int) (name string, end int) {
	if i < len(line) && (line[i] == '~' || line[i] == '-') {
		i++
	}
	if i >= len(line) {
		return "", 0
	}
	if quote := line[i]; quote == '"' || quote == '\'' || quote == '`' {
		n := slices.Index(line[i+1:], quote)
		if n < 0 {
			return "", len(line)
		}
		return string(line[i+1 : i+1+n]), i + n + 2
	}
	from := i
	for i < len(line) && (wordByte(line[i]) || line[i] >= 0x80) {
		i++
	}
	if i == from {
		return "", 0
	}
	return string(line[from:i]), i
}

func wordByte(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func blank(line []byte) {
	for i := range line {
		line[i] = ' '
	}
}
