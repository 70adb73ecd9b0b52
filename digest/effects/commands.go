package effects

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/toolcall"
)

// Command is one command line with the outcome of its last run.
type Command struct {
	Line        string
	Given       string // the complete line of the newest run
	At          int
	Runs        int
	End         toolcall.Outcome
	Last        string // line of the output
	PersonWords string // a person's reported words about it; "": none
	Running     bool   // in the background
	Failed      int    // runs that failed
	Undone      string // the command of git that undid its commit; "": none
	Amended     string // the hash of the commit that replaced its commit; "": none
}

// NewestRuns returns the newest run of each covered command that does more than print existing data of
// this machine, newest first. A failure is omitted if a later run of the same program on the same
// arguments succeeded, see [toolcall.Purpose.Covers]: go test ./... after go test ./a, but not go
// test ./b.
func (w *Reading) NewestRuns(covered func(message int) bool) []Command {
	var runs byPlace[Command]
	type run struct {
		purpose toolcall.Purpose
		at      int // its message
	}
	fine := map[string][]run{} // successful runs by kind
	var out []*Command
	for i := range w.Calls {
		c, o := &w.Calls[i], w.Ends[i]
		if c.Kind != toolcall.Command || o.End == toolcall.Rejected || w.IsWaiting(i) ||
			toolcall.Prints(c.Line) && !toolcall.Fetches(c.Line) {
			continue
		}
		folder, line := splitFolder(c.Line)
		e, ran := runs.at(folder, ends.ReplaceAllString(line, ""))
		r := &e.is
		if !ran {
			out = append(out, r)
		}
		r.Runs++
		if o.End == toolcall.Failed {
			r.Failed++
		}
		r.Line, r.Given = line, c.Line
		r.At, r.End, r.Last, r.PersonWords = c.Use.From, o, "", ""
		r.Undone, r.Amended = w.git.undone[i], w.git.amended[i]
		if o.End == toolcall.OK || o.End == toolcall.Unknown {
			for _, purpose := range c.Ran() {
				fine[purpose.Key] = append(fine[purpose.Key], run{purpose, c.Use.From})
			}
			output, said := harness.Feedback(c.Output())
			r.Last, r.PersonWords = lastLine(output), said
		}
		j, background := w.jobs[c.Use]
		if r.Running = background && !j.State.Ended(); background {
			r.Last = j.Result
		}
	}
	for _, all := range runs.of {
		for _, e := range all {
			if len(all) > 1 && e.folder != "" { // a separate entry for each folder
				e.is.Line = "cd " + e.folder + " && " + e.is.Line
			}
		}
	}
	repaired := func(r *Command) bool {
		// most limits the later runs that are compared with a failure. An inline script that is
		// more than oldScript messages old counts as an experiment that is not repeated.
		const most, oldScript = 16, 60
		newestCall := w.Calls[len(w.Calls)-1].Use.From
		p := toolcall.PurposeOf(r.Given)
		if p.Inline {
			return r.At < newestCall-oldScript
		}
		return slices.ContainsFunc(fine[p.Key][max(len(fine[p.Key])-most, 0):], func(later run) bool {
			return later.at > r.At && later.purpose.Covers(p)
		})
	}
	var shown []Command
	for _, r := range out {
		if covered(r.At) && (r.End.End != toolcall.Failed || !repaired(r)) {
			shown = append(shown, *r)
		}
	}
	sort.SliceStable(shown, func(a, b int) bool { return shown[a].At > shown[b].At })
	return shown
}

// ends matches the parts of a command line that only limit or redirect its output.
var ends = lazyregexp.New(`\s+2>&1\b|\s*\|\s*(?:head|tail)(?:\s+-?\w+)*\s*$`)

// lastLine returns the last meaningful line of a command's output: a result rather than progress,
// see [preview.Aside].
func lastLine(text string) string {
	const end = 2000
	from := max(0, len(text)-end)
	if from > 0 { // a line cut in two is useless
		from = strings.LastIndexByte(text[:from], '\n') + 1
	}
	lines := strings.Split(text[from:], "\n")
	aside := ""
	for _, l := range slices.Backward(lines) {
		l = strings.TrimSpace(l)
		// text that a terminal overwrites, and its title
		l = strings.TrimSpace(l[strings.LastIndexAny(l, "\r\a")+1:])
		l = l[:min(len(l), end)]
		if strings.HasPrefix(l, "{") || strings.HasPrefix(l, "[{") {
			continue // data
		}
		if saysNothing(l) {
			continue
		}
		if strings.ContainsFunc(l, unicode.IsLetter) && !toolcall.StatesCode(l) &&
			!strings.HasPrefix(l, "<") && !harness.IsRemark(l) && !toolcall.IsEcho(l) {
			if !preview.Aside(l) {
				return l
			}
			aside = cmp.Or(aside, l)
		}
	}
	return aside
}

// listingLine matches a line of a file listing, or its header.
var listingLine = lazyregexp.New(`^(?:[dl-][a-z-]{4,5}\s+\d+[/.-]\d+[/.-]\d+\s|[dlbcps-][rwxsStT-]{9}[@+.]?\s|Mode\s+LastWriteTime\b|Directory: |total \d+$)`)

// saysNothing reports whether a line is a placeholder for empty output, or part of a file listing.
func saysNothing(line string) bool { return line == "(no output)" || listingLine.MatchString(line) }

// CommandLine returns a command without the change of directory that agents put
// before it.
func CommandLine(line string) string { _, line = splitFolder(line); return line }

// BareCommand returns a command line without the leading change of directory and without suffixes
// that limit its output.
func BareCommand(line string) string {
	return strings.TrimSpace(ends.ReplaceAllString(CommandLine(line), ""))
}

// splitFolder splits a leading change of directory from a command line: the folder, "" for none, and the
// rest.
func splitFolder(line string) (folder, command string) {
	line = strings.TrimSpace(line)
	for _, shell := range []string{"bash -lc ", "bash -c ", "sh -c "} {
		line = strings.TrimPrefix(line, shell)
	}
	if rest, ok := strings.CutPrefix(line, "cd "); ok {
		if to, after, found := strings.Cut(rest, "&& "); found {
			return strings.TrimRight(strings.Trim(strings.TrimSpace(to), `"'`), "/"), strings.TrimSpace(after)
		}
	}
	return "", line
}

// sameFolder reports whether two folders may be the same: one is unknown, or a suffix of the other.
func sameFolder(a, b string) bool {
	return a == b || a == "" || b == "" || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

// byPlace maps command lines and their folders to values. A line without a known folder is taken as
// run in the folder of the newest run.
type byPlace[T any] struct{ of map[string][]*placedIn[T] }

type placedIn[T any] struct {
	folder string
	is     T
}

// at returns the value of a command line in a folder, creating it if missing.
func (p *byPlace[T]) at(folder, line string) (*placedIn[T], bool) {
	const most = 16 // folders searched for one line
	all := p.of[line]
	for i := len(all) - 1; i >= max(0, len(all)-most); i-- {
		if e := all[i]; sameFolder(e.folder, folder) {
			if e.folder == "" {
				e.folder = folder
			}
			return e, true
		}
	}
	e := &placedIn[T]{folder: folder}
	if p.of == nil {
		p.of = map[string][]*placedIn[T]{}
	}
	p.of[line] = append(all, e)
	return e, false
}
