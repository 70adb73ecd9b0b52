package outline

import "strings"

// text is a file's content by lines. It stores only a cursor, not an index of lines: moving to a
// neighboring line costs the length of that line.
type text struct {
	content string
	count   int // of lines
	at      int // line of the cursor, from 0
	from    int // offset of that line
	walked  int // bytes read to move the cursor and to search; tests check that it is linear
}

func newText(content string) *text {
	n := strings.Count(content, "\n")
	if !strings.HasSuffix(content, "\n") {
		n++
	}
	return &text{content: content, count: max(n, 1)}
}

// lines returns how many lines there are, at least one. The text after the last line break counts
// only when it is not empty.
func (t *text) lines() int { return t.count }

// line returns line i, counted from 0, without its line break.
func (t *text) line(i int) string {
	for t.at > i {
		t.at--
		from := strings.LastIndexByte(t.content[:t.from-1], '\n') + 1
		t.walked += t.from - from
		t.from = from
	}
	for t.at < i {
		t.at++
		t.from += t.length() + 1
	}
	s := t.content[t.from : t.from+t.length()]
	if i == 0 {
		s = strings.TrimPrefix(s, "\uFEFF")
	}
	return strings.TrimSuffix(s, "\r")
}

// length returns the length of the cursor's line without its line break.
func (t *text) length() int {
	n := strings.IndexByte(t.content[t.from:], '\n')
	if n < 0 {
		n = len(t.content) - t.from
	}
	t.walked += n + 1
	return n
}

// after returns the next line at or after offset from that has only a word, white space and marks
// that end a statement: where the word begins, or -1.
func (t *text) after(from int, word string) int {
	for at := from; ; {
		n := strings.Index(t.content[at:], word)
		if n < 0 {
			t.walked += len(t.content) - at
			return -1
		}
		t.walked += n + len(word)
		at += n + len(word)
		before := strings.TrimRight(t.content[from:at-len(word)], " \t")
		rest := strings.TrimLeft(t.content[at:], ";,)")
		rest = strings.TrimLeft(rest, " \t\r\f\v")
		if (before == "" || before[len(before)-1] == '\n') && (rest == "" || rest[0] == '\n') {
			return at - len(word)
		}
	}
}

// indent returns the width of the leading white space of a line, a tab counting as four columns,
// and the trimmed line.
func indent(line string) (width int, rest string) {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			width++
		case '\t':
			width += 4
		default:
			return width, strings.TrimRight(line[i:], " \t\r\f\v")
		}
	}
	return width, ""
}
