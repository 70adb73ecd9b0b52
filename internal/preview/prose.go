package preview

import "strings"

// prose classifies text for people: headings, the first and the last line.
func (d *document) prose() string {
	first, last, lines := -1, -1, 0
	fenced := false
	for i := range d.lines {
		l := &d.lines[i]
		if l.frame {
			continue
		}
		lines++
		t, _ := trimLeft(l.body)
		t = trimRight(t)
		l.class = Detail
		switch {
		case t == "":
			l.class = Noise
			continue
		case hasPrefix(t, "```", "~~~"):
			fenced = !fenced
			l.class = Noise
		case separator(t):
			l.class = Noise
			if !fenced && last >= 0 && last == i-1 && underline(t) {
				d.lines[last].class = Headline
			}
		case !fenced && isTitle(t):
			l.class = Headline
		}
		if first < 0 {
			first = i
		}
		last = i
	}
	if first >= 0 {
		d.lines[first].class, d.lines[last].class = Headline, Headline
	}
	return "prose, " + count(lines, "line")
}

// underline reports the line under a heading.
func underline(t string) bool { return strings.Trim(t, "=") == "" || strings.Trim(t, "-") == "" }

// isTitle reports a heading: marked as one, in bold, numbered, or in capitals.
func isTitle(t string) bool {
	if len(t) > 120 {
		return false
	}
	last := t[len(t)-1]
	switch {
	case t[0] == '#':
		return strings.HasPrefix(strings.TrimLeft(t, "#"), " ")
	case strings.HasPrefix(t, "**"):
		return strings.HasSuffix(strings.TrimSuffix(t, ":"), "**") && strings.Count(t, "**") == 2
	case hasPrefix(t, "<h1", "<h2", "<h3", "<title"):
		return true
	case last == ':':
		return len(t) < 60 && t[0] != '-' && t[0] != '*'
	}
	return capitals(t)
}

func capitals(t string) bool {
	n := 0
	for i := 0; i < len(t); i++ {
		if 'a' <= t[i] && t[i] <= 'z' || t[i] >= 0x80 {
			return false
		}
		if 'A' <= t[i] && t[i] <= 'Z' {
			n++
		}
	}
	return n >= 4 && n*2 > len(t)
}
