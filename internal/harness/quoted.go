package harness

import (
	"slices"
	"strings"
	"unicode/utf8"

	"precis/internal/lazyregexp"
)

// Quoted returns the passages of what a person said that the person did not write: what is
// mentioned (a file, a page, a folder) and what is pasted (code, a log, a quotation), as
// spans of bytes in order, none within another. Blocks are whole lines and elements; inline
// are quotations within a line.
//
// Known by their shape: elements in which programs put what was mentioned, and others that
// hold a document or a log, from where they are first opened to where they are last closed;
// "Contents of PATH:" and what follows; fences of three backticks or tildes; lines that
// begin with ">"; two or more lines in a row as programs log them; stack traces; words in
// quotation marks.
func Quoted(text string) (blocks, inline [][2]int) {
	blocks = quotedBlocks(text)
	next := 0 // the first block that does not end before the quotation
	for _, at := range quotations.FindAllStringIndex(text, -1) {
		for next < len(blocks) && blocks[next][1] < at[1] {
			next++
		}
		covered := next < len(blocks) && blocks[next][0] <= at[0]
		if !covered && !isName(text[at[0]:at[1]]) {
			inline = append(inline, [2]int(at))
		}
	}
	return blocks, inline
}

func quotedBlocks(text string) [][2]int { return merged(append(elementsIn(text), linesIn(text)...)) }

// leastQuoted is how many words in quotation marks are somebody's sentence; fewer are a name.
const leastQuoted = 3

// quotations are words in quotation marks within a line. Single ones must be typographic: an
// apostrophe looks the same. None holds a mark that opens it, so that a text full of these
// is searched in one walk.
var quotations = lazyregexp.New(`"[^"\n]{8,400}"|“[^“”\n]{4,400}”|«[^«»\n]{4,400}»|„[^„“”\n]{4,400}[“”]|「[^「」\n]{4,400}」|『[^『』\n]{4,400}』|‘[^‘’\n]{8,400}’(?:$|[\s.,;:!?)])`)

// documents are elements that hold what a person pastes or a program adds, besides mentions.
var documents = []string{
	"document", "documents", "document_content", "file", "file_contents", "log", "logs", "output", "stdout", "stderr", "stack_trace", "stacktrace", "traceback", "code", "snippet", "quote", "blockquote", "page", "webpage",
	"email", "transcript", "source", "paste", "pasted", "content", "contents", "context", "example", "examples", "diff", "patch", "error", "INSTRUCTIONS", "selection", "selected_code", "attached_file", "attached_files", "attachment", "search_results", "issue", "comment",
}

func elementsIn(text string) (out [][2]int) {
	if !strings.Contains(text, "</") {
		return nil
	}
	for _, name := range slices.Concat(mentions, documents) {
		closing := "</" + name + ">"
		to := strings.LastIndex(text, closing)
		if to < 0 {
			continue
		}
		if from := opened(text[:to], name); from >= 0 {
			out = append(out, [2]int{from, to + len(closing)})
		}
	}
	return out
}

// opened returns where an element is opened first; -1: nowhere.
func opened(text, name string) int {
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

// logged is a line as programs log it: it begins with a time or a level, or is a frame of a
// stack trace.
var logged = lazyregexp.New(`^\s*(?:\[?\d{4}[-/.]\d\d[-/.]\d\d[T ]\d\d:\d\d|\[?\d\d?:\d\d(?::\d\d)?(?:[.,]\d+)?\]?\s|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b[\]:\s]|(?:[A-Z][a-z]{2}\s+\d\d?\s+\d\d:\d\d:\d\d)\s|at\s+[\w.$<>/-]+\s*\(|File "[^"\n]+", line \d+|\s*\d+ \| |npm (?:ERR!|WARN)|error(?:\[\w+\])?: |warning: |(?:\./)?[\w./-]+\.\w{1,5}:\d+(?::\d+)?: )`)

// linesIn returns the lines of a text that are fenced, quoted or logged, and what stands
// behind a heading that says of which file it is.
func linesIn(text string) (out [][2]int) {
	fence := ""
	from := 0  // of the fence, or of the logged lines
	lines := 0 // logged in a row
	at := 0
	flush := func() {
		if lines > 1 {
			out = append(out, [2]int{from, at})
		}
		lines = 0
	}
	for line := range strings.Lines(text) {
		next := at + len(line)
		bare := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == "" {
				out, fence = append(out, [2]int{from, next}), ""
			}
		case fenceOf(bare) != "":
			flush()
			fence, from = fenceOf(bare), at
		case strings.HasPrefix(bare, ">"):
			flush()
			out = append(out, [2]int{at, next})
		case strings.HasPrefix(bare, "Contents of ") && strings.HasSuffix(bare, ":"):
			flush()
			return append(out, [2]int{at, len(text)}) // its end is not marked
		case logged.MatchString(line):
			if lines++; lines == 1 {
				from = at
			}
		case bare == "" && lines > 0: // a log has empty lines
		default:
			flush()
		}
		at = next
	}
	flush()
	if fence != "" {
		out = append(out, [2]int{from, len(text)})
	}
	return out
}

// fenceOf returns the marks with which a line opens a fence; "" when it opens none. As in
// CommonMark a fence is closed by at least as many marks, and a line with more backticks
// behind the marks is code within the line.
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		if n := len(line) - len(rest); n >= 3 && (mark == "~" || !strings.Contains(rest, mark)) {
			return line[:n]
		}
	}
	return ""
}

// merged returns spans in order, those that touch or overlap as one.
func merged(spans [][2]int) (out [][2]int) {
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	for _, s := range spans {
		if n := len(out); n > 0 && s[0] <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], s[1])
			continue
		}
		out = append(out, s)
	}
	return out
}

// Typed returns what a person wrote of a text: without what is quoted in blocks; each
// passage on its own. Quotations within a line stay, see [Quoted].
func Typed(text string) []string {
	var out []string
	at := 0
	for _, b := range append(quotedBlocks(text), [2]int{len(text), len(text)}) {
		if words := text[at:b[0]]; strings.TrimSpace(words) != "" {
			out = append(out, words)
		}
		at = b[1]
	}
	return out
}

// Unquoted returns a text in which what stands in quotation marks is blotted out: as many
// bytes of a letter, but for the mark that ends a sentence. A few words in quotation marks
// are a name, and stay.
func Unquoted(text string) string {
	if !strings.ContainsAny(text, "\"“«„「『‘") {
		return text
	}
	return quotations.ReplaceAllStringFunc(text, func(s string) string {
		if isName(s) {
			return s
		}
		_, closing := utf8.DecodeLastRuneInString(s)
		inner := strings.TrimRight(s[:len(s)-closing], ".!?。！？")
		return strings.Repeat("x", len(inner)) + s[len(inner):]
	})
}

// isName reports whether words in quotation marks are too few to be a sentence. Scripts
// without spaces are counted by characters.
func isName(quotation string) bool {
	return len(strings.Fields(quotation)) < leastQuoted && utf8.RuneCountInString(quotation) < 12
}
