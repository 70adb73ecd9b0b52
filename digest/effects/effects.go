// Package effects determines what the calls of a conversation did: to files, to the state of git, and
// which commands ended how.
//
// [Read] applies the effects of all calls in order; [Reading.FilesOf], [Reading.NewestRuns] and
// [Reading.GitState] return what has become of files, commands and commits. The result of a call
// decides whether it took effect; a file that a command may have changed has the state [FileUnknown].
// The same conversation gives the same reading.
package effects

import (
	"cmp"
	"path"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/workstate"
)

// Reading is the result of applying the calls of a conversation to files and commits. Only one
// goroutine may use it at a time.
type Reading struct {
	Calls   []toolcall.Call
	Ends    []toolcall.Outcome // of each call
	Waiting []int              // calls without a result yet
	Allowed map[int]int        // refused calls that were carried out later → the later call

	files     fileTable
	git       *history
	ownsCalls bool            // Calls is a copy
	folders   map[string]bool // folders that were created
	repos     repositories
	// calls with no text left in a file → the command of git that undid it
	undoneCalls map[int]string
	jobs        map[precis.Handle]workstate.Item // by the call that began them
}

// Read determines the outcomes of the calls of a conversation. A background command has the
// outcome of its job.
func Read(calls []toolcall.Call, msgs []precis.Message, jobs []workstate.Item) *Reading {
	w := &Reading{Calls: calls, Ends: make([]toolcall.Outcome, len(calls)), files: newFileTable(),
		folders: map[string]bool{}, jobs: map[precis.Handle]workstate.Item{}}
	for _, j := range jobs {
		w.jobs[j.Since] = j
	}
	w.git = &history{files: &w.files, undone: map[int]string{}, amended: map[int]string{}}
	listed := mentionsOf(calls)
	last := len(msgs) - 1 // the newest message of the assistant, when only results follow it
	for last >= 0 && msgs[last].Role != precis.RoleAssistant {
		if msgs[last].IsUserTurn() {
			last = len(msgs) // another message followed: no call is waiting
			break
		}
		last--
	}
	for i := range calls {
		c := &calls[i]
		w.Ends[i] = c.Outcome()
		if j, ok := w.jobs[c.Use]; ok && c.Kind == toolcall.Command {
			w.Ends[i] = endOf(j)
		}
		if len(c.Results) == 0 && c.Use.From >= last {
			if !c.ReportsDone() {
				w.Waiting = append(w.Waiting, i)
			}
			continue // its effect is not known yet
		}
		w.apply(i, listed)
	}
	w.undoneCalls = w.files.takenBack()
	w.Allowed = w.laterDone()
	return w
}

// apply records the effects of a call on files and commits, in order.
func (w *Reading) apply(call int, listed mentionIndex) {
	c, o := &w.Calls[call], w.Ends[call]
	a := &callEffects{Reading: w, number: call, call: c, end: o, listed: listed}
	w.files.recordReads(call, c, o)
	says := gitSaysOf(c, o)
	for n := range len(c.Effects) + 1 {
		for _, m := range c.Carried {
			if m.After == n {
				a.recordPatternMove(m)
			}
		}
		for _, g := range c.Git {
			if g.After == n {
				w.applyGit(call, c, o, g, says)
			}
		}
		switch rest := c.Effects[n:]; {
		case len(rest) == 0:
		case rest[0].MovedFrom != "":
			a.recordMove(rest[0])
		case !rest[0].Removed || len(rest) == 1 || rest[1].MovedFrom != rest[0].Path:
			// otherwise the next effect moves it
			a.recordEffect(rest[0])
		}
	}
	w.recordShown(call, c, says)
	if a.tookEffect(toolcall.Maybe) {
		for _, pattern := range c.Swept {
			a.remove(path.Dir(pattern), path.Base(pattern), false)
		}
		for _, folder := range c.Folders {
			w.folders[folder] = true
			w.files.recordFolder(folder)
		}
	}
	if !slices.Equal(a.effects, c.Effects) {
		if !w.ownsCalls {
			w.Calls, w.ownsCalls = slices.Clone(w.Calls), true
		}
		w.Calls[call].Effects = a.effects
	}
}

// endOf returns the outcome of a background command.
func endOf(j workstate.Item) toolcall.Outcome {
	switch j.State {
	case workstate.Done:
		return toolcall.Outcome{End: toolcall.OK}
	case workstate.Failed:
		return toolcall.Outcome{End: toolcall.Failed, Line: j.Result}
	case workstate.Stopped:
		return toolcall.Outcome{End: toolcall.Interrupted}
	}
	return toolcall.Outcome{End: toolcall.Unknown}
}

// UndoneBy returns the command of git that undid a call's text or commit; "" if in effect.
func (w *Reading) UndoneBy(call int) string {
	return cmp.Or(w.undoneCalls[call], w.CommitUndoneBy(call))
}

// CommitUndoneBy returns the command of git that undid a call's commit; "" if in effect or no commit.
func (w *Reading) CommitUndoneBy(call int) string { return w.git.undone[call] }

// IsGone reports whether the file that a call wrote has been removed since.
func (w *Reading) IsGone(call int) bool {
	f := w.files.byPath[w.Calls[call].Path]
	return f != nil && f.State == FileDeleted
}

// IsWaiting reports whether a call has no result yet.
func (w *Reading) IsWaiting(call int) bool { return slices.Contains(w.Waiting, call) }

// FileNamed returns the file that a path denotes; nil if there is no match, or more than one.
func (w *Reading) FileNamed(p string) *File { return w.files.fileNamed(p) }

// FilesOf returns the files that covered messages read or wrote, last written first.
func (w *Reading) FilesOf(covered func(message int) bool) (out []File) {
	touched := map[*File]bool{}
	for i := range w.Calls {
		c := &w.Calls[i]
		if !covered(c.Use.From) || w.IsWaiting(i) {
			continue
		}
		if c.Kind == toolcall.Read && c.Path != "" {
			touched[w.files.fileAt(c.Path)] = true
		}
		for _, p := range c.Reads {
			touched[w.files.fileAt(p)] = true
		}
		for _, e := range c.Effects {
			touched[w.files.fileAt(e.Path)] = true
		}
	}
	for _, f := range w.files.all {
		if touched[f] && (f.State != "" || f.Refused != nil) {
			out = append(out, *f)
		}
	}
	slices.SortStableFunc(out, func(a, b File) int {
		read := func(f File) int { return max(-f.LastWrite, 0) } // 1 for one that was only read
		return cmp.Or(cmp.Compare(read(a), read(b)), cmp.Compare(b.lastTime, a.lastTime),
			cmp.Compare(a.Path, b.Path))
	})
	return out
}

// ChangedSince returns the newest later call that changed a file of an earlier call; -1: none.
func (w *Reading) ChangedSince(call int) int {
	c := &w.Calls[call]
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
		for _, edit := range w.files.fileAt(p).WritingCalls() {
			if edit > call {
				later = max(later, edit)
			}
		}
	}
	return later
}
