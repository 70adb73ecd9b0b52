package verify

import (
	"strings"

	"precis/internal/lazyregexp"
	"precis/internal/prose"
	"precis/retain"
)

// Statement is a sentence of a summary.
type Statement struct {
	Text   string // without the marks of lists and headings around it
	At     int    // where it begins in the summary
	Ahead  bool   // it says what is still to be done, or gives an example
	Quotes bool   // it is only a quotation, or code
	prose  string // Text without the names of files
	line   string // all of its line without them
}

// mostStatement is the longest line, in bytes, that is read as statements.
const mostStatement = 2000

// namesTitle is the heading over names without their lines in a digest.
const namesTitle = "## Also mentioned"

// Statements returns the sentences of a summary in order. Code blocks, headings, what programs write around a
// summary and items that cite a message, which a digest has checked, are none.
func Statements(text string) []Statement { return statements(text, false) }

// statements returns the sentences of a summary; withCited also those of items that cite a message.
func statements(text string, withCited bool) []Statement {
	var out []Statement
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
		if fenced || len(line) > mostStatement || says("frame", line) {
			continue
		}
		if cited = cites.MatchString(line) || cited && strings.HasPrefix(line, " "); cited && !withCited {
			continue
		}
		bare := line[len(prose.Marks(line)):]
		if headings.MatchString(line) {
			title = line
		} else if strings.HasPrefix(title, namesTitle) {
			continue // names stand beside each other by accident
		}
		begin, words := from+len(line)-len(bare), withoutPaths(bare)
		for _, cut := range prose.Sentences(bare) {
			s := Statement{Text: strings.TrimSpace(bare[cut[0]:cut[1]]), At: begin + cut[0], line: words}
			if s.Text == "" {
				continue
			}
			s.prose = withoutPaths(s.Text)
			s.Ahead = isAhead(s.prose, title)
			s.Quotes = isQuoted.MatchString(s.Text)
			out = append(out, s)
		}
	}
	return out
}

// isAhead reports whether a sentence under a title says what is still to be done or what may be: it names what may
// not exist.
func isAhead(text, title string) bool {
	return says("ahead", text) || says("ahead title", title)
}

var (
	isQuoted = lazyregexp.New("(?s)^(?:“|[\"`](?:.*[\"`])?$)")
	headings = lazyregexp.New(`^\s*(?:#{1,6}\s|\d+\.\s+[^.]{1,60}:?\s*$|\*\*[^*]{1,60}\*\*:?\s*$|[A-Z][A-Z_ ]{3,40}:)`)
	cites    = lazyregexp.New(`^\s*[-*] (?:~~)?(?:\(?m\d+[.:, )(-]|.*\bm\d+(?:\.b\d+)?\)?[.,;:]?\s*$|.*\(m\d+)`)
)

// clauseAround returns the clause of a sentence that holds a byte.
func clauseAround(text string, at int) string {
	const ends = ",;:()—"
	from := strings.LastIndexAny(text[:at], ends) + 1
	if n := strings.IndexAny(text[at:], ends); n >= 0 {
		return text[from : at+n]
	}
	return text[from:]
}

func withoutPaths(text string) string {
	var out strings.Builder
	end := 0
	for _, at := range pathsIn(text) {
		out.WriteString(text[end:at[0]])
		end = at[1]
	}
	return out.String() + text[end:]
}

// pathsIn returns where a text names files.
func pathsIn(text string) (out [][2]int) {
	end := 0
	retain.Scan(text, func(a retain.Anchor) {
		if a.Kind != retain.Path || a.Start < end {
			return
		}
		end = a.End
		if name := strings.TrimRight(text[a.Start:a.End], ".,;:"); strings.ContainsAny(name, "./") {
			out = append(out, [2]int{a.Start, a.Start + len(name)})
		}
	})
	return out
}
