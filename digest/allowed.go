package digest

import (
	"strings"

	"precis/internal/toolcall"
)

// carriedOut returns, for each call that the user refused and that was carried out later after
// all, the call that did so first: the same command line, a change that puts the same lines
// into the same file and takes the same ones out, or the same call of another tool. It is nil
// when the user refused nothing.
func (w *work) carriedOut() map[int]int {
	refused := map[string]bool{} // what the refused calls would do
	first := len(w.calls)
	for i := range w.ends {
		if w.ends[i].End != toolcall.Rejected {
			continue
		}
		first = min(first, i)
		refused[w.deedOf(&w.calls[i])] = true
	}
	if len(refused) == 0 {
		return nil
	}
	out, later := map[int]int{}, map[string]int{}
	for i := len(w.calls) - 1; i >= first; i-- {
		c, end := &w.calls[i], w.ends[i].End
		if len(c.Results) == 0 || end == toolcall.Failed && c.Kind == toolcall.Write {
			continue
		}
		deed := w.deedOf(c)
		if !refused[deed] {
			continue
		}
		if end != toolcall.Rejected {
			later[deed] = i
		} else if j, ok := later[deed]; ok && w.samePlace(i, j) {
			out[i] = j
		}
	}
	return out
}

// samePlace reports whether two commands ran in one folder, as far as their lines say.
func (w *work) samePlace(i, j int) bool {
	a, _ := placed(w.calls[i].Line)
	b, _ := placed(w.calls[j].Line)
	return sameFolder(a, b)
}

// isAllowed reports whether a call that the user refused was carried out later after all.
func (w *work) isAllowed(call int) bool { _, ok := w.allowed[call]; return ok }

// deedOf returns what a call would do, the same for calls that do the same.
func (w *work) deedOf(c *toolcall.Call) string {
	const between = "\x00"
	if c.Kind == toolcall.Command && c.Line != "" {
		return commandLine(c.Line)
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
