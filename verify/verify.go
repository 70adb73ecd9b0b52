// Package verify answers: is a summary of a conversation complete and true? [Past.Check] counts
// what it holds of the user's words, files, failures, open steps and running jobs. [Past.Doubts]
// returns the statements that the conversation contradicts or does not support.
//
// It does not interpret sentences or compare them: a statement is doubted if a name, number or
// quotation in it occurs nowhere, or if calls show another fate of a file or outcome of a check.
package verify

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/prose"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/retain"
)

// Report lists what a summary of a conversation lacks, contradicts and invents.
type Report struct {
	Unread      int        `json:"unread,omitempty"` // bytes of the text that were not read
	Kinds       []Share    `json:"kinds"`            // kinds that occur in the conversation, as in [Kinds]
	Lacks       []Omission `json:"lacks"`            // in the order of the kinds
	Contradicts []Doubt    `json:"contradicts"`      // statements on files and outcomes that calls contradict
	// names, numbers, quotations and deeds that occur nowhere
	Invents []Doubt `json:"invents"`
}

// Share is how much of one kind a text holds: characters of the words, items of the others.
type Share struct {
	Kind  string `json:"kind"`
	Holds int    `json:"holds"`
	Of    int    `json:"of"`
}

// Omission is an item that a text does not hold.
type Omission struct {
	Kind   string        `json:"kind"`
	Text   string        `json:"text"`
	Handle precis.Handle `json:"handle"` // its place in the conversation
}

// Kinds are the kinds of content that a summary must hold, in the order of their lists.
var Kinds = []string{"words", "files", "failures", "steps", "jobs"}

// The other classes of a report: Contradicts are statements that calls contradict; Invents are
// these and unsupported statements.
const (
	Contradicts = "contradicts"
	Invents     = "invents"
)

// Classes are all classes that a report can fail on.
var Classes = append(slices.Clone(Kinds), Contradicts, Invents)

// Fails returns the given classes with a failure: a kind not fully held, or false statements.
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

// WordsHeld returns how many of the characters that the user typed the text holds word for word.
func (r Report) WordsHeld() (holds, of int) {
	if len(r.Kinds) > 0 && r.Kinds[0].Kind == Kinds[0] {
		return r.Kinds[0].Holds, r.Kinds[0].Of
	}
	return 0, 0
}

// Check compares a text that replaces the conversation with it. beside is further text that the
// model sees: its content is not lacking, and its statements are not checked. Nor is the content of
// a message lacking if shown is true for its index in p.Messages; nil: for none.
func (p *History) Check(text, beside string, shown func(int) bool) Report {
	const most = 200 // doubts
	r := Report{Lacks: []Omission{}, Contradicts: []Doubt{}, Invents: []Doubt{}, Kinds: []Share{}}
	r.Unread = max(0, len(text)-mostChecked)
	text = text[:min(len(text), mostChecked)]
	if shown == nil {
		shown = func(int) bool { return false }
	}
	both := text + "\n" + beside
	c := checker{History: p, report: &r, shown: shown, folded: retain.Folded(both), words: prose.Plain(both)}
	c.failures = failureStatements(both)
	c.userWords()
	c.files()
	c.failed()
	c.standing()
	for _, d := range p.Doubts(text, most, false) {
		if d.Handle != nil && (d.Kind == DoubtOutcome || d.Kind == DoubtFile) {
			r.Contradicts = append(r.Contradicts, d)
		} else {
			r.Invents = append(r.Invents, d)
		}
	}
	return r
}

// checker counts what a text holds.
type checker struct {
	*History
	report   *Report
	shown    func(message int) bool
	folded   string      // the text and beside
	words    string      // its plain words
	failures []Statement // statements that report a failure
}

// count adds an item to a kind: holds of its of units are held; text is the missing part.
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
		c.report.Lacks = append(c.report.Lacks, Omission{kind, preview.Quote(text, 300), at})
	}
}

func (c *checker) one(kind string, held bool, text string, at precis.Handle) {
	holds := 0
	if held {
		holds = 1
	}
	c.count(kind, holds, 1, text, at)
}

// userWords counts the characters that the user typed, in the units that a digest quotes.
func (c *checker) userWords() {
	for _, said := range c.UserTexts {
		holds, of, shown, typed := 0, 0, c.shown(said.Message), retain.WithoutPasted(said.Text)
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
		c.one("failures", c.mentions(f, c.failures), text, precis.MessageHandle(f.Message))
	}
}

func (c *checker) standing() {
	for _, s := range c.Holds.OpenSteps() {
		c.one("steps", strings.Contains(c.folded, retain.Folded(strings.TrimSuffix(s.Text, "…"))), s.Text,
			s.Since)
	}
	for _, j := range c.Holds.Jobs {
		if !j.State.Ended() {
			named := j.ID != "" && strings.Contains(c.folded, j.ID)
			c.one("jobs", named || strings.Contains(c.folded, retain.Folded(j.Text)), j.Text, j.Since)
		}
	}
}

// Unmentioned returns the failures that a text does not mention.
func (p *History) Unmentioned(text string) []Failure {
	all := failureStatements(text)
	return slices.DeleteFunc(slices.Clone(p.Failures), func(f Failure) bool { return p.mentions(f, all) })
}

// failureStatements returns the statements of a text that report a failure.
func failureStatements(text string) (out []Statement) {
	for _, l := range linesOf(text[:min(len(text), mostChecked)]) {
		for _, s := range l.statements() {
			if says("may fail", s.Text) {
				out = append(out, s)
			}
		}
	}
	return out
}

// isNewest reports whether a failure is the newest of its kind; "the tests fail" means no other.
func (p *History) isNewest(f Failure, k CheckKind) bool {
	isLater := func(o Failure) bool { return o.Message > f.Message && k.IsRun(o.Line) }
	return k.IsRun(f.Line) && !slices.ContainsFunc(p.Failures, isLater)
}

// mentions reports whether a statement about a failure names the failed command, its kind of check, or
// a name from its output.
func (p *History) mentions(f Failure, all []Statement) bool {
	names := []string{p.BareCommand(f.Line)}
	if purpose := toolcall.PurposeOf(f.Line).Kind; strings.Contains(purpose, " ") {
		names = append(names, purpose)
	}
	for _, text := range []string{f.End.Line, f.End.Why} {
		retain.Scan(text, func(a retain.Anchor) {
			if a.Kind == retain.KindIdentifier || a.Kind == retain.KindPath || a.Kind == retain.KindQuote {
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
		return slices.ContainsFunc(names, isNamed) ||
			!says("past", s.Text) && slices.ContainsFunc(CheckKinds, isKind)
	})
}
