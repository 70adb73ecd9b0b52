package digest

import (
	"slices"
	"strings"
	"unicode"

	"precis/internal/toolcall"
)

// carriedOut returns, for each call that the user refused and that was carried out later after
// all, the call that did so first: the same command line, a change that puts the same lines
// into the same file and takes the same ones out, or the same call of another tool. It is nil
// when the user refused nothing.
func (w *work) carriedOut() map[int]int {
	first := slices.IndexFunc(w.ends, func(o toolcall.Outcome) bool { return o.End == toolcall.Rejected })
	if first < 0 {
		return nil
	}
	out, later := map[int]int{}, map[string]int{}
	for i := len(w.calls) - 1; i >= first; i-- {
		c, end := &w.calls[i], w.ends[i].End
		switch deed := w.deedOf(c); {
		case len(c.Results) == 0 || end == toolcall.Failed && c.Kind == toolcall.Write:
		case end != toolcall.Rejected:
			later[deed] = i
			if c.Kind == toolcall.Command {
				later[commandLine(c.Line)] = i // the same, and in which folder
			}
		default:
			if j, ok := later[deed]; ok {
				out[i] = j
			}
		}
	}
	return out
}

// isAllowed reports whether a call that the user refused was carried out later after all.
func (w *work) isAllowed(call int) bool { _, ok := w.allowed[call]; return ok }

// deedOf returns what a call would do, the same for calls that do the same.
func (w *work) deedOf(c *toolcall.Call) string {
	const between = "\x00"
	if c.Kind == toolcall.Command && c.Line != "" {
		return strings.Join(strings.Fields(c.Line), " ")
	}
	if c.Kind == toolcall.Write && c.Path != "" {
		added, removed := c.Edited("")
		if added == "" && removed == "" {
			added = c.Written()
		}
		return strings.Join([]string{w.files.of(c.Path).path, strings.TrimSpace(added), strings.TrimSpace(removed)}, between)
	}
	return c.Key()
}

// doneOtherwise returns, for each edit that the user refused and of whose lines later edits of its file put in most, the newest of
// these.
func (w *work) doneOtherwise() map[int]int {
	const newest = 100 // refused edits
	var out map[int]int
	n := 0
	for i := len(w.ends) - 1; i >= 0 && n < newest; i-- {
		if c := &w.calls[i]; w.ends[i].End != toolcall.Rejected || c.Kind != toolcall.Write || c.Path == "" || w.isAllowed(i) {
			continue
		}
		n++
		if later := w.putInLater(i); later >= 0 {
			if out == nil {
				out = map[int]int{}
			}
			out[i] = later
		}
	}
	return out
}

// mostChanged is how many bytes of what an edit puts in are looked at.
const mostChanged = 64 << 10

// putInLater returns the newest of the edits that put in, together, at least half of the lines that a refused one would have put into
// its file; -1: they did not.
func (w *work) putInLater(call int) int {
	const least, newest = 3, 20 // lines, edits
	file := w.calls[call].Path
	putIn := func(call int) string {
		added, removed := w.calls[call].Edited(file)
		if added == "" && removed == "" {
			added = w.calls[call].Written()
		}
		return added[:min(len(added), mostChanged)]
	}
	wanted := map[string]bool{}
	for line := range strings.Lines(putIn(call)) {
		if line = strings.TrimSpace(line); strings.ContainsFunc(line, unicode.IsLetter) {
			wanted[line] = true
		}
	}
	all, later := len(wanted), -1
	if all < least {
		return -1
	}
	edits := w.files.of(file).edits
	for _, i := range edits[max(len(edits)-newest, 0):] {
		if i <= call {
			continue
		}
		for line := range strings.Lines(putIn(i)) {
			if line = strings.TrimSpace(line); wanted[line] {
				delete(wanted, line)
				later = i
			}
		}
	}
	if len(wanted)*2 > all {
		return -1
	}
	return later
}
