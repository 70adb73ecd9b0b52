package harness

import (
	"slices"
	"strings"
	"unicode"
)

// Bounds of a document: a person types a list under two headings, but hardly a page under
// four of them.
const (
	leastDocument = 1000 // bytes
	leastMarks    = 4
)

// Documents returns the spans of a text that are no words of the person to whom reads them,
// in order: comments of HTML, elements named as the description of an issue or a task, and what stands between the
// labels of an issue and of the instructions, messages of PowerShell, and pages that are pasted: a plan or a
// specification in Markdown, or an answer copied out of a chat, from the first of its marks to the end of what its last heading
// stands over. A page of Markdown that speaks to its reader is a person's instruction, unless it is copied out of a
// chat, and so is a section whose heading says, as mayStay reports, that what follows is the person's. Spans may touch or overlap. It is a few
// walks over the text. For what is pasted in blocks see [Quoted].
func Documents(text string, mayStay func(heading string) bool) [][2]int {
	out := slices.Concat(comments(text), descriptions(text), issues(text), pages(text, mayStay))
	slices.SortFunc(out, func(a, b [2]int) int { return a[0] - b[0] })
	return out
}

// comments returns the comments of HTML in a text.
func comments(text string) (out [][2]int) {
	for at := 0; ; {
		from := strings.Index(text[at:], "<!--")
		if from < 0 {
			return out
		}
		from += at
		n := strings.Index(text[from:], "-->")
		if n < 0 {
			return out
		}
		at = from + n + len("-->")
		out = append(out, [2]int{from, at})
	}
}

// descriptions returns the elements that hold what somebody else reported: <issue_description>,
// <problem_statement>, <bug_report>, <doc>, each from where it is opened first to where it is closed last.
func descriptions(text string) (out [][2]int) {
	const longest = 40 // bytes of a name
	closed := map[string]int{}
	each := func(begin string, visit func(name string, at int)) {
		for at := 0; ; {
			n := strings.Index(text[at:], begin)
			if n < 0 {
				return
			}
			at += n + len(begin)
			name, _, ok := strings.Cut(text[at:min(len(text), at+longest)], ">")
			if ok && (strings.HasSuffix(name, "_description") || strings.HasSuffix(name, "_statement") || strings.HasSuffix(name, "_report") || name == "doc") {
				visit(name, at)
			}
		}
	}
	each("</", func(name string, at int) { closed[name] = at + len(name) + 1 })
	if len(closed) == 0 {
		return nil
	}
	each("<", func(name string, at int) {
		if end := closed[name]; end > at {
			out = append(out, [2]int{at - 1, end})
			delete(closed, name)
		}
	})
	return out
}

// issues returns what stands between a line that says that an issue follows and the next that is a label in capitals.
func issues(text string) (out [][2]int) {
	from, at := -1, 0
	for line := range strings.Lines(text) {
		label := strings.TrimSpace(line)
		switch {
		case !strings.HasSuffix(label, ":") || len(label) > 40 || label != strings.ToUpper(label):
		case from >= 0:
			out, from = append(out, [2]int{from, at}), -1
		case slices.Contains([]string{"ISSUE:", "BUG REPORT:", "PROBLEM STATEMENT:", "ISSUE DESCRIPTION:"}, label):
			from = at
		}
		at += len(line)
	}
	return out
}

// page gathers the marks of a document that is pasted.
type page struct {
	spans        [][2]int // its sections, but for those with rules
	from, to     int      // of the marks
	marks        int
	copied       int  // marks of a chat, or of a table in a browser
	lines, talks int  // lines with words, and those of them that speak to the reader
	open         bool // the line belongs to what the last mark stands over
	headed       bool // the last line with words is a mark
	listed       int  // where the last item of a list ends that belongs to it
}

// pages returns the documents in a text, and the messages of PowerShell.
func pages(text string, mayStay func(heading string) bool) (out [][2]int) {
	p := page{from: -1}
	fence, section := "", -1
	at, message, since, quiet := 0, -1, 0, 0 // message: where one of PowerShell may have begun; quiet: where it ends
	for line := range strings.Lines(text) {
		next := at + len(line)
		bare := strings.TrimSpace(line)
		since++
		switch {
		case fence != "":
			if strings.HasPrefix(bare, fence) {
				fence = ""
			}
			p.to = next
		case strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~"):
			fence = bare[:3]
		case at < quiet:
		case strings.HasPrefix(bare, "At ") && strings.Contains(bare, " char:") && message >= 0 && since < 6:
			end := strings.Index(text[at:], "\n\n")
			if end < 0 {
				end = len(text) - at
			}
			quiet = at + end
			out = append(out, [2]int{message, quiet})
		default:
			if strings.Contains(bare, " : ") {
				message, since = at, 0
			}
			heading, marks, copied := markOf(bare)
			if marks+copied > 0 {
				if p.from < 0 {
					p.from, section = at, at
				}
				p.marks, p.copied, p.to = p.marks+marks+copied, p.copied+copied, next
			}
			if heading && p.from >= 0 {
				if section >= 0 {
					p.spans = append(p.spans, [2]int{section, at})
				}
				section = at
				if mayStay(bare) {
					section = -1
				}
			}
			p.follow(bare, marks+copied > 0, next)
			if bare != "" {
				p.lines++
				if p.from >= 0 && talks(bare) {
					p.talks++
				}
			}
		}
		at = next
	}
	if p.isCopied() {
		p.to = max(p.to, strings.LastIndex(text, "\n\n")) // the words behind an answer may be the person's
	}
	if section >= 0 {
		p.spans = append(p.spans, [2]int{section, max(p.to, section)})
	}
	if p.isDocument() {
		out = append(out, p.spans...)
	}
	return out
}

// follow reads a line behind the first mark: the paragraph or the list that a mark stands over belongs to the page.
func (p *page) follow(bare string, marked bool, next int) {
	switch {
	case p.from < 0:
	case marked:
		p.open, p.headed = true, true
	case bare == "":
		p.open = p.open && p.headed
	case isItem(bare) && (p.open || p.to == p.listed):
		p.to, p.listed, p.open, p.headed = next, next, true, false
	case p.open:
		p.to, p.headed = next, false
	default:
		p.listed = -1
	}
}

// isItem reports whether a line is an item of a list.
func isItem(line string) bool {
	if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") {
		return true
	}
	digits := strings.TrimLeft(line, "0123456789")
	return digits != line && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") "))
}

// isCopied reports whether what was gathered is copied out of a chat.
func (p *page) isCopied() bool { return p.copied > 1 }

// isDocument reports whether what was gathered is one that somebody else wrote.
func (p *page) isDocument() bool {
	const often = 10 // one line in so many speaks to the reader
	if p.marks < leastMarks && p.copied < leastMarks-1 || p.to-p.from < leastDocument {
		return false
	}
	return p.isCopied() || p.talks*often < p.lines
}

// markOf returns what a line shows of a document: whether it is a heading, how many marks of
// Markdown it has, and how many of a chat or a browser that it was copied out of.
func markOf(line string) (heading bool, marks, copied int) {
	switch line {
	case "":
		return false, 0, 0
	case "Copy", "Edit", "Copy code", "Copied!":
		return false, 0, 1
	}
	if strings.HasSuffix(line, " said:") && len(line) < 40 {
		return true, 0, 2
	}
	if hashes := len(line) - len(strings.TrimLeft(line, "#")); hashes > 0 && hashes <= 6 && strings.HasPrefix(line[hashes:], " ") {
		return true, 1, 0
	}
	if digits := strings.TrimLeft(line, "0123456789."); digits != line && len(line) < 120 {
		for _, sign := range []string{" · ", " — ", " – "} {
			if strings.HasPrefix(digits, sign) {
				return true, 0, 1
			}
		}
	}
	switch {
	case strings.Contains(line, "\t") && !strings.HasPrefix(line, "\t"):
		return false, 0, 1
	case strings.HasPrefix(line, "|--") || strings.HasPrefix(line, "| --") || strings.HasPrefix(line, "|:-"):
		return false, 1, 0
	case strings.HasPrefix(line, "- **") || strings.HasPrefix(line, "* **") || strings.HasPrefix(line, "- __"):
		return false, 1, 0
	}
	return false, 0, 0
}

// talks reports whether a line speaks to its reader.
func talks(line string) bool {
	if strings.ContainsAny(line, "你您") || strings.Contains(line, "당신") {
		return true
	}
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' }) {
		if second[strings.ReplaceAll(strings.ToLower(word), "’", "'")] {
			return true
		}
	}
	return false
}

// second are the words for who is spoken to.
var second = func() map[string]bool {
	out := map[string]bool{}
	for _, word := range strings.Fields("you your yours yourself you're you've you'll du dein deine deinen deiner dir dich ihr tu toi ton ta tes vous votre vos tú tus usted ustedes você vocês voi tuo tua tuoi ты вы твой тебе вам ваш") {
		out[word] = true
	}
	return out
}()
