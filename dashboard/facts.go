package dashboard

import (
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
)

// editsPage lists the edits of a conversation, the newest first.
type editsPage struct {
	Head  head
	Edits []editRow
	Steps []precis.RungResult // of the newest pass in memory: what was tried, and why not
	Why   string              // its arithmetic
}

// editRow is an edit with its location.
type editRow struct {
	conversation.EditInfo
	Names []string // short names of the edits it takes back
	First string   // short name of the first edit of its run; "": it is the first, or the only one
	From  int      // first message it changes; -1: none
	Spans []precis.Handle
	Text  bool // it is in force and shows a text, which can be edited
}

// Declined counts the rungs of its run that made no change.
func (r editRow) Declined() int {
	n := 0
	for _, s := range r.Report.Steps {
		if s.Outcome != precis.OutcomeAccepted {
			n++
		}
	}
	return n
}

func (c *call) edits() error {
	h, err := c.readHead()
	if err != nil {
		return err
	}
	list, err := conversation.Edits(c.ctx(), c.home, h.ID)
	if err != nil {
		return err
	}
	p := editsPage{Head: h}
	if last := h.Details.Last; last != nil {
		p.Steps, p.Why = last.Steps, last.Arithmetic
	}
	for i, e := range list.Items {
		row := editRow{EditInfo: e}
		for _, id := range e.Undoes {
			if at := slices.IndexFunc(list.Items,
				func(e conversation.EditInfo) bool { return e.ID == id }); at >= 0 {
				row.Names = append(row.Names, list.Items[at].Name)
			}
		}
		one, err := conversation.Edit(c.ctx(), c.home, h.ID, e.ID)
		if err != nil {
			return err
		}
		row.Spans = spansOf(one)
		if at := slices.IndexFunc(list.Items,
			func(o conversation.EditInfo) bool { return o.ID == e.Run }); at >= 0 && at != i {
			row.First = list.Items[at].Name
		}
		row.Text = e.InForce && slices.ContainsFunc(one.Changes,
			func(c conversation.EditChange) bool { return len(c.Messages) > 0 })
		p.Edits = append(p.Edits, row)
	}
	slices.Reverse(p.Edits)
	return c.show("edits", page{Title: c.title(h), Tab: "edits", Data: p})
}

// mostSpans is how many locations of an edit are listed.
const mostSpans = 12

// spansOf returns the first locations that an edit changes.
func spansOf(e conversation.EditInfo) []precis.Handle {
	out := slices.Clone(e.Pins)
	for _, ch := range e.Changes {
		out = append(out, ch.Handle)
	}
	return out[:min(len(out), mostSpans)]
}

// lossPage shows what a view has lost.
type lossPage struct {
	Head  head
	Lost  conversation.LossReport
	Edits bool
}

func (c *call) loss() error {
	h, err := c.readHead()
	if err != nil {
		return err
	}
	p := lossPage{Head: h, Edits: c.mayEdit()}
	if p.Lost, _, err = c.lost(h, true); err != nil {
		return err
	}
	return c.show("loss", page{Title: c.title(h), Tab: "loss", Data: p})
}

// workPage shows the work state of a conversation.
type workPage struct {
	Head head
	conversation.WorkState
	Offered map[int]bool // messages with rules that are not pinned
}

func (c *call) work() error {
	h, err := c.readHead()
	if err != nil {
		return err
	}
	w, err := conversation.Work(c.ctx(), c.home, h.ID)
	if err != nil {
		return err
	}
	rules, err := conversation.SuggestPins(c.ctx(), c.home, h.ID)
	if err != nil {
		return err
	}
	offered := map[int]bool{}
	for _, r := range rules {
		offered[r.Handle.From] = true
	}
	return c.show("work", page{Title: c.title(h), Tab: "work", Data: workPage{h, w, offered}})
}
