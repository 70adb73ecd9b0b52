package toolcall

import (
	"strconv"
	"strings"
)

// GitAct is what a command has git do to files of the work tree or to commits.
type GitAct string

// The acts of git.
const (
	GitAdd     GitAct = "add"     // files are noted for the next commit
	GitUnstage GitAct = "unstage" // they are no longer
	GitCommit  GitAct = "commit"
	GitRestore GitAct = "restore" // files are as they were before
	GitReset   GitAct = "reset"   // the branch goes back to a commit
	GitRevert  GitAct = "revert"  // a commit takes another back
	GitStash   GitAct = "stash"   // what is not committed is put away
	GitUnstash GitAct = "unstash" // and brought back
	GitDrop    GitAct = "drop"    // or thrown away
	GitClean   GitAct = "clean"   // files that git does not know are removed
	GitMove    GitAct = "move"    // the branch is another, or has commits of others
)

// GitStep is one act of git in a command line.
type GitStep struct {
	Act     GitAct
	By      string   // the command without its arguments: "git checkout", "git reset --hard"
	Folder  string   // that git runs in; "" when the line does not say
	Paths   []string // that it is about, with the folder; none: all files
	Names   bool     // Paths may be names of commits or branches instead: the line does not say
	Commits []string // as they are named: "HEAD~1", a hash
	From    string   // of a restore: "" the index, else a commit; of a stash brought back: which
	All     bool     // of add, commit and stash: files too that are not noted, or that git does not know; of a restore: the index, too
	Amend   bool     // of a commit
	Hard    bool     // of a reset: the files, too
	Soft    bool     // of a reset: neither files nor index
	Keep    bool     // of a stash: it stays when it is brought back
	After   int      // how many of the effects of the call came before
	Ran     Ran      // of a line that failed
}

// Ran says whether a part of a command line ran, when the line as a whole failed.
type Ran int

// The answers.
const (
	Maybe Ran = iota // that depends on the parts before it
	Did              // and what failed may be a part after it
	Not              // it failed, or was not reached
)

// git reads the act of git in the words after its name. It reports false for what
// changes neither files nor commits, and where the words do not tell.
func (r *shellReader) git(words []string) (GitStep, bool) {
	s := GitStep{Folder: r.folder}
	if s.Folder, words = gitFolder(s.Folder, words); len(words) == 0 {
		return s, false
	}
	verb := words[0]
	s.By = "git " + verb
	read := gitVerbs[verb]
	if read == nil {
		return s, false
	}
	a := gitArguments(words[1:], gitValues[verb])
	ok := read(r, &s, a)
	if s.Act != GitMove && a.has("-p", "--patch", "-i", "--interactive", "--dry-run") {
		return s, false // what a person chose of it is not in the line
	}
	return s, ok
}

// gitFolder reads the options before a verb of git. It returns the folder that git runs in, and the words from the verb on.
func gitFolder(folder string, words []string) (string, []string) {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		n := 1
		switch words[0] {
		case "-C":
			if len(words) > 1 {
				folder = within(folder, words[1])
			}
			n = 2
		case "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path":
			n = 2
		}
		words = words[min(n, len(words)):]
	}
	return folder, words
}

// gitArgs are the arguments of a command of git.
type gitArgs struct {
	flags  map[string]string // with their values
	before []string          // words before "--"
	after  []string          // and behind it
	dashes bool              // whether there is a "--"
}

func (a gitArgs) has(names ...string) bool {
	for _, n := range names {
		if _, ok := a.flags[n]; ok {
			return true
		}
	}
	return false
}

// gitArguments parts the words of a command. The letters of valued are of the short flags that a word follows.
func gitArguments(words []string, valued string) gitArgs {
	a := gitArgs{flags: map[string]string{}}
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "--":
			a.after, a.dashes = words[i+1:], true
			return a
		case strings.HasPrefix(w, "--"):
			name, value, given := strings.Cut(w, "=")
			if !given && gitLong[name] && i+1 < len(words) {
				i++
				value = words[i]
			}
			a.flags[name] = value
		case len(w) > 1 && w[0] == '-':
			for k := 1; k < len(w); k++ {
				name := "-" + w[k:k+1]
				if strings.IndexByte(valued, w[k]) < 0 {
					a.flags[name] = ""
					continue
				}
				value := w[k+1:]
				if value == "" && i+1 < len(words) {
					i++
					value = words[i]
				}
				a.flags[name] = value
				break
			}
		case w != "":
			a.before = append(a.before, w)
		}
	}
	return a
}

// gitLong are the long flags that a word follows.
var gitLong = wordSet("--message --source --author --date --file --pathspec-from-file --mainline --orphan --exclude")

// gitValues are the letters of the short flags of each command that a word follows.
var gitValues = map[string]string{"checkout": "bB", "switch": "cC", "restore": "s", "commit": "mFCct", "stash": "m", "revert": "m", "clean": "e"}

// gitVerbs read the commands of git that change files or commits, those of files that it moves or removes left out.
var gitVerbs = map[string]func(r *shellReader, s *GitStep, a gitArgs) bool{
	"checkout": gitCheckout, "switch": gitSwitch, "restore": gitRestore, "reset": gitReset, "revert": gitRevert, "stash": gitStash, "add": gitAdd, "stage": gitAdd, "commit": gitCommitted, "clean": gitClean,
	"merge": gitMoved, "pull": gitMoved, "rebase": gitMoved, "cherry-pick": gitMoved, "am": gitMoved,
}

func gitCheckout(r *shellReader, s *GitStep, a gitArgs) bool {
	s.Act, s.From = GitRestore, ""
	switch {
	case a.has("--ours", "--theirs", "-m", "--merge", "--conflict"):
		return false
	case a.has("-b", "-B", "--orphan", "-t", "--track"):
		return false // the files stay
	case a.dashes:
		if len(a.before) > 0 {
			s.From = a.before[0]
		}
		s.Paths = r.paths(s, a.after)
	case len(a.before) > 0:
		s.Paths, s.Names = a.before[:min(len(a.before), mostPaths)], true
	default:
		s.From, s.All = "HEAD", true
		return a.has("-f", "--force")
	}
	s.All = s.From != ""
	return len(s.Paths) > 0
}

func gitSwitch(_ *shellReader, s *GitStep, a gitArgs) bool {
	s.Act = GitMove
	if a.has("-f", "--force", "--discard-changes") {
		s.Act, s.From, s.All = GitRestore, "HEAD", true
	}
	return !a.has("-c", "-C", "--create", "--orphan")
}

func gitRestore(r *shellReader, s *GitStep, a gitArgs) bool {
	s.Act, s.Paths = GitRestore, r.paths(s, append(a.before, a.after...))
	staged := a.has("-S", "--staged")
	s.From = a.flags["--source"] + a.flags["-s"]
	if staged && !a.has("-W", "--worktree") {
		s.Act, s.By = GitUnstage, "git restore --staged"
	} else if staged {
		s.All = true
		if s.From == "" {
			s.From = "HEAD"
		}
	}
	return len(s.Paths) > 0
}

func gitReset(r *shellReader, s *GitStep, a gitArgs) bool {
	s.Act = GitReset
	s.Hard, s.Soft = a.has("--hard"), a.has("--soft")
	switch {
	case s.Hard:
		s.By += " --hard"
	case a.has("--keep", "--merge"):
		return false
	}
	if a.dashes && len(a.after) > 0 {
		s.Act, s.Paths = GitUnstage, r.paths(s, a.after)
		return true
	}
	s.Commits = a.before[:min(len(a.before), 1)]
	if !s.Hard && !s.Soft && len(a.before) > 0 {
		s.Paths, s.Names = a.before[:min(len(a.before), mostPaths)], true
	}
	return true
}

func gitRevert(_ *shellReader, s *GitStep, a gitArgs) bool {
	s.Act, s.Commits = GitRevert, a.before[:min(len(a.before), mostPaths)]
	return len(a.before) > 0 && !a.has("--abort", "--quit", "--skip", "--continue")
}

func gitStash(r *shellReader, s *GitStep, a gitArgs) bool {
	s.Act = GitStash
	verb := "push"
	if len(a.before) > 0 {
		verb, a.before = a.before[0], a.before[1:]
	}
	switch verb {
	case "push", "save":
		s.All = a.has("-u", "--include-untracked", "-a", "--all")
		s.Paths = r.paths(s, a.after)
		if verb == "push" && len(a.before) > 0 {
			s.Paths = append(s.Paths, r.paths(s, a.before)...)
		}
		return !a.has("-S", "--staged", "-k", "--keep-index")
	case "pop", "apply":
		s.Act, s.Keep, s.By = GitUnstash, verb == "apply", s.By+" "+verb
	case "drop":
		s.Act = GitDrop
	case "clear":
		s.Act, s.From = GitDrop, "all"
		return true
	default:
		return false
	}
	if len(a.before) > 0 {
		s.From = a.before[0]
	}
	return true
}

func gitAdd(r *shellReader, s *GitStep, a gitArgs) bool {
	s.Act, s.Paths = GitAdd, r.paths(s, append(a.before, a.after...))
	s.All = !a.has("-u", "--update")
	return (len(s.Paths) > 0 || a.has("-A", "--all", "-u", "--update")) && !a.has("-n", "-N", "--intent-to-add")
}

func gitCommitted(r *shellReader, s *GitStep, a gitArgs) bool {
	s.Act, s.All, s.Amend = GitCommit, a.has("-a", "--all"), a.has("--amend")
	s.Paths = r.paths(s, append(a.before, a.after...))
	return true
}

func gitClean(r *shellReader, s *GitStep, a gitArgs) bool {
	s.Act, s.Paths = GitClean, r.paths(s, append(a.before, a.after...))
	return a.has("-f", "--force") && !a.has("-n")
}

func gitMoved(_ *shellReader, s *GitStep, a gitArgs) bool {
	s.Act = GitMove
	return !a.has("--abort", "--quit")
}

// mostPaths is how many paths of a command of git are looked at: each is compared with all files that are changed.
const mostPaths = 200

// paths returns the paths of a command with the folder that it runs in, at most mostPaths.
func (r *shellReader) paths(s *GitStep, names []string) []string {
	var out []string
	for _, n := range names[:min(len(names), mostPaths)] {
		if n == ":/" || n == ":/." || n == ":" {
			return nil // all of the repository
		}
		if n = strings.Trim(n, `"'`); n != "" && !strings.ContainsAny(n, "$`\n") {
			out = append(out, within(s.Folder, n))
		}
	}
	return out
}

// Back returns how many commits before the newest a name stands for: 0 for HEAD, 1 for HEAD~1, HEAD^ and
// "@~". ok is false for other names.
func Back(name string) (n int, ok bool) {
	rest, ok := strings.CutPrefix(name, "HEAD")
	if !ok {
		rest, ok = strings.CutPrefix(name, "@")
	}
	if !ok || strings.HasPrefix(rest, "{") {
		return 0, false
	}
	for rest != "" {
		sign := rest[0]
		if sign != '~' && sign != '^' {
			return 0, false
		}
		rest = rest[1:]
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		k := 1
		if digits > 0 {
			k, _ = strconv.Atoi(rest[:digits])
		}
		if sign == '^' && k != 1 || k < 0 || k > 1000 {
			return 0, false
		}
		n, rest = n+k, rest[digits:]
	}
	return n, true
}
