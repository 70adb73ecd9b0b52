package verify

import (
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/prose"
	"github.com/precis-dev/precis/retain"
)

// Doubt is a statement of a summary that the conversation contradicts or does not support.
type Doubt struct {
	Text string `json:"text"` // as in the summary
	// "outcome", "file", "error", or a kind of fact: "path", "number" …
	Kind string `json:"kind"`
	Why  string `json:"why"` // one sentence
	// the evidence against it; nil: there is no evidence for it
	Handle *precis.Handle `json:"handle,omitempty"`
}

// Kinds of doubts that are not kinds of facts.
const (
	DoubtOutcome = "outcome"
	DoubtFile    = "file"
	DoubtError   = "error"
	ofNumber     = "number"
)

// mostDoubts is the most doubts that the gate lists; with more, a text just uses other words.
const mostDoubts = 12

// Limits of a check, so that a hostile text costs no more than a long one: bytes of the text, and
// bytes of sources that are searched for its names.
const (
	mostChecked  = 128 << 10
	mostSearched = 1 << 30
)

// Title is the heading over the gate's list of doubts, and Added the line over its additions.
const (
	DoubtsTitle    = "## Not borne out by the conversation"
	AdditionsTitle = "[Added from the conversation itself, because the text above lacks it:]"
)

// Doubts looks up the statements of a text and returns those that the conversation contradicts or
// does not support, most consequential first: the first most of them, 0 for as many as the gate
// lists. Names, numbers and quotations are looked up in the whole conversation, an outcome in the
// newest run, a file in the calls that wrote it. Not checked are plans, rough counts, abbreviations
// and paraphrases, and texts longer than the remaining conversation; with ofWork only outcomes and
// files are.
func (p *History) Doubts(text string, most int, ofWork bool) []Doubt {
	d := claimChecker{History: p, ofWork: ofWork, seen: map[string]bool{}, left: mostSearched}
	isMarked := func(m precis.Message) bool { return strings.Contains(m.PlainText(), DoubtsTitle) }
	d.marked = slices.ContainsFunc(p.Messages, isMarked)
	_, marked, _ := strings.Cut(text, DoubtsTitle)
	text, _, _ = strings.Cut(text, AdditionsTitle)
	before, _, rest := cutDoubts(text) // a list that a model has copied from an earlier summary
	text = before + rest
	text = text[:min(len(text), mostChecked)]
	if len(p.allWords()) < len(text) {
		return nil
	}
	d.all = Statements(text)
	for _, l := range linesOf(text) {
		d.line(l)
	}
	d.found = slices.DeleteFunc(d.found, func(x Doubt) bool { return strings.Contains(marked, doubtName(x)) })
	slices.SortStableFunc(d.found, func(a, b Doubt) int { return weight(a) - weight(b) })
	return d.found[:min(len(d.found), max(most, mostDoubts))]
}

// weight orders doubts: those that an agent would act on come first.
func weight(d Doubt) int {
	switch d.Kind {
	case DoubtOutcome, DoubtFile:
		return 0
	case retain.KindPath.String(), retain.KindQuote.String():
		return 1
	}
	return 2
}

// claimChecker checks one text.
type claimChecker struct {
	*History
	all    []Statement
	found  []Doubt
	seen   map[string]bool
	left   int  // bytes that may be searched
	ofWork bool // only outcomes and files are checked
	marked bool // one of the messages is a summary with doubts
}

func (d *claimChecker) doubt(text, kind, why string, h *precis.Handle) {
	if key := kind + text; !d.seen[key] {
		d.seen[key] = true
		d.found = append(d.found, Doubt{Text: text, Kind: kind, Why: why, Handle: h})
	}
}

// contradict doubts a statement, with the contradicting call.
func (d *claimChecker) contradict(s Statement, kind, why string, call int) bool {
	return d.contradictAt(s, kind, why, d.Index.Calls[call].Use)
}

func (d *claimChecker) contradictAt(s Statement, kind, why string, at precis.Handle) bool {
	at.From += d.Offset
	at.To += d.Offset
	d.doubt(shown(s), kind, why, &at)
	return true
}

// shown returns a statement in the form used in a doubt.
func shown(s Statement) string { return preview.Line(s.Text, 160) }

// line looks up the names in a line, and then its statements until one is doubted. Of an item that
// cites a message only outcomes are checked, and only with ofWork.
func (d *claimChecker) line(l line) {
	if !d.ofWork {
		d.names(l)
	}
	if l.cited && !d.ofWork {
		return
	}
	for _, s := range l.statements() {
		isNamed := func(x Doubt) bool { return strings.Contains(s.Text, x.Text) }
		if s.Quotes || s.Ahead || slices.ContainsFunc(d.found, isNamed) {
			continue
		}
		_ = d.outcome(s) || d.deed(s) || d.file(s) || d.ofWork || d.errorCode(s) || d.number(s)
	}
}

// has reports whether a source contains the words of a text in a row.
func (d *claimChecker) has(s string) bool {
	if d.left -= len(d.words); d.left < 0 {
		return true // unknown
	}
	return strings.Contains(d.words, string(prose.AppendPlain(nil, s)))
}

// hasWords reports the same, if the first and the last word are not parts of longer ones.
func (d *claimChecker) hasWords(s string) bool {
	if d.left -= len(d.words); d.left < 0 {
		return true // unknown
	}
	return prose.HasPlain(d.words, string(prose.AppendPlain(nil, s)))
}

// withoutDoubts removes the gate's doubts and doubted names from a summary: neither is a source.
func withoutDoubts(text string) string {
	before, list, rest := cutDoubts(text)
	n := 0
	for line := range strings.Lines(list) {
		if n++; n > 2*mostDoubts {
			break // not the gate's
		}
		if quoted, err := strconv.QuotedPrefix(strings.TrimPrefix(line, "- ")); err == nil {
			if name, err := strconv.Unquote(quoted); err == nil && name != "" {
				before = strings.ReplaceAll(before, name, " ")
			}
		}
	}
	return before + rest
}

// cutDoubts cuts a text around its first list of doubts.
func cutDoubts(text string) (before, list, rest string) {
	before, list, _ = strings.Cut(text, DoubtsTitle)
	if i := strings.Index(list, "\n## "); i >= 0 {
		list, rest = list[:i], list[i:]
	}
	return before, list, rest
}

// Line writes a doubt for a model, without its handle.
func (d Doubt) Line() string { return doubtName(d) + ": " + preview.Quote(d.Why, 240) }

func doubtName(d Doubt) string { return "- " + preview.Quote(strconv.Quote(d.Text), 160) }
