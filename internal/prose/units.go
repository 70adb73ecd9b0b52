package prose

import (
	_ "embed"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/table"
)

// Unit is a part of a text that is quoted whole or not at all: a sentence, or a list with its
// title. It holds the bytes from Start to End, without white space at the ends and, of a sentence,
// without a list mark before it.
type Unit struct{ Start, End int }

// Of returns the words of the unit.
func (u Unit) Of(text string) string { return text[u.Start:u.End] }

// mostList is the most bytes of a list with its title; its further entries are units of their own.
const mostList = 1000

// Units returns the parts of a text in order. A sentence ends at its mark, and at a line break
// unless the next line continues in lower case. A list has a title if the line before it ends in a
// colon, or is a heading.
func Units(text string) []Unit {
	lines := linesOf(text)
	var out []Unit
	for i := 0; i < len(lines); {
		if end := titled(text, lines[i:]); end > 1 {
			out = append(out, trimmed(text, lines[i].Start, lines[i+end-1].End))
			i += end
			continue
		}
		end := i + 1
		for end < len(lines) && continuesInNext(text, lines[end-1], lines[end]) {
			end++
		}
		out = addSentences(out, text, lines[i].Start, lines[end-1].End)
		i = end
	}
	return out
}

// linesOf returns the lines of a text, with white space.
func linesOf(text string) []Unit {
	out, at := []Unit(nil), 0
	for line := range strings.Lines(text) {
		out = append(out, Unit{at, at + len(line)})
		at += len(line)
	}
	return out
}

// titled returns the number of lines of a list and its title, at most [mostList] bytes; 0 when the
// first line is not the title of a list.
func titled(text string, lines []Unit) int {
	title := strings.TrimRight(strings.TrimSpace(lines[0].Of(text)), "*_ ")
	heading := strings.HasPrefix(title, "#")
	if title == "" || !heading && !strings.HasSuffix(title, ":") && !strings.HasSuffix(title, "：") {
		return 0
	}
	end, entries := 1, 0
	for n := 1; n < len(lines); n++ {
		line := lines[n].Of(text)
		switch {
		case lines[n].End-lines[0].Start > mostList:
			n = len(lines) // the rest is too long
		case strings.TrimSpace(line) == "":
			if entries > 0 {
				return end
			}
		case unlisted(line) != strings.TrimSpace(line):
			end, entries = n+1, entries+1
		case entries > 0 && (line[0] == ' ' || line[0] == '\t'): // an entry goes on
			end = n + 1
		default:
			n = len(lines)
		}
	}
	if entries == 0 {
		return 0
	}
	return end
}

// continuesInNext reports whether a sentence of a line continues in the next one.
func continuesInNext(text string, line, next Unit) bool {
	const least, most = 40, 200 // bytes of a line that its writer breaks
	before, after := strings.TrimSpace(line.Of(text)), strings.TrimSpace(next.Of(text))
	first, _ := utf8.DecodeRuneInString(after)
	last, _ := utf8.DecodeLastRuneInString(before)
	return len(before) >= least && len(before) <= most && unicode.IsLower(first) &&
		(unicode.IsLetter(last) || last == ',')
}

// Sentences returns the sentences of a text in order. Line breaks end none.
func Sentences(text string) []Unit { return addSentences(nil, text, 0, len(text)) }

// addSentences adds the sentences of a part of a text.
func addSentences(out []Unit, text string, from, to int) []Unit {
	for at := from; at < to; {
		end := at + sentenceEnd(text[at:to])
		if u := trimmed(text, at, end); u.Start < u.End {
			u.Start = u.End - len(unlisted(u.Of(text)))
			out = append(out, u)
		}
		at = end
	}
	return out
}

// sentenceEnd returns the end of the first sentence of a text. A full stop ends one only before
// white space or a closing mark, so that file names and versions stay whole. No capital letter need
// follow, since many people type without capitals. (Unicode's Annex 29 requires one.)
func sentenceEnd(text string) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		end := strings.ContainsRune("。！？", r)
		if strings.ContainsRune(".!?", r) {
			end = i+1 >= len(text) || strings.IndexByte(" \t\r\n\"')", text[i+1]) >= 0
			end = end && !abbreviated(text[:i])
		}
		i += n
		for end && i < len(text) { // closing quotation marks belong to the sentence
			mark, n := utf8.DecodeRuneInString(text[i:])
			if !strings.ContainsRune("\"')]”’»」』", mark) {
				break
			}
			i += n
		}
		if end {
			return i
		}
	}
	return len(text)
}

//go:embed abbreviations.txt
var abbreviationsText string

var abbreviations = table.Lazy("abbreviations.txt", abbreviationsText, "word", "language")

// abbreviated reports whether a text ends with an abbreviation with a full stop, or is the number
// of a list entry.
func abbreviated(text string) bool {
	word := text[strings.LastIndexAny(text, " \t\n(")+1:]
	_, ok := abbreviations().Find(strings.ToLower(word))
	return ok || word == strings.TrimSpace(text) && strings.Trim(word, "0123456789") == ""
}

func trimmed(text string, from, to int) Unit {
	from += len(text[from:to]) - len(strings.TrimLeftFunc(text[from:to], unicode.IsSpace))
	return Unit{from, from + len(strings.TrimRightFunc(text[from:to], unicode.IsSpace))}
}

// unlisted returns a line without the marks of lists, headings and quotations before it: signs and
// numbers that are followed by white space or a letter beyond ASCII.
func unlisted(line string) string {
	line = strings.TrimSpace(line)
	for {
		rest := strings.TrimLeft(line, "-*+#>•")
		if rest == line {
			rest = strings.TrimLeft(line, "0123456789")
			marked := strings.TrimLeft(rest, ".)、")
			if rest == line || marked == rest {
				return line
			}
			rest = marked
		}
		if rest == "" || rest[0] < utf8.RuneSelf && rest[0] != ' ' && rest[0] != '\t' {
			return line
		}
		line = strings.TrimSpace(rest)
	}
}

//go:embed weights.txt
var weightsText string

var weights = table.Lazy("weights.txt", weightsText, "word", "language")

// Limits of the results of [Typed], in bytes: a shorter part has no content, a longer one is data.
const (
	leastRule = 8
	mostRule  = mostList
)

// Typed returns the parts of a person's text that have a word of weights.txt outside quotation
// marks, in order, each once. Pasted and mentioned text, as package harness recognizes it, is
// excluded.
func Typed(text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, typed := range harness.Typed(text) {
		own := harness.Unquoted(typed) // as long as typed, byte for byte
		for _, u := range Units(typed) {
			part := u.Of(typed)
			if len(part) < leastRule || len(part) > mostRule || seen[part] || !Weighs(u.Of(own)) {
				continue
			}
			seen[part] = true
			out = append(out, part)
		}
	}
	return out
}
