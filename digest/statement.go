package digest

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"precis/internal/lazyregexp"
)

// statement is a sentence of a summary.
type statement struct {
	text   string // without the marks of lists and headings around it
	title  string // of the section it stands in
	at     int    // where it begins in the summary
	ahead  bool   // it says what is still to be done
	quotes bool   // it is nothing but a quotation, or code
}

// statementsOf returns the sentences of a summary in order. Code blocks, headings and what programs write around a
// summary are none.
func statementsOf(text string) []statement {
	var out []statement
	title, fenced, at := "", false, 0
	cited := false // the line belongs to an item that cites a message by its handle
	for line := range strings.Lines(text) {
		from := at
		at += len(line)
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if fenced || len(line) > mostStatement || handedOn.MatchString(line) {
			continue
		}
		if cited = cites.MatchString(line) || cited && strings.HasPrefix(line, " "); cited {
			continue
		}
		bare := line[len(marksOf(line)):]
		if _, quoted := cutQuotation(bare); !quoted && headings.MatchString(line) {
			title = line
		}
		begin := from + len(line) - len(bare)
		for _, cut := range sentencesOf(bare) {
			s := statement{text: strings.TrimSpace(bare[cut[0]:cut[1]]), title: title, at: begin + cut[0]}
			if s.text == "" {
				continue
			}
			s.ahead = plans.MatchString(s.text) || ahead.MatchString(title)
			s.quotes = strings.IndexByte(`"“«`+"`", s.text[0]) >= 0 && strings.IndexByte(`"`+"`", s.text[len(s.text)-1]) >= 0
			out = append(out, s)
		}
	}
	return out
}

// cites begins an item that says which message it is made from: a digest writes them, and they are checked when it does.
var cites = lazyregexp.New(`^\s*[-*] (?:~~)?(?:\(?m\d+[.:, )(-]|.*\bm\d+(?:\.b\d+)?\)?[.,;:]?\s*$|.*\(m\d+)`)

// listMarks are what stands before the words of a line: bullets, numbers, boxes, and a title in bold.
var listMarks = lazyregexp.New(`^[\s>|#*•-]*(?:\d{1,3}[.)]\s+)?(?:\[[ xX~-]\]\s*)?[*_]*(?:(?:✅|✓|❌|⏸️|⚠️)\s*)?(?:[^*\n.:` + "`" + `]{1,60}(?:\*\*\s*:|:\s*\*\*)\s*)?`)

func marksOf(line string) string {
	if m := listMarks.FindStringIndex(line); m != nil && m[1] < len(line) {
		return line[:m[1]]
	}
	return ""
}

// abbreviations end with a full stop that ends no sentence.
var abbreviations = lazyregexp.New(`(?i)(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|incl|resp|z\.B|d\.h|[a-z])\.$`)

// sentencesOf returns where the sentences of a line begin and end.
func sentencesOf(line string) (out [][2]int) {
	from, quote := 0, false
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRuneInString(line[i:])
		end := i + n
		switch r {
		case '`', '"':
			quote = !quote
		case '。', '！', '？', '；':
			out, from = append(out, [2]int{from, end}), end
		case '.', '!', '?', ';':
			if quote || end >= len(line) || line[end] != ' ' || r == '.' && abbreviations.MatchString(line[from:end]) {
				break
			}
			next, _ := utf8.DecodeRuneInString(strings.TrimLeft(line[end:], " "))
			if r != ';' && !unicode.IsUpper(next) && !strings.ContainsRune("`\"*(✅❌", next) && next < 0x2000 && !unicode.IsDigit(next) {
				break
			}
			out, from = append(out, [2]int{from, end}), end
		}
		i = end
	}
	if from < len(line) {
		out = append(out, [2]int{from, len(line)})
	}
	return out
}
