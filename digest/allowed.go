package digest

import (
	"slices"
	"strings"

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

// changeOf returns what a call adds to its file and removes from it; all that it writes, when it edits nothing.
func changeOf(c *toolcall.Call) (added, removed string) {
	added, removed = c.Edited("")
	if added == "" && removed == "" {
		added = c.Written()
	}
	return added, removed
}

// deedOf returns what a call would do, the same for calls that do the same.
func (w *work) deedOf(c *toolcall.Call) string {
	const between = "\x00"
	if c.Kind == toolcall.Command && c.Line != "" {
		return strings.Join(strings.Fields(c.Line), " ")
	}
	if c.Kind == toolcall.Write && c.Path != "" {
		added, removed := changeOf(c)
		return strings.Join([]string{w.files.of(c.Path).path, strings.TrimSpace(added), strings.TrimSpace(removed)}, between)
	}
	return c.Key()
}
