package roo

import (
	"fmt"
	"slices"
	"time"

	"github.com/precis-dev/precis"
)

// reading is a history turned into a transcript and edits, with a mapping back to the stored
// messages.
type reading struct {
	transcript *precis.Transcript
	edits      []precis.Edit
	entryOf    []int          // stored message of transcript message i
	shownBy    map[string]int // by edit ID: the stored summary or marker it shows
	events     map[string]event
}

// Read turns the history into a transcript and the edits that its tags record. It takes time and
// cost of the edits from ui, if not nil. The error is [precis.CodeInvalid] and names the stored
// message.
func (h *History) Read(ui *UI) (*precis.Transcript, []precis.Edit, error) {
	r, err := h.read(ui)
	if err != nil {
		return nil, nil, err
	}
	return r.transcript, r.edits, nil
}

// read turns the tags into edits, one for each summary and marker. If these edits do not give the
// view that Roo would send, as in histories edited by hand or merged, it uses a single edit that
// hides all other messages.
func (h *History) read(ui *UI) (*reading, error) {
	sent := h.entries.sentIndexes()
	r, err := h.readAs(h.entries.plan(), ui)
	if err == nil && slices.Equal(r.shown(), sent) {
		return r, nil
	}
	return h.readAs(h.entries.planHidingOthers(sent), ui)
}

// shown returns the stored messages in the view, in order.
func (r *reading) shown() []int {
	var out []int
	for _, u := range precis.Units(r.transcript, r.edits) {
		switch {
		case u.Original():
			out = append(out, r.entryOf[u.From])
		case len(u.Messages) > 0:
			out = append(out, r.shownBy[u.Edit])
		}
	}
	return out
}

func (h *History) readAs(plan plan, ui *UI) (*reading, error) {
	r := &reading{shownBy: map[string]int{}, events: ui.events()}
	var msgs []precis.Message
	for i := range h.entries {
		if _, shown := plan.shows[i]; shown {
			continue
		}
		m, err := h.decode(i)
		if err != nil {
			return nil, &precis.Error{Code: precis.CodeInvalid, Op: "read",
				Place: fmt.Sprintf("message %d", i), Err: err}
		}
		msgs = append(msgs, m)
		r.entryOf = append(r.entryOf, i)
	}
	r.transcript = precis.NewTranscript(msgs...)
	for _, p := range plan.edits {
		e, err := h.edit(r, p)
		if err != nil {
			return nil, err
		}
		r.edits = append(r.edits, e)
	}
	return r, nil
}

// edit converts a planned edit to transcript positions.
func (h *History) edit(r *reading, p planned) (precis.Edit, error) {
	e := precis.Edit{ID: p.id, Kind: p.kind,
		Report: precis.EditReport{Trigger: string(precis.TriggeredRecorded), Rung: "recorded"}}
	var with []precis.Message
	if p.shown {
		m, err := h.decode(p.marker)
		if err != nil {
			return e, &precis.Error{Code: precis.CodeInvalid, Op: "read",
				Place: fmt.Sprintf("message %d", p.marker), Err: err}
		}
		with = []precis.Message{m}
		r.shownBy[p.id] = p.marker
	}
	if p.hides == nil {
		e.Replace = []precis.Replacement{{From: 0, To: r.before(p.marker), With: with}}
	} else {
		e.Replace = h.spans(r, p, with)
	}
	seen := r.before(p.storedCount)
	if ev, ok := r.events[p.id]; ok {
		e.Time = time.UnixMilli(int64(ev.ts)).UTC()
		e.Report.TokensBefore, e.Report.TokensAfter, e.Report.CostUSD = ev.before, ev.after, ev.cost
		if p.kind == precis.KindTruncation {
			seen = max(seen, h.messagesBefore(r, ev.ts))
		}
	}
	e.Report.Reason = reasonOf(e)
	prefix := r.transcript.Prefix(seen)
	e.Seen, e.At = prefix.Len(), prefix.Fingerprint(prefix.Len())
	return e, nil
}

func reasonOf(e precis.Edit) string {
	n := 0
	for _, r := range e.Replace {
		n += r.To - r.From
	}
	if e.Kind == precis.KindTruncation {
		return fmt.Sprintf("%d messages hidden by Roo Code", n)
	}
	return fmt.Sprintf("%d messages condensed by Roo Code", n)
}

// before returns the number of transcript messages stored before entry i.
func (r *reading) before(i int) int {
	n, _ := slices.BinarySearch(r.entryOf, i)
	return n
}

// messagesBefore returns how many transcript messages were stored before a time.
func (h *History) messagesBefore(r *reading, ts float64) int {
	for n := len(r.entryOf); n > 0; n-- {
		if e := h.entries[r.entryOf[n-1]]; !e.hasTS || e.ts < ts {
			return n
		}
	}
	return 0
}

// spans converts the hidden stored messages to spans of the transcript. A hidden summary adds the
// span that it hides. The replacement goes to the span that ends at the edit's summary or marker.
func (h *History) spans(r *reading, p planned, with []precis.Message) []precis.Replacement {
	var out []precis.Replacement
	add := func(from, to int) {
		if n := len(out); n > 0 && out[n-1].To >= from {
			out[n-1].To = max(out[n-1].To, to)
			return
		}
		out = append(out, precis.Replacement{From: from, To: to})
	}
	for _, k := range p.hides {
		n := r.before(k)
		switch {
		case n < len(r.entryOf) && r.entryOf[n] == k:
			add(n, n+1)
		case h.entries[k].strict && n > 0:
			add(0, n)
		case n > 0 && h.entries[k].marker:
			out = h.withMarkerSpan(r, k, out)
		}
	}
	end := r.before(p.marker)
	for i := range out {
		if out[i].To == end {
			out[i].With = with
		}
	}
	return out
}

// withMarkerSpan adds the span that a hidden earlier marker hides.
func (h *History) withMarkerSpan(r *reading, marker int, out []precis.Replacement) []precis.Replacement {
	id := h.entries[marker].truncationID
	end := r.before(marker)
	from := end
	for from > 0 && h.entries[r.entryOf[from-1]].truncationParent == id {
		from--
	}
	if from == end {
		return out
	}
	if n := len(out); n > 0 && out[n-1].To >= from {
		out[n-1].To = max(out[n-1].To, end)
		return out
	}
	return append(out, precis.Replacement{From: from, To: end})
}
