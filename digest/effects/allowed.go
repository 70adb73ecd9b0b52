package effects

import (
	"slices"
	"strings"

	"github.com/precis-dev/precis/internal/toolcall"
)

// laterDone maps each call that the user refused to the first later call that did the same: the
// same command line, a change that adds and removes the same lines of the same file, or the same
// call of another tool. Refused calls without such a successor are left out. It returns nil when
// the user refused no call.
func (w *Reading) laterDone() map[int]int {
	first := slices.IndexFunc(w.Ends, func(o toolcall.Outcome) bool { return o.End == toolcall.Rejected })
	if first < 0 {
		return nil
	}
	out, later := map[int]int{}, map[string]int{}
	for i := len(w.Calls) - 1; i >= first; i-- {
		c, end := &w.Calls[i], w.Ends[i].End
		switch deed := w.effectKey(c); {
		case len(c.Results) == 0 || end == toolcall.Failed && c.Kind == toolcall.Write:
		case end != toolcall.Rejected:
			later[deed] = i
			if c.Kind == toolcall.Command {
				later[CommandLine(c.Line)] = i // the same line with its folder
			}
		default:
			if j, ok := later[deed]; ok {
				out[i] = j
			}
		}
	}
	return out
}

// IsAllowed reports whether the agent carried out a refused call later after all.
func (w *Reading) IsAllowed(call int) bool { _, ok := w.Allowed[call]; return ok }

// effectKey returns a key of a call's effect: equal keys mean equal effects.
func (w *Reading) effectKey(c *toolcall.Call) string {
	const between = "\x00"
	if c.Kind == toolcall.Command && c.Line != "" {
		return strings.Join(strings.Fields(c.Line), " ")
	}
	if c.Kind == toolcall.Write && c.Path != "" {
		added, removed := c.Change()
		return strings.Join([]string{w.files.fileAt(c.Path).Path, strings.TrimSpace(added),
			strings.TrimSpace(removed)}, between)
	}
	return c.Key()
}
