package outline

import "strings"

// text is a file's content and where its lines begin.
type text struct {
	content string
	starts  []int
}

func newText(content string) *text {
	t := &text{content: content, starts: make([]int, 1, 1+strings.Count(content, "\n"))}
	for i := 0; i < len(content); {
		n := strings.IndexByte(content[i:], '\n')
		if n < 0 {
			break
		}
		i += n + 1
		if i < len(content) {
			t.starts = append(t.starts, i)
		}
	}
	return t
}

// lines returns how many lines there are, at least one. What follows the last
// line break counts only when it is not empty.
func (t *text) lines() int { return len(t.starts) }

// line returns line i, counted from 0, without its line break.
func (t *text) line(i int) string {
	end := len(t.content)
	if i+1 < len(t.starts) {
		end = t.starts[i+1] - 1
	}
	s := strings.TrimSuffix(t.content[t.starts[i]:end], "\n")
	if i == 0 {
		s = strings.TrimPrefix(s, "\uFEFF")
	}
	return strings.TrimSuffix(s, "\r")
}

// indent returns the width of the white space before a line, a tab counting as
// four columns, and the line without the white space around it.
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
