package toolcall

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/precis-dev/precis/internal/table"
)

// Git is a command of git in a command line. From and To are columns of its entry in git.txt.
type Git struct {
	Verb    string   // "status", "checkout"
	By      string   // the command without its arguments: "git stash pop", "git reset --hard"
	From    string   // the source of the new file content
	To      []string // what it changes; empty if it only reads
	Folder  string   // folder of the paths; "" if unknown
	Place   string   // the same; an unknown folder has the name that the line gives it
	Paths   []string // files, including the folder; none: all files
	Commits []string // commits or stashes
	Either  bool     // the first of Paths may instead be the first of Commits: the line is ambiguous
	Branch  string   // that is named
	After   int      // number of effects of the call before it
	Ran     Ran      // set if the line failed
	Else    bool     // it runs only if the command before it fails
	options
}

// Ran reports whether a part of a failed command line ran.
type Ran int

// The values of Ran.
const (
	Maybe Ran = iota // depends on the parts before it
	Did              // a part after it may have failed
	Not              // it failed, or was not reached
)

// Changes reports whether the command changes any of the things.
func (g *Git) Changes(things ...string) bool {
	return slices.ContainsFunc(g.To, func(to string) bool { return slices.Contains(things, to) })
}

//go:embed git.txt
var gitText string

// gitTable lists the effects of git's subcommands.
var gitTable = table.Lazy("git.txt", gitText, "command", "values", "words", "from", "to")

// gitVerbs returns the entries of the table by subcommand.
var gitVerbs = sync.OnceValue(func() map[string]*verb { return verbs(gitTable()) })

// git parses a command of git from the words after its name.
func (r *shellReader) git(words []string) (Git, bool) {
	g := Git{Folder: r.folder, Place: cmp.Or(r.place, r.folder)}
	if words = g.global(words); len(words) == 0 {
		return g, false
	}
	g.Verb, g.By = words[0], "git "+words[0]
	verb := gitVerbs()[g.Verb]
	if verb == nil {
		g.To = []string{"unknown", "moved"}
		return g, true
	}
	behind := g.arguments(words[1:], verb.values)
	e := verb.entry(&g.options)
	g.From, g.To = e.Get("from"), e.Words("to")
	for _, one := range e.needs {
		if len(one) == 1 {
			g.By += " " + one[0]
		}
	}
	if len(g.Names) > 0 && slices.ContainsFunc(verb.entries, func(e entry) bool { return e.firstWordActs }) {
		g.Names = g.Names[1:]
	}
	g.assignNames(e, behind)
	return g, true
}

// global parses the options before a subcommand. It returns the words from the subcommand on.
func (g *Git) global(words []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		n := 1
		switch words[0] {
		case "-C":
			if len(words) > 1 {
				g.Folder, g.Place = within(g.Folder, words[1]), within(g.Place, words[1])
			}
			n = 2
		case "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path":
			n = 2
		}
		words = words[min(n, len(words)):]
	}
	return words
}

// assignNames assigns the names to commits, paths or a branch, as the entry specifies.
func (g *Git) assignNames(e entry, behind []string) {
	all := append(slices.Clip(g.Names), behind...)
	switch e.Get("words") {
	case "paths":
		g.paths(all)
	case "commits":
		g.Commits = g.Names[:min(len(g.Names), mostPaths)]
	case "either":
		g.Commits = g.Names[:min(len(g.Names), 1)]
		if g.Either = len(behind) == 0; g.Either {
			behind = g.Names
		}
		g.paths(behind)
	case "branch":
		if len(g.Names) > 0 {
			g.Branch = g.Names[len(g.Names)-1]
		}
		for _, one := range e.needs {
			g.Branch = cmp.Or(g.Value(one...), g.Branch)
		}
	}
	if source := g.Value("--source", "-s"); source != "" {
		g.Commits = []string{source}
	}
	g.Names = all
}

// mostPaths limits the paths of a call: each is compared with all changed files.
const mostPaths = 200

// paths records the paths of a command, at most mostPaths. If the line shows none of them, the
// changed files are unknown.
func (g *Git) paths(names []string) {
	for _, n := range names[:min(len(names), mostPaths)] {
		n = strings.Trim(n, `"'`)
		switch {
		case n == ":/" || n == ":/." || n == ":":
			g.Paths = append(g.Paths, ".") // the whole repository
		case n != "" && !strings.ContainsAny(n, "$`\n"):
			g.Paths = append(g.Paths, within(g.Folder, n))
		}
	}
	if len(names) > 0 && len(g.Paths) == 0 {
		g.From, g.To = "", []string{"said"}
	}
}

// isExpanded reports whether a folder begins with a shell expansion.
func isExpanded(p string) bool { return p != "" && strings.ContainsAny(p[:1], "$`") }
