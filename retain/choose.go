package retain

import (
	"slices"
	"sort"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/greedy"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Piece is a part of a text that is kept or left out as a whole: the bytes
// [Start,End) of x.Texts[Text].
type Piece struct {
	Text       int
	Start, End int
	Cost       float64 // in the unit of the budget, e.g. tokens; more than 0
	Bonus      float64 // added to the worth of the facts it mentions
}

// Coverage records which facts a view shows already.
type Coverage struct {
	x      *Index
	seen   []bool
	counts []int32 // the last density calculation that counted each fact
	count  int32
}

// NewCoverage returns the coverage of a view that shows only the system prompt.
func (x *Index) NewCoverage() *Coverage {
	c := &Coverage{x: x, seen: make([]bool, len(x.Facts)), counts: make([]int32, len(x.Facts))}
	for f := range x.system {
		c.seen[f] = true
	}
	return c
}

// Clone returns a copy.
func (c *Coverage) Clone() *Coverage {
	return &Coverage{x: c.x, seen: slices.Clone(c.seen), counts: make([]int32, len(c.counts))}
}

// Seen reports whether the view shows fact f.
func (c *Coverage) Seen(f int) bool { return c.seen[f] }

// AddPiece marks the facts that [start,end) of x.Texts[text] mentions as shown.
func (c *Coverage) AddPiece(text, start, end int) {
	for _, m := range c.x.within(text, start, end) {
		c.seen[m.fact] = true
	}
}

// HasUnseen reports whether [start,end) of x.Texts[text] mentions a fact that the view does not show.
func (c *Coverage) HasUnseen(text, start, end int) bool {
	for _, m := range c.x.within(text, start, end) {
		if !c.seen[m.fact] {
			return true
		}
	}
	return false
}

// AddText marks the facts that any text mentions as shown.
func (c *Coverage) AddText(s string) {
	Scan(s, func(a Anchor) {
		if f, ok := c.x.Find(s[a.Start:a.End], a.Kind); ok {
			c.seen[f] = true
		}
	})
}

// within returns the anchors that start in [start,end) of a text.
func (x *Index) within(text, start, end int) []mark {
	t := &x.Texts[text]
	marks := x.marks[t.marks[0]:t.marks[1]]
	lo, hi := 0, len(marks)
	for lo < hi {
		mid := (lo + hi) / 2
		if int(marks[mid].at) < start {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	from := lo
	for lo < len(marks) && int(marks[lo].at) < end {
		lo++
	}
	return marks[from:lo]
}

// RepeatFactor is the factor on the worth of a fact that is shown elsewhere already: a second mention
// still adds context.
const RepeatFactor = 0.02

// Choose returns the pieces to keep: pieces with the most worth for their cost until the budget is
// spent, and none without worth. A fact counts in full once; the facts of the chosen pieces are
// added to c. worth is the result of [Index.Worths]. It takes n log n time.
func (x *Index) Choose(pieces []Piece, worth []float64, c *Coverage, budget float64) []bool {
	keep := make([]bool, len(pieces))
	least := budget
	for i := range pieces {
		least = min(least, pieces[i].Cost)
	}
	greedy.Take(len(pieces), func(i int) float64 {
		if pieces[i].Cost > budget { // for good: the budget only falls
			return 0
		}
		return x.density(&pieces[i], worth, c)
	}, func(i int) bool {
		p := &pieces[i]
		budget -= p.Cost
		keep[i] = true
		c.AddPiece(p.Text, p.Start, p.End)
		return budget >= least
	})
	return keep
}

// density is the worth of a piece divided by its cost.
func (x *Index) density(p *Piece, worth []float64, c *Coverage) float64 {
	v := p.Bonus
	c.count++
	for _, m := range x.within(p.Text, p.Start, p.End) {
		if c.counts[m.fact] == c.count {
			continue
		}
		c.counts[m.fact] = c.count
		w := worth[m.fact]
		if c.seen[m.fact] {
			w *= RepeatFactor
		}
		v += w
	}
	return v / p.Cost
}

// Mentions reports whether [start,end) of a text mentions any fact.
func (x *Index) Mentions(text, start, end int) bool { return len(x.within(text, start, end)) > 0 }

// EachMention calls f for each mention of a fact in [start,end) of x.Texts[text].
func (x *Index) EachMention(text, start, end int, f func(fact int)) {
	for _, m := range x.within(text, start, end) {
		f(int(m.fact))
	}
}

// AddMessages marks the facts that messages mention as shown, except in reasoning.
func (c *Coverage) AddMessages(msgs []precis.Message) { texts(msgs, c.AddText) }

// AddUnits marks the facts in units of a view as shown. The view must be of the indexed conversation:
// unchanged messages are looked up in the index, not scanned again.
func (c *Coverage) AddUnits(units []precis.Unit) {
	for _, u := range units {
		if !u.Original() || u.Changed || len(u.Messages) == 0 {
			c.AddMessages(u.Messages)
			continue
		}
		texts := c.x.Texts
		from := sort.Search(len(texts), func(i int) bool { return texts[i].Handle.From >= u.From })
		for i := from; i < len(texts) && texts[i].Handle.From == u.From; i++ {
			c.AddPiece(i, 0, len(texts[i].Body))
		}
	}
}

// AddMessages adds the lines of messages, except of reasoning.
func (c *LineSet) AddMessages(msgs []precis.Message) { texts(msgs, c.Add) }

// texts calls f for every text of the messages except reasoning.
func texts(msgs []precis.Message, f func(string)) {
	for _, m := range msgs {
		for _, b := range m.Content {
			blockTexts(b, f)
		}
	}
}

func blockTexts(b precis.Block, f func(string)) {
	switch b := b.(type) {
	case precis.Text:
		f(b.Text)
	case precis.ToolUse:
		for _, s := range jsonspan.Strings(b.Input) {
			f(s)
		}
	case precis.ToolResult:
		for _, inner := range b.Content {
			blockTexts(inner, f)
		}
	}
}

// LastMentions returns the index of the last mention of each of the facts. Later mentions have larger
// indexes; -1 means never mentioned.
func (x *Index) LastMentions(facts []int) map[int]int {
	out := make(map[int]int, len(facts))
	for _, f := range facts {
		out[f] = -1
	}
	for i, m := range x.marks {
		if _, ok := out[int(m.fact)]; ok {
			out[int(m.fact)] = i
		}
	}
	return out
}

// Best returns at most n facts that a text mentions, those with the most worth first. It
// considers only identifiers and errors.
func (x *Index) Best(text int, worth []float64, n int) []int {
	var out []int
	for _, m := range x.within(text, 0, len(x.Texts[text].Body)) {
		f := int(m.fact)
		if k := x.Facts[f].Kind; k != KindIdentifier && k != KindError || slices.Contains(out, f) {
			continue
		}
		at := len(out)
		for at > 0 && worth[out[at-1]] < worth[f] {
			at--
		}
		if at < n {
			out = slices.Insert(out, at, f)
			out = out[:min(len(out), n)]
		}
	}
	return out
}
