package toolcall

import (
	"path"
	"slices"
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
)

// Purpose is the goal of running a command. A failure is resolved when a later run of the same
// kind, on the same things or more, succeeds, see [Purpose.Covers].
type Purpose struct {
	Kind string // the program and its subcommand: "go test", "python -m pytest"
	Key  string // the same without wrapping programs and in a canonical form: "go test", "pytest"

	Inline bool // an inline script: each script is a different purpose, and is rarely run again

	folder string   // the folder that the line changes into; "" for none
	things []string // files, folders and packages to run on, see [holds]; none: all, or the program's default
	filter string   // flags that select a part of the things, with their values
	set    []string // variables that are set for it, with their values
}

// holds reports whether a thing is equal to another or contains it. Things that end with "/..."
// include all below them.
func holds(thing, other string) bool {
	folder, all := strings.CutSuffix(thing, "/...")
	if !all {
		return thing == other
	}
	rest, in := strings.CutPrefix(strings.TrimSuffix(other, "/..."), folder)
	isTest := strings.HasPrefix(rest, "::") // in a file, as pytest names it
	return folder == "." || in && (rest == "" || rest[0] == '/' || isTest)
}

// thingOf returns the thing that a word names. A Go package excludes the packages below it unless
// its pattern ends in "...".
func thingOf(name string, exact bool) string {
	name, below := strings.CutSuffix(name, "...")
	if name = path.Clean(name); below || !exact {
		name += "/..."
	}
	return name
}

// PurposeOf returns the purpose of a command line's main program.
func PurposeOf(line string) Purpose {
	commands := lex(line).commands
	runs := programsOf(commands)
	at := slices.IndexFunc(runs, func(r run) bool { return !is("stages", r.name) })
	if at >= 0 && !strings.HasSuffix(runs[at].name, ":reads") {
		return runs[at].purpose(commands)
	}
	line = strings.TrimSpace(line)
	return Purpose{Kind: line, Key: line}
}

// Purposes returns the purposes of the parts of a command line that succeeded if the line did: all
// parts of "a && b"; of a pipeline or list, which may hide failures, only the line's purpose.
func Purposes(line string) (out []Purpose) {
	l := lex(line)
	if l.hidesExitCode || len(l.commands) < 2 {
		return []Purpose{PurposeOf(line)}
	}
	for _, r := range programsOf(l.commands) {
		out = append(out, r.purpose(l.commands))
	}
	return out
}

// echo matches a command as task runners print it before running it: mise and yarn ("[test] $ go
// test ./..."), npm ("> jest"), go-task ("task: [test] go test ./..."), tox ("py312: commands[0]>
// pytest") and nox ("nox > pytest").
var echo = lazyregexp.New(`(?m)^(?:(?:\[[\w:./-]+\] )?\$ |(?:nox )?> |task: \[[^\]]+\] |` +
	`[\w.-]+: commands\[\d+\]> (?:[^\s>]*> )?)(.+?)\r?$`)

// IsEcho reports whether a line of output may be a command that a task runner prints before running
// it, after a sign, or the line before that.
func IsEcho(line string) bool { return echo.MatchString(line) }

// Ran returns the purposes of a command's line, see [Purposes], and after them the purposes of the
// commands that a task runner in it prints.
func (c *Call) Ran() []Purpose {
	const most, longest = 40, 8 << 10 // lines, bytes of the output
	out := Purposes(c.Line)
	if _, all := mainProgram(c.Line); !slices.ContainsFunc(all,
		func(p string) bool { return is("tasks", p) }) {
		return out
	}
	text, folder := c.Output(), folderOf(lex(c.Line).commands)
	for _, m := range echo.FindAllStringSubmatch(text[:min(len(text), longest)], most) {
		for _, p := range Purposes(m[1]) {
			p.folder = path.Join(folder, p.folder)
			out = append(out, p)
		}
	}
	return out
}

// Covers reports whether p is run on everything that q is, so that a later success of p resolves a
// failure of q. A folder covers its files; a Go package covers packages below it only as "./...".
func (p Purpose) Covers(q Purpose) bool {
	elsewhere := p.folder != q.folder && p.folder != "" && q.folder != ""
	differs := func(s string) bool { // the same variable has another value
		name, _, _ := strings.Cut(s, "=")
		sets := func(o string) bool { return strings.HasPrefix(o, name+"=") }
		return slices.ContainsFunc(q.set, sets) && !slices.Contains(q.set, s)
	}
	if p.Key != q.Key || elsewhere || p.filter != "" && p.filter != q.filter ||
		slices.ContainsFunc(p.set, differs) {
		return false
	}
	things := q.things
	if len(things) == 0 {
		things = []string{"./..."}
	}
	return len(p.things) == 0 || !slices.ContainsFunc(things, func(u string) bool {
		return !slices.ContainsFunc(p.things, func(t string) bool { return holds(t, u) })
	})
}

// folderOf returns the folder that commands change into first; "" for none.
func folderOf(commands []command) string {
	if len(commands) > 1 && len(commands[0].words) == 2 && commands[0].words[0].text == "cd" {
		return path.Clean(commands[0].words[1].text)
	}
	return ""
}

func base(program string) string { return program[strings.LastIndexByte(program, '/')+1:] }

// Limits for reading a command.
const (
	kindWords    = 3  // of the kind
	purposeWords = 64 // words to look at
	mostThings   = 16
)

// purpose returns the purpose of a program, one of some commands.
func (r run) purpose(commands []command) Purpose {
	words := r.words[:min(len(r.words), 1+purposeWords)]
	p := Purpose{Kind: kindOf(words), set: r.set}
	p.parse(unwrapped(words))
	p.folder = path.Join(folderOf(commands), p.folder)
	return p
}

// kindOf returns a program and its subcommand, as written.
func kindOf(words []word) string {
	program, n := base(words[0].text), 1
	for n < min(len(words), kindWords) && !is("direct", program) && isVerb(words[n]) {
		n++
	}
	if runsModule(words) {
		n = kindWords
	}
	return strings.Join(append([]string{program}, texts(words[1:n])...), " ")
}

// runsModule recognizes "python -m module".
func runsModule(words []word) bool {
	return len(words) > 2 && strings.HasPrefix(base(words[0].text), "python") && words[1].text == "-m"
}

// isVerb reports whether a word may be a subcommand: not a flag, a path or a value.
func isVerb(w word) bool {
	return !strings.HasPrefix(w.text, "-") && !strings.ContainsAny(w.text, "/.=")
}

// parse parses the purpose and the things of a program.
func (p *Purpose) parse(words []word) {
	var chosen []string
	program := programName(words[0].text)
	key := []string{program}
	if runsModule(words) {
		program, words = words[2].text, words[2:]
		key = append(key, "-m", program)
	} else if program == "docker-compose" {
		program, key = "docker", []string{"docker", "compose"}
	}
	verbs, runsCode := !is("direct", program), is("interpreter", program)
	passedOn := false // the following flags are for the program that a package script runs
	for i := 1; i < len(words); i++ {
		name, value, given := strings.Cut(words[i].text, "=")
		flag, behindFlag := strings.HasPrefix(name, "-"), strings.HasPrefix(words[i-1].text, "-")
		verb := verbs && isVerb(words[i])
		verbs = verb || verbs && flag && len(key) == 1
		narrow, valued := narrows(program, name)
		sets := strings.HasPrefix(name, "--") && runsScript(program) && !isOfKind("manner", name)
		next := i+1 < len(words) && !given
		if next && (valued || is("folder", name)) ||
			next && sets && !strings.HasPrefix(words[i+1].text, "-") {
			i++
			value, given = words[i].text, true
		}
		switch {
		case len(key) == 1 && is("packages", program) && is("how", name):
		case verb && len(key) < kindWords:
			key = append(key, name)
		case name == "--":
			passedOn = is("packages", program)
		case sets, narrow && (given || !valued):
			chosen = append(chosen, strings.TrimSpace(name+" "+value))
		case (name == "-c" || name == "-e") && (runsCode || is("direct", program)): // a script in the line
			p.Inline = runsCode
			i++
		case name == "-" && runsCode: // a script from standard input
			p.Inline = true
		case is("folder", name) && given:
			p.folder = path.Join(p.folder, path.Clean(value))
		case flag, given:
		case strings.ContainsAny(name, " \t\n"), len(p.things) == mostThings:
		case strings.ContainsAny(name, "/."), is("direct", program) && !behindFlag:
			p.things = append(p.things, thingOf(name, is("patterns", program)))
		case passedOn:
			chosen = append(chosen, name)
		}
	}
	if program == "go" && len(p.things) == 0 {
		p.things = []string{"."}
	}
	p.Key, p.filter = strings.Join(key, " "), strings.Join(chosen, " ")
}

// runsScript reports whether a program is or runs a script, so that flags define its purpose.
func runsScript(program string) bool {
	return is("interpreter", program) || is("shell", program) || is("script", path.Ext(program))
}
