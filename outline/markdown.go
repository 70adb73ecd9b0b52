package outline

import "strings"

// headings returns the sections of a Markdown file. A section extends from its heading to the line
// before the next one of any level. Fenced and indented code and the front matter have no headings
// (CommonMark 4.2, 4.3, 4.4, 4.5).
func headings(t *text) []Definition {
	var out []Definition
	fence, paragraph := "", false
	for i := frontMatter(t); i < t.lines() && len(out) <= MaxDefinitions; i++ {
		width, s := indent(t.line(i))
		if fence != "" {
			if width < 4 && closesFence(s, fence) {
				fence = ""
			}
			continue
		}
		if width >= 4 || s == "" {
			paragraph = paragraph && s != ""
			continue
		}
		if fence = opensFence(s); fence != "" {
			paragraph = false
			continue
		}
		if level, name := atxHeading(s); level > 0 {
			out = append(out, Definition{Name: name, Kind: Heading, Start: i + 1, Depth: level - 1})
			paragraph = false
			continue
		}
		if level := setextLevel(s); level > 0 && paragraph {
			_, name := indent(t.line(i - 1))
			out = append(out, Definition{Name: name, Kind: Heading, Start: i, Depth: level - 1})
			paragraph = false
			continue
		}
		paragraph = !startsOther(s)
	}
	for i := range out {
		out[i].End = t.lines()
		if i+1 < len(out) {
			out[i].End = out[i+1].Start - 1
		}
	}
	return out
}

// frontMatter returns the index of the line after "---" … "---" at the top, or 0.
func frontMatter(t *text) int {
	if strings.TrimRight(t.line(0), " \t") != "---" {
		return 0
	}
	for i := 1; i < min(t.lines(), 500); i++ {
		if s := strings.TrimRight(t.line(i), " \t"); s == "---" || s == "..." {
			return i + 1
		}
	}
	return 0
}

// atxHeading reads "## name ##".
func atxHeading(s string) (level int, name string) {
	for level < len(s) && s[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || level < len(s) && s[level] != ' ' && s[level] != '\t' {
		return 0, ""
	}
	name = strings.TrimSpace(s[level:])
	if cut := strings.TrimRight(name, "#"); cut == "" || strings.HasSuffix(cut, " ") ||
		strings.HasSuffix(cut, "\t") {
		name = strings.TrimSpace(cut)
	}
	return level, name
}

// setextLevel returns the heading level of an underline; 0 if s is not one.
func setextLevel(s string) int {
	switch {
	case strings.Trim(s, "=") == "":
		return 1
	case strings.Trim(s, "-") == "":
		return 2
	}
	return 0
}

func opensFence(s string) string {
	for _, c := range []string{"`", "~"} {
		n := len(s) - len(strings.TrimLeft(s, c))
		if n >= 3 && (c == "~" || !strings.Contains(s[n:], "`")) {
			return s[:n]
		}
	}
	return ""
}

func closesFence(s, fence string) bool {
	return strings.HasPrefix(s, fence) && strings.Trim(s, fence[:1]) == ""
}

// startsOther reports whether a line belongs to a list, quote or table, which a line of dashes
// below does not turn into a heading.
func startsOther(s string) bool {
	return s[0] == '>' || s[0] == '|' ||
		len(s) > 1 && (s[0] == '-' || s[0] == '*' || s[0] == '+') && s[1] == ' '
}
