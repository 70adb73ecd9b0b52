package digest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"precis/internal/toolcall"
	"precis/retain"
)

type saying struct {
	at       int // message
	text     string
	question string // the end of what it follows and cannot be understood without; "": none
	refused  string // tool whose call it refuses; "": none
	answer   bool   // said on the way, in the result of a call
	inResult bool   // said in the result of a call
	old      bool   // others were said since
	times    int    // how often it was said; 0: once
	first    int    // message in which it was said first, where that is more than once
}

// command is one command line with the outcome of its last run.
type command struct {
	line    string
	given   string // the whole of the newest run's line
	at      int
	alike   []string // other commands that failed with the same line, with their messages
	runs    int
	end     toolcall.Outcome
	last    string // line of the output
	said    string // what a person is reported to have said of it; "": nothing
	running bool   // in the background
	failed  int    // runs that failed
	undone  string // the command of git that took back the commit it made; "": none did
	amended string // the hash of the commit in the place of the one it made; "" for none
}

// requested returns what persons said in the covered messages, each request once.
func (in *input) requested() []saying {
	return onceEach(slices.DeleteFunc(slices.Clone(in.record().said), func(s saying) bool { return !in.covered(s.at) }))
}

// onceEach returns what was said, each request once: the newest, with how often it was
// said and where first. An answer means something else each time.
func onceEach(all []saying) (out []saying) {
	newest := map[string]int{}
	for i := len(all) - 1; i >= 0; i-- {
		s := all[i]
		if s.question == "" && s.refused == "" {
			key := strings.ToLower(retain.Folded(s.text))
			if at, ok := newest[key]; ok {
				out[at].times++
				out[at].first = s.at
				continue
			}
			newest[key] = len(out)
			s.times, s.first = 1, s.at
		}
		out = append(out, s)
	}
	slices.Reverse(out)
	return out
}

// acts reports whether something was called in the covered messages: they are more than talk.
func (in *input) acts() bool {
	return slices.ContainsFunc(in.work().calls, func(c toolcall.Call) bool { return in.covered(c.Use.From) })
}

// refusals describes the newest of the covered calls that the user refused, newest first.
func (in *input) refusals() (out []string) {
	w := in.work()
	for i := len(w.calls) - 1; i >= 0 && len(out) < mostRefused; i-- {
		if in.covered(w.calls[i].Use.From) && w.ends[i].End == toolcall.Rejected {
			out = append(out, in.refusal(i))
		}
	}
	return out
}

// open describes the covered calls whose results are still to come.
func (in *input) open() (out []string) {
	w := in.work()
	for _, i := range w.waiting {
		if c := &w.calls[i]; in.covered(c.Use.From) {
			out = append(out, fmt.Sprintf("- %s %s has no result yet", in.handle(c.Use.From), c.Title()))
		}
	}
	return out
}

// changedSince returns the newest call that changed a file which an earlier call was to change; -1: none.
func (w *work) changedSince(call int) int {
	c := &w.calls[call]
	paths := []string{}
	if c.Kind == toolcall.Write {
		paths = append(paths, c.Path)
	}
	for _, e := range c.Effects {
		paths = append(paths, e.Path)
	}
	later := -1
	for _, p := range paths {
		if p == "" {
			continue
		}
		for _, edit := range w.files.of(p).calls() {
			if edit > call {
				later = max(later, edit)
			}
		}
	}
	return later
}

// refusal describes a call that the user refused.
func (in *input) refusal(call int) string {
	w := in.work()
	c, o := &w.calls[call], w.ends[call]
	line := "- " + in.handle(c.Use.From) + " " + c.Title() + ": refused"
	if o.Claimed {
		line += ", as its result says"
	} else {
		line += " by the user"
	}
	later, allowed := w.allowed[call]
	if !allowed {
		later = w.changedSince(call)
	}
	switch {
	case allowed:
		line += ", then allowed (" + in.handle(w.calls[later].Use.From) + ")"
	case later >= 0:
		line += in.wanted(c) + "; the file was changed otherwise since (" + in.handle(w.calls[later].Use.From) + ")"
	case o.Claimed:
		line += in.wanted(c)
	default:
		line += ", not done" + in.wanted(c)
	}
	if o.Said != "" {
		line += "; reported with it: " + quoted(o.Said, mostSaid)
	}
	return line
}

// mostRefused is how many refusals a digest tells, the newest.
const mostRefused = 12

// Bytes of a refusal: of the user's words, and of what the call would have done.
const (
	mostSaid   = 500
	mostWanted = 160
)

// wanted returns what a call that was not carried out would have done beyond what its title says; "" when that is all.
func (in *input) wanted(c *toolcall.Call) string {
	switch {
	case c.Kind == toolcall.Write:
		added, removed := changeOf(c)
		if line := telling(added, removed); line != "" {
			return "; it would have put in: " + quoted(line, mostWanted)
		}
		if line := telling(removed, added); line != "" {
			return "; it would have taken out: " + quoted(line, mostWanted)
		}
	case c.Path == "" && c.Line == "":
		if given := argumentsOf(c); given != "" {
			return "; it was given: " + quoted(given, mostWanted)
		}
	}
	return ""
}

// files returns the files that covered messages read or wrote, those written last first.
func (in *input) files() (out []file) {
	w, covered := in.work(), map[*file]bool{}
	for i := range w.calls {
		c := &w.calls[i]
		if !in.covered(c.Use.From) || w.isWaiting(i) {
			continue
		}
		if c.Kind == toolcall.Read && c.Path != "" {
			covered[w.files.of(c.Path)] = true
		}
		for _, p := range c.Reads {
			covered[w.files.of(p)] = true
		}
		for _, e := range c.Effects {
			covered[w.files.of(e.Path)] = true
		}
	}
	for _, f := range w.files.all {
		if covered[f] && (f.state != "" || f.refused != nil) {
			out = append(out, *f)
		}
	}
	slices.SortStableFunc(out, func(a, b file) int {
		read := func(f file) int { return max(-f.lastWrite, 0) } // 1 for one that was only read
		return cmp.Or(cmp.Compare(read(a), read(b)), cmp.Compare(b.lastTime, a.lastTime), cmp.Compare(a.path, b.path))
	})
	return out
}

// commandLine returns a command without the change of directory that agents put
// before it.
func commandLine(line string) string { _, line = placed(line); return line }

// bareCommand returns a command line without the change of directory before it and without what says how much of its output
// is shown.
func bareCommand(line string) string {
	return strings.TrimSpace(ends.ReplaceAllString(commandLine(line), ""))
}

// placed returns the folder that a command line changes into first, "" where it changes into
// none, and the line without that.
func placed(line string) (folder, command string) {
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

// sameFolder reports whether two folders may be one: one of them is not known, or ends with the other.
func sameFolder(a, b string) bool {
	return a == b || a == "" || b == "" || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

// byPlace holds something for each command line and each folder that it ran in. A line that does not say in which is taken for one
// that ran where the newest did.
type byPlace[T any] struct{ of map[string][]*placedIn[T] }

type placedIn[T any] struct {
	folder string
	is     T
}

// at returns what is held for a command line in a folder, new where there is nothing yet.
func (p *byPlace[T]) at(folder, line string) (*placedIn[T], bool) {
	const most = 16 // folders in which one line is looked for
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
