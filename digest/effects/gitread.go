package effects

import (
	"cmp"
	_ "embed"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/toolcall"
)

// repositories are the repositories that commands of git ran in.
type repositories []*repository

// repository is the known state of one repository.
type repository struct {
	folder   string // "" while unknown
	worked   int    // message of the newest run that works in it; -1: it was only read
	state    GitState
	branches map[string]bool
	clean    int // message of git's last report that the work tree is clean; -1: none
}

//go:embed gitsays.txt
var gitSaysText string

// gitSaysTable lists the lines that git prints about its actions.
var gitSaysTable = table.Lazy("gitsays.txt", gitSaysText, "line", "means")

// gitLines matches the lines with each of the meanings.
var gitLines = sync.OnceValue(func() map[string]*regexp.Regexp {
	lines, all := map[string][]string{}, map[string]*regexp.Regexp{}
	for _, row := range gitSaysTable().Rows {
		lines[row.Get("means")] = append(lines[row.Get("means")], row.Get("line"))
	}
	for means, of := range lines {
		all[means] = regexp.MustCompile("(?m)^(?:" + strings.Join(of, "|") + ")")
	}
	return all
})

// namesIn returns the names in the lines of a text with a meaning; "" for a line without a name.
func namesIn(means, text string) (names []string) {
	for _, m := range gitLines()[means].FindAllStringSubmatch(text, -1) {
		names = append(names, strings.TrimRight(strings.Trim(cmp.Or(m[1:]...), `"`), "/"))
	}
	return names
}

// committed is how git names a commit that it made.
var committed = lazyregexp.New(`(?m)^\[(.+?)(?: \(root-commit\))? ([0-9a-f]{4,64})\] (.*)$`)

// gitOutput is the parsed output of commands of git.
type gitOutput struct {
	text string // the beginning of the output
	// the lines that name commits, split as by [committed], without commits already recorded
	commits [][]string
	mute    bool // the output says no word about a repository
	refused bool // git refused the command
	stopped bool // git stopped before the end
}

// gitSaysOf reads the output of a call.
func gitSaysOf(c *toolcall.Call, o toolcall.Outcome) *gitOutput {
	const most, mostRefused = 64 << 10, 4000 // bytes to read
	if len(c.Git) == 0 {
		return nil
	}
	output := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(c.Output())
	text := output[:min(len(output), most)]
	return &gitOutput{
		text:    text,
		commits: committed.FindAllStringSubmatch(output, -1),
		mute: len(c.Results) == 0 || o.End == toolcall.Rejected ||
			strings.Contains(text, "not a git repository"),
		refused: namesIn("refused", output[:min(len(output), mostRefused)]) != nil,
		stopped: namesIn("stopped", text) != nil,
	}
}

// repositoryOf returns the repository that a folder belongs to. If the line does not say where it runs, or if
// only one repository is known and it has no name or lies in the folder, in returns that one.
func (g *repositories) repositoryOf(folder string) *repository {
	const most = 64
	if folder = strings.TrimSuffix(folder, "/"); folder == "." {
		folder = ""
	}
	if found := g.innermostAround(folder); found != nil {
		return found
	}
	var last *repository // the last one outside temporary folders
	lasting := 0
	for _, r := range *g {
		if !isTemporary(r.folder) {
			last, lasting = r, lasting+1
		}
	}
	if lasting == 1 && !isTemporary(folder) && !strings.HasPrefix(folder, "..") &&
		(folder == "" || last.folder == "" || isWithin(last.folder, folder)) {
		last.folder = cmp.Or(folder, last.folder)
		return last
	}
	if len(*g) >= most {
		return (*g)[most-1]
	}
	r := &repository{folder: folder, worked: -1, clean: -1, branches: map[string]bool{}}
	*g = append(*g, r)
	return r
}

// innermostAround returns the innermost repository that holds a path; nil for none.
func (g *repositories) innermostAround(p string) (found *repository) {
	for _, r := range *g {
		if (r.folder == p || isWithin(p, r.folder)) && (found == nil || len(r.folder) > len(found.folder)) {
			found = r
		}
	}
	return found
}

// isWithin reports whether a path is a folder or lies in it. A second work tree in a folder of the
// first counts as separate.
func isWithin(p, folder string) bool {
	rest, ok := strings.CutPrefix(p, folder)
	return ok && folder != "" && (rest == "" || rest[0] == '/') && !strings.Contains(rest, "worktree")
}

// applyGit applies a command of git, as far as the outcome of its call and its output confirm that it
// took effect.
func (w *Reading) applyGit(call int, c *toolcall.Call, o toolcall.Outcome, g toolcall.Git, says *gitOutput) {
	var r *repository
	if !says.mute && !g.Changes("elsewhere") {
		r = w.repos.repositoryOf(g.Place)
		if len(g.To) > 0 {
			r.worked = c.Use.From
		}
		if r.worked < 0 || r.worked == c.Use.From {
			r.state.Handle = c.Use
		}
	}
	ran := gitTookEffect(&g, c, o, says)
	s := gitStep{history: w.git, repo: r, call: call, at: c.Use, says: says, Git: g}
	s.applyCommand(ran)
	if r != nil && ran == toolcall.Did {
		r.run(&g, c, says)
	}
}

// recordShown records the state of the repository that the output of commands shows.
func (w *Reading) recordShown(call int, c *toolcall.Call, says *gitOutput) {
	var r *repository
	for _, g := range c.Git {
		if says.mute || len(g.To) == 0 || g.Changes("other", "elsewhere") {
			continue
		}
		in := w.repos.repositoryOf(g.Place)
		if r != nil && r != in {
			return // the output does not name the repository
		}
		r = in
	}
	if r == nil {
		return
	}
	s := gitStep{history: w.git, repo: r, call: call, at: c.Use, says: says}
	for len(says.commits) > 0 { // a command that takes over commits made them
		s.newCommit()
	}
	if r.recordShown(c, says); r.clean == c.Use.From {
		w.recordClean(r, &s)
	}
}

// recordClean records git's report of a clean work tree: other programs or persons committed the changes
// that no call committed.
func (w *Reading) recordClean(r *repository, s *gitStep) {
	commit, others := &commit{}, false
	for _, f := range w.files.all {
		for _, e := range f.edits {
			if e.isOpen() && e.At != s.at && w.isTrackedBy(r, "", f.Path) {
				e.in, others = commit, others || !f.isNew // a new file may be one that git ignores
			}
		}
	}
	if others {
		s.recordBranchChange()
	}
}

// setBranch records the branch that is checked out.
func (r *repository) setBranch(branch string, at precis.Handle) {
	if branch == "" || len(branch) > 250 {
		return
	}
	r.state.Branch, r.state.Detached, r.state.Unknown, r.state.Handle = branch, false, nil, at
	r.branches[branch] = true
}

// setDetached records a detached HEAD. During a rebase that state is temporary.
func (r *repository) setDetached() {
	if r.state.Operation == nil {
		r.state.Branch, r.state.Detached, r.state.Unknown = "", true, nil
	}
}

// run applies a command that succeeded.
func (r *repository) run(g *toolcall.Git, c *toolcall.Call, says *gitOutput) {
	for _, to := range g.To {
		switch to {
		case "branch":
			r.setBranch(plainName(g.Branch), c.Use)
		case "renamed":
			if len(g.Names) < 2 || g.Names[0] == r.state.Branch {
				r.setBranch(plainName(g.Branch), c.Use)
			}
		case "detached":
			r.setDetached()
		case "unknown":
			if r.state.Unknown == nil {
				r.state.Unknown = &GitCommand{c.Use, g.By}
			}
		case "tree":
			if g.Either && len(g.Names) == 1 && r.branches[g.Names[0]] { // the output may be empty
				r.setBranch(g.Names[0], c.Use)
			}
		case "index":
			if g.From != "head" {
				r.resolve(g.Names, false)
			}
		case "cleared", "commit":
			r.resolve(nil, true)
		case "continued", "ended":
			if !says.stopped {
				r.state.Operation = nil
			}
		}
	}
}

// plainName returns a word that may name a branch; "" for a word that a shell would expand.
func plainName(w string) string {
	if strings.ContainsAny(w, "$`*?~^: \n") || strings.HasPrefix(w, "-") {
		return ""
	}
	return w
}

// showsCommit reports whether a commit was made by a command that did not fail as a whole: a hook
// may have refused the commit if the line hides the exit codes of its parts.
func showsCommit(g *toolcall.Git, c *toolcall.Call, o toolcall.Outcome, says *gitOutput) bool {
	text := says.text
	switch {
	case toolcall.NothingToCommit(text):
		return false
	case o.End == toolcall.Failed, o.End == toolcall.OK && !strings.ContainsAny(c.Line, "|;"),
		g.Has("-q", "--quiet"):
		return true
	}
	return isEmptyOutput(text) || strings.Contains(text, " changed") ||
		strings.Contains(text, "create mode ") ||
		len(says.commits) > 0
}

// subjectOf returns the first line of a commit's message; "" if the command line lacks it.
func subjectOf(g *toolcall.Git) string {
	text := g.Value("-m", "--message")
	if _, body, ok := strings.Cut(text, "<<"); ok && strings.HasPrefix(text, "$(") {
		_, text, _ = strings.Cut(body, "\n")
	}
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if strings.ContainsAny(text, "$`") {
		return ""
	}
	return text
}

// Limits of the recorded conflict files, and of a command's paths to compare with them.
const mostConflicts, mostResolved = 100, 200

// resolve marks files as resolved; all of them if paths is empty. A commit ends any operation in
// progress except a rebase.
func (r *repository) resolve(paths []string, commits bool) {
	op := r.state.Operation
	if op == nil {
		return
	}
	op.Files = slices.DeleteFunc(op.Files, func(f string) bool {
		return len(paths) == 0 || slices.ContainsFunc(paths[:min(len(paths), mostResolved)],
			func(p string) bool {
				p = strings.Trim(path.Clean(strings.ReplaceAll(p, `\`, "/")), `"'`)
				return covers(p, f) || strings.HasSuffix("/"+p, "/"+f) || strings.HasSuffix("/"+f, "/"+p)
			})
	})
	ends := op.Kind == "stash pop" || commits && op.Kind != "rebase" && op.Kind != "am"
	if ends && len(op.Files) == 0 {
		r.state.Operation = nil
	}
}

// recordShown records the state that the output of commands shows.
func (r *repository) recordShown(c *toolcall.Call, says *gitOutput) {
	meanings := []string{"branch"}
	for _, verb := range []string{"status", "branch"} {
		if slices.ContainsFunc(c.Git, func(g toolcall.Git) bool { return g.Verb == verb }) {
			meanings = append(meanings, verb+" branch")
		}
	}
	for line := range strings.Lines(says.text) {
		if namesIn("no branch", line) != nil {
			r.setDetached()
			continue
		}
		for _, means := range meanings {
			r.setBranch(strings.Join(namesIn(means, line), ""), c.Use)
		}
	}
	if name := askedBranch(c, says.text); name == "HEAD" {
		r.setDetached()
	} else if name != "" {
		r.setBranch(name, c.Use)
	}
	if namesIn("clean", says.text) != nil || isEmptyStatus(c, says.text) {
		r.clean = c.Use.From
	}
	r.recordOperation(c, says)
}

// askedBranch returns the branch printed by a call that asks only for the branch: the first line of
// output, if that command is the first of the call.
func askedBranch(c *toolcall.Call, output string) string {
	if !c.Git[0].Changes("asked") || !strings.HasPrefix(CommandLine(c.Line), "git ") {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(output), "\n")
	return plainName(strings.TrimSpace(line))
}

// isEmptyStatus reports whether a call only asked for the short status, and git listed no file.
func isEmptyStatus(c *toolcall.Call, output string) bool {
	alone := len(c.Git) == 1 && !strings.ContainsAny(c.Line, "|;>")
	return alone && isEmptyOutput(output) && c.Git[0].Changes("listed") && len(c.Git[0].Names) == 0
}

// isEmptyOutput reports whether output is empty, or the tool's placeholder for empty output.
func isEmptyOutput(output string) bool {
	output = strings.TrimSpace(output)
	return output == "" || output == "(no output)"
}

// recordOperation records the merge, rebase or other operation in progress.
func (r *repository) recordOperation(c *toolcall.Call, says *gitOutput) {
	way, kind := "", ""
	for _, k := range []string{"merge", "am", "revert", "cherry-pick", "rebase"} {
		if namesIn(k, says.text) != nil {
			way = k
		}
	}
	for _, g := range c.Git {
		switch {
		case g.From == "stash":
			kind = "stash pop"
		case g.Verb == "pull":
			kind = cmp.Or(way, "merge")
		case g.Changes("begun", "continued"):
			kind = g.Verb
		}
	}
	op := r.state.Operation
	conflicts := slices.Compact(append([]string{},
		slices.Sorted(slices.Values(namesIn("conflict", says.text)))...))
	conflicts = conflicts[:min(len(conflicts), mostConflicts)]
	begins := kind != "" && says.stopped
	if !begins {
		kind = way
	}
	switch {
	case kind != "":
		if op == nil || begins && op.Kind != kind {
			op = &GitOperation{Handle: c.Use, Kind: kind}
		}
		if op.Files = conflicts; begins {
			op.Handle = c.Use
		}
	case len(conflicts) > 0 && op != nil: // listed in the short status
		op.Files = conflicts
	case namesIn("all", says.text) != nil && !strings.Contains(c.Line, "|"):
		op = nil
	}
	r.state.Operation = op
}

// gitTookEffect reports whether a command of git took effect, as far as the outcome of its call and its
// own output show.
func gitTookEffect(g *toolcall.Git, c *toolcall.Call, o toolcall.Outcome, says *gitOutput) toolcall.Ran {
	pops := g.From == "stash"
	proof := (g.Changes("commit") || g.From == "tree") && len(says.commits) > 0 ||
		g.Changes("stash") && namesIn("stashed", says.text) != nil ||
		pops && namesIn("popped", says.text) != nil
	switch {
	case o.End == toolcall.Rejected, o.End == toolcall.Interrupted, g.Else:
		return toolcall.Not
	case proof: // even if another part of the line failed
		return toolcall.Did
	case pops && (strings.Contains(says.text, "CONFLICT") || o.End == toolcall.Failed && !says.refused):
		return toolcall.Maybe // unknown which part failed
	case says.refused, o.End == toolcall.Failed && g.Ran == toolcall.Not:
		return toolcall.Not
	case g.Changes("commit") && !showsCommit(g, c, o, says):
		return toolcall.Not
	case o.End == toolcall.Failed:
		return g.Ran
	}
	return toolcall.Did
}
