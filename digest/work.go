package digest

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/workstate"
)

// work is the result of applying the calls of a conversation to files and commits.
type work struct {
	calls     []toolcall.Call
	ends      []toolcall.Outcome // of each call
	files     fileTable
	git       *history
	ownsCalls bool            // calls is a copy
	folders   map[string]bool // folders that were created
	repos     repositories
	// calls with no text left in a file → the command of git that undid it
	undoneCalls map[int]string
	waiting     []int                            // calls without a result yet
	jobs        map[precis.Handle]workstate.Item // by the call that began them
	allowed     map[int]int                      // refused calls that were carried out later → the later call
}

// record holds the texts and events of a conversation. Digests of the same conversation share it,
// so it must not change.
type record struct {
	work  *work
	said  []personRequest           // by persons, see requestsOf
	holds func() *workstate.Reading // the work state
}

// recordOf reads a conversation. holds returns its work state; nil: recordOf reads it on first use.
func recordOf(calls []toolcall.Call, msgs []precis.Message, holds func() *workstate.Reading) *record {
	if holds == nil {
		holds = sync.OnceValue(func() *workstate.Reading { return workstate.Read(msgs, calls) })
	}
	return &record{work: readWork(calls, msgs, holds().Jobs), said: requestsOf(msgs), holds: holds}
}

// readWork determines the outcomes of the calls of a conversation. A background command has the
// outcome of its job.
func readWork(calls []toolcall.Call, msgs []precis.Message, jobs []workstate.Item) *work {
	w := &work{calls: calls, ends: make([]toolcall.Outcome, len(calls)), files: newFileTable(),
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
		w.ends[i] = c.Outcome()
		if j, ok := w.jobs[c.Use]; ok && c.Kind == toolcall.Command {
			w.ends[i] = endOf(j)
		}
		if len(c.Results) == 0 && c.Use.From >= last {
			if !reportsDone(c.Name) {
				w.waiting = append(w.waiting, i)
			}
			continue // its effect is not known yet
		}
		w.apply(i, listed)
	}
	w.undoneCalls = w.files.takenBack()
	w.allowed = w.laterDone()
	return w
}

// apply records the effects of a call on files and commits, in order.
func (w *work) apply(call int, listed mentionIndex) {
	c, o := &w.calls[call], w.ends[call]
	a := &callEffects{work: w, number: call, call: c, end: o, listed: listed}
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
			w.calls, w.ownsCalls = slices.Clone(w.calls), true
		}
		w.calls[call].Effects = a.effects
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

// undoneBy returns the command of git that undid a call's text or commit; "" if in effect.
func (w *work) undoneBy(call int) string { return cmp.Or(w.undoneCalls[call], w.git.undone[call]) }

// isGone reports whether the file that a call wrote has been removed since.
func (w *work) isGone(call int) bool {
	f := w.files.byPath[w.calls[call].Path]
	return f != nil && f.state == FileDeleted
}

// reportsDone reports whether a tool is one that an agent calls to report that it is done; such calls
// never get a result.
func reportsDone(tool string) bool {
	switch strings.ToLower(tool) {
	case "finish", "submit", "attempt_completion", "complete", "done", "task_complete":
		return true
	}
	return false
}

func (w *work) isWaiting(call int) bool { return slices.Contains(w.waiting, call) }

// file is the known state and history of one file.
type file struct {
	path         string
	key          string // see [toolcall.FileKey]
	version             // the current state
	edits        []*edit
	isNew        bool   // it did not exist before the conversation
	movedFrom    string // its first path, if it was moved
	movedTo      *file  // the file at its new path, if it was moved
	timesMoved   int    // how many times it was moved
	along        bool   // it was moved with its folder
	folder       bool   // a folder to which files were moved by a pattern
	linesFound   bool   // lines of it were found
	newestWriter int    // the newest call that wrote it, counted from 1
	opened       int    // the newest call that read it, counted from 1
	reads        int
	failed       int      // failed changes since the newest successful one …
	failedAt     int      // … and the message of the newest
	refused      *refusal // the newest change that the user refused
	lastWrite    int      // message of the newest attempt; -1: none
	lastTime     int      // message of the newest call
}

// refusal is a call that the user refused.
type refusal struct {
	call        int
	at          precis.Handle
	personWords string
}

// fileTable finds files by path. An absolute and a relative path denote the same file if one ends
// with the other.
type fileTable struct {
	all     []*file
	byPath  map[string]*file
	byName  map[string][]*file // by the last element of their paths
	removed bool               // some were removed
	// the common folder of all absolute paths, without temporary files if there are others …
	root   string
	rooted int // … and the number of these paths
}

func newFileTable() fileTable {
	return fileTable{byPath: map[string]*file{}, byName: map[string][]*file{}}
}

// filesLike returns the files with paths that p is a suffix of, or the reverse; at most 50.
func (t *fileTable) filesLike(p string) (out []*file) {
	const most = 50
	key := toolcall.FileKey(p)
	all := t.byName[nameIn(key)]
	for _, f := range all[:min(len(all), most)] {
		if sameFile(f.key, key) {
			out = append(out, f)
		}
	}
	return out
}

// fileAt returns the file at a path, creating it if missing. A file that was moved away is skipped.
func (t *fileTable) fileAt(p string) *file {
	if f := t.byPath[p]; f != nil {
		return f
	}
	all := t.filesLike(p)
	i := slices.IndexFunc(all, func(f *file) bool { return !f.isMoved() })
	switch {
	case i >= 0:
		if key := toolcall.FileKey(p); len(key) > len(all[i].key) {
			all[i].path, all[i].key = p, key // the longer path
			t.rootAt(p)
		}
		t.byPath[p] = all[i]
		return all[i]
	case len(all) > 0:
		return all[len(all)-1]
	}
	return t.add(p)
}

// fileNamed returns the file that a path denotes; nil if there is no match, or more than one.
func (t *fileTable) fileNamed(p string) *file {
	if f := t.byPath[p]; f != nil {
		return f
	}
	if all := t.filesLike(p); len(all) == 1 {
		return all[0]
	}
	return nil
}

// add adds a file.
func (t *fileTable) add(p string) *file {
	key := toolcall.FileKey(p)
	base := nameIn(key)
	f := &file{path: p, key: key, lastWrite: -1}
	t.all = append(t.all, f)
	t.rootAt(p)
	t.byPath[p], t.byName[base] = f, append(t.byName[base], f)
	return f
}

// nameIn returns the last element of a path, the key of byName.
func nameIn(key string) string { return strings.ToLower(path.Base(key)) }

// sameFile reports whether two keys may be one file: equal, or one a suffix of the other.
func sameFile(a, b string) bool {
	onDrive := func(p string) bool { return len(p) > 1 && p[1] == ':' }
	if onDrive(a) != onDrive(b) { // a relative path on a drive of Windows
		a, b = strings.ToLower(a), strings.ToLower(b)
	}
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

// rootAt extends the root to contain a path.
func (t *fileTable) rootAt(p string) {
	lasting := !isTemporary(p)
	switch {
	case !isAbsolute(p) || !lasting && t.root != "" && !isTemporary(t.root):
		return
	case t.root == "" || lasting && isTemporary(t.root):
		t.root, t.rooted = path.Dir(p), 0
	}
	t.rooted++
	for len(t.root) > 1 && !strings.HasPrefix(p, t.root+"/") {
		t.root = path.Dir(t.root)
	}
}

// takenBack maps the calls with no text left in a file to the command of git that undid them.
func (t *fileTable) takenBack() map[int]string {
	out, stands := map[int]string{}, map[int]bool{}
	for _, f := range t.all {
		for _, e := range f.edits {
			for _, call := range e.calls {
				if out[call] = e.undoneBy; e.inEffect() {
					stands[call] = true
				}
			}
		}
	}
	maps.DeleteFunc(out, func(call int, _ string) bool { return stands[call] })
	return out
}

// recordReads records which files a call read.
func (t *fileTable) recordReads(call int, c *toolcall.Call, o toolcall.Outcome) {
	for _, p := range c.Reads {
		f := t.fileAt(p)
		f.lastTime = c.Use.From
		if o.End == toolcall.OK || o.End == toolcall.Unknown && c.Text != "" && !saysMissing(c.Text) {
			f.read(call, c)
			t.recordFolder(path.Dir(f.path))
		}
	}
	for _, p := range c.Searched {
		if f := t.fileNamed(p); f != nil && o.End == toolcall.OK && strings.TrimSpace(c.Text) != "" {
			f.linesFound = true
		}
	}
	if c.Kind == toolcall.Read && c.Path != "" {
		f := t.fileAt(c.Path)
		f.lastTime = c.Use.From
		switch {
		case o.End == toolcall.Failed && (f.exists() || f.state == FileReverted) && saysMissing(c.Text):
			f.recordEvent(FileDeleted, c.Use, "") // by another program or person
		case o.End == toolcall.OK:
			f.read(call, c)
			t.recordFolder(path.Dir(f.path))
		}
	}
}

// read records that a call read the file; a call counts once.
func (f *file) read(call int, c *toolcall.Call) {
	if f.opened != call+1 {
		f.reads++
	}
	f.opened = call + 1
	if f.state == "" {
		f.state, f.at = FileRead, c.Use
	}
}

// exists reports whether the file is known to exist.
func (f *file) exists() bool { return f.state == FileCreated || f.state == FileWritten }

// change records one effect of a call on the file. from is the former file if the call moved it.
func (f *file) change(a *callEffects, e toolcall.Effect, from *file) {
	call, c, o, listed := a.number, a.call, a.end, a.listed.mentionedBefore(a.call, e, a.number)
	untouched := f.reads == 0 && f.writes == 0 &&
		(f.state == "" || f.state == FileFailed || f.state == FileUnknown && c.Kind != toolcall.Command)
	if o.Claimed {
		o.End = toolcall.Failed
	}
	switch {
	case o.End == toolcall.Rejected:
		f.refused = &refusal{call, c.Use, o.Said}
		return
	case o.End == toolcall.Interrupted:
		f.recordEvent(FileUnknown, c.Use, "")
		return
	case o.End == toolcall.Failed && c.Kind == toolcall.Command && e.Ran != toolcall.Did:
		// A failed list of commands may have run up to here.
		if !f.exists() || e.Removed {
			f.recordEvent(FileUnknown, c.Use, "")
		}
		return
	case o.End == toolcall.Failed && c.Kind != toolcall.Command:
		f.failed, f.failedAt = f.failed+1, c.Use.From
		if f.state == "" || f.state == FileRead {
			f.state, f.at = FileFailed, c.Use
		}
		return
	case e.Removed:
		f.removed++
		f.recordEvent(FileDeleted, c.Use, "")
		return
	case e.Touched && (!untouched || listed) && f.state != FileDeleted:
		return // it exists and stays unchanged
	}
	isNew := untouched && !listed && !f.linesFound &&
		(e.Added || createsFile(c) || e.Whole || e.Touched || from != nil)
	wasThere := !isNew && f.state != FileDeleted && (f.state != "" || listed || f.linesFound)
	if f.newestWriter != call+1 || f.state == FileDeleted {
		f.writes++
		if !isNew && from == nil && wasThere && writesWhole(c, e) {
			f.wholes++
		}
	}
	f.newestWriter, f.failed = call+1, 0
	f.created, f.isNew = f.created || isNew, f.isNew || isNew
	whole, calls := f.state == FileDeleted || e.Whole || from != nil, []int{call}
	if from != nil { // with its content
		calls = append(newest(from.writingCalls(), mostCarried), call)
		f.move(call, from, e, wasThere)
	}
	f.state, f.at, f.gitCommand = FileWritten, c.Use, ""
	switch {
	case f.created:
		f.state = FileCreated
	case e.Below && f.lastWrite < 0:
		f.state = FileRead // as before, in another place
		return
	}
	f.edits = append(f.edits, &edit{version: f.version, calls: calls, whole: whole})
}

// writesWhole reports whether a change replaces the whole content of a file.
func writesWhole(c *toolcall.Call, e toolcall.Effect) bool {
	return e.Whole || e.Added || c.Kind == toolcall.Write && e.MovedFrom == "" && createsFile(c)
}

// newestCommandRuns returns the newest run of each covered command that does more than print existing data of
// this machine, newest first. A failure is omitted if a later run of the same program on the same
// arguments succeeded, see [toolcall.Purpose.Covers]: go test ./... after go test ./a, but not go
// test ./b.
func (w *work) newestCommandRuns(covered func(message int) bool) []command {
	var runs byPlace[command]
	type run struct {
		purpose toolcall.Purpose
		at      int // its message
	}
	fine := map[string][]run{} // successful runs by kind
	var out []*command
	for i := range w.calls {
		c, o := &w.calls[i], w.ends[i]
		if c.Kind != toolcall.Command || o.End == toolcall.Rejected || w.isWaiting(i) ||
			toolcall.Prints(c.Line) && !toolcall.Fetches(c.Line) {
			continue
		}
		folder, line := splitFolder(c.Line)
		e, ran := runs.at(folder, ends.ReplaceAllString(line, ""))
		r := &e.is
		if !ran {
			out = append(out, r)
		}
		r.runs++
		if o.End == toolcall.Failed {
			r.failed++
		}
		r.line, r.given = line, c.Line
		r.at, r.end, r.last, r.personWords, r.undone, r.amended = c.Use.From, o, "", "", w.git.undone[i], w.git.amended[i]
		if o.End == toolcall.OK || o.End == toolcall.Unknown {
			for _, purpose := range c.Ran() {
				fine[purpose.Key] = append(fine[purpose.Key], run{purpose, c.Use.From})
			}
			output, said := harness.Feedback(c.Output())
			r.last, r.personWords = lastLine(output), said
		}
		j, background := w.jobs[c.Use]
		if r.running = background && !j.State.Ended(); background {
			r.last = j.Result
		}
	}
	for _, all := range runs.of {
		for _, e := range all {
			if len(all) > 1 && e.folder != "" { // a separate entry for each folder
				e.is.line = "cd " + e.folder + " && " + e.is.line
			}
		}
	}
	repaired := func(r *command) bool {
		// most limits the later runs that are compared with a failure. An inline script that is
		// more than oldScript messages old counts as an experiment that is not repeated.
		const most, oldScript = 16, 60
		newestCall := w.calls[len(w.calls)-1].Use.From
		p := toolcall.PurposeOf(r.given)
		if p.Inline {
			return r.at < newestCall-oldScript
		}
		return slices.ContainsFunc(newest(fine[p.Key], most), func(later run) bool {
			return later.at > r.at && later.purpose.Covers(p)
		})
	}
	var shown []command
	for _, r := range out {
		if covered(r.at) && (r.end.End != toolcall.Failed || !repaired(r)) {
			shown = append(shown, *r)
		}
	}
	sort.SliceStable(shown, func(a, b int) bool { return shown[a].at > shown[b].at })
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

// createsFile guesses from the tool's name and its result whether a write created a new file.
func createsFile(c *toolcall.Call) bool {
	if c.Kind == toolcall.Command {
		return false // its effect states it, see [toolcall.Effect]
	}
	name := strings.ToLower(c.Name)
	head := strings.ToLower(c.Text[:min(len(c.Text), 300)])
	if strings.Contains(head, "overwr") || strings.Contains(head, "has been updated") {
		return false
	}
	return strings.Contains(name, "write") || strings.Contains(name, "create") ||
		strings.Contains(head, "created")
}

// fileStates returns the fates of the files, and the refused changes still in effect, in the order
// of the calls that determined them.
func (w *work) fileStates() []FileState {
	var out []FileState
	for _, f := range w.files.all {
		if f.state != "" {
			out = append(out, FileState{Handle: f.at, Path: f.path, State: f.state, By: f.gitCommand,
				MovedFrom: f.movedFrom, MovedTo: f.currentPath()})
		}
		if r := f.refused; r != nil && !w.isAllowed(r.call) {
			out = append(out, FileState{Handle: r.at, Path: f.path, State: FileRejected,
				Said: quoted(r.personWords, 500)})
		}
	}
	sort.SliceStable(out, func(a, b int) bool {
		x, y := out[a].Handle, out[b].Handle
		return x.From < y.From || x.From == y.From && x.Block < y.Block
	})
	return out
}
