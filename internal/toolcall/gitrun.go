package toolcall

import (
	"path"
	"slices"
	"strings"

	"precis/internal/jsonspan"
)

// GitRun is one command of git in a command line, whatever it does.
type GitRun struct {
	Verb   string   // "status", "checkout"; of "git stash pop" the first word
	Words  []string // behind the verb
	Folder string   // that git runs in, as far as the line says; a folder that is not known has the name that the line gives it
	Ran    Ran      // of a line that failed
	Else   bool     // it runs only when the command before it fails
}

// Has reports whether one of the flags stands among the words, also within short flags written together.
func (g GitRun) Has(names ...string) bool {
	a := gitArguments(g.Words, gitValues[g.Verb])
	return a.has(names...)
}

// Value returns the word that follows the first of the flags that is given; "" when none is.
func (g GitRun) Value(names ...string) string {
	for i, w := range g.Words {
		for _, name := range names {
			switch {
			case w == name && i+1 < len(g.Words), len(name) == 2 && len(w) > 2 && w[1] != '-' && strings.HasPrefix(w, "-") && strings.HasSuffix(w, name[1:]) && i+1 < len(g.Words):
				return g.Words[i+1]
			case strings.HasPrefix(name, "--") && strings.HasPrefix(w, name+"="):
				return w[len(name)+1:]
			}
		}
	}
	return ""
}

// Names returns the words that are no flags, before a "--" and behind it.
func (g GitRun) Names() (before, after []string) {
	a := gitArguments(g.Words, gitValues[g.Verb])
	return a.before, a.after
}

// mostGitRuns is how many commands of git are noted of one line.
const mostGitRuns = 50

// gitRun notes a command of git, with the words behind its name.
func (r *shellReader) gitRun(words []string) {
	g := GitRun{Folder: r.folder}
	if r.away != "" {
		g.Folder = r.away
	}
	g.Folder, words = gitFolder(g.Folder, words)
	if len(words) == 0 || len(r.runs) >= mostGitRuns {
		return
	}
	g.Verb, g.Words = words[0], words[1:]
	r.runs = append(r.runs, g)
}

// goneTo notes a change from a folder into one that is not known, by the name that the line gives it.
func (r *shellReader) goneTo(from, to string) {
	const longest = 400 // bytes of a name
	if to = to[:min(len(to), 2*longest)]; r.folder == "" {
		to = normalPath(to)
	}
	switch whole := strings.HasPrefix(to, "/") || len(to) > 1 && to[1] == ':'; {
	case len(to) > longest, len(from) > longest && r.folder == "":
		r.away = ""
	case to == "", to == "-", to == ".", r.folder != "" && (r.away == "" || whole):
		r.away = ""
	case r.away != "" && !strings.ContainsAny(to[:1], "$~`/"):
		r.away = path.Join(r.away, to)
	default:
		if r.away = within(from, to); r.away == "." { // where it began
			r.away = ""
		}
	}
	if len(r.away) > longest {
		r.away = ""
	}
}

// inFolder gives the commands of git the folder that the call itself names: Codex and others state one beside the line.
func (c *Call) inFolder() {
	if len(c.GitRuns) == 0 || len(c.input) == 0 {
		return
	}
	folder := ""
	for _, name := range []string{"workdir", "cwd", "dir_path", "working_directory"} {
		if s, ok := jsonspan.String(jsonspan.Field(c.input, name)); ok && s != "" {
			folder = normalPath(s)
			break
		}
	}
	if folder == "" {
		return
	}
	c.GitRuns = slices.Clone(c.GitRuns)
	for i := range c.GitRuns {
		if g := &c.GitRuns[i]; !strings.HasPrefix(g.Folder, "$") && !strings.HasPrefix(g.Folder, "`") {
			g.Folder = within(folder, g.Folder)
		}
	}
}
