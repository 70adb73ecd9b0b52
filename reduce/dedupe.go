package reduce

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
)

// Dedupe replaces repeated content by a pointer to the newest copy: a file read again, a command
// with the same output, any long text that is repeated, and environment details that newer ones
// supersede. No current content is lost: the replaced text is elsewhere in the view, or is out of
// date and marked so.
type Dedupe struct {
	MinChars int // shorter texts are left alone; 0: 200
}

// Name returns "dedupe".
func (Dedupe) Name() string { return "dedupe" }

// Propose replaces every old copy by a pointer to the newest one.
func (d Dedupe) Propose(_ context.Context, s *policy.Situation) (precis.Edit, error) {
	if d.MinChars == 0 {
		d.MinChars = 200
	}
	r := deduper{Dedupe: d, s: s, shown: originals(s), p: newProposal(s, precis.KindDedupe),
		done: map[precis.Handle]bool{}}
	x, _, _ := retain.Of(s)
	r.reads(x.Calls)
	r.environment()
	r.repeats()
	r.p.edit.Report.Reason = r.reason()
	return r.p.edit, nil
}

type deduper struct {
	Dedupe
	s                              *policy.Situation
	shown                          shown
	p                              *proposal
	done                           map[precis.Handle]bool
	same, stale, repeated, environ int
}

func (d *deduper) reason() string {
	if len(d.p.edit.Replace) == 0 {
		return "nothing is repeated"
	}
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{d.same, "identical read"}, {d.stale, "outdated read"}, {d.repeated, "repeated text"},
		{d.environ, "superseded environment block"}} {
		if c.n > 0 {
			parts = append(parts, plural(c.n, c.what))
		}
	}
	return strings.Join(parts, ", ") + " point to the newest copy"
}

// reads handles files that were read more than once in the same way. The note on an older read says
// that it is identical if its text equals the newest read, else that it is out of date, because the
// file changed in between.
func (d *deduper) reads(calls []toolcall.Call) {
	isRead := func(c *toolcall.Call) bool {
		return c.Kind == toolcall.Read && c.Path != "" && !c.IsError && len(c.Results) > 0
	}
	times := map[string]int{} // by path: most files are read once, and their keys are never made
	for i := range calls {
		if isRead(&calls[i]) {
			times[calls[i].Path]++
		}
	}
	newest := map[string]*toolcall.Call{}
	for i := len(calls) - 1; i >= 0; i-- {
		c := &calls[i]
		if !isRead(c) || times[c.Path] < 2 {
			continue
		}
		key := c.Key()
		last, again := newest[key]
		if !again {
			if d.visible(c.Results) {
				newest[key] = c
			}
			continue
		}
		at := last.Results[0]
		note := fmt.Sprintf("[%s: the same content is shown in full at %s, where the file was read again.]",
			c.Path, at)
		count := &d.same
		if harness.WithoutHead(c.Text) != harness.WithoutHead(last.Text) {
			note = fmt.Sprintf("[%s as it was then is out of date: the file has changed and was read again at %s. This version: %s.]", c.Path, at, c.Results[len(c.Results)-1])
			count = &d.stale
		}
		d.point(c.Results, note, count)
	}
}

// visible reports whether all blocks are shown unchanged.
func (d *deduper) visible(handles []precis.Handle) bool {
	for _, h := range handles {
		if _, ok := d.shown.get(h); !ok {
			return false
		}
	}
	return true
}

// point replaces the longest of a result's blocks by the note. The others are
// header lines.
func (d *deduper) point(handles []precis.Handle, note string, count *int) {
	var longest precis.Handle
	size := -1
	for _, h := range handles {
		if text, ok := textOf(d.shown.block(h)); ok && len(text) > size {
			longest, size = h, len(text)
		}
	}
	if size >= d.MinChars {
		d.replace(longest, note, count)
	}
}

func (d *deduper) replace(h precis.Handle, note string, count *int) {
	b, ok := d.shown.get(h)
	if !ok || d.done[h] || d.s.Kept.Block(h.From, h.Block) {
		return
	}
	if d.p.block(h, d.s.Transcript.At(h.From).Role, b, withText(b, note)) {
		d.done[h] = true
		*count++
	}
}

// repeats handles any long text that occurs again word for word: outputs of
// repeated commands, pasted files, standing reminders.
func (d *deduper) repeats() {
	newest := map[[sha256.Size]byte]precis.Handle{}
	for i := len(d.s.Units) - 1; i >= 0; i-- {
		u := d.s.Units[i]
		if !u.Original() {
			continue
		}
		content := d.s.Transcript.At(u.From).Content
		for b := len(content) - 1; b >= 0; b-- {
			h := precis.BlockHandle(u.From, b)
			text, ok := textOf(d.shown.block(h))
			if !ok || len(text) < d.MinChars || d.done[h] {
				continue
			}
			key := sha256.Sum256([]byte(text))
			at, again := newest[key]
			if !again {
				newest[key] = h
				continue
			}
			d.replace(h, fmt.Sprintf("[The same text is shown in full at %s.]", at), &d.repeated)
		}
	}
}

// environment handles the state blocks of the harness; only the newest is current. The working
// directory stays named: a newer block may omit it.
func (d *deduper) environment() {
	newest, dir := precis.Handle{From: -1}, ""
	for i := len(d.s.Units) - 1; i >= 0; i-- {
		u := d.s.Units[i]
		if !u.Original() {
			continue
		}
		for b := range d.s.Transcript.At(u.From).Content {
			h := precis.BlockHandle(u.From, b)
			t, ok := d.shown.block(h).(precis.Text)
			if !ok || !harness.IsEditorState(t.Text) {
				continue
			}
			was := harness.WorkingDirectory(t.Text)
			if newest.From < 0 {
				newest, dir = h, was
				continue
			}
			note := fmt.Sprintf("superseded by %s; as it was then: %s", newest, h)
			if was != dir && was != "" {
				note += "; current working directory: " + was
				dir = was
			}
			d.replace(h, harness.StateNote(note), &d.environ)
		}
	}
}
