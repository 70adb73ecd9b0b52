package condense

import (
	"slices"
	"strings"

	"precis"
	"precis/internal/toolcall"
)

// witness knows what a conversation asked for, and when.
type witness struct {
	t     *precis.Transcript
	edits []precis.Edit
	calls []toolcall.Call
}

func newWitness(conv *precis.Conversation) witness {
	return witness{conv.Transcript, conv.Edits, toolcall.Find(conv.Transcript.Messages())}
}

// rereads counts the messages that follow a run until there are so many, and the
// calls in them that ask anew for what it hid and for what it left in the view; see
// [Outcome.After].
func (w witness) rereads(r *condensingRun, until int) (after, hidden, shown int) {
	from := min(max(r.edits[0].Seen, 0), w.t.Len())
	to := min(from+Following, until, w.t.Len())
	if from >= to {
		return 0, 0, 0
	}
	known := w.known(r, from)
	for _, c := range w.calls {
		if c.Use.From < from || c.Use.From >= to {
			continue
		}
		asked := sought(c)
		if left, ok := known[asked]; ok {
			if left {
				shown++
			} else {
				hidden++
			}
			delete(known, asked)
		}
		expire(known, c)
	}
	return to - from, hidden, shown
}

// known tells of each file and command whose result the view before or after a
// run showed whether it was left in the view (true), or hidden by the run.
func (w witness) known(r *condensingRun, seen int) map[string]bool {
	t := w.t.Prefix(seen)
	before := w.edits[:r.first:r.first]
	was, alone, is := newGaze(t, before), newGaze(t, append(before, r.edits...)), newGaze(t, w.edits[:r.last+1])
	known := map[string]bool{}
	for _, c := range w.calls {
		asked := sought(c)
		if asked == "" || len(c.Results) == 0 || c.Results[0].From >= seen {
			continue
		}
		if is.whole(c.Results) {
			known[asked] = true
		} else if !known[asked] && was.whole(c.Results) && !alone.whole(c.Results) {
			known[asked] = false
		}
	}
	return known
}

const (
	soughtFile = "file "
	soughtCall = "call "
)

// sought names what a call reads or runs; "" when it does neither.
func sought(c toolcall.Call) string {
	switch {
	case c.Kind == toolcall.Read && c.Path != "":
		return soughtFile + c.Path
	case c.Kind == toolcall.Read || c.Kind == toolcall.Command:
		return soughtCall + c.Key
	}
	return ""
}

// expire forgets what a call made out of date: the files it writes, and after a
// file was written all commands.
func expire(known map[string]bool, c toolcall.Call) {
	if c.Kind != toolcall.Write && len(c.Effects) == 0 {
		return
	}
	for _, e := range c.Effects {
		delete(known, soughtFile+e.Path)
	}
	for asked := range known {
		if strings.HasPrefix(asked, soughtCall) {
			delete(known, asked)
		}
	}
}

// gaze tells what a view shows as it was said.
type gaze struct {
	t     *precis.Transcript
	units []precis.Unit // by message
}

func newGaze(t *precis.Transcript, edits []precis.Edit) gaze {
	g := gaze{t: t, units: make([]precis.Unit, t.Len())}
	for _, u := range precis.Units(t, edits) {
		for i := u.From; i < u.To; i++ {
			g.units[i] = u
		}
	}
	return g
}

// whole reports whether all the blocks are shown as they were said.
func (g gaze) whole(blocks []precis.Handle) bool {
	for _, h := range blocks {
		u := g.units[h.From]
		if !u.Original() || len(u.Messages) == 0 {
			return false
		}
		if !u.Changed {
			continue
		}
		at := slices.Index(u.Index, h.Block)
		if at < 0 || precis.HashBlock(u.Messages[0].Content[at]) != precis.HashBlock(g.t.At(h.From).Content[h.Block]) {
			return false
		}
	}
	return true
}
