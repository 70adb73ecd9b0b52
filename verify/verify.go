// Package verify compares a summary of a conversation with the conversation itself. [Past.Check] counts what of it
// the summary holds: the words that the user typed, files, failures, open steps and running jobs. [Past.Doubts]
// looks up what the summary states and returns what the conversation does not bear out.
//
// Nothing is interpreted and no two sentences are compared: a statement is doubted when a name, a number or a
// quotation in it stands nowhere, or when the calls show that a file or a check ended in another way.
package verify

import (
	"slices"
	"strings"
	"unicode/utf8"

	"precis"
	"precis/internal/prose"
	"precis/internal/toolcall"
	"precis/retain"
)

// Report says what a summary of a conversation lacks, contradicts and invents.
type Report struct {
	Unread      int     `json:"unread,omitempty"` // bytes of the text after those that are read
	Kinds       []Share `json:"kinds"`            // of which the conversation has something, as in [Kinds]
	Lacks       []Lack  `json:"lacks"`            // in the order of the kinds
	Contradicts []Doubt `json:"contradicts"`      // statements on files and outcomes that calls show to be otherwise
	Invents     []Doubt `json:"invents"`          // names, numbers, quotations and deeds that stand nowhere
}

// Share says how much of one kind a text holds: characters of the words, items of the others.
type Share struct {
	Kind  string `json:"kind"`
	Holds int    `json:"holds"`
	Of    int    `json:"of"`
}

// Lack is what a text does not hold.
type Lack struct {
	Kind   string        `json:"kind"`
	Text   string        `json:"text"`
	Handle precis.Handle `json:"handle"` // where the conversation says it
}

// Kinds are the kinds of what a summary is to hold, in the order of their lists.
var Kinds = []string{"words", "files", "failures", "steps", "jobs"}

// The classes of a report beside the kinds: Contradicts are statements that calls show to be otherwise, Invents
// these and those that nothing bears out.
const (
	Contradicts = "contradicts"
	Invents     = "invents"
)

// Classes are all that a report can fail on.
var Classes = append(slices.Clone(Kinds), Contradicts, Invents)

// Fails returns those of the classes on which a report fails: a kind that is not held as a whole, and statements
// that are false.
func (r Report) Fails(on []string) []string {
	out := []string{}
	for _, class := range on {
		lacks := slices.ContainsFunc(r.Kinds, func(k Share) bool { return k.Kind == class && k.Holds < k.Of })
		isFalse := class == Contradicts && len(r.Contradicts) > 0
		isInvented := class == Invents && len(r.Contradicts)+len(r.Invents) > 0
		if lacks || isFalse || isInvented {
			out = append(out, class)
		}
	}
	return out
}

// Words returns how many of the characters that the user typed the text holds word for word.
func (r Report) Words() (holds, of int) {
	if len(r.Kinds) > 0 && r.Kinds[0].Kind == Kinds[0] {
		return r.Kinds[0].Holds, r.Kinds[0].Of
	}
	return 0, 0
}

// Check compares a text that replaces the conversation with it. What is shown to the model together with the text
// is in beside: it is not lacking, and its statements are not checked. Nor is a message lacking that is shown as
// it was, by its index in p.Messages; nil: none is.
func (p *Past) Check(text, beside string, shown func(int) bool) Report {
	const most = 200 // doubts
	r := Report{Lacks: []Lack{}, Contradicts: []Doubt{}, Invents: []Doubt{}, Kinds: []Share{}}
	r.Unread = max(0, len(text)-mostChecked)
	text = text[:min(len(text), mostChecked)]
	if shown == nil {
		shown = func(int) bool { return false }
	}
	both := text + "\n" + beside
	c := checker{Past: p, report: &r, shown: shown, folded: retain.Folded(both), words: prose.Plain(both)}
	c.failures = tellings(both)
	c.userWords()
	c.files()
	c.failed()
	c.standing()
	for _, d := range p.Doubts(text, most, false) {
		if d.Handle != nil && (d.Kind == Outcome || d.Kind == OfFile) {
			r.Contradicts = append(r.Contradicts, d)
		} else {
			r.Invents = append(r.Invents, d)
		}
	}
	return r
}

// checker counts what a text holds.
type checker struct {
	*Past
	report   *Report
	shown    func(message int) bool
	folded   string      // the text and what is beside it
	words    string      // its plain words
	failures []Statement // those that say that something failed
}

// count adds to a kind: of n of which some are held, text is what lacks.
func (c *checker) count(kind string, holds, of int, text string, at precis.Handle) {
	if c.shown(at.From) {
		holds = of
	}
	n := len(c.report.Kinds)
	if n == 0 || c.report.Kinds[n-1].Kind != kind {
		c.report.Kinds = append(c.report.Kinds, Share{Kind: kind})
		n++
	}
	k := &c.report.Kinds[n-1]
	k.Holds, k.Of = k.Holds+holds, k.Of+of
	if holds < of {
		at.From, at.To = at.From+c.Offset, at.To+c.Offset
		c.report.Lacks = append(c.report.Lacks, Lack{kind, oneLine(text, 300), at})
	}
}

func (c *checker) one(kind string, held bool, text string, at precis.Handle) {
	holds := 0
	if held {
		holds = 1
	}
	c.count(kind, holds, 1, text, at)
}

// userWords counts the characters that the user typed, by the units in which a digest quotes them.
func (c *checker) userWords() {
	for _, said := range c.Said {
		holds, of, shown, typed := 0, 0, c.shown(said.Message), retain.Typed(said.Text)
		var missing []string
		for _, u := range prose.Units(typed) {
			part := retain.Folded(u.Of(typed))
			words, n := prose.Plain(part), utf8.RuneCountInString(part)
			if words == "" {
				continue
			}
			of += n
			if shown || prose.HasPlain(c.words, words) {
				holds += n
			} else {
				missing = append(missing, part)
			}
		}
		if of > 0 {
			c.count("words", holds, of, strings.Join(missing, " … "), precis.MessageHandle(said.Message))
		}
	}
}

func (c *checker) files() {
	for _, f := range c.Changed {
		name := f.Path[strings.LastIndexByte(f.Path, '/')+1:]
		c.one("files", prose.HasPlain(c.words, prose.Plain(name)), f.Path+" ("+f.State+")", f.At)
	}
}

func (c *checker) failed() {
	for _, f := range c.Failures {
		text := f.Shown
		if f.End.Line != "" {
			text += ": " + f.End.Line
		}
		c.one("failures", c.tells(f, c.failures), text, precis.MessageHandle(f.Message))
	}
}

func (c *checker) standing() {
	for _, s := range c.Holds.OpenSteps() {
		c.one("steps", strings.Contains(c.folded, retain.Folded(strings.TrimSuffix(s.Text, "…"))), s.Text, s.Since)
	}
	for _, j := range c.Holds.Jobs {
		if !j.State.Ended() {
			named := j.ID != "" && strings.Contains(c.folded, j.ID)
			c.one("jobs", named || strings.Contains(c.folded, retain.Folded(j.Text)), j.Text, j.Since)
		}
	}
}

// Untold returns the failures that a text does not mention.
func (p *Past) Untold(text string) []Failure {
	all := tellings(text)
	return slices.DeleteFunc(slices.Clone(p.Failures), func(f Failure) bool { return p.tells(f, all) })
}

// tellings returns the statements of a text that say that something failed.
func tellings(text string) (out []Statement) {
	for _, l := range linesOf(text[:min(len(text), mostChecked)]) {
		for _, s := range l.statements() {
			if says("may fail", s.Text) {
				out = append(out, s)
			}
		}
	}
	return out
}

// isNewest reports whether a failure is the newest one of a kind of checks: "the tests fail" is said of no other.
func (p *Past) isNewest(f Failure, k CheckKind) bool {
	isLater := func(o Failure) bool { return o.Message > f.Message && k.IsRun(o.Line) }
	return k.IsRun(f.Line) && !slices.ContainsFunc(p.Failures, isLater)
}

// tells reports whether one of the statements that say that something failed names the command of a failure, its
// kind of check, or something that the failure names.
func (p *Past) tells(f Failure, all []Statement) bool {
	names := []string{p.Bare(f.Line)}
	if purpose := toolcall.PurposeOf(f.Line).Kind; strings.Contains(purpose, " ") {
		names = append(names, purpose)
	}
	for _, text := range []string{f.End.Line, f.End.Why} {
		retain.Scan(text, func(a retain.Anchor) {
			if a.Kind == retain.Identifier || a.Kind == retain.Path || a.Kind == retain.Quote {
				names = append(names, text[a.Start:a.End])
			}
		})
		if f := strings.TrimSpace(text); f != "" {
			names = append(names, f)
		}
	}
	return slices.ContainsFunc(all, func(s Statement) bool {
		isNamed := func(n string) bool { return strings.Contains(s.Text, n) }
		isKind := func(k CheckKind) bool { return k.IsNamed(s.Text) && p.isNewest(f, k) }
		return slices.ContainsFunc(names, isNamed) || !says("past", s.Text) && slices.ContainsFunc(CheckKinds, isKind)
	})
}
