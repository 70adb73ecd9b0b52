package workstate

import (
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/preview"
)

// Line returns a step or a job on one line, as digests, markers and people write it: a step with
// its box, a job with its task, its last state and its result. at formats handles.
func (i Item) Line(at func(precis.Handle) string) string {
	if i.Kind == Step {
		mark := " "
		switch i.State {
		case Done:
			mark = "x"
		case Active:
			mark = ">"
		case Dropped:
			return "- [-] " + i.Text + " (given up at " + at(i.At) + ")"
		}
		return "- [" + mark + "] " + i.Text
	}
	var out strings.Builder
	out.WriteString("- " + at(i.Since) + " " + strings.TrimSpace(i.Tool+" "+i.ID))
	if i.Text != "" {
		out.WriteString(" (" + i.Text + ")")
	}
	out.WriteString(": " + string(i.State))
	if i.At != i.Since {
		out.WriteString(" at " + at(i.At))
	}
	if i.Result != "" {
		out.WriteString(": " + i.Result)
	}
	return out.String()
}

// Silent reports whether a job needs no further mention: it is done, and left no result.
func (i Item) Silent() bool { return i.State == Done && i.Result == "" }

// Lines returns lines on the items with their beginning or newest event in the messages [from,to)
// that must be remembered: open steps and running jobs, and then the outcomes of the newest jobs,
// as many lines as take accepts.
func (r *Reading) Lines(from, to int, take func(line string) bool) []string {
	var items []Item
	items = append(items, r.OpenSteps()...)
	items = append(items, r.RunningJobs()...)
	for k := len(r.Jobs) - 1; k >= 0 && k >= len(r.Jobs)-mostEnded; k-- {
		if r.Jobs[k].State.Ended() && !r.Jobs[k].Silent() {
			items = append(items, r.Jobs[k])
		}
	}
	within := func(h precis.Handle) bool { return h.From >= from && h.From < to }
	var out []string
	for _, i := range items {
		if !within(i.Since) && !within(i.At) {
			continue
		}
		if l := preview.Line(i.Line(precis.Handle.String), mostLine); take(l) {
			out = append(out, l)
		}
	}
	return out
}

// Limits of [Reading.Lines].
const (
	mostEnded = 3
	mostLine  = 240 // bytes
)
