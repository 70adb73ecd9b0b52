package harness

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis/internal/lazyregexp"
)

// Quoted returns the passages in a person's text that the person did not write: mentions (a file, a
// page, a folder) and pasted text (code, a log, a quotation), as spans of bytes in order, never
// nested: whole lines and elements. For words in quotation marks within a line see [Unquoted].
//
// Known by their shape: elements with mentions, and others that hold a document or a log, from the
// first opening to the last closing tag; "Contents of PATH:" and the text after it; fences of three
// or more backticks or tildes; lines that begin with ">"; two or more log lines of a paragraph,
// with the lines between them; a command after its prompt, with its output; hunks of diffs; stack
// traces; files between the marks of Gemini CLI; a mail from its headers to its signature; steps to
// reproduce a bug, in the form of a bug report; all but both ends of a text longer than anyone
// types, see [mostTyped].
func Quoted(text string) [][2]int {
	return merged(slices.Concat(elementsIn(text), linesIn(text), filesIn(text), mailIn(text), issuesIn(text)))
}

// issue matches a heading of a bug report's form above the steps to reproduce the bug, with the
// paragraph below.
var issue = lazyregexp.New(`(?im)^[ \t]*(?:#{1,6}\s*|\*\*)(?:steps to reproduce|(?:how )?to reproduce` +
	`|reproduction(?: steps)?` +
	`|actual (?:behaviou?r|result)s?|describe the bug)\b[^\n]*(?:\n\s*$)*(?:\n[ \t]*[^#\s][^\n]*)*`)

func issuesIn(text string) (out [][2]int) {
	for _, at := range issue.FindAllStringIndex(text, -1) {
		out = append(out, [2]int(at))
	}
	return out
}

// mostTyped is how many bytes of a text a person may have typed, half of them at either end: the
// middle of a longer one counts as pasted. It is some 40,000 words.
const mostTyped = 256 << 10

// isBetween reports whether a line of a text lies between the ends that a person may have typed.
func isBetween(text string, from, to int) bool {
	return len(text) > mostTyped && from >= mostTyped/2 && to <= len(text)-mostTyped/2
}

// quotation matches words in quotation marks within a line. A straight single mark must precede a
// word, and cannot close before a letter: an apostrophe looks the same.
var quotation = lazyregexp.New(`"[^"\n]+"|“[^“”\n]+”|«[^«»\n]+»|„[^„“”\n]+[“”]|「[^「」\n]+」|『[^『』\n]+』` +
	`|‘(?:[^‘’\n]|’\pL)+’|(?:^|[ \t\n(:\[])'(?:[^'\n]|'\pL)+'`)

// longestElement is the most bytes in the name of a quoting element.
const longestElement = 40

// elementsIn returns the quoting elements, each from its first opening to its last closing tag.
func elementsIn(text string) (out [][2]int) {
	closed := map[string][2]int{} // span of the last closing tag of a name
	for at := 0; ; {
		n := strings.Index(text[at:], "</")
		if n < 0 {
			break
		}
		from := at + n
		at = from + 2
		name, _, ok := strings.Cut(text[at:min(len(text), at+longestElement)], ">")
		if ok && elements().Has(name, "holds", "quotation") {
			at += len(name) + 1
			closed[name] = [2]int{from, at}
		}
	}
	for name, tag := range closed {
		if from := openingTagAt(text[:tag[0]], name); from >= 0 {
			out = append(out, [2]int{from, tag[1]})
		}
	}
	return out // in any order: they are sorted and merged
}

// openingTagAt returns the first opening tag of an element; -1: none.
func openingTagAt(text, name string) int {
	for at := 0; ; {
		n := strings.Index(text[at:], "<"+name)
		if n < 0 {
			return -1
		}
		at += n
		if end := at + 1 + len(name); end < len(text) && strings.IndexByte("> \t\n/", text[end]) >= 0 {
			return at
		}
		at++
	}
}

// logged matches a log line: it begins with a time or a level, or is a frame of a stack trace.
var logged = lazyregexp.New(`^\s*(?:\[?\d{4}[-/.]\d\d[-/.]\d\d[T ]\d\d:\d\d|\[?\d\d?:\d\d(?::\d\d)?(?:[.,]\d+)?\]?\s|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b[\]:\s]|(?:[A-Z][a-z]{2}\s+\d\d?\s+\d\d:\d\d:\d\d)\s|at\s+[\w.$<>/-]+\s*\(|File "[^"\n]+", line \d+|\s*\d+ \| |npm (?:ERR!|WARN\b|error\b|warn\b|notice\b)|(?:error|fatal|panic|remote|warning|Error|Warning|Caused by|Uncaught)(?:\[\w+\])?: |(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Warning|Failure): |Traceback \(|make(?:\[\d+\])?: |(?:ld|gcc|clang): |[a-z][\w-]*\[\d+\]: |--- (?:FAIL|PASS|SKIP)|=== (?:RUN|PAUSE|CONT)|(?:FAIL|PASS|FAILED|PASSED|ok)\s+\S+[/.:]|E {2,}\S|#\d+ (?:\[|\d+\.\d+ |DONE|CACHED|ERROR)|##\[|::(?:error|warning|notice)|[✓✔✗✘✖×] |\s*\d+:\d+\s+(?:error|warning)\s|diff --git |@@ -\d|(?:\./)?[\w./-]+\.\w{1,5}:\d+(?::\d+)?: )`)

// escape begins the sequences with which programs color what they print.
const escape = 0x1b

// longestMark is how many bytes of a line are searched for a sign of a log.
const longestMark = 300

// mayBeLogged is a cheap test that most lines do not pass: it reports whether a line, without
// leading space, has any of the signs that [logged] requires.
func mayBeLogged(line string) bool {
	if len(line) < 4 {
		return false
	}
	capitals := line[1] >= 'A' && line[1] <= 'Z' // of a level
	return capitals || line[0] == '[' || line[0] == '#' || line[0] >= 0x80 ||
		strings.HasPrefix(line, "E  ") || strings.HasPrefix(line, "---") || strings.HasPrefix(line, "===") ||
		strings.HasPrefix(line, "ok ") || strings.HasPrefix(line, "Traceback") ||
		strings.HasPrefix(line, "diff --git") || strings.HasPrefix(line, "@@ -") ||
		strings.HasPrefix(line, "at ") || strings.HasPrefix(line, "npm ") ||
		strings.HasPrefix(line, `File "`) ||
		strings.ContainsAny(line[:min(len(line), longestMark)], ":|")
}

// linesIn returns the lines of a text that are fenced, quoted or logged, and the text after a
// heading that names its file.
func linesIn(text string) (out [][2]int) {
	fence := ""
	from := 0 // of the fence
	at := 0
	var log pasted
	between := -1 // start of the lines between the ends
	for line := range strings.Lines(text) {
		next := at + len(line)
		bare := strings.TrimSpace(line)
		if isBetween(text, at, next) { // only a fence that is still open after them counts
			if between < 0 {
				out, between = log.end(out), at
			}
			switch {
			case fence == "":
				fence, from = fenceOf(bare), at
			case closesFence(bare, fence):
				fence = ""
			}
			at = next
			continue
		}
		if between >= 0 {
			out, between = append(out, [2]int{between, at}), -1
		}
		switch {
		case fence != "":
			if closesFence(bare, fence) {
				out, fence = append(out, [2]int{from, next}), ""
			}
		case fenceOf(bare) != "":
			out = log.end(out)
			fence, from = fenceOf(bare), at
		case strings.HasPrefix(bare, ">") && !strings.HasPrefix(bare, "> Task :"):
			if out = log.end(out); len(out) > 0 && out[len(out)-1][1] == at {
				out[len(out)-1][1] = next
			} else {
				out = append(out, [2]int{at, next})
			}
		case strings.HasPrefix(bare, "Contents of ") && strings.HasSuffix(bare, ":"):
			return append(log.end(out), [2]int{at, len(text)}) // no mark ends it
		case bare == "":
			log.blank()
		case log.hunk && strings.IndexByte("+- \\", line[0]) >= 0,
			mayBeLogged(bare) && logged.MatchString(bare[:min(len(bare), longestMark)]):
			log.mark(at, next)
			log.hunk = log.hunk || strings.HasPrefix(bare, "@@ -")
		case strings.IndexByte(bare, escape) >= 0: // one line is enough: no person types it
			log.mark(at, next)
			log.mark(at, next)
		case isPrompt(bare):
			out = log.end(out)
			log.mark(at, next)
			log.prompt = true
		default:
			out = log.plainLine(out, line, bare, next)
		}
		at = next
	}
	out = log.end(out)
	if fence != "" {
		out = append(out, [2]int{from, len(text)})
	}
	return out
}

// closesFence reports whether a line closes a fence.
func closesFence(bare, fence string) bool {
	return strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == ""
}

// pasted is a log while its lines are read: from the first to the last marked line, with the lines
// between them in their paragraph.
type pasted struct {
	from, to int
	marked   int  // lines with marks
	between  int  // lines without marks since the last with one
	parted   bool // an empty line came since the last line
	hunk     bool // it is a diff
	prompt   bool // the last marked line is a command after its prompt: its output follows
}

// mostBetween is the most lines without marks between two marked lines of one log.
const mostBetween = 8

// mark reads a line with a mark.
func (p *pasted) mark(from, to int) {
	if p.marked == 0 {
		p.from = from
	}
	p.to, p.between, p.parted = to, 0, false
	p.marked++
}

// blank reads an empty line: a log has some.
func (p *pasted) blank() { p.parted, p.prompt = p.marked > 0, false }

// plainLine reads a line without marks.
func (p *pasted) plainLine(out [][2]int, line, bare string, next int) [][2]int {
	p.hunk = false
	switch {
	case p.marked == 0:
		return out
	case p.parted || p.between >= mostBetween:
		return p.end(out)
	case p.prompt:
		p.mark(p.from, next)
	case p.between == 0 && (p.marked > 2 && !isSentence(bare) ||
		p.marked > 1 && (line[0] == ' ' || line[0] == '\t')):
		p.to = next
	default:
		p.between++
	}
	return out
}

// end adds the log that was read, if it is one.
func (p *pasted) end(out [][2]int) [][2]int {
	if p.marked > 1 {
		out = append(out, [2]int{p.from, p.to})
	}
	*p = pasted{}
	return out
}

// isSentence reports whether a line ends as a person's sentence does.
func isSentence(line string) bool {
	r, _ := utf8.DecodeLastRuneInString(line)
	return strings.ContainsRune(".?!:。？！", r)
}

// isPrompt reports whether a line is a command after a shell prompt.
func isPrompt(line string) bool {
	if strings.HasPrefix(line, "$ ") {
		return len(line) > 2
	}
	head, command, ok := strings.Cut(line, "$ ")
	if ok && command != "" {
		return strings.Contains(head, "@") && strings.Contains(head, ":") && !strings.Contains(head, " ")
	}
	head, command, ok = strings.Cut(line, "> ")
	return ok && command != "" && strings.HasPrefix(head, "PS ") && strings.Contains(head, "\\")
}

// fenceOf returns the marks with which a line opens a fence; "" when it opens none. As in
// CommonMark a fence is closed by at least as many marks, and a line with more backticks after the
// marks is code within the line.
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		if n := len(line) - len(rest); n >= 3 && (mark == "~" || !strings.Contains(rest, mark)) {
			return line[:n]
		}
	}
	return ""
}

// merged returns spans in order, with touching or overlapping ones merged.
func merged(spans [][2]int) [][2]int {
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s[0] <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], s[1])
			continue
		}
		out = append(out, s)
	}
	return out
}

// Typed returns the parts of a text that the person wrote, without quoted blocks, each passage on
// its own. Quotations within a line stay, see [Quoted].
func Typed(text string) []string {
	var out []string
	at := 0
	for _, b := range append(Quoted(text), [2]int{len(text), len(text)}) {
		if words := text[at:b[0]]; strings.TrimSpace(words) != "" {
			out = append(out, words)
		}
		at = b[1]
	}
	return out
}

// Unquoted returns a text of the same length with quoted words overwritten by a letter, except for
// the mark that ends a sentence. Quotations of a few words are names, and stay.
func Unquoted(text string) string {
	if !strings.ContainsAny(text, "\"“«„「『‘'") {
		return text
	}
	out := []byte(text)
	for _, at := range quotation.FindAllStringIndex(text, -1) {
		s := strings.TrimLeft(text[at[0]:at[1]], " \t\n(:[")
		if !isQuotedSentence(s) {
			continue
		}
		from := at[1] - len(s)
		_, closing := utf8.DecodeLastRuneInString(s)
		inner := strings.TrimRight(s[:len(s)-closing], ".!?。！？")
		for i := range len(inner) {
			out[from+i] = 'x'
		}
	}
	return string(out)
}

// isQuotedSentence reports whether words in quotation marks are a quoted sentence: fewer are a name, and more
// are not a quotation. Scripts without spaces are counted by characters.
func isQuotedSentence(quotation string) bool {
	const leastWords, least, most = 3, 12, 400
	n := utf8.RuneCountInString(quotation)
	return n <= most && (n >= least || len(strings.Fields(quotation)) >= leastWords)
}
