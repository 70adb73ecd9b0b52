package toolcall

import (
	_ "embed"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/table"
)

// gitProgram adds a command of git, with the files that it moves and removes.
func (r *shellReader) gitProgram(words []string) {
	g, ok := r.git(words)
	if !ok {
		return
	}
	defer func(own string) { r.folder = own }(r.folder)
	r.folder = g.Folder
	switch {
	case g.Verb == "apply" && !g.Has("--check", "-R"):
		r.applied()
	case g.From == "tree" && (g.Verb == "rm" || g.Verb == "mv"):
		from := len(r.Effects)
		r.unix(g.Verb, words[slices.Index(words, g.Verb)+1:])
		for _, e := range r.Effects[from:] {
			g.Paths = append(g.Paths, e.Path)
		}
	}
	g.After, g.Ran, g.Else = len(r.Effects), r.ran, r.otherwise
	r.Git = append(r.Git, g)
}

//go:embed unix.txt
var unixText string

// unixTable lists programs of Unix that work on files.
var unixTable = table.Lazy("unix.txt", unixText, "command", "values", "script", "act")

// unixPrograms returns the entries of the table by program.
var unixPrograms = sync.OnceValue(func() map[string]*verb { return verbs(unixTable()) })

// unix adds the effects of a program of Unix on its arguments.
func (r *shellReader) unix(name string, words []string) {
	program, o := unixPrograms()[name], options{}
	if program == nil {
		return
	}
	behind := o.arguments(words, program.values)
	e := program.entry(&o)
	files := append(o.Names, behind...)
	if e.firstWordActs {
		files = files[1:]
	}
	if script := e.Words("script"); len(script) > 0 && !o.Has(script...) {
		files = files[min(len(files), 1):]
	}
	switch act := e.Get("act"); act {
	case "move", "copy", "copy all", "link":
		r.addCopies(act, files, o.Value("-t", "--target-directory"))
	case "copy of=":
		for _, f := range files {
			if p, ok := strings.CutPrefix(f, "of="); ok {
				r.add(Effect{Path: p, Whole: true})
			}
		}
	case "edit":
		r.each(files, Effect{Replaced: substituted(words)})
	case "fetch":
		r.each([]string{o.Value("-O", "--output-document", "-o", "--output")}, Effect{Whole: true})
	case "find":
		r.addFindRemovals(words)
	case "xargs":
		r.xargs(files)
	case "search":
		files = slices.DeleteFunc(files, func(f string) bool { return len(path.Ext(f)) <= 1 })
		fallthrough
	default:
		if len(r.outputs) == 0 || act != "read" && act != "search" {
			r.act(act, files)
		}
	}
}

// acts maps the actions of programs to effects on files.
var acts = map[string]Effect{"remove": {Removed: true}, "touch": {Touched: true}, "write": {Whole: true},
	"change": {}}

// act adds the effect of a program on each of its files.
func (r *shellReader) act(act string, files []string) {
	if e, ok := acts[act]; ok {
		r.each(files, e)
		return
	}
	for _, f := range files {
		switch {
		case act == "folder":
			r.addFolder(f)
		case act == "read":
			r.read(f)
		case act == "search" && isFileName(f):
			r.Searched = append(r.Searched, within(r.folder, f))
		}
	}
}

// each adds an effect on each of the files.
func (r *shellReader) each(files []string, e Effect) {
	for _, f := range files {
		e.Path = f
		r.add(e)
	}
}

// addCopies adds the effects of moving or copying files to the last one, or into a flag's folder.
func (r *shellReader) addCopies(act string, files []string, folder string) {
	n := len(files) - 1
	switch {
	case folder != "":
		r.copied(files, strings.TrimRight(folder, "/")+"/", act == "move", false)
	case n > 0:
		r.copied(files[:n], files[n], act == "move", act == "copy all")
	case n == 0 && act == "link":
		r.add(Effect{Path: path.Base(files[0]), Whole: true})
	}
}

// addFindRemovals adds the files that find removes: by their name below the folders that come first.
func (r *shellReader) addFindRemovals(words []string) {
	removes, name := false, "*"
	folders := max(slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") }), 0)
	for i, w := range words {
		switch {
		case w == "-delete", w == "rm" && i > 0 && strings.HasPrefix(words[i-1], "-exec"):
			removes = true
		case (w == "-name" || w == "-iname") && i+1 < len(words):
			name = words[i+1]
		case is("chooses", w):
			return // the line does not show which files
		}
	}
	if !removes || strings.Contains(name, "/") {
		return
	}
	for _, folder := range words[:folders] {
		r.add(Effect{Path: strings.TrimSuffix(folder, "/") + "/**/" + name, Removed: true})
	}
}

// read records a file that a command prints.
func (r *shellReader) read(p string) {
	if r.literal[p] && r.isFile(p) || isFileName(p) && !strings.ContainsAny(p, "?[") {
		r.Reads = append(r.Reads, within(r.folder, p))
	}
}

// PatternMove is a pattern of files that a command moves into a folder.
type PatternMove struct {
	Pattern, Into string
	Except        []string // names in the folder that are not moved
	Ran           Ran
	After         int // number of effects of the call before it
}

// copied adds the effects of copying or moving files: into a directory each under its name.
func (r *shellReader) copied(from []string, to string, moves, recursive bool) {
	last := to[strings.LastIndexAny(to, `/\`)+1:]
	into := len(from) > 1 || slices.Contains(r.Folders, within(r.folder, to)) || last == "" || last == "." ||
		last == ".."
	for _, f := range from {
		if moves && r.isPattern(f) && r.isFile(to) {
			m := PatternMove{within(r.folder, f), within(r.folder, to), nil, r.effectInFailedLine(),
				len(r.Effects)}
			if r.loop != nil {
				m.Except = r.loop.except
			}
			r.Carried = append(r.Carried, m)
			continue
		}
		if moves {
			r.add(Effect{Path: f, Removed: true})
		}
		e := Effect{Path: to, Whole: true}
		if into && (moves || !recursive) {
			if !r.isFile(f) {
				continue
			}
			e.Path = strings.TrimRight(to, `/\`) + "/" + path.Base(normalPath(f))
			if r.isFile(to) {
				r.named(word{text: e.Path, literal: true})
			}
		}
		if moves && r.isFile(f) {
			e.MovedFrom = f
		}
		r.add(e)
	}
}

// substitution is a command of sed or perl: "s", a delimiter, and the texts.
var substitution = lazyregexp.New(`^\s*s([^\w\s\\])(.*)`)

// substituted returns the literal texts that scripts of sed or perl replace, "s/text/…/", one a
// line, without anchors "^" and "$". Patterns are skipped.
func substituted(words []string) string {
	const shortest = 3
	var out strings.Builder
	for _, w := range words {
		for s := range strings.SplitSeq(w, ";") {
			m := substitution.FindStringSubmatch(s)
			if m == nil {
				continue
			}
			pattern, _, closed := strings.Cut(strings.ReplaceAll(m[2], `\`+m[1], "\x00"), m[1])
			pattern = strings.NewReplacer(`\.`, `\.`, ".", `\.`, "\x00",
				regexp.QuoteMeta(m[1])).Replace(pattern)
			if l, ok := asLiteral(pattern); ok && closed && len(l.text) >= shortest {
				out.WriteString(l.text + "\n")
			}
		}
	}
	return out.String()
}

// isWordByte reports whether a byte is a letter or a digit.
func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// applied adds the files of a patch that the command reads.
func (r *shellReader) applied() {
	for _, e := range patched(r.input) {
		r.add(e)
	}
}

// xargs adds the effects of a program that xargs runs, if the words from the command before the
// pipe are known: echo, printf, ls, find by a name.
func (r *shellReader) xargs(words []string) {
	if len(words) == 0 || words[0] != "rm" || len(r.piped) == 0 {
		return
	}
	switch from := r.piped; base(from[0]) {
	case "echo", "printf", "ls":
		for _, w := range from[1:] {
			if !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "%") {
				r.add(Effect{Path: strings.TrimSuffix(w, `\n`), Removed: true})
			}
		}
	case "find":
		r.addFindRemovals(append(slices.Clone(from[1:]), "-delete"))
	}
}
