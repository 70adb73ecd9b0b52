// Package diff answers: what do edits change in the view of a conversation? [Parts] lists the
// differences block by block, [Changes] span by span. Both are pure.
package diff

import (
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation/block"
	"github.com/precis-dev/precis/measure"
)

// Outcomes for a part of a view.
const (
	Same     = "unchanged"
	Shorter  = "shortened" // blocks of a message are replaced
	Replaced = "replaced"  // a marker or summary replaces messages, or they are removed
)

// Change is the difference that edits make to a span of messages. Tokens are counted, not
// calibrated.
type Change struct {
	Handle precis.Handle   `json:"handle"`
	Change string          `json:"change"` // see [Same]
	Before int             `json:"tokens_before"`
	After  int             `json:"tokens_after"`
	Kind   precis.EditKind `json:"edit_kind,omitempty"`
	Rung   string          `json:"rung,omitempty"`
	Text   string          `json:"text,omitempty"` // the replacement on one line
}

// Changes lists the changes that edits would make to the view of a conversation.
func Changes(meter *measure.Meter, c *precis.Conversation, made []precis.Edit) []Change {
	t, before := c.Transcript, c.Edits
	after := slices.Concat(before, made)
	rungs := rungsOf(after)
	shown := precis.ShownBy(t, after)
	var out []Change
	for old, u := range aligned(precis.Units(t, before), shown.Units) {
		c := change(meter, old, u)
		if last := len(out) - 1; c.Change == Same && last >= 0 && out[last].Change == Same {
			out[last].Handle.To = c.Handle.To
			out[last].Before, out[last].After = out[last].Before+c.Before, out[last].After+c.After
			continue
		}
		if c.Change != Same {
			by := shown.Message(u.From)
			c.Kind, c.Rung = by.Kind, rungs[by.Edit]
		}
		out = append(out, c)
	}
	return out
}

func change(meter *measure.Meter, old []precis.Unit, u precis.Unit) Change {
	c := Change{Handle: precis.SpanHandle(u.From, u.To), Change: Replaced, After: meter.View(u.Messages)}
	for _, o := range old {
		c.Before += meter.View(o.Messages)
	}
	switch one := sameUnit(old, u); {
	case one && c.Before == c.After && slices.Equal(old[0].OriginalIndexes, u.OriginalIndexes):
		c.Change = Same
	case one && u.Original():
		c.Change = Shorter
	case len(u.Messages) > 0:
		c.Text = block.Brief(u.Messages[0])
	}
	return c
}

// aligned yields each unit of a newer view with the units of an older view that cover the same
// messages.
func aligned(old, now []precis.Unit) iter.Seq2[[]precis.Unit, precis.Unit] {
	return func(yield func([]precis.Unit, precis.Unit) bool) {
		for _, u := range now {
			n := 0
			for n < len(old) && old[n].From < u.To {
				n++
			}
			if !yield(old[:n], u) {
				return
			}
			old = old[n:]
		}
	}
}

// sameUnit reports whether an older view had exactly this unit, with the same span and edit. Blocks
// of a message may differ.
func sameUnit(old []precis.Unit, u precis.Unit) bool {
	return len(old) == 1 && old[0].Edit == u.Edit && old[0].To == u.To
}

// rungsOf returns the rung that made each edit, by ID.
func rungsOf(edits []precis.Edit) map[string]string {
	rungs := map[string]string{}
	for _, e := range edits {
		rungs[e.ID] = e.Report.Rung
	}
	return rungs
}

// Kinds of a [Part].
const (
	PartSame     = "unchanged"
	PartHidden   = "hidden"   // messages leave the view
	PartInserted = "inserted" // a text shown in the place of hidden messages
	PartPreview  = "preview"  // a shorter text replaces a block
	PartRemoved  = "removed"  // a block leaves the view
)

// Part is one difference between two views of a transcript.
type Part struct {
	Kind   string          `json:"kind"` // see [PartSame]
	Handle precis.Handle   `json:"handle"`
	Before int             `json:"before_tokens"`
	After  int             `json:"after_tokens"`
	By     precis.EditKind `json:"by,omitempty"`   // the edit that did it
	What   string          `json:"what,omitempty"` // for a block: its description
	Text   string          `json:"text,omitempty"` // the text shown now

	Rung string `json:"-"` // the rung that made the edit
	Was  string `json:"-"` // the text of the block before
}

// Parts lists, block by block, the changes that edits would make to the view of a conversation.
// Counted tokens are multiplied by factor.
func Parts(meter *measure.Meter, c *precis.Conversation, made []precis.Edit, factor float64) []Part {
	t, before := c.Transcript, c.Edits
	after := slices.Concat(before, made)
	d := differ{meter: meter, factor: factor, names: block.New(t.Messages()),
		before: precis.ShownBy(t, before), after: precis.ShownBy(t, after), rungs: rungsOf(after)}
	for old, u := range aligned(d.before.Units, d.after.Units) {
		d.unit(old, u)
	}
	return d.out
}

// differ compares two views of one transcript.
type differ struct {
	meter  *measure.Meter
	factor float64 // reported tokens divided by counted ones
	names  *block.Namer
	before *precis.Shown
	after  *precis.Shown
	rungs  map[string]string // by edit
	out    []Part
}

// unit compares the old and the new view of one span.
func (d *differ) unit(old []precis.Unit, u precis.Unit) {
	var was []precis.Message
	for _, o := range old {
		was = append(was, o.Messages...)
	}
	one := sameUnit(old, u)
	h := precis.SpanHandle(u.From, u.To)
	switch {
	case one && u.Original() && (u.Changed || old[0].Changed):
		d.message(u)
	case one:
		d.same(h, d.tokens(was))
	default:
		by := d.after.Kind(u.Edit)
		d.out = append(d.out, Part{Kind: PartHidden, Handle: h, Before: d.tokens(was), By: by,
			Rung: d.rungs[u.Edit]})
		for _, m := range u.Messages {
			d.out = append(d.out, Part{Kind: PartInserted, Handle: h, After: d.tokens([]precis.Message{m}),
				By: by, Text: wholeText(m), Rung: d.rungs[u.Edit]})
		}
	}
}

// same adds an unchanged message, joined to a preceding run of unchanged messages.
func (d *differ) same(h precis.Handle, tokens int) {
	if n := len(d.out); n > 0 && d.out[n-1].Kind == PartSame {
		last := &d.out[n-1]
		last.Handle.To = h.To
		last.Before, last.After = last.Before+tokens, last.After+tokens
		return
	}
	d.out = append(d.out, Part{Kind: PartSame, Handle: h, Before: tokens, After: tokens})
}

// message compares the blocks of one message.
func (d *differ) message(u precis.Unit) {
	changes := len(d.out)
	role := d.names.Messages[u.From].Role
	for b := range d.names.Messages[u.From].Content {
		was, now := d.before.Block(u.From, b).Block, d.after.Block(u.From, b)
		if was == nil || now.Block != nil && precis.EqualBlocks(was, now.Block) {
			continue
		}
		h := precis.BlockHandle(u.From, b)
		c := Part{Kind: PartRemoved, Handle: h, Before: d.scale(d.meter.Block(role, was)), By: now.Kind,
			What: d.names.Name(h).String()}
		if now.Block != nil {
			c.Kind, c.After, c.Text, c.Was = PartPreview, d.scale(d.meter.Block(role,
				now.Block)), block.Text(now.Block), block.Text(was)
		}
		d.out = append(d.out, c)
	}
	if len(d.out) == changes {
		d.same(precis.MessageHandle(u.From), d.tokens(u.Messages))
	}
}

func (d *differ) tokens(msgs []precis.Message) int { return d.scale(d.meter.View(msgs)) }

func (d *differ) scale(n int) int { return int(math.Round(float64(n) * d.factor)) }

func wholeText(m precis.Message) string {
	var texts []string
	for _, b := range m.Content {
		texts = append(texts, block.Text(b))
	}
	return strings.Join(texts, "\n")
}
