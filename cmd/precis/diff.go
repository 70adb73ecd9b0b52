package main

import (
	"math"
	"slices"
	"strings"

	"precis"
	"precis/tokens"
)

// What happens to a part of a view.
const (
	diffSame     = "unchanged"
	diffHidden   = "hidden"   // messages leave the view
	diffInserted = "inserted" // what is shown in the place of hidden messages
	diffPreview  = "preview"  // something shorter stands in the place of a block
	diffRemoved  = "removed"  // a block leaves the view
)

// change is one difference between two views of a transcript.
type change struct {
	Kind   string          `json:"kind"`
	Handle precis.Handle   `json:"handle"`
	Before int             `json:"before_tokens"`
	After  int             `json:"after_tokens"`
	By     precis.EditKind `json:"by,omitempty"`   // the edit that did it
	What   string          `json:"what,omitempty"` // of a block: what it is
	Text   string          `json:"text,omitempty"` // what is shown now
	rung   string          // that made the edit
	was    string          // the text of the block before
}

// differ compares two views of one transcript.
type differ struct {
	meter  *precis.Meter
	factor float64 // reported tokens divided by counted ones
	names  *namer
	sight  *sight // of the view after
	rungs  map[string]string
	out    []change
}

// diff says what edits change in a view. Tokens are reckoned as the report
// reckons them.
func (j *job) diff(before, made []precis.Edit, factor float64) ([]change, error) {
	counter, err := tokens.New(tokens.Options{Name: j.cfg.Estimate, Images: imageRule(j.model)})
	if err != nil {
		return nil, err
	}
	t := j.conv.Transcript
	after := slices.Concat(before, made)
	d := differ{meter: precis.NewMeter(counter), factor: factor, names: newNamer(t.Messages()), sight: newSight(t, after), rungs: map[string]string{}}
	for _, e := range after {
		d.rungs[e.ID] = e.Report.Rung
	}
	old := precis.Units(t, before)
	for _, u := range precis.Units(t, after) {
		n := slices.IndexFunc(old, func(o precis.Unit) bool { return o.From >= u.To })
		if n < 0 {
			n = len(old)
		}
		d.unit(old[:n], u)
		old = old[n:]
	}
	return d.out, nil
}

// unit compares what a view shows for a span with what it showed before.
func (d *differ) unit(old []precis.Unit, u precis.Unit) {
	var was []precis.Message
	for _, o := range old {
		was = append(was, o.Messages...)
	}
	one := len(old) == 1 && old[0].Edit == u.Edit && old[0].To == u.To
	h := precis.SpanHandle(u.From, u.To)
	switch {
	case one && u.Original() && (u.Changed || old[0].Changed):
		d.message(old[0], u)
	case one:
		d.same(h, d.tokens(was))
	default:
		by := d.sight.kinds[u.Edit]
		d.out = append(d.out, change{Kind: diffHidden, Handle: h, Before: d.tokens(was), By: by, rung: d.rungs[u.Edit]})
		for _, m := range u.Messages {
			d.out = append(d.out, change{Kind: diffInserted, Handle: h, After: d.tokens([]precis.Message{m}), By: by, Text: wholeText(m), rung: d.rungs[u.Edit]})
		}
	}
}

// same adds an unchanged message, to the run before it where there is one.
func (d *differ) same(h precis.Handle, tokens int) {
	if n := len(d.out); n > 0 && d.out[n-1].Kind == diffSame {
		last := &d.out[n-1]
		last.Handle.To = h.To
		last.Before, last.After = last.Before+tokens, last.After+tokens
		return
	}
	d.out = append(d.out, change{Kind: diffSame, Handle: h, Before: tokens, After: tokens})
}

// message compares the blocks of one message.
func (d *differ) message(old, u precis.Unit) {
	changes := len(d.out)
	role := d.names.msgs[u.From].Role
	for b := range d.names.msgs[u.From].Content {
		was, had := blockOf(old, b)
		now, has := blockOf(u, b)
		if !had || has && precis.HashBlock(was) == precis.HashBlock(now) {
			continue
		}
		h := precis.BlockHandle(u.From, b)
		c := change{Kind: diffRemoved, Handle: h, Before: d.scale(d.meter.Block(role, was)), By: d.sight.blocks[h], What: d.names.name(h).String()}
		if has {
			c.Kind, c.After, c.Text, c.was = diffPreview, d.scale(d.meter.Block(role, now)), blockText(now), blockText(was)
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
