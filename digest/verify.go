package digest

import (
	"math"
	"slices"
	"strings"

	"precis"
	"precis/retain"
)

// Verification says what a summary of a conversation lacks, contradicts and invents, by kind.
type Verification struct {
	Score int  `json:"score"` // 0 to 100, see [Verify]
	About bool `json:"about"` // whether the text is about this conversation at all
	// OtherLanguage says that the text is in another language than the conversation: its names and files are
	// checked, its sentences cannot be.
	OtherLanguage bool           `json:"other_language,omitempty"`
	Statements    int            `json:"statements"`       // that were read
	Unread        int            `json:"unread,omitempty"` // bytes of the text behind those that are read
	Kinds         []VerifiedKind `json:"kinds"`            // those of which the conversation has something, in the order of [VerifyKinds]
	Lacks         []Lack         `json:"lacks"`            // in the order of the kinds
	Contradicts   []Doubt        `json:"contradicts"`      // statements that the conversation shows to be otherwise
	Invents       []Doubt        `json:"invents"`          // statements and names that nothing in the conversation bears out
}

// VerifiedKind says how much of one kind a text holds.
type VerifiedKind struct {
	Kind  string `json:"kind"`
	Holds int    `json:"holds"`
	Of    int    `json:"of"`
}

// Lack is what a text is silent on.
type Lack struct {
	Kind   string        `json:"kind"`
	Text   string        `json:"text"`
	Handle precis.Handle `json:"handle"` // where the conversation says it
}

// VerifyKinds are the kinds of what a summary must hold, in the order of their lists.
var VerifyKinds = []string{"rules", "requests", "standing", "files", "failures", "decisions", "numbers"}

// kindWeights say how much each kind counts in the score.
var kindWeights = map[string]float64{"rules": 3, "requests": 3, "standing": 2, "files": 2, "failures": 3, "decisions": 2, "numbers": 1}

// What a statement costs that is contradicted or invented, and how much all of them cost at most.
const (
	costContradicted = 6
	costInvented     = 4
	mostCost         = 60
)

// Verify reads a text that stands for a conversation, r.Previous for r.Messages, and says what it lacks, contradicts and
// invents. The score is the mean of the shares that it holds of each kind, weighted 3 for rules, requests and failures, 2
// for standing instructions, files and decisions, and 1 for numbers, times 100; minus 6 for each statement that the
// conversation contradicts and 4 for each that nothing bears out, 60 at most; and 0 for a text that is not about the
// conversation.
//
// The text is [precis.SummaryRequest.Previous]; what stands in beside is shown to the model together with it: it is not
// lacking, and its statements are not checked. Nor is what a message says that is shown to the model as it was said, by
// its index in r.Messages; nil: none is. A text that says nothing of the conversation is about it where beside is, or a
// message is shown.
func Verify(r precis.SummaryRequest, beside string, shown func(int) bool) Verification {
	system := ""
	if r.Conversation != nil {
		system = r.Conversation.System.PlainText()
	}
	x := retain.Read(system, r.Messages)
	worth := x.Worths()
	in := input{
		x: x, worth: worth, reuse: x.Reuser(worth), copies: retain.NewCopies(), cover: x.Cover(), messages: r.Messages, offset: r.From, count: Estimate,
		covered: func(int) bool { return true }, others: func() string { return retain.Folded(beside) }, sources: system, most: mostVerified,
	}
	v := Verification{Lacks: []Lack{}, Contradicts: []Doubt{}, Invents: []Doubt{}, Kinds: []VerifiedKind{}}
	if shown == nil {
		shown = func(int) bool { return false }
	}
	text := r.Previous
	v.Unread = max(0, len(text)-mostChecked)
	text = text[:min(len(text), mostChecked)]
	c := verifier{input: &in, shown: shown, have: retain.Folded(text) + "\n" + retain.Folded(beside), all: tellings(text + "\n" + beside)}
	v.Statements = len(statementsOf(text))
	if v.About, v.OtherLanguage = in.about(text); !v.About && beside != "" {
		v.About, _ = in.about(beside) // of a view with nothing but markers, or with all that was said
		for i := 0; i < len(r.Messages) && !v.About; i++ {
			v.About = shown(i)
		}
		v.OtherLanguage = false
	}
	in.cover.String(text)
	in.cover.String(beside)
	c.terms = make([][]term, len(c.all))
	for i, s := range c.all {
		c.terms[i] = termsOf(s.text)
	}
	c.rules()
	c.requests()
	c.standingItems()
	c.files()
	c.failures()
	c.numbers()
	total, held := 0.0, 0.0
	for _, k := range VerifyKinds {
		n := c.counts[k]
		if n[1] == 0 {
			continue
		}
		v.Kinds = append(v.Kinds, VerifiedKind{k, n[0], n[1]})
		total += kindWeights[k]
		held += kindWeights[k] * float64(n[0]) / float64(n[1])
		for _, l := range c.lacks {
			if l.Kind == k {
				l.Handle.From += r.From
				l.Handle.To += r.From
				v.Lacks = append(v.Lacks, l)
			}
		}
	}
	if v.About && !v.OtherLanguage {
		for _, d := range in.doubts(text) {
			if d.Handle != nil {
				v.Contradicts = append(v.Contradicts, d)
			} else {
				v.Invents = append(v.Invents, d)
			}
		}
	}
	score := 100.0
	if total > 0 {
		score = 100 * held / total
	}
	score -= float64(min(mostCost, costContradicted*len(v.Contradicts)+costInvented*len(v.Invents)))
	if v.Score = max(0, int(math.Round(score))); !v.About {
		v.Score = 0
	}
	return v
}

// Limits of a verification: statements that are doubted, and items of one kind.
const (
	mostVerified = 200
	mostItems    = 200
)

// verifier counts what a text holds.
type verifier struct {
	*input
	shown  func(int) bool
	have   string
	all    []statement
	terms  [][]term
	counts map[string][2]int // of each kind, what is held, and of how many
	lacks  []Lack
}

func (c *verifier) count(kind, text string, at precis.Handle, holds bool) {
	if c.counts == nil {
		c.counts = map[string][2]int{}
	}
	n := c.counts[kind]
	if n[1]++; holds || c.shown(at.From) {
		n[0]++
	} else {
		c.lacks = append(c.lacks, Lack{kind, quoted(text, 300), at})
	}
	c.counts[kind] = n
}

// inOtherWords is the least share of the words of something that two sentences of the text one after another hold.
const inOtherWords = 0.5

// says reports whether the text says something, word for word or in other words.
func (c *verifier) says(text string, least float64) bool {
	if strings.Contains(c.have, retain.Folded(text)) {
		return true
	}
	words := termsOf(text)
	if senseIn(words) == 0 {
		return true
	}
	w := c.witness()
	for i := range c.terms {
		near := c.terms[i]
		if i+1 < len(c.terms) {
			near = slices.Concat(near, c.terms[i+1])
		}
		if w.share(words, near) >= least {
			return true
		}
	}
	return false
}

func (c *verifier) rules() {
	for _, r := range c.x.Rules() {
		c.count("rules", r.Text, precis.MessageHandle(r.Handle.From), c.says(r.Text, inOtherWords))
	}
}

func (c *verifier) requests() {
	all := c.record().said
	for _, r := range onceEach(slices.Clone(all[max(0, len(all)-mostItems):])) {
		if words := termsOf(r.text); senseIn(words) < 3 {
			continue // "go on"
		}
		least := inOtherWords
		if len(r.text) > 600 { // a long one is told in short
			least = 0.2
		}
		c.count("requests", r.text, precis.MessageHandle(r.at), c.says(r.text, least))
	}
}

func (c *verifier) standingItems() {
	held := c.standing()
	for _, j := range held.Jobs {
		if !j.State.Ended() {
			c.count("standing", "running: "+j.Text, j.Since, j.ID != "" && strings.Contains(c.have, j.ID) || c.says(j.Text, inOtherWords))
		}
	}
	for _, s := range held.OpenSteps() {
		c.count("standing", "open step: "+s.Text, s.Since, c.says(strings.TrimSuffix(s.Text, "…"), inOtherWords))
	}
	for _, s := range held.Skills {
		c.count("standing", "skill: "+s.Text, s.Since, strings.Contains(c.have, retain.Folded(s.Text)))
	}
}

func (c *verifier) files() {
	st := &story{}
	st.readFiles(c.input, c.work())
	root, isScratch := rootOf(st.files), scratchOf(st.files)
	for i, f := range st.files {
		if made := f.state == FileCreated || f.state == FileWritten || f.state == FileDeleted && !f.isMoved() && !isScratch(f.path); !made || f.lastWrite < 0 || i >= mostItems {
			continue
		}
		what := relative(f.path, root) + " (" + string(f.state) + ")"
		c.count("files", what, f.at, names(c.have, retain.Folded(baseOf(f.path))))
	}
}

func (c *verifier) failures() {
	for _, r := range c.standingFailures() {
		what := r.line
		if r.end.Line != "" {
			what += ": " + r.end.Line
		}
		c.count("failures", what, precis.MessageHandle(r.at), c.tellsFailure(c.all, r))
	}
}

func (c *verifier) numbers() {
	for f, w := range c.worth {
		if fact := &c.x.Facts[f]; fact.Kind == retain.Number && w >= retain.Likely {
			c.count("numbers", fact.Name, precis.MessageHandle(int(fact.Last)), c.cover.Seen(f))
		}
	}
}

// Shares by which a text is known to be about a conversation: of its words that are words of the conversation, and of its
// names.
const (
	ownWords = 0.4
	ownNames = 0.3
	// A text with many names of which fewer than this share are the conversation's is about another one.
	manyNames    = 8
	foreignNames = 0.15
	// Of a text with fewer words than these one that is known is enough: shares of so little say nothing.
	shortText = 20
)

// about reports whether a text is about the conversation, and whether it is in another language.
func (in *input) about(text string) (about, otherLanguage bool) {
	const most = 3000 // words that are looked at
	w := in.witness()
	anchors, ours := 0, 0
	var prose strings.Builder // without names
	end := 0
	retain.Scan(text, func(a retain.Anchor) {
		if a.Kind != retain.Path && a.Kind != retain.Identifier || anchors >= most || a.Start < end {
			return
		}
		prose.WriteString(text[end:a.Start])
		end = a.End
		anchors++
		if _, ok := in.x.Find(text[a.Start:a.End], a.Kind); ok {
			ours++
		}
	})
	prose.WriteString(text[end:])
	words, known := 0, 0
	seen := map[string]bool{}
	for _, t := range termsOf(prose.String()) {
		if t.empty || t.number || len(t.stem) < 4 || seen[t.stem] || words >= most {
			continue
		}
		seen[t.stem] = true
		if words++; w.knows(t.stem) {
			known++
		}
	}
	if anchors >= manyNames && float64(ours) < foreignNames*float64(anchors) {
		return false, false
	}
	sameScript := isLatin(text) == isLatin(in.userWords())
	enough := float64(known) >= ownWords*float64(words) || known > 0 && words < shortText // of nothing but names, too
	if !enough || !sameScript {
		return anchors > 2 && float64(ours) >= ownNames*float64(anchors) || enough && words > 0, !enough || !sameScript
	}
	return words > 0 || ours > 0, false
}
