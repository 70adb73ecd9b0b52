package reduce

import (
	"context"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
)

// Clip cuts inside messages that are too large, and hides messages of the kept tail when even that
// is not enough. It is the last rung and cannot fail while the system prompt, the tools and one
// short message fit. It cuts in this order: old tool results, newer tool results, tool inputs,
// names and lines of digests, assistant text, older user text, pinned blocks, the middle of the
// last user turn; then digests and summaries, the sections at their end first. User text and pins
// are cut only as far as the view must shrink to be sent at all.
type Clip struct{}

// Name returns "clip".
func (Clip) Name() string { return "clip" }

// Traits returns what the ladder has to know of the rung.
func (Clip) Traits() policy.Traits { return policy.Traits{LastResort: true} }

// Propose cuts until the view is at its target. Savings are estimated block by
// block and then measured on the whole view; when that is still too large, it
// cuts more.
func (Clip) Propose(_ context.Context, s *policy.Situation) (precis.Edit, error) {
	margin := 0
	for try := 0; ; try++ {
		c := clipper{s: s, with: map[precis.Handle]precis.Block{}, shorter: map[int]precis.Replacement{},
			margin: margin}
		c.survey()
		c.all()
		e := c.edit()
		over := c.measure(e) - max(s.Target, s.Limit) - s.Attached
		if over <= 0 || try == 6 || len(e.Replace) == 0 {
			return e, nil
		}
		margin += over + over/2 + 1
	}
}

// all makes all cuts that are needed, mildest first.
func (c *clipper) all() {
	for _, floor := range []int{60, 24, 0} {
		for class := clipClass(0); class < clipClasses; class++ {
			if class == assistantText && len(c.shorter) == 0 {
				c.trim()
			}
			c.cut(class, floor)
		}
	}
	c.shortenDigests()
	c.hideTail(false)
	c.leaveOut()
	c.hideTail(true)
	c.mark()
}

func (c *clipper) edit() precis.Edit {
	e := precis.Edit{Kind: precis.KindClip, Replace: c.replacements()}
	e.Report.Reason = c.reason()
	for _, n := range []struct {
		count int
		what  string
	}{{c.pins, "pinned block"}, {c.pinsHidden, "pinned message"}, {c.lastUser, "block of the last user turn"},
		{c.breaches, "whole block"}} {
		if n.count > 0 {
			e.Report.Notes = append(e.Report.Notes, "breach: "+plural(n.count, n.what)+" cut or left out")
		}
	}
	return e
}

// measure counts the tokens of the view with the edit, as it would be sent.
func (c *clipper) measure(e precis.Edit) int {
	s := c.s
	edits := append(s.Edits[:len(s.Edits):len(s.Edits)], s.Carry(e))
	view, _ := s.Repair(precis.View(s.Transcript, edits))
	return s.Budget.Overhead + s.Meter.View(view) - s.Guessed
}

// clipClass is the kind of a block, in the order of cutting.
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
	h           precis.Handle
	role        precis.Role
	block       precis.Block // as shown in the view
	class       clipClass
	fixed       int // tokens of attachments in a result, which stay
	otherTokens int // the other tokens of block
	tokens      int // as cut so far
}

type clipper struct {
	s          *policy.Situation
	targets    []clipTarget
	with       map[precis.Handle]precis.Block // nil: dropped
	hidden     []precis.Replacement
	shorter    map[int]precis.Replacement // shortened summaries, by the first message that they replace
	saved      int
	margin     int // tokens to save in addition to single blocks
	noteTokens int // tokens of the note in the middle of a cut text

	pins, pinsHidden, lastUser, breaches int // breaches, for the report
}

func (c *clipper) survey() {
	c.noteTokens = c.s.Meter.Block(precis.RoleUser,
		precis.Text{Text: cutMiddle(strings.Repeat("x", 100_000), 0, 0, precis.BlockHandle(1000, 10))})
	results := map[precis.Handle]bool{}
	x, _, _ := retain.Of(c.s)
	for _, call := range x.Calls {
		for _, h := range call.Results {
			results[h] = true
		}
	}
	c.s.EachOriginal(func(i int, m precis.Message, u precis.Unit) {
		for at, b := range u.Blocks() {
			h := precis.BlockHandle(i, at)
			t := clipTarget{h: h, role: m.Role, block: b, class: c.classOf(h, m.Role, b, results[h])}
			t.otherTokens = c.s.Meter.Block(m.Role, b)
			if r, ok := b.(precis.ToolResult); ok {
				for _, in := range r.Content {
					if c.s.IsAttachment(i, in) {
						t.fixed += c.s.Meter.Block(m.Role, in)
					}
				}
				t.otherTokens -= t.fixed
			}
			t.tokens = t.otherTokens
			c.targets = append(c.targets, t)
		}
	})
}

func (c *clipper) classOf(h precis.Handle, role precis.Role, b precis.Block, isResult bool) clipClass {
	k := c.s.Kept
	if whole(b) || c.s.IsAttachment(h.From, b) {
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

// whole reports whether a block must be sent unchanged or not at all: content of an unknown type, a
// result with only such content, a call without arguments.
func whole(b precis.Block) bool {
	switch b := b.(type) {
	case precis.Opaque:
		return true
	case precis.ToolResult:
		if len(b.Content) != 1 {
			return false
		}
		_, opaque := b.Content[0].(precis.Opaque)
		return opaque
	case precis.ToolUse:
		return len(b.Input) == 0
	}
	return false
}

// need returns the tokens that a class still has to save: down to the target for results that were
// read and can be read again; for the newest results and the words of persons only as far as the
// view must shrink.
func (c *clipper) need(class clipClass) int {
	most := c.s.Target
	switch {
	case class >= olderUserText:
		most = max(most, c.s.Limit) + c.s.Attached
	case class == newResults:
		most = max(most, c.s.Fit())
	}
	return c.s.Used + c.margin - most - c.saved
}

// cut brings the blocks of a class down to a common size that saves the needed tokens, never below
// floor tokens.
func (c *clipper) cut(class clipClass, floor int) {
	for pass := 0; pass < 3 && c.need(class) > 0; pass++ {
		size := c.level(class, floor, c.need(class))
		for i := range c.targets {
			if t := &c.targets[i]; t.class == class && t.tokens > size {
				c.shorten(t, size)
			}
		}
	}
}

// level returns the largest size, at least floor, such that cutting all longer
// blocks of the class to it saves need tokens.
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

// shorten cuts one block to at most size tokens, or to a bare handle, and
// records the tokens saved. Tokens are not spread evenly over a text, so it
// measures the result and cuts again if needed.
func (c *clipper) shorten(t *clipTarget, size int) {
	scale := 1.0
	var with precis.Block
	tokens := 0
	for range 8 {
		if with = c.shortened(t, size, scale); with == nil {
			return
		}
		tokens = c.s.Meter.Block(t.role, with) - t.fixed
		if tokens <= size || size < c.noteTokens {
			break
		}
		scale *= 0.9 * float64(size) / float64(tokens)
	}
	if tokens >= t.tokens {
		return
	}
	if _, again := c.with[t.h]; !again {
		switch t.class {
		case pinnedBlocks:
			c.pins++
		case lastUserTurn:
			c.lastUser++
		}
	}
	c.with[t.h] = with
	c.saved += t.tokens - tokens
	t.tokens = tokens
}

func (c *clipper) shortened(t *clipTarget, size int, scale float64) precis.Block {
	share := scale * float64(max(size-c.noteTokens, 0)) / float64(t.otherTokens)
	cut := func(text string) string {
		keep := int(float64(len(text)) * share)
		if size < c.noteTokens || keep < 8 {
			return "[cut: " + t.h.String() + "]"
		}
		if t.class == olderUserText || t.class == lastUserTurn {
			return retain.Shorten(text, keep, t.h.String())
		}
		return cutMiddle(text, keep*2/3, keep/3, t.h)
	}
	switch b := t.block.(type) {
	case precis.Text:
		return precis.Text{Text: cut(b.Text)}
	case precis.ToolResult:
		text := b.Text()
		if countMedia(b, false) > 0 && !c.holdsAttachment(t) {
			text += "\n[images left out]"
		}
		if text == "" {
			text = "[left out]"
		}
		short := precis.ToolResult{ToolUseID: b.ToolUseID, IsError: b.IsError}
		short.Content = []precis.Block{precis.Text{Text: cut(text)}}
		for _, in := range b.Content {
			if c.s.IsAttachment(t.h.From, in) {
				short.Content = append(short.Content, in)
			}
		}
		return short
	case precis.ToolUse:
		return c.shortInput(b, t, size)
	case precis.Image, precis.Document:
		if t.class == lastUserTurn { // the model has not seen it
			const note = "[%s is hidden here, because the request was too long with it: %s.]"
			return precis.Text{Text: fmt.Sprintf(note, mediaName(b, true), t.h)}
		}
		return precis.Text{Text: mediaNote(b, t.h.String(), true)}
	case precis.Thinking, precis.RedactedThinking:
		return precis.Text{Text: fmt.Sprintf("[Reasoning left out: %s.]", t.h)}
	}
	return nil
}

// shortInput shortens a call's arguments. It keeps their structure if
// shortening their strings suffices.
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
