package roo

import (
	"cmp"
	"fmt"
	"slices"

	"precis"
)

// planned is one edit that the tags stand for, in terms of stored messages.
type planned struct {
	id    string
	kind  precis.EditKind
	at    int   // the stored summary or marker
	shown bool  // whether the edit shows it; else it stays in the transcript
	hides []int // stored messages, ascending
	seen  int   // number of stored messages it was made on
}

type plan struct {
	edits []planned
	shows map[int]bool // stored messages that edits show
}

// plan finds the edits. A strict summary hides everything before it. A marker
// hides what names it, unless a later summary has hidden that already. Markers
// and summaries that hide nothing are messages like any other, as Roo treats
// them.
func (all entries) plan() plan {
	p := plan{shows: map[int]bool{}}
	last := all.lastSummary()
	for i, e := range all {
		switch {
		case e.strict && all.firstReal(i):
			p.edits = append(p.edits, planned{id: cmp.Or(e.condenseID, unnamed(i)), kind: precis.KindCondensation, at: i, shown: true, seen: i})
			p.shows[i] = true
		case e.summary && !e.strict && e.condenseID != "" && last < 0:
			if hides := all.tagged(i, -1, func(x entry) bool { return x.condenseParent == e.condenseID }); len(hides) > 0 {
				p.edits = append(p.edits, planned{id: e.condenseID, kind: precis.KindCondensation, at: i, hides: hides, seen: i})
			}
		case e.marker && e.truncationID != "":
			hides := all.tagged(i, all.summaryBefore(i), func(x entry) bool { return x.truncationParent == e.truncationID })
			if len(hides) == 0 {
				continue
			}
			shown := precedes(hides, i)
			p.edits = append(p.edits, planned{id: e.truncationID, kind: precis.KindTruncation, at: i, shown: shown, hides: hides, seen: all.afterMarker(i)})
			if shown {
				p.shows[i] = true
			}
		}
	}
	slices.SortStableFunc(p.edits, func(a, b planned) int { return a.seen - b.seen })
	if last < 0 {
		p.once()
	}
	return p
}

// sent returns the stored messages that Roo sends, calls and results aside: from the last
// summary on without what a marker behind it hides; where there is no summary, without what
// summaries that only look like one and markers hide.
func (all entries) sent() []int {
	last := all.lastSummary()
	summaries, markers := map[string]bool{}, map[string]bool{}
	for _, e := range all[max(last, 0):] {
		summaries[e.condenseID] = summaries[e.condenseID] || e.summary
		markers[e.truncationID] = markers[e.truncationID] || e.marker
	}
	var out []int
	for i := max(last, 0); i < len(all); i++ {
		e := all[i]
		hidden := e.truncationParent != "" && markers[e.truncationParent] || last < 0 && e.condenseParent != "" && summaries[e.condenseParent]
		if !hidden {
			out = append(out, i)
		}
	}
	return out
}

// only plans one edit that hides all messages but the given ones, which are in order.
func (all entries) only(sent []int) plan {
	p := planned{id: "tags", kind: precis.KindTruncation, at: len(all), hides: []int{}, seen: len(all)}
	if last := all.lastSummary(); last >= 0 {
		p.id, p.kind = cmp.Or(all[last].condenseID, unnamed(last)), precis.KindCondensation
	}
	for i := range all {
		if _, is := slices.BinarySearch(sent, i); !is {
			p.hides = append(p.hides, i)
		}
	}
	if len(p.hides) == 0 {
		return plan{}
	}
	return plan{edits: []planned{p}}
}

// once leaves each message to the first edit that hides it, so that no two
// edits cross.
func (p *plan) once() {
	taken := map[int]bool{}
	var edits []planned
	for _, e := range p.edits {
		e.hides = slices.DeleteFunc(e.hides, func(k int) bool { return taken[k] })
		for _, k := range e.hides {
			taken[k] = true
		}
		if len(e.hides) > 0 {
			edits = append(edits, e)
		} else {
			delete(p.shows, e.at)
		}
	}
	p.edits = edits
}

// unnamed names a summary without an ID, as old versions wrote them: stored message i.
func unnamed(i int) string { return fmt.Sprintf("summary-%d", i) }

// summaryBefore returns the last strict summary before i; -1 when there is none.
func (all entries) summaryBefore(i int) int {
	for i--; i >= 0 && !all[i].strict; i-- {
	}
	return i
}

// lastSummary returns the last strict summary; -1 when there is none.
func (all entries) lastSummary() int { return all.summaryBefore(len(all)) }

// firstReal reports whether anything but summaries and markers precedes i, that
// is, whether a summary at i stands for something.
func (all entries) firstReal(i int) bool {
	for _, e := range all[:i] {
		if !e.strict {
			return true
		}
	}
	return false
}

// tagged returns the stored messages for which f holds, from the given one on,
// without the one at i itself.
func (all entries) tagged(i, from int, f func(entry) bool) []int {
	var out []int
	for k := max(from, 0); k < len(all); k++ {
		if k != i && f(all[k]) {
			out = append(out, k)
		}
	}
	return out
}

// precedes reports whether a hidden message comes directly before the marker.
func precedes(hides []int, marker int) bool {
	return marker > 0 && slices.Contains(hides, marker-1)
}

// afterMarker returns how many stored messages there were, at least, when the
// marker at i was made: the one after it, unless that is a summary.
func (all entries) afterMarker(i int) int {
	if i+1 < len(all) && !all[i+1].strict {
		return i + 2
	}
	return i + 1
}
