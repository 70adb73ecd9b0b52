package retain

import (
	"maps"
	"strings"
)

// LineSet is a set of the lines that a view shows already, so that a second copy of a line does
// not count as new. Line numbers and surrounding white space are ignored. It is not safe for
// concurrent use.
type LineSet struct {
	seen map[uint64]struct{} // hashes of lines
}

// NewLineSet returns an empty Copies.
func NewLineSet() *LineSet {
	return &LineSet{seen: map[uint64]struct{}{}}
}

// Clone returns a copy.
func (c *LineSet) Clone() *LineSet { return &LineSet{seen: maps.Clone(c.seen)} }

// leastLine is the minimal length in bytes of a compared line.
const leastLine = 10

// Add adds the lines of a text that is shown.
func (c *LineSet) Add(text string) {
	for line := range strings.Lines(text) {
		if line = TrimLineNumber(line); len(line) >= leastLine {
			c.seen[hash(line)] = struct{}{}
		}
	}
}

// NewShare returns the share of a text, 0 to 1, in lines that are not in the set.
func (c *LineSet) NewShare(text string) float64 {
	all, fresh := 0, 0
	for line := range strings.Lines(text) {
		line = TrimLineNumber(line)
		all += len(line)
		if len(line) < leastLine {
			continue
		}
		if _, ok := c.seen[hash(line)]; !ok {
			fresh += len(line)
		}
	}
	if all == 0 {
		return 0
	}
	return float64(fresh) / float64(all)
}

// TrimLineNumber returns a line without surrounding white space and without the number
// that tools put before lines: "  12→", "12\t", "12 | ", "12: ".
func TrimLineNumber(line string) string {
	return strings.TrimSpace(line[NumberColumn(line):])
}

// NumberColumn returns the length of a line number and its separator at the start of a line; 0 if
// there is no number.
func NumberColumn(line string) int {
	i := 0
	for i < len(line) && i < 12 && line[i] == ' ' {
		i++
	}
	from := i
	for i < len(line) && i-from < 7 && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	if i == from {
		return 0
	}
	rest := line[i:]
	for _, sep := range []string{"→", "\t", " | ", " |", ": ", ":\t"} {
		if strings.HasPrefix(rest, sep) {
			return i + len(sep)
		}
	}
	return 0
}

// hash is FNV-1a, the same in every process: a view must not depend on a seed. Unlike hash/fnv it
// does not allocate.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
