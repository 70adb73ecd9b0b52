package digest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/retain"
)

type personRequest struct {
	at       int // message
	text     string
	question string // the end of the question that it answers, if needed to understand it
	refused  string // the tool of the call that it refuses; "": none
	answer   bool   // given during a turn, in the result of a call
	inResult bool   // said in the result of a call
	old      bool   // later sayings exist
	times    int    // how often it was said; 0: once
	first    int    // if repeated: the message of the first occurrence
}

// command is one command line with the outcome of its last run.
type command struct {
	line        string
	given       string // the complete line of the newest run
	at          int
	alike       []string // other commands that failed with the same line, with their messages
	runs        int
	end         toolcall.Outcome
	last        string // line of the output
	personWords string // a person's reported words about it; "": none
	running     bool   // in the background
	failed      int    // runs that failed
	undone      string // the command of git that undid its commit; "": none
	amended     string // the hash of the commit that replaced its commit; "": none
}

// requested returns what persons said in the covered messages, each request once.
func (in *input) requested() []personRequest {
	return mergeRepeated(slices.DeleteFunc(slices.Clone(in.record().said),
		func(s personRequest) bool { return !in.covered(s.at) }))
}

// mergeRepeated merges repeated requests into the newest, with the number of repetitions and the first
// message. Answers are never merged, since each answers a different question.
func mergeRepeated(all []personRequest) (out []personRequest) {
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

// hasCalls reports whether the covered messages contain a call.
func (in *input) hasCalls() bool {
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

// openCalls describes the covered calls that have no result yet.
func (in *input) openCalls() (out []string) {
	w := in.work()
	for _, i := range w.waiting {
		if c := &w.calls[i]; in.covered(c.Use.From) {
			out = append(out, fmt.Sprintf("- %s %s has no result yet", in.handle(c.Use.From), c.Title()))
		}
	}
	return out
}

// changedSince returns the newest later call that changed a file of an earlier call; -1: none.
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
		for _, edit := range w.files.fileAt(p).writingCalls() {
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
		line += in.wanted(c) + "; the file was changed otherwise since (" +
			in.handle(w.calls[later].Use.From) + ")"
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

// mostRefused is the number of refusals that a digest lists, the newest.
const mostRefused = 12

// Limits in bytes of a refusal: the user's words, and the effect of the call.
const (
	mostSaid   = 500
	mostWanted = 160
)

// wanted describes the intended effect of a call that was not carried out, beyond its title; "" if
// the title is complete.
func (in *input) wanted(c *toolcall.Call) string {
	switch {
	case c.Kind == toolcall.Write:
		added, removed := changeOf(c)
		if line := mostTellingLine(added, removed); line != "" {
			return "; it would have put in: " + quoted(line, mostWanted)
		}
		if line := mostTellingLine(removed, added); line != "" {
			return "; it would have taken out: " + quoted(line, mostWanted)
		}
	case c.Path == "" && c.Line == "":
		if given := argumentsOf(c); given != "" {
			return "; it was given: " + quoted(given, mostWanted)
		}
	}
	return ""
}

// files returns the files that covered messages read or wrote, last written first.
func (in *input) files() (out []file) {
	w, covered := in.work(), map[*file]bool{}
	for i := range w.calls {
		c := &w.calls[i]
		if !in.covered(c.Use.From) || w.isWaiting(i) {
			continue
		}
		if c.Kind == toolcall.Read && c.Path != "" {
			covered[w.files.fileAt(c.Path)] = true
		}
		for _, p := range c.Reads {
			covered[w.files.fileAt(p)] = true
		}
		for _, e := range c.Effects {
			covered[w.files.fileAt(e.Path)] = true
		}
	}
	for _, f := range w.files.all {
		if covered[f] && (f.state != "" || f.refused != nil) {
			out = append(out, *f)
		}
	}
	slices.SortStableFunc(out, func(a, b file) int {
		read := func(f file) int { return max(-f.lastWrite, 0) } // 1 for one that was only read
		return cmp.Or(cmp.Compare(read(a), read(b)), cmp.Compare(b.lastTime, a.lastTime),
			cmp.Compare(a.path, b.path))
	})
	return out
}

// commandLine returns a command without the change of directory that agents put
// before it.
func commandLine(line string) string { _, line = splitFolder(line); return line }

// bareCommand returns a command line without the leading change of directory and without suffixes
// that limit its output.
func bareCommand(line string) string {
	return strings.TrimSpace(ends.ReplaceAllString(commandLine(line), ""))
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
