package preview

import (
	"strings"

	"github.com/precis-dev/precis/internal/harness"
)

const mostFrame = 12 // lines at either end to search for a frame

// Content returns the bounds, in bytes, of a tool's actual output in a result: without announcing
// lines, tags around it, and a remark after it. If the text is all frame they enclose the whole.
func Content(text string) (from, to int) {
	d := &document{text: text, lines: splitLines(text)}
	d.findFrame()
	first, last := 0, len(d.lines)
	for first < last && (d.lines[first].frame && !d.lines[first].omitted || blank(d.lines[first].body)) {
		first++
	}
	for last > first && (d.lines[last-1].frame && !d.lines[last-1].omitted || blank(d.lines[last-1].body)) {
		last--
	}
	if first == last {
		return 0, len(text)
	}
	return d.lines[first].start, d.lines[last-1].end
}

// findFrame marks the lines that a tool put around the content, and fills missing fields of the
// hint from them.
func (d *document) findFrame() {
	tags := d.headFrame()
	d.tailFrame()
	for i := range d.lines {
		l := &d.lines[i]
		if tags && len(l.body) > 2 && len(l.body) < 400 && isTagLine(l.body) {
			l.mark(Headline)
		}
	}
	if strings.Contains(d.text, harness.ReminderOpen) {
		d.reminders()
	}
	for i := range d.lines {
		if l := &d.lines[i]; l.frame && l.class == Headline {
			if i > mostFrame {
				break
			}
			d.fillHint(l.body)
		}
	}
}

func (l *line) mark(c Class) { l.frame, l.class = true, c }

// headFrame marks the lines before the content. tags reports whether there are
// XML tags among them.
func (d *document) headFrame() (tags bool) {
	for i := 0; i < len(d.lines) && i < mostFrame; i++ {
		l := &d.lines[i]
		switch {
		case blank(l.body):
		case isTagLine(l.body):
			tags = true
			l.mark(Headline)
		case isFrameLine(l.body):
			l.mark(Headline)
		default:
			return tags
		}
	}
	return tags
}

func (d *document) tailFrame() {
	for n := 1; n <= mostFrame && n <= len(d.lines); n++ {
		l := &d.lines[len(d.lines)-n]
		if blank(l.body) {
			continue
		}
		if l.frame || !isTailLine(trimRight(l.body)) {
			return
		}
		l.mark(Headline)
	}
}

// reminders marks texts of an agent's harness after the content.
func (d *document) reminders() {
	open := false
	for i := range d.lines {
		l := &d.lines[i]
		open = open || strings.HasPrefix(l.body, harness.ReminderOpen)
		if open {
			l.mark(Noise)
			open = !strings.Contains(l.body, harness.ReminderClose)
		}
	}
}

// isTagLine reports a line that consists of tags which tools write around files and output, with at
// most a short text in between.
func isTagLine(s string) bool {
	s = trim(s)
	if len(s) < 3 || s[0] != '<' || s[len(s)-1] != '>' {
		return false
	}
	name := s[1:]
	if name[0] == '/' {
		name = name[1:]
	}
	end := 0
	for end < len(name) && (isWord(name[end]) || name[end] == '-') {
		end++
	}
	switch name[:end] {
	case "file", "files", "path", "content", "contents", "final_file_content", "file_content", "output",
		"stdout", "stderr",
		"result", "results", "error", "notice", "document", "documents", "source", "type", "tool_result",
		"function_results",
		"read_file", "file_contents", "document_content", "returncode":
		return true
	}
	return false
}

// isFrameLine reports a line that announces a tool's output.
func isFrameLine(s string) bool {
	s = trim(s)
	if len(s) > 500 {
		return false
	}
	if s[0] == '[' {
		return strings.HasSuffix(s, "Result:") || strings.HasPrefix(s, "[File: ")
	}
	for _, head := range []string{
		"Command executed", "Output:", "Result:", "Exit code:", "Exit Code:", "Wall time:",
		"Process exited with code", "Chunk ID:",
		"Here's the result of running", "Here is the full, updated content",
		"The content was successfully saved", "File: ", "Contents of ", "Content of ",
		"IMPORTANT: The file content has been truncated", "Status: Showing lines ",
		"Action: To read more of the file", "--- FILE CONTENT",
	} {
		if strings.HasPrefix(s, head) {
			return true
		}
	}
	return strings.HasPrefix(s, "The file ") && strings.Contains(s, "has been ")
}

// isTailLine reports a line with which a tool ends a result: a closing tag, or a
// remark in parentheses or brackets.
func isTailLine(s string) bool {
	if len(s) < 4 || len(s) > 300 {
		return false
	}
	last := s[len(s)-1]
	switch s[0] {
	case '<':
		return s[1] == '/' && isTagLine(s)
	case '(':
		return last == ')' && isLetter(s[1]) && strings.IndexByte(s, ' ') > 0
	case '[':
		return last == ']' && isLetter(s[1]) && strings.IndexByte(s, ' ') > 0 && strings.IndexByte(s, '"') < 0
	}
	return s == "bash-$"
}

// fillHint fills the empty fields of the hint from a frame line.
func (d *document) fillHint(s string) {
	if path := framePath(s); path != "" && d.hint.Path == "" {
		d.hint.Path = path
		return
	}
	s = trim(s)
	if len(s) < 2 || s[0] != '[' {
		return
	}
	name, rest, _ := strings.Cut(s[1:], " for '")
	if end := strings.LastIndexByte(rest, '\''); end > 0 {
		rest = rest[:end]
		switch isCommand := hintOfTool(name) == Log; {
		case isCommand && d.hint.Command == "":
			d.hint.Command = rest
		case !isCommand && d.hint.Path == "":
			d.hint.Path = rest
		}
	}
	if d.hint.Tool == "" && len(name) < 60 {
		d.hint.Tool, _, _ = strings.Cut(name, "]")
	}
}

// framePath returns the path that a frame line names, or "".
func framePath(s string) string {
	for _, open := range []string{"<path>", ` path="`, "[File: ", "File: "} {
		_, after, ok := strings.Cut(s, open)
		if !ok {
			continue
		}
		end := strings.IndexAny(after, `<"(,`)
		if end < 0 {
			end = len(after)
		}
		return trim(after[:end])
	}
	return ""
}
