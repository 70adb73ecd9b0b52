package preview

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis/internal/plain"
)

const maxHead = 160 // bytes of a head

// Quote is [Line] for a text that no person typed: without signs that could make it look like a
// heading or a tag, see [plain.Text].
func Quote(s string, most int) string { return Line(plain.Text(s), most) }

// Line returns s as one line of valid UTF-8: white space is folded, control characters are removed,
// and it is cut at a word to about most bytes and "…".
func Line(s string, most int) string {
	most = max(most, 0)
	if enough := 64*most + 1024; len(s) > enough {
		s = s[:enough]
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	if i := strings.LastIndexByte(s[:cut], ' '); i > most*2/3 {
		cut = i
	}
	return s[:cut] + "…"
}

// shortName is [Line] for a name inside a head.
func shortName(s string) string { return Line(s, 45) }

// shortPath keeps the end of a path, its most specific part.
func shortPath(p string) string {
	for len(p) > 40 {
		i := strings.IndexAny(p[1:], `/\`)
		if i < 0 {
			return shortName(p)
		}
		p = p[i+2:]
	}
	return Line(p, 45)
}

// count writes "1 line", "12 lines", "3 matches".
func count(n int, what string) string {
	if n != 1 {
		switch {
		case strings.HasSuffix(what, "ry"): // directory
			what = what[:len(what)-1] + "ies"
		case strings.HasSuffix(what, "ch"):
			what += "es"
		default:
			what += "s"
		}
	}
	return strconv.Itoa(n) + " " + what
}

// tally counts names and keeps the order of their first occurrence.
type tally struct {
	index map[string]int
	names []string
	n     []int
	last  int
}

// add counts name and reports whether it is new.
func (t *tally) add(name string, n int) bool {
	if t.last < len(t.names) && t.names[t.last] == name {
		t.n[t.last] += n
		return false
	}
	if i, ok := t.index[name]; ok {
		t.n[i] += n
		t.last = i
		return false
	}
	if t.index == nil {
		t.index = map[string]int{}
	}
	t.last = len(t.names)
	t.index[name] = t.last
	t.names, t.n = append(t.names, name), append(t.n, n)
	return true
}

// top returns the indexes of the k greatest counts; equal ones in the order of their first
// occurrence.
func (t *tally) top(k int) []int {
	var best []int
	for i, n := range t.n {
		at := len(best)
		for at > 0 && t.n[best[at-1]] < n {
			at--
		}
		if at == k {
			continue
		}
		best = append(best, 0)
		copy(best[at+1:], best[at:])
		best[at] = i
		if len(best) > k {
			best = best[:k]
		}
	}
	return best
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isWord(c byte) bool   { return isLetter(c) || isDigit(c) || c == '_' }
func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func blank(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isSpace(s[i]) {
			return false
		}
	}
	return true
}

// trimLeft returns s without the spaces it begins with, and how many there are;
// a tab counts for four.
func trimLeft(s string) (rest string, indent int) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			indent++
		case '\t':
			indent += 4
		default:
			return s[i:], indent
		}
	}
	return "", indent
}

func trimRight(s string) string {
	for len(s) > 0 && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func trim(s string) string {
	s, _ = trimLeft(trimRight(s))
	return s
}

// firstWord returns the letters, digits and underscores that s begins with.
func firstWord(s string) string {
	i := 0
	for i < len(s) && isWord(s[i]) {
		i++
	}
	return s[:i]
}

// separator reports a line of at least three signs that only separates.
func separator(s string) bool {
	n := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '|' || c == '/':
		case c == '-' || c == '=' || c == '_' || c == '*' || c == '#' || c == '~' || c == '+' || c == '.' ||
			c == ':':
			n++
		case c == 0xe2 && i+2 < len(s) && (s[i+1] == 0x94 || s[i+1] == 0x95): // box drawing
			n++
			i += 2
		default:
			return false
		}
	}
	return n >= 3
}

// isTree reports the box drawing with which a directory tree begins a line.
func isTree(s string) bool {
	return strings.HasPrefix(s, "├") || strings.HasPrefix(s, "└") || strings.HasPrefix(s, "│") ||
		strings.HasPrefix(s, "|-- ") || strings.HasPrefix(s, "`-- ")
}

// hasPrefix reports whether s begins with one of heads.
func hasPrefix(s string, heads ...string) bool {
	for _, h := range heads {
		if strings.HasPrefix(s, h) {
			return true
		}
	}
	return false
}

// List joins items until the text would be longer than most bytes, and appends how many more there
// are. The first item is always included.
func List(items []string, sep string, most int) string {
	out := ""
	for i, s := range items {
		if i > 0 && len(out)+len(s) > most {
			return out + fmt.Sprintf("%sand %d more", sep, len(items)-i)
		}
		if i > 0 {
			out += sep
		}
		out += s
	}
	return out
}
