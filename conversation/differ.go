package conversation

import (
	"context"
	"math"
	"slices"
	"strings"

	"precis"
)

// What [Diff] says of a part of a view.
const (
	PartSame     = "unchanged"
	PartHidden   = "hidden"   // messages leave the view
	PartInserted = "inserted" // what is shown in the place of hidden messages
	PartPreview  = "preview"  // something shorter stands in the place of a block
	PartRemoved  = "removed"  // a block leaves the view
)

// Part is one difference between two views of a transcript.
type Part struct {
	Kind   string          `json:"kind"` // see [PartSame]
	Handle precis.Handle   `json:"handle"`
	Before int             `json:"before_tokens"`
	After  int             `json:"after_tokens"`
	By     precis.EditKind `json:"by,omitempty"`   // the edit that did it
	What   string          `json:"what,omitempty"` // of a block: what it is
	Text   string          `json:"text,omitempty"` // what is shown now

	Rung string `json:"-"` // that made the edit
	Was  string `json:"-"` // the text of the block before
}

// Diff says block by block what edits that a run made would change in the view of
// a conversation. Counted tokens are multiplied by factor, for those of a report
// its calibration.
func Diff(ctx context.Context, h Home, id string, made []precis.Edit, factor float64) ([]Part, error) {
	return look(ctx, h, id, func(s *Subject) ([]Part, error) {
		return parts(s.meter(), s.Conversation.Transcript, s.Conversation.Edits, made, factor), nil
	})
}

func parts(meter *precis.Meter, t *precis.Transcript, before, made []precis.Edit, factor float64) []Part {
	after := slices.Concat(before, made)
	d := differ{meter: meter, factor: factor, names: newNamer(t.Messages()), before: precis.ShownBy(t, before), after: precis.ShownBy(t, after), rungs: rungsOf(after)}
	for old, u := range aligned(d.before.Units, d.after.Units) {
		d.unit(old, u)
	}
	return d.out
}

// differ compares two views of one transcript.
type differ struct {
	meter  *precis.Meter
	factor float64 // reported tokens divided by counted ones
	names  *namer
	before *precis.Shown
	after  *precis.Shown
	rungs  map[string]string // by edit
	out    []Part
}

// unit compares what a view shows for a span with what it showed before.
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
		d.out = append(d.out, Part{Kind: PartHidden, Handle: h, Before: d.tokens(was), By: by, Rung: d.rungs[u.Edit]})
		for _, m := range u.Messages {
			d.out = append(d.out, Part{Kind: PartInserted, Handle: h, After: d.tokens([]precis.Message{m}), By: by, Text: wholeText(m), Rung: d.rungs[u.Edit]})
		}
	}
}

// same adds an unchanged message, to the run before it where there is one.
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
	role := d.names.msgs[u.From].Role
	for b := range d.names.msgs[u.From].Content {
		was, now := d.before.Block(u.From, b).Block, d.after.Block(u.From, b)
		if was == nil || now.Block != nil && precis.HashBlock(was) == precis.HashBlock(now.Block) {
			continue
		}
		h := precis.BlockHandle(u.From, b)
		c := Part{Kind: PartRemoved, Handle: h, Before: d.scale(d.meter.Block(role, was)), By: now.Kind, What: d.names.name(h).String()}
		if now.Block != nil {
			c.Kind, c.After, c.Text, c.Was = PartPreview, d.scale(d.meter.Block(role, now.Block)), blockText(now.Block), blockText(was)
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
		texts = append(texts, blockText(b))
	}
	return strings.Join(texts, "\n")
}
