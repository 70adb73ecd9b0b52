package roo

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/precis-dev/precis"
)

// planned is one edit that the tags record, in terms of stored messages.
type planned struct {
	id          string
	kind        precis.EditKind
	marker      int   // the stored summary or marker
	shown       bool  // whether the edit shows it; else it stays in the transcript
	hides       []int // stored messages, ascending
	storedCount int   // number of stored messages it was made on
}

type plan struct {
	edits []planned
	shows map[int]bool // stored messages that edits show
}

// plan finds the edits. A strict summary hides everything before it. A marker hides the messages
// tagged with its ID, unless a later summary has hidden them already. Markers and summaries that
// hide no message are ordinary messages, as in Roo.
func (all entries) plan() plan {
	p := plan{shows: map[int]bool{}}
	last := all.lastSummary()
	for i, e := range all {
		switch {
		case e.strict && all.firstReal(i):
			p.edits = append(p.edits, planned{id: cmp.Or(e.condenseID, unnamed(i)),
				kind: precis.KindCondensation, marker: i, shown: true, storedCount: i})
			p.shows[i] = true
		case e.summary && !e.strict && e.condenseID != "" && last < 0:
			if hides := all.tagged(i, -1,
				func(x entry) bool { return x.condenseParent == e.condenseID }); len(hides) > 0 {
				p.edits = append(p.edits, planned{id: e.condenseID, kind: precis.KindCondensation, marker: i,
					hides: hides, storedCount: i})
			}
		case e.marker && e.truncationID != "":
			hides := all.tagged(i, all.summaryBefore(i),
				func(x entry) bool { return x.truncationParent == e.truncationID })
			if len(hides) == 0 {
				continue
			}
			shown := precedes(hides, i)
			p.edits = append(p.edits, planned{id: e.truncationID, kind: precis.KindTruncation, marker: i,
				shown: shown, hides: hides, storedCount: all.afterMarker(i)})
			if shown {
				p.shows[i] = true
			}
		}
	}
	slices.SortStableFunc(p.edits, func(a, b planned) int { return a.storedCount - b.storedCount })
	if last < 0 {
		p.resolveOverlaps()
	}
	return p
}

// sentIndexes returns the stored messages that Roo sends, before unmatched results are removed. It
// starts at the last summary and omits messages hidden by later markers. Without a strict
// summary, messages hidden by markers or by non-strict summaries are omitted.
func (all entries) sentIndexes() []int {
	last := all.lastSummary()
	summaries, markers := map[string]bool{}, map[string]bool{}
	for _, e := range all[max(last, 0):] {
		summaries[e.condenseID] = summaries[e.condenseID] || e.summary
		markers[e.truncationID] = markers[e.truncationID] || e.marker
	}
	var out []int
	for i := max(last, 0); i < len(all); i++ {
		e := all[i]
		hidden := e.truncationParent != "" && markers[e.truncationParent] ||
			last < 0 && e.condenseParent != "" && summaries[e.condenseParent]
		if !hidden {
			out = append(out, i)
		}
	}
	return out
}

// planHidingOthers plans a single edit that hides all messages but the given ones, which are in order.
func (all entries) planHidingOthers(sent []int) plan {
	p := planned{id: "tags", kind: precis.KindTruncation, marker: len(all), hides: []int{},
		storedCount: len(all)}
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

// resolveOverlaps assigns each message to the first edit that hides it, so that no two edits cross.
func (p *plan) resolveOverlaps() {
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
			delete(p.shows, e.marker)
		}
	}
	p.edits = edits
}

// unnamed returns an ID for a summary without one, as old versions wrote them: stored message i.
func unnamed(i int) string { return fmt.Sprintf("summary-%d", i) }

// summaryBefore returns the last strict summary before i, or -1.
func (all entries) summaryBefore(i int) int {
	for i--; i >= 0 && !all[i].strict; i-- {
	}
	return i
}

// lastSummary returns the last strict summary, or -1.
func (all entries) lastSummary() int { return all.summaryBefore(len(all)) }

// firstReal reports whether a message other than a strict summary precedes i, that is, whether a
// summary at i hides any original message.
func (all entries) firstReal(i int) bool {
	for _, e := range all[:i] {
		if !e.strict {
			return true
		}
	}
	return false
}

// tagged returns the stored messages from index from on for which f holds, except i itself.
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

// afterMarker returns the minimal number of stored messages when the marker at i was made: it
// includes the message after the marker, unless that is a summary.
func (all entries) afterMarker(i int) int {
	if i+1 < len(all) && !all[i+1].strict {
		return i + 2
	}
	return i + 1
}
