package reduce

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"precis"
	"precis/internal/toolcall"
)

// Clip cuts inside messages that are too large, and hides what is left of the
// kept tail when even that is not enough. It is the last rung and cannot fail
// while the system prompt, the tools and one short message fit. It cuts in this
// order: old tool results, newer tool results, tool inputs, assistant text,
// older user text, pinned blocks, the middle of the last user turn. User text
// and pins are cut only as far as the view must shrink to be sent at all.
type Clip struct{}

// Name returns "clip".
func (Clip) Name() string { return "clip" }

// LastResort lets it touch what is kept.
func (Clip) LastResort() {}

// Propose cuts until the view is at its target.
func (Clip) Propose(_ context.Context, s *precis.Situation) (precis.Edit, error) {
	c := clipper{s: s, with: map[precis.Handle]precis.Block{}}
	c.survey()
	for _, floor := range []int{60, 24, 0} {
		for class := clipClass(0); class < clipClasses; class++ {
			c.cut(class, floor)
		}
	}
	c.hideTail()
	e := precis.Edit{Kind: precis.KindClip, Replace: c.replacements()}
	e.Report.Reason = c.reason()
	if c.pins > 0 {
		e.Report.Notes = append(e.Report.Notes, fmt.Sprintf("breach: %s cut", plural(c.pins, "pinned block")))
	}
	return e, nil
}

// clipClass is what a block is, in the order of cutting.
type clipClass int

const (
	oldResults clipClass = iota
	newResults
	toolInputs
	assistantText
	olderUserText
	pinnedBlocks
	lastUserTurn
	clipClasses
	uncut // never cut
)

// clipTarget is one block that may be cut.
type clipTarget struct {
	h      precis.Handle
	role   precis.Role
	block  precis.Block // as the view shows it
	class  clipClass
	full   int // tokens of block
	tokens int // as cut so far
}

type clipper struct {
	s       *precis.Situation
	targets []clipTarget
	with    map[precis.Handle]precis.Block // nil: left out
	hidden  []precis.Replacement
	saved   int
	pins    int
	note    int // tokens of the note in the middle of a cut text
}

func (c *clipper) survey() {
	c.note = c.s.Meter.Block(precis.RoleUser, precis.Text{Text: cutMiddle(strings.Repeat("x", 100_000), 0, 0, precis.BlockHandle(1000, 10))})
	results := map[precis.Handle]bool{}
	for _, call := range toolcall.Find(c.s.Transcript.Messages()) {
		for _, h := range call.Results {
			results[h] = true
		}
	}
	c.s.Original(func(i int, m precis.Message, u precis.Unit) {
		for k, b := range m.Content {
			at := k
			if u.Changed {
				at = u.Index[k]
			}
			h := precis.BlockHandle(i, at)
			t := clipTarget{h: h, role: m.Role, block: b, class: c.classOf(h, m.Role, b, results[h])}
			t.full = c.s.Meter.Block(m.Role, b)
			t.tokens = t.full
			c.targets = append(c.targets, t)
		}
	})
}

func (c *clipper) classOf(h precis.Handle, role precis.Role, b precis.Block, isResult bool) clipClass {
	k := c.s.Kept
	if _, opaque := b.(precis.Opaque); opaque {
		return uncut
	}
	_, native := b.(precis.ToolResult)
	switch {
	case k.PinnedBlock(h.From, h.Block):
		return pinnedBlocks
	case isResult || native:
		if k.Message(h.From) {
			return newResults
		}
		return oldResults
	case role == precis.RoleAssistant:
		if _, use := b.(precis.ToolUse); use {
			return toolInputs
		}
		return assistantText
	case h.From == k.LastUser:
		return lastUserTurn
	}
	return olderUserText
}

// need returns the tokens still to be saved for a class.
func (c *clipper) need(class clipClass) int {
	most := c.s.Target
	if class >= olderUserText {
		most = max(most, c.s.Limit)
	}
	return c.s.Used - most - c.saved
}

// cut brings the blocks of a class down to a common size that saves what is
// needed, never below floor tokens.
func (c *clipper) cut(class clipClass, floor int) {
	for pass := 0; pass < 3 && c.need(class) > 0; pass++ {
		size := c.level(class, floor, c.need(class)+pass*c.need(class)/2)
		for i := range c.targets {
			if t := &c.targets[i]; t.class == class && t.tokens > size {
				c.shorten(t, size)
			}
		}
	}
}

// level returns the largest size for which cutting all longer blocks of the
// class to it saves need tokens, at least floor.
func (c *clipper) level(class clipClass, floor, need int) int {
	lo, hi := floor, floor
	for _, t := range c.targets {
		if t.class == class {
			hi = max(hi, t.tokens)
		}
	}
	for lo < hi {
		mid := (lo + hi + 1) / 2
		saves := 0
		for _, t := range c.targets {
			if t.class == class && t.tokens > mid {
				saves += t.tokens - mid
			}
		}
		if saves >= need {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// shorten cuts one block to about size tokens and books what that saves.
func (c *clipper) shorten(t *clipTarget, size int) {
	with := c.shortened(t, size)
	if with == nil {
		return
	}
	tokens := c.s.Meter.Block(t.role, with)
	if tokens >= t.tokens {
		return
	}
	if _, again := c.with[t.h]; !again && t.class == pinnedBlocks {
		c.pins++
	}
	c.with[t.h] = with
	c.saved += t.tokens - tokens
	t.tokens = tokens
}

func (c *clipper) shortened(t *clipTarget, size int) precis.Block {
	share := float64(max(size-c.note, 0)) / float64(t.full)
	cut := func(text string) string {
		if size < c.note {
			return "[cut: " + t.h.String() + "]"
		}
		keep := int(float64(len(text)) * share)
		return cutMiddle(text, keep*2/3, keep/3, t.h)
	}
	switch b := t.block.(type) {
	case precis.Text:
		return precis.Text{Text: cut(b.Text)}
	case precis.ToolResult:
		text := b.Text()
		if countImages(b) > 0 {
			text += "\n[images left out]"
		}
		if text == "" {
			text = "[left out]"
		}
		return withText(b, cut(text))
	case precis.ToolUse:
		return c.shortInput(b, t, size)
	case precis.Image:
		return precis.Text{Text: imageNote(b, t.h)}
	case precis.Document:
		return precis.Text{Text: fmt.Sprintf("[A document (%s) was given here: %s.]", b.MediaType, t.h)}
	case precis.Thinking, precis.RedactedThinking:
		return precis.Text{Text: fmt.Sprintf("[Reasoning left out: %s.]", t.h)}
	}
	return nil
}

// shortInput shortens a call's arguments, keeping their shape when they can be
// brought to size that way.
func (c *clipper) shortInput(b precis.ToolUse, t *clipTarget, size int) precis.Block {
	for over := len(b.Input) / 2; over >= 32; over /= 2 {
		input, ok := shrinkJSON(b.Input, t.h, over)
		if !ok {
			continue
		}
		u := precis.ToolUse{ID: b.ID, Name: b.Name, Input: input}
		if c.s.Meter.Block(t.role, u) <= size {
			return u
		}
	}
	note := fmt.Sprintf(`{"cut":"%s"}`, t.h)
	return precis.ToolUse{ID: b.ID, Name: b.Name, Input: []byte(note)}
}

// hideTail hides whole groups, oldest first, until the view fits; the newest
// group and the last user turn stay.
func (c *clipper) hideTail() {
	need := c.need(lastUserTurn)
	last := len(c.s.Units)
	for i := 0; i < len(c.s.Units) && need > 0; {
		u := c.s.Units[i]
		end := i + 1
		if u.Original() {
			_, to := c.s.Kept.Group(u.From)
			for end < last && c.s.Units[end].From < to {
				end++
			}
		}
		if end == last || c.holdsLastUser(i, end) {
			i = end
			continue
		}
		tokens := 0
		for _, u := range c.s.Units[i:end] {
			tokens += c.shownTokens(u)
		}
		c.hide(c.s.Units[i].From, c.s.Units[end-1].To)
		c.saved += tokens
		need -= tokens
		i = end
	}
	c.mark()
}

func (c *clipper) holdsLastUser(from, to int) bool {
	for _, u := range c.s.Units[from:to] {
		if u.From <= c.s.Kept.LastUser && c.s.Kept.LastUser < u.To {
			return true
		}
	}
	return false
}

// shownTokens counts a unit with the cuts made so far.
func (c *clipper) shownTokens(u precis.Unit) int {
	if !u.Original() {
		return c.s.Meter.View(u.Messages)
	}
	n := 0
	for _, t := range c.targets {
		if t.h.From == u.From {
			n += t.tokens
		}
	}
	return n
}

func (c *clipper) hide(from, to int) {
	if n := len(c.hidden); n > 0 && c.hidden[n-1].To == from {
		c.hidden[n-1].To = to
		return
	}
	c.hidden = append(c.hidden, precis.Replacement{From: from, To: to})
}

// mark puts a short marker in place of the hidden spans: one for all.
func (c *clipper) mark() {
	if n := len(c.hidden); n > 0 {
		r := &c.hidden[n-1]
		r.With = []precis.Message{precis.NewText(precis.RoleUser, fmt.Sprintf("[Hidden to save room: %s.]", precis.SpanHandle(c.hidden[0].From, r.To)))}
	}
}

func (c *clipper) replacements() []precis.Replacement {
	covered := func(i int) bool {
		for _, r := range c.hidden {
			if r.From <= i && i < r.To {
				return true
			}
		}
		return false
	}
	var out []precis.Replacement
	for h, with := range c.with {
		if !covered(h.From) {
			out = append(out, precis.ReplaceBlock(c.s.Transcript, h.From, h.Block, with))
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].From != out[j].From {
			return out[i].From < out[j].From
		}
		return out[i].Block.Index < out[j].Block.Index
	})
	return append(out, c.hidden...)
}

func (c *clipper) reason() string {
	if len(c.with) == 0 && len(c.hidden) == 0 {
		return "nothing is left to cut"
	}
	text := plural(len(c.with), "block") + " cut inside"
	if len(c.hidden) > 0 {
		text += ", the oldest of the kept messages hidden"
	}
	return text
}
