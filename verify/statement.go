package verify

import (
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/prose"
	"github.com/precis-dev/precis/retain"
)

// Statement is a sentence of a summary.
type Statement struct {
	Text   string // without the marks of lists and headings before it
	At     int    // where it begins in the summary
	Ahead  bool   // it is about future work, or an example
	Quotes bool   // it is only a quotation, or code
	line   string // all of its line, without the names of files
}

// Statements returns the sentences of a summary in order. It excludes code blocks, headings, texts
// that programs write around a summary, and items that cite a message, which a digest has checked.
func Statements(text string) (out []Statement) {
	for _, l := range linesOf(text) {
		if !l.cited {
			out = append(out, l.statements()...)
		}
	}
	return out
}

// line is a line of a summary that may contain statements.
type line struct {
	text  string
	at    int    // where it begins in the summary
	title string // the heading above it, or the line itself when it is one
	cited bool   // it belongs to an item that cites a message by its handle
}

// namesTitle is the heading over names without their lines in a digest: their order has no meaning.
const namesTitle = "## Also mentioned"

// linesOf returns the lines of a summary without code blocks, lists of names and programs' texts.
func linesOf(text string) (out []line) {
	var l line
	next, fenced := 0, false
	for whole := range strings.Lines(text) {
		l.text, l.at = strings.TrimRight(whole, "\r\n"), next
		next += len(whole)
		isFence := strings.HasPrefix(strings.TrimSpace(l.text), "```")
		fenced = fenced != isFence
		if isFence || fenced || says("frame", l.text) {
			continue
		}
		if headings.MatchString(l.text) {
			l.title = l.text
		}
		if strings.HasPrefix(l.title, namesTitle) {
			continue
		}
		l.cited = cites.MatchString(l.text) || l.cited && strings.HasPrefix(l.text, " ")
		out = append(out, l)
	}
	return out
}

// statements returns the sentences of a line; none of a line that is too long to be a person's.
func (l line) statements() (out []Statement) {
	const longest = 2000 // bytes
	if len(l.text) > longest {
		return nil
	}
	words := withoutPaths(l.text)
	for _, u := range prose.Sentences(l.text) {
		text := u.Of(l.text)
		out = append(out, Statement{
			Text: text, At: l.at + u.Start, line: words,
			Ahead: isAhead(withoutPaths(text), l.title), Quotes: isQuoted.MatchString(text),
		})
	}
	return out
}

// isAhead reports whether a text under a title is about future or possible work: its names may not
// exist yet.
func isAhead(text, title string) bool { return says("ahead", text) || says("ahead title", title) }

var (
	isQuoted = lazyregexp.New("(?s)^(?:“|[\"`](?:.*[\"`])?$)")
	headings = lazyregexp.New(`^\s*(?:#{1,6}\s|\d+\.\s+[^.]{1,60}:?\s*$|\*\*[^*]{1,60}\*\*:?\s*$|[A-Z][A-Z_ ]{3,40}:)`)
	cites    = lazyregexp.New(`^\s*[-*] (?:~~)?(?:\(?m\d+[.:, )(-]|.*\bm\d+(?:\.b\d+)?\)?[.,;:]?\s*$|.*\(m\d+)`)
)

var clauseEnds = lazyregexp.New(`[,;:](?:\s|$)| [–-] |[—，；：]`)

// clauseAround returns the clause of a sentence that contains a byte.
func clauseAround(text string, at int) string {
	from := 0
	for _, end := range clauseEnds.FindAllStringIndex(text, -1) {
		if end[0] >= at {
			return text[from:end[0]]
		}
		from = end[1]
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

// pathsIn returns the spans of file names in a text.
func pathsIn(text string) (out [][2]int) {
	end := 0
	retain.Scan(text, func(a retain.Anchor) {
		if a.Kind != retain.KindPath || a.Start < end {
			return
		}
		end = a.End
		if name := strings.TrimRight(text[a.Start:a.End], ".,;:"); strings.ContainsAny(name, "./") {
			out = append(out, [2]int{a.Start, a.Start + len(name)})
		}
	})
	return out
}
