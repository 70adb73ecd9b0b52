package precis

import (
	"slices"
	"strings"
)

// Law says what holds in a conversation beyond what the wire itself shows to be in force,
// and has to be in every view of it: what was planned, loaded or begun and is not done. It
// is asked once for each climb of the ladder. Implementations are stateless and safe for
// concurrent use.
type Law interface {
	// Holds returns what holds in the situation's conversation, what matters most first.
	Holds(s *Situation) []Held
}

// Held is one thing that holds: a plan, a skill, a job. Where its blocks are too many to be
// kept, what stands for them says it in words: the texts of Must, by itself or in a note that
// is added to it.
type Held struct {
	Key  string   // of one conversation each has its own
	At   []Handle // the blocks that say it; a call is held with its result, and a result with its call
	Most int      // tokens up to which the blocks are kept word for word; 0: as far as there is room
	Name string   // names it in the note, on one line
	Must []string // the texts, each on one line; none: nothing has to be said

	rank       int  // the lowest is left out last
	defines    bool // tools and settings: without it the API refuses later calls, or answers otherwise
	words      bool // its blocks cannot be kept: it is said in words
	isAddition bool // of a program to a result, the last block
	cut        bool // only the addition is held of that block
	kept       bool
}

// cuts reports whether of a block that says the item only what a program added to it is held.
func (h Held) cuts(at Handle) bool { return h.cut && at == h.At[len(h.At)-1] }

// resolved returns what a law holds with all blocks that are kept together. One of them that
// cannot be kept stands for all, and all is said in words: the assistant's words, what is no
// block, a call without a result. There are none for a handle that names nothing.
func (f *finder) resolved(h Held) Held {
	said := h.At
	h.At, h.rank = nil, lawRank
	for _, at := range said {
		if at.From < 0 || at.From >= len(f.msgs) || at.Block < 0 || at.Block >= len(f.msgs[at.From].Content) {
			h.At = nil
			return h
		}
		var together []Handle
		switch f.msgs[at.From].Content[at.Block].(type) {
		case ToolUse, ToolResult:
			together = f.withCall(at)
		case Text:
			if f.msgs[at.From].Role == RoleUser {
				together = []Handle{at}
			}
		}
		if together == nil {
			together, h.words = []Handle{at}, true
		}
		for _, at := range together {
			if !slices.Contains(h.At, at) {
				h.At = append(h.At, at)
			}
		}
	}
	return h
}

// lawHead begins the note of what holds of hidden messages and is said in no other way.
const lawHead = "[Still holds, from what is hidden here"

// lawShare is the share of the target that the notes of one edit may take.
const lawShare = 16

// unsaid returns the note of what holds of some parts, is not kept as it came, and is not said
// by what stands for them; "" when nothing is left to say.
func (c *carrier) unsaid(with []Message, hidden func(Handle) bool) string {
	var said string
	var out strings.Builder
	for _, h := range c.s.Kept.stands.items {
		if len(h.Must) == 0 || h.kept && c.edit.Kind != KindClip || !slices.ContainsFunc(h.At, hidden) {
			continue // only a clip cuts what is kept
		}
		if said == "" {
			var texts []string
			for _, m := range with {
				texts = append(texts, folded(wordsOf(m)))
			}
			said = strings.Join(texts, " ")
		}
		lines := ""
		for _, text := range h.Must {
			if !strings.Contains(said, folded(text)) {
				lines += "\n- " + text
			}
		}
		switch n := c.s.Meter.Block(RoleUser, Text{Text: lines}); {
		case lines == "":
		case n > c.lawRoom:
			c.leave(h.Name)
		default:
			c.lawRoom -= n
			out.WriteString("\n" + h.Name + ":" + lines)
		}
	}
	if out.Len() == 0 {
		return ""
	}
	return lawHead + ".]" + out.String()
}

// block adds to a shortened block what holds of it and is not said in it.
func (c *carrier) block(r *Replacement) {
	said := r.WithBlock
	if use, ok := said.(ToolUse); ok {
		said = Text{Text: string(use.Input)}
	}
	note := c.unsaid([]Message{{Content: []Block{said}}}, func(at Handle) bool {
		return at.From == r.From && (at.Block < 0 || at.Block == r.Block.Index)
	})
	if note == "" {
		return
	}
	switch with := r.WithBlock.(type) {
	case Text:
		with.Text += "\n\n" + note
		r.WithBlock = with
	case ToolResult:
		with.Content = append(slices.Clone(with.Content), Text{Text: note})
		r.WithBlock = with
	case ToolUse: // nothing can be added to what the model has asked for
		c.leave(strings.TrimSpace(strings.TrimPrefix(note, lawHead+".]")))
	}
}

// leave names in the report what holds and is said nowhere.
func (c *carrier) leave(what string) {
	name, _, _ := strings.Cut(what, "\n")
	c.report("what holds and is not said: " + strings.TrimSuffix(name, ":"))
}

// report adds a note to the report of the edit, once.
func (c *carrier) report(note string) {
	if !slices.Contains(c.edit.Report.Notes, note) {
		c.edit.Report.Notes = append(slices.Clone(c.edit.Report.Notes), note)
	}
}

// wordsOf returns the texts of a message, those in its results included.
func wordsOf(m Message) string {
	var out []string
	for _, b := range m.Content {
		switch b := b.(type) {
		case Text:
			out = append(out, b.Text)
		case ToolResult:
			out = append(out, b.Text())
		}
	}
	return strings.Join(out, "\n")
}

// folded returns a text with each run of white space as one space.
func folded(text string) string { return strings.Join(strings.Fields(text), " ") }
