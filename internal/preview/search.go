package preview

import (
	"fmt"
	"strconv"
	"strings"
)

// hit is a line that a search printed for a place in a file.
type hit struct {
	path string // "" for a line under a heading
	text string // after the place
}

// parseHit reads "path:12:text".
func parseHit(s string) (hit, bool) {
	end := min(len(s), 400)
	for i := 1; i < end; i++ {
		if s[i] != ':' || i == 1 && i+1 < len(s) && (s[2] == '\\' || s[2] == '/') {
			if s[i] == ' ' && strings.IndexByte(s[:i], '/') < 0 {
				return hit{}, false
			}
			continue
		}
		n := i + 1
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		if n == i+1 || n >= len(s) || s[n] != ':' || s[0] == ' ' || s[0] == '\t' ||
			!strings.ContainsAny(s[:i], "./") && !isLetter(s[0]) {
			return hit{}, false
		}
		return hit{path: s[:i], text: s[n+1:]}, true
	}
	return hit{}, false
}

// isPlaced reports a line that only a search is likely to have printed, if the text is one: a place
// without a path, or a path without a place.
func isPlaced(s string) bool {
	if _, ok := matchLine(s); ok {
		return true
	}
	i := strings.IndexByte(s, ':')
	return i > 0 && pathLike(s[:i])
}

// contextPath returns the path of a line of context, "path-12-text".
func contextPath(s string) string {
	end := min(len(s), 400)
	for i := 1; i < end; i++ {
		if s[i] == ' ' || s[i] == '\t' {
			return ""
		}
		if s[i] != '-' {
			continue
		}
		n := i + 1
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		if n > i+1 && n < len(s) && s[n] == '-' && pathLike(s[:i]) {
			return s[:i]
		}
	}
	return ""
}

// matchLine reads "12:text", "12-text", "Line 12: text" and "12 | text", as lines
// under a heading are written. match is false for a line of context.
func matchLine(s string) (match, ok bool) {
	t, _ := trimLeft(s)
	t = strings.TrimPrefix(t, "Line ")
	i := 0
	for i < len(t) && isDigit(t[i]) {
		i++
	}
	if i == 0 || i >= len(t) {
		return false, false
	}
	switch t[i] {
	case ':', '|', '\t':
		return true, true
	case '-':
		return false, true
	}
	return true, strings.HasPrefix(t[i:], " |") || strings.HasPrefix(t[i:], "→")
}

// search classifies the result of a search.
func (d *document) search() string {
	files := &tally{}
	current, matches := "", 0
	fresh := true // the current file has no match yet
	boxed := true // a box without line numbers has no match yet
	for i := range d.lines {
		l := &d.lines[i]
		if l.frame {
			continue
		}
		what, path := searchLine(l.body, current)
		if what == searchBoxed && boxed {
			what = searchMatch
		}
		boxed = what == searchNothing || what == searchFile
		l.class = Detail
		switch what {
		case searchNothing:
			l.class = Noise
		case searchRemark, searchFile:
			l.class = Headline
		case searchMatch:
			matches++
		}
		if what == searchFile || path != current {
			current, fresh = path, files.add(path, 0)
		}
		if what == searchMatch {
			files.add(path, 1)
			if fresh {
				l.class, fresh = Headline, false
			}
		}
	}
	if len(files.names) == 1 && files.names[0] == "" && d.hint.Path != "" {
		files.names[0] = d.hint.Path
	}
	return searchHead(files, matches)
}

// searched is the kind of a line in a search result.
type searched uint8

const (
	searchNothing searched = iota // a blank line or separator
	searchOther
	searchRemark  // of the tool, on the result
	searchFile    // the name of a file
	searchContext // a line before a match in another file
	searchBoxed   // a line of a box without line numbers
	searchMatch
)

// searchLine returns the kind of a line, and the file it belongs to; current is the file of the
// line before.
func searchLine(s, current string) (searched, string) {
	if blank(s) || s == "--" || separator(s) {
		return searchNothing, current
	}
	if h, ok := parseHit(s); ok {
		return searchMatch, h.path
	}
	if n := len(current); n > 0 && len(s) > n+1 && s[:n] == current && (s[n] == '-' || s[n] == ':') {
		if s[n] == ':' {
			return searchMatch, current
		}
		return searchOther, current
	}
	if match, ok := matchLine(s); ok {
		if match {
			return searchMatch, current
		}
		return searchOther, current
	}
	if strings.HasPrefix(s, "│") {
		return searchBoxed, current
	}
	if path := contextPath(s); path != "" {
		if current != "" && strings.HasSuffix(path, current) { // some tools use both separators
			path = current
		}
		return searchContext, path
	}
	if isHeading(s) {
		return searchFile, strings.TrimSuffix(strings.TrimPrefix(trimRight(s), "# "), ":")
	}
	if i := strings.IndexByte(s, ':'); i > 0 && pathLike(s[:i]) {
		return searchMatch, s[:i]
	}
	if hasPrefix(s, "Found ", "No ", "Showing ", "End of ") {
		return searchRemark, current
	}
	return searchOther, current
}

// isHeading reports the line that names a file before its matches, or one name
// of a list of files.
func isHeading(s string) bool {
	s = strings.TrimSuffix(trimRight(s), ":")
	return !isTree(s) && pathLike(strings.TrimPrefix(s, "# "))
}

// pathLike reports one name with a directory or an extension.
func pathLike(s string) bool {
	return len(s) < 400 && s != "" && s[0] != '-' && strings.ContainsAny(s, "./") && listed(s) &&
		s[len(s)-1] != '.'
}

func searchHead(files *tally, matches int) string {
	var b strings.Builder
	switch {
	case len(files.names) == 0 && matches == 0:
		return "search: no matches"
	case matches == 0:
		fmt.Fprintf(&b, "search: %s", count(len(files.names), "file"))
	case len(files.names) == 0 || len(files.names) == 1 && files.names[0] == "":
		return "search: " + count(matches, "match")
	default:
		fmt.Fprintf(&b, "search: %s in %s", count(matches, "match"), count(len(files.names), "file"))
	}
	sep := ": "
	for _, i := range files.top(6) {
		part := sep + shortPath(files.names[i])
		if files.n[i] > 0 {
			part += " " + strconv.Itoa(files.n[i])
		}
		if b.Len()+len(part)+len(", …") > maxHead {
			b.WriteString(", …")
			return b.String()
		}
		b.WriteString(part)
		sep = ", "
	}
	if len(files.names) > 6 {
		b.WriteString(", …")
	}
	return b.String()
}
