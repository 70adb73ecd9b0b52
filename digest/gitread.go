package digest

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"precis"
	"precis/internal/harness"
	"precis/internal/lazyregexp"
	"precis/internal/toolcall"
)

// repositories follows the state of those that commands of git are run in.
type repositories struct {
	all     []*repository
	session string    // the folder that the agent's program names first; "": none
	said    []gitSaid // still to come
}

// repository is what is known of one of them.
type repository struct {
	folder    string // "" while nothing names it
	temporary bool
	worked    int // message of the newest run that works in it; -1: it is only looked at
	state     GitState
	branches  map[string]bool
	made      []madeCommit
	clean     int // message in which git last said that nothing is to be committed; -1: it did not
	continued int // message in which git last went on with what was under way, and committed what was noted for it
}

type madeCommit struct {
	GitCommit
	call int
}

// gitSaid is what the agent's program says of the branch.
type gitSaid struct {
	message int
	branch  string
}

var (
	// onBranch is how git names it: of its state, of a switch, of a rebase that ended or is under way.
	onBranch = lazyregexp.New(`^(?:On branch |Switched to (?:a new |and reset )?branch '|Already on '|Reset branch '|Successfully rebased and updated refs/heads/|Initialized empty Git repository in .* on branch |(?:  )?\(?[Yy]ou are currently rebasing branch '|## (?:No commits yet on |Initial commit on )?)([^\s']+)`)
	// committed is how git names a commit that it made.
	committed  = lazyregexp.New(`^\[(.+?)(?: \(root-commit\))? ([0-9a-f]{4,64})\] (.*)$`)
	commitLine = lazyregexp.New(`(?m)^\[.+ [0-9a-f]{4,64}\] `)
	// offBranch says that no branch is checked out.
	offBranch = lazyregexp.New(`^(?:HEAD detached (?:at|from) |Note: (?:switching to|checking out) '|## HEAD \(no branch\)|\* \(HEAD detached )`)
	// conflictIn names the file of a conflict, unmerged as a listing of the state does.
	conflictIn = lazyregexp.New(`^CONFLICT \([^)]*\): (?:Merge conflict in (.+)|(\S+) .*)$`)
	unmerged   = lazyregexp.New(`^(?:\s+(?:both modified|both added|deleted by us|deleted by them|added by us|added by them|both deleted): +(.+)|(?:UU|AA|DD|AU|UA|DU|UD) (.+))$`)
	// stoppedGit says that git did not come to the end of what it was told.
	stoppedGit = lazyregexp.New(`^(?:CONFLICT \(|Automatic merge failed|error: (?:could not|Failed to) (?:apply|revert|merge)|Could not apply |Patch failed at )`)
	// underWay says of what is under way in what git prints of its state.
	underWay = lazyregexp.New(`(?m)^(?:.*\b(rebase) in progress|You are currently (rebas|cherry-pick|revert)ing|.* in the middle of (?:an?|the) (am) session|You have unmerged paths|All conflicts fixed but you are still (merg)ing)`)
)

// gitStates are the commands of git whose output tells the state of the repository.
func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

var gitStates = wordSet("status commit checkout switch merge rebase pull cherry-pick revert am stash init reset branch rev-parse symbolic-ref")

// gitLooks are those that only look, or concern what is elsewhere.
var gitLooks = wordSet("log diff show blame grep fetch remote config ls-files ls-remote ls-tree rev-list describe cat-file shortlog reflog help version clone name-rev for-each-ref merge-base check-ignore show-ref tag archive")

// repositoriesOf prepares for the calls of a conversation.
func repositoriesOf(calls []toolcall.Call, msgs []precis.Message) *repositories {
	g := &repositories{}
	runs := slices.ContainsFunc(calls, func(c toolcall.Call) bool { return len(c.GitRuns) > 0 })
	speech := precis.SpeechOf(msgs)
	for i, m := range msgs {
		if m.Role != precis.RoleUser {
			continue
		}
		for b, block := range m.Content {
			t, ok := block.(precis.Text)
			if !ok {
				continue
			}
			branch := harness.Branch(t.Text) != ""
			folder := runs && g.session == "" && (strings.Contains(t.Text, "orking ") || strings.Contains(t.Text, "cwd"))
			if branch || folder {
				g.ofProgram(speech, i, b, t.Text, branch)
			}
		}
	}
	return g
}

// ofProgram reads what the program around the model says in a block.
func (g *repositories) ofProgram(speech *precis.Speech, message, block int, text string, branch bool) {
	for _, span := range speech.Of(message) {
		if span.Block != block || span.Said.Author != precis.AuthorProgram && span.Said.Author != precis.AuthorOperator {
			continue
		}
		part := text[span.From:span.To]
		if g.session == "" {
			g.session = harness.WorkingDirectory(part)
		}
		if !branch {
			continue
		}
		if name := harness.Branch(part); name != "" {
			g.said = append(g.said, gitSaid{message, name})
		}
	}
}

// until takes in what the program said up to a message.
func (g *repositories) until(message int) {
	for len(g.said) > 0 && g.said[0].message <= message {
		r := g.in("")
		r.on(g.said[0].branch, precis.MessageHandle(g.said[0].message))
		r.worked = max(r.worked, 0)
		g.said = g.said[1:]
	}
}

// in returns the repository that a folder belongs to.
func (g *repositories) in(folder string) *repository {
	const most = 64
	folder = strings.TrimSuffix(folder, "/")
	if folder == "." {
		folder = ""
	}
	if folder == "" || !isAbsolute(folder) && !strings.HasPrefix(folder, "..") && !strings.ContainsAny(folder[:1], "$~`") && g.session != "" {
		folder = path.Join(g.session, folder)
	}
	var found, lasting *repository
	others := 0
	for _, r := range g.all {
		switch {
		case r.folder == folder:
			return r
		case folder != "" && r.folder != "" && isWithin(folder, r.folder) && (found == nil || len(r.folder) > len(found.folder)):
			found = r
		}
		if !r.temporary {
			lasting = r
			others++
		}
	}
	if found != nil {
		return found
	}
	temporary := isTemporary(folder) && (g.session == "" || !isWithin(folder, g.session))
	switch {
	case len(g.all) >= most:
		return g.all[len(g.all)-1]
	case others == 1 && !temporary && folder == "": // the line does not say where it runs, and there is one place
		return lasting
	case others == 1 && !temporary && (lasting.folder == "" || isWithin(lasting.folder, folder)) && !strings.HasPrefix(folder, ".."):
		lasting.folder = folder // the same, by its name, or by the name of its root
		return lasting
	}
	r := &repository{folder: folder, temporary: temporary, worked: -1, clean: -1, continued: -1, branches: map[string]bool{}}
	g.all = append(g.all, r)
	return r
}

// isWithin reports whether a path is a folder or in it. A second work tree in a folder of the first is a place of its own.
func isWithin(p, folder string) bool {
	rest, ok := strings.CutPrefix(p, folder)
	return ok && folder != "" && (rest == "" || rest[0] == '/') && !strings.Contains(rest, "worktree")
}

// read takes in what a call has git do, and what it shows.
func (g *repositories) read(call int, c *toolcall.Call, o toolcall.Outcome) {
	if len(c.GitRuns) == 0 {
		return
	}
	g.until(c.Use.From)
	output := c.Output()
	if len(c.Results) == 0 || o.End == toolcall.Rejected || o.Claimed || strings.Contains(output, "not a git repository") {
		return
	}
	var telling *repository // whose state the output tells
	ambiguous := false
	for _, run := range c.GitRuns {
		if run.Verb == "clone" || run.Verb == "init" && o.End == toolcall.Failed {
			continue
		}
		r := g.in(run.Folder)
		if gitLooks[run.Verb] {
			if r.worked < 0 {
				r.state.Handle = c.Use
			}
			continue
		}
		r.worked, r.state.Handle = c.Use.From, c.Use
		sure := !run.Else && !gitFailed(output) && (o.End == toolcall.OK || o.End == toolcall.Unknown || o.End == toolcall.Failed && run.Ran == toolcall.Did)
		if sure && run.Verb == "commit" && o.End != toolcall.Failed && !showsCommit(run, c, o, output) {
			continue
		}
		r.run(run, call, c, output, sure)
		if gitStates[run.Verb] {
			ambiguous = ambiguous || telling != nil && telling != r
			telling = r
		}
	}
	if telling != nil && !ambiguous {
		telling.shown(call, c, output)
	}
}

// on notes the branch that is checked out.
func (r *repository) on(branch string, at precis.Handle) {
	branch = strings.TrimRight(branch, ".")
	if i := strings.Index(branch, "..."); i > 0 { // with that which it follows
		branch = branch[:i]
	}
	if branch == "" || len(branch) > 250 {
		return
	}
	r.state.Branch, r.state.Detached, r.state.Handle = branch, false, at
	r.branches[branch] = true
}

// off notes that no branch is checked out. While commits are applied anew that is on the way.
func (r *repository) off() {
	if r.state.Operation == nil {
		r.state.Branch, r.state.Detached = "", true
	}
}

// run takes in what a command does when it goes well; sure says that it did.
func (r *repository) run(run toolcall.GitRun, call int, c *toolcall.Call, output string, sure bool) {
	if !sure {
		return
	}
	before, after := run.Names()
	op := r.state.Operation
	switch run.Verb {
	case "checkout":
		if name := run.Value("-b", "-B", "--orphan"); name != "" {
			r.on(plainName(name), c.Use)
		} else if len(before) == 1 && len(after) == 0 {
			r.to(before[0], c.Use)
		}
	case "switch":
		switch name := run.Value("-c", "-C", "--create", "--force-create", "--orphan"); {
		case name != "":
			r.on(plainName(name), c.Use)
		case run.Has("-d", "--detach"):
			r.off()
		case len(before) == 1 && before[0] != "-":
			r.on(plainName(before[0]), c.Use)
		}
	case "init":
		r.on(plainName(run.Value("-b", "--initial-branch")), c.Use)
	case "branch":
		if run.Has("-m", "-M", "--move") && (len(before) == 1 || len(before) == 2 && before[0] == r.state.Branch) {
			r.on(plainName(before[len(before)-1]), c.Use)
		}
	case "commit":
		if !run.Has("--dry-run") && !toolcall.NothingToCommit(output) {
			r.commit(run, call, c, output)
		}
	case "add", "rm", "stage":
		r.resolve(append(before, after...), run.Has("-A", "--all", "-u", "--update"))
	case "reset":
		if run.Has("--hard", "--merge") && op != nil {
			op.Files = []string{}
			if op.Kind != "rebase" && op.Kind != "am" {
				r.state.Operation = nil
			}
		}
	case "merge", "rebase", "cherry-pick", "revert", "am":
		if run.Has("--continue") {
			r.continued = c.Use.From
		}
		switch {
		case run.Has("--abort", "--quit", "--continue", "--skip"):
			if op != nil && !stops(output) {
				r.state.Operation = nil
				r.rebased(run.Verb == "rebase" && run.Has("--continue", "--skip"))
			}
		case run.Verb == "rebase" && !strings.Contains(output, "up to date"):
			r.rebased(true)
		}
	case "pull":
		r.rebased(strings.Contains(output, "Successfully rebased"))
	}
}

// to notes a change to a branch of which the output may say nothing.
func (r *repository) to(name string, at precis.Handle) {
	if r.branches[name] {
		r.on(name, at)
	}
}

// plainName returns a word that may name a branch; "" for what a shell would expand.
func plainName(w string) string {
	if strings.ContainsAny(w, "$`*?~^: \n") || strings.HasPrefix(w, "-") {
		return ""
	}
	return w
}

// rebased notes that the commits have other hashes now.
func (r *repository) rebased(was bool) {
	for i := range r.made {
		if was {
			r.made[i].Hash = ""
		}
	}
}

// commit notes one that a call made.
func (r *repository) commit(run toolcall.GitRun, call int, c *toolcall.Call, output string) {
	made := madeCommit{GitCommit{Handle: c.Use, Subject: subjectOf(run)}, call}
	for line := range strings.Lines(output) {
		if m := committed.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			made.Hash, made.Subject = m[2], m[3]
		}
	}
	r.state.Commits = true
	if n := len(r.made); n > 0 && run.Has("--amend") {
		made.Subject = cmp.Or(made.Subject, r.made[n-1].Subject)
		r.made = r.made[:n-1]
	}
	r.made = append(r.made, made)
	if op := r.state.Operation; op != nil && op.Kind != "rebase" && op.Kind != "am" {
		r.state.Operation = nil
	}
}

// showsCommit reports whether a commit was made by a command that did not fail as a whole: a hook may have refused it where the
// line hides how its parts ended.
func showsCommit(run toolcall.GitRun, c *toolcall.Call, o toolcall.Outcome, output string) bool {
	text := strings.TrimSpace(output)
	return o.End == toolcall.OK && !strings.ContainsAny(c.Line, "|;") || run.Has("-q", "--quiet") || text == "" || text == "(no output)" ||
		strings.Contains(text, " changed") || strings.Contains(text, "create mode ") || commitLine.MatchString(text)
}

// subjectOf returns the first line of the message that a commit is given; "" when the line does not tell.
func subjectOf(run toolcall.GitRun) string {
	text := run.Value("-m", "--message")
	if _, body, ok := strings.Cut(text, "<<"); ok && strings.HasPrefix(text, "$(") {
		_, text, _ = strings.Cut(body, "\n")
	}
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if strings.ContainsAny(text, "$`") {
		return ""
	}
	return text
}

// Limits of the files with conflicts that are kept, and of the paths of a command that they are compared with.
const mostConflicts, mostResolved = 100, 200

// resolve notes that files are marked as resolved.
func (r *repository) resolve(paths []string, all bool) {
	op := r.state.Operation
	if op == nil {
		return
	}
	all = all && len(paths) == 0
	paths = paths[:min(len(paths), mostResolved)]
	op.Files = slices.DeleteFunc(op.Files, func(f string) bool {
		return all || slices.ContainsFunc(paths, func(p string) bool {
			p = strings.Trim(path.Clean(strings.ReplaceAll(p, `\`, "/")), `"'`)
			return p == "." || p == f || strings.HasSuffix(p, "/"+f) || strings.HasSuffix(f, "/"+p) || strings.HasPrefix(f, p+"/") || strings.ContainsAny(p, "*?[") && matches(f, p)
		})
	})
	if op.Kind == "stash pop" && len(op.Files) == 0 {
		r.state.Operation = nil
	}
}

// stops reports whether git says that it stopped on the way.
func stops(output string) bool {
	for line := range strings.Lines(output) {
		if stoppedGit.MatchString(lastShown(line)) {
			return true
		}
	}
	return false
}

// lastShown returns what a terminal shows of a line.
func lastShown(line string) string {
	line = strings.TrimRight(line, " \r\n")
	return line[strings.LastIndexByte(line, '\r')+1:]
}

// shown takes in what the output of commands says of the state.
func (r *repository) shown(call int, c *toolcall.Call, output string) {
	const most = 64 << 10 // bytes that are read
	output = output[:min(len(output), most)]
	verbs := map[string]bool{}
	var last toolcall.GitRun // that may stop on the way
	for _, run := range c.GitRuns {
		verbs[run.Verb] = true
		switch run.Verb {
		case "merge", "rebase", "pull", "cherry-pick", "revert", "am", "stash":
			last = run
		}
	}
	stop, listed, clean := false, false, false
	var conflicts []string
	for line := range strings.Lines(output) {
		line = lastShown(line)
		line = line[:min(len(line), 1000)]
		switch m := onBranch.FindStringSubmatch(line); {
		case m != nil && (!strings.HasPrefix(line, "## ") || verbs["status"]) && !offBranch.MatchString(line):
			r.on(m[1], c.Use)
			listed = listed || strings.HasPrefix(line, "On branch ")
		case offBranch.MatchString(line):
			r.off()
		case verbs["branch"] && strings.HasPrefix(line, "* ") && !strings.HasPrefix(line, "* ("):
			name, _, _ := strings.Cut(line[2:], " ")
			r.on(plainName(name), c.Use)
		case strings.HasPrefix(line, "nothing to commit, working tree clean"), strings.HasPrefix(line, "nothing to commit (working directory clean)"):
			clean = true
		}
		if m := committed.FindStringSubmatch(line); m != nil && (verbs["commit"] || verbs["cherry-pick"] || verbs["revert"]) {
			if !strings.HasPrefix(m[1], "detached") {
				r.on(m[1], c.Use)
			} else {
				r.off()
			}
			if n := len(r.made); n == 0 || r.made[n-1].Hash != m[2] { // also of a line that failed later on
				r.state.Commits = true
				r.made = append(r.made, madeCommit{GitCommit{c.Use, m[2], m[3]}, call})
			}
		}
		if m := conflictIn.FindStringSubmatch(line); m != nil {
			conflicts = append(conflicts, strings.Trim(cmp.Or(m[1], m[2]), `"`))
		} else if m := unmerged.FindStringSubmatch(line); m != nil && verbs["status"] {
			conflicts = append(conflicts, strings.Trim(cmp.Or(m[1], m[2]), `"`))
		}
		stop = stop || stoppedGit.MatchString(line)
	}
	if name := r.asked(c, output); name == "HEAD" {
		r.off()
	} else if name != "" {
		r.on(name, c.Use)
	}
	if clean || r.isEmptyStatus(c, output) {
		r.clean = c.Use.From
	}
	r.operation(c, last, output, conflicts, stop, listed && !strings.Contains(c.Line, "|"))
}

// asked returns the branch that a command was asked for and nothing else: the first line that it prints, when it is the first.
func (r *repository) asked(c *toolcall.Call, output string) string {
	run := c.GitRuns[0]
	if !(run.Verb == "branch" && run.Has("--show-current") || run.Verb == "rev-parse" && run.Has("--abbrev-ref") && slices.Contains(run.Words, "HEAD") || run.Verb == "symbolic-ref" && run.Has("--short")) {
		return ""
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(c.Line), "git "); strings.Contains(first, "echo") || strings.Contains(first, "ls") {
		return ""
	}
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line == "" || toolcall.StatesCode(line) || strings.Contains(line, ": ") {
			continue
		}
		return plainName(line)
	}
	return ""
}

// isEmptyStatus reports whether a call did nothing but ask what is changed, in short, and git named nothing.
func (r *repository) isEmptyStatus(c *toolcall.Call, output string) bool {
	if len(c.GitRuns) != 1 || c.GitRuns[0].Verb != "status" || !c.GitRuns[0].Has("-s", "--short", "--porcelain") || strings.ContainsAny(c.Line, "|;>") {
		return false
	}
	if before, after := c.GitRuns[0].Names(); len(before)+len(after) > 0 {
		return false
	}
	output = strings.TrimSpace(output)
	return output == "" || output == "(no output)"
}

// operation takes in what is under way. Listed says that git told all of its state.
func (r *repository) operation(c *toolcall.Call, last toolcall.GitRun, output string, conflicts []string, stop, listed bool) {
	kind := last.Verb
	switch {
	case kind == "pull" && (strings.Contains(output, "ebasing (") || strings.Contains(output, "git rebase --continue")):
		kind = "rebase"
	case kind == "pull":
		kind = "merge"
	case kind == "stash":
		kind = "stash pop"
	}
	way := underWay.FindStringSubmatch(output)
	op := r.state.Operation
	slices.Sort(conflicts)
	conflicts = slices.Compact(conflicts)
	conflicts = conflicts[:min(len(conflicts), mostConflicts)]
	switch {
	case kind != "" && stop && !last.Has("--abort", "--quit"):
		if op == nil || op.Kind != kind {
			op = &GitOperation{Kind: kind}
		}
		op.Handle, op.Files = c.Use, append([]string{}, conflicts...)
	case way != nil:
		named := strings.Join(way[1:], "")
		kind = map[string]string{"rebas": "rebase", "merg": "merge", "": "merge"}[named]
		if kind = cmp.Or(kind, named); op == nil {
			op = &GitOperation{Handle: c.Use, Kind: kind}
		}
		op.Files = append([]string{}, conflicts...)
	case len(conflicts) > 0 && op != nil: // listed in short
		op.Files = conflicts
	case listed:
		op = nil
	case kind == "merge" && strings.Contains(output, "stopped before committing as requested"):
		op = &GitOperation{Handle: c.Use, Kind: kind, Files: []string{}}
	}
	r.state.Operation = op
}
