package roo

import (
	"fmt"
	"strconv"

	"github.com/precis-dev/precis"
)

// Target is the UI message to rewind to, by its time or its index.
type Target struct {
	TS      float64 // in milliseconds
	Index   int     // used when ByIndex is set
	ByIndex bool
	Include bool // keep the target itself
	// Leave keeps tags that name a missing summary or marker.
	Leave bool
	Now   float64 // in milliseconds; used as the time of an index beyond the end
}

// Rewind returns both files to the state before (or, with Include, just after) a UI message. It
// removes summaries and markers with their UI events, and the tags that name them, which makes
// the hidden messages visible again. It reports whether the history changed. The error is
// [precis.CodeNotFound] when no UI message has that time; the files are unchanged then.
//
// A message may be stored in the history slightly after the UI showed it. If no stored message
// has the target's exact time but some are older, the cut moves to the first user message at or
// after it.
func Rewind(h *History, ui *UI, t Target) (changed bool, err error) {
	at, cutoff, err := ui.find(t)
	if err != nil {
		return false, err
	}
	keep := at
	if t.Include {
		keep = min(at+1, ui.Len())
	}
	gone := ui.recordedFrom(keep)
	if keep < ui.Len() {
		ui.list.keep(func(i int) bool { return i < keep })
		ui.scan()
	}
	before := h.Bytes()
	cutoff = h.entries.cutoff(cutoff)
	h.list.keep(func(i int) bool {
		e := h.entries[i]
		late := e.ts != 0 && e.ts >= cutoff && !(t.Include && e.ts == cutoff && cutoff == t.TS && !t.ByIndex)
		return !late && !(e.summary && gone[e.condenseID]) && !(e.marker && gone[e.truncationID])
	})
	h.scan()
	if !t.Leave {
		h.Clean()
	}
	return string(before) != string(h.Bytes()), nil
}

// find returns the index of the target UI message and its time.
func (u *UI) find(t Target) (at int, ts float64, err error) {
	if t.ByIndex {
		if t.Index >= 0 && t.Index < u.Len() {
			return t.Index, u.msgs[t.Index].ts, nil
		}
		return min(max(t.Index, 0), u.Len()), t.Now, nil
	}
	for i := range u.Len() {
		if u.msgs[i].ts == t.TS {
			return i, t.TS, nil
		}
	}
	return 0, 0, precis.Errorf(precis.CodeNotFound, "rewind", "no UI message has the time %s",
		strconv.FormatFloat(t.TS, 'f', -1, 64))
}

// cutoff moves a cut to the next user message if no message has its exact time, see [Rewind].
func (all entries) cutoff(ts float64) float64 {
	exact, earlier := false, false
	for _, e := range all {
		exact = exact || e.hasTS && e.ts == ts
		earlier = earlier || e.hasTS && e.ts < ts
	}
	if exact || !earlier {
		return ts
	}
	for _, e := range all {
		if e.role == "user" && e.hasTS && e.ts >= ts {
			return e.ts
		}
	}
	return ts
}

// Artifacts returns the identifiers of the command outputs that are still referenced: the times
// of the remaining UI messages and stored messages, in order.
func Artifacts(h *History, ui *UI) []string {
	var out []string
	seen := map[string]bool{}
	add := func(ts float64) {
		if id := strconv.FormatFloat(ts, 'f', -1, 64); ts != 0 && !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	for i := range ui.Len() {
		add(ui.msgs[i].ts)
	}
	for _, e := range h.entries {
		add(e.ts)
	}
	return out
}

// String describes the target for display.
func (t Target) String() string {
	if t.ByIndex {
		return fmt.Sprintf("UI message %d", t.Index)
	}
	return "time " + strconv.FormatFloat(t.TS, 'f', -1, 64)
}
